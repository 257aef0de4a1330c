// Reads what the node's status says of the machine and its network.
#pragma once

#include <optional>
#include <string>

#include "base/context.h"
#include "managers/node/host_calls.h"
#include "managers/node/machine_facts.h"
#include "managers/node/network_facts.h"
#include "managers/node/pressure.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "reactor/gate.h"

namespace denselet::node {

// Each answers once, in a later turn. A seam: tests have their own machine.
class HostFactsSource {
 public:
  virtual ~HostFactsSource() = default;
  virtual void ReadMachine(const Context&, reactor::Done<MachineFacts>) = 0;
  virtual void ReadNetwork(const Context&, reactor::Done<NetworkFacts>) = 0;
  virtual void ReadPressure(const Context&, reactor::Done<PressureFacts>) = 0;
};

struct HostFactsOptions {
  std::string root_folder = "/var/lib/kubelet";
  std::string name_to_resolve = {};  // empty: the name service is not asked
};

// Each question is several steps, one after the other, also where who asked is gone: Stop() before
// what it was given goes.
class HostFactsReader final : public HostFactsSource {
 public:
  static constexpr size_t kFileBytesMax = 4 << 20;  // /proc/stat of a large machine, and to spare
  static constexpr size_t kHugePageSizesMax = 64;

  HostFactsReader(reactor::Loop& loop, reactor::FileSystem& files, HostCalls& calls,
                  HostFactsOptions options)
      : gate_(loop), loop_(loop), files_(files), calls_(calls), options_(std::move(options)) {}

  // No more questions: they are refused with kCancelled. `stopped` is posted when the last answer
  // was given.
  void Stop(reactor::Task stopped) { gate_.Close(std::move(stopped)); }

  // The file system's size may be missing: it is 0 then, and the node not ready.
  void ReadMachine(const Context&, reactor::Done<MachineFacts>) override;
  // Without interfaces it fails; routes and names may be missing.
  void ReadNetwork(const Context&, reactor::Done<NetworkFacts>) override;
  // What cannot be read is missing from the answer.
  void ReadPressure(const Context&, reactor::Done<PressureFacts>) override;

 private:
  // Nothing: stopped, and `done` will hear so.
  template <class T>
  std::optional<reactor::Done<T>> Enter(reactor::Done<T>& done);

  reactor::Gate gate_;
  reactor::Loop& loop_;
  reactor::FileSystem& files_;
  HostCalls& calls_;
  const HostFactsOptions options_;
};

}  // namespace denselet::node
