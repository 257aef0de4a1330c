// Questions to the kernel that have no file: how large a file system is, which addresses the
// interfaces have, what the name service says. A seam: tests answer themselves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/context.h"
#include "managers/node/network_facts.h"
#include "reactor/api/file_system.h"

namespace denselet::reactor {
class BlockingPool;
class Shard;
}  // namespace denselet::reactor

namespace denselet::node {

// Each answers once, in a later turn, on the shard that asked.
class HostCalls {
 public:
  virtual ~HostCalls() = default;
  virtual void FileSystemBytes(const Context&, std::string path, reactor::Done<uint64_t>) = 0;
  virtual void Interfaces(const Context&, reactor::Done<std::vector<NetworkInterface>>) = 0;
  virtual void Resolve(const Context&, std::string name, reactor::Done<std::vector<IpAddress>>) = 0;
};

// All three may hang: they go to the blocking pool.
class RealHostCalls final : public HostCalls {
 public:
  RealHostCalls(reactor::Shard& home, reactor::BlockingPool& pool) : home_(home), pool_(pool) {}

  void FileSystemBytes(const Context&, std::string path, reactor::Done<uint64_t>) override;
  void Interfaces(const Context&, reactor::Done<std::vector<NetworkInterface>>) override;
  void Resolve(const Context&, std::string name, reactor::Done<std::vector<IpAddress>>) override;

 private:
  reactor::Shard& home_;
  reactor::BlockingPool& pool_;
};

}  // namespace denselet::node
