// Reads what the node's status says of the machine and its network.
#pragma once

#include <string>

#include "base/context.h"
#include "managers/node/host_calls.h"
#include "managers/node/machine_facts.h"
#include "managers/node/network_facts.h"
#include "reactor/api/file_system.h"

namespace denselet::node {

// Each answers once, in a later turn. A seam: tests have their own machine.
class HostFactsSource {
 public:
  virtual ~HostFactsSource() = default;
  virtual void ReadMachine(const Context&, reactor::Done<MachineFacts>) = 0;
  virtual void ReadNetwork(const Context&, reactor::Done<NetworkFacts>) = 0;
};

struct HostFactsOptions {
  std::string root_folder = "/var/lib/kubelet";
  std::string name_to_resolve = {};  // empty: the name service is not asked
};

// Operations under way may outlive it, not what it was given.
class HostFactsReader final : public HostFactsSource {
 public:
  static constexpr size_t kFileBytesMax = 4 << 20;  // /proc/stat of a large machine, and to spare
  static constexpr size_t kHugePageSizesMax = 64;

  HostFactsReader(reactor::FileSystem& files, HostCalls& calls, HostFactsOptions options)
      : files_(files), calls_(calls), options_(std::move(options)) {}

  // The file system's size may be missing: it is 0 then, and the node not ready.
  void ReadMachine(const Context&, reactor::Done<MachineFacts>) override;
  // Without interfaces it fails; routes and names may be missing.
  void ReadNetwork(const Context&, reactor::Done<NetworkFacts>) override;

 private:
  reactor::FileSystem& files_;
  HostCalls& calls_;
  const HostFactsOptions options_;
};

}  // namespace denselet::node
