// Questions to the kernel that have no file: how large a file system is, which addresses the
// interfaces have, what the name service says. A seam: tests answer themselves.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/context.h"
#include "managers/node/network_facts.h"
#include "reactor/api/file_system.h"
#include "reactor/blocking_pool.h"

namespace denselet::reactor {
class Shard;
}  // namespace denselet::reactor

namespace denselet::node {

struct FileSystemSpace {
  uint64_t bytes = 0;
  uint64_t bytes_available = 0;  // to users that are not root
  uint64_t inodes = 0;           // 0: the file system has no fixed number
  uint64_t inodes_free = 0;
};

// Each answers once, in a later turn, on the shard that asked.
class HostCalls {
 public:
  virtual ~HostCalls() = default;
  virtual void MeasureFileSystem(const Context&, std::string path,
                                 reactor::Done<FileSystemSpace>) = 0;
  virtual void Interfaces(const Context&, reactor::Done<std::vector<NetworkInterface>>) = 0;
  virtual void Resolve(const Context&, std::string name, reactor::Done<std::vector<IpAddress>>) = 0;
};

// The questions themselves, which block. On any thread.
struct BlockingHostCalls {
  std::function<Result<FileSystemSpace>(const std::string& path)> space;
  std::function<Result<std::vector<NetworkInterface>>()> interfaces;
  std::function<Result<std::vector<IpAddress>>(const std::string& name)> resolve;

  static BlockingHostCalls OfTheKernel();
};

// All three may hang: they go to the blocking pool. They are asked again and again, and one that
// hangs must cost one worker and not all: each has a lane, in which the next waits for the last to
// return, also when nobody waits for that any more.
class RealHostCalls final : public HostCalls {
 public:
  RealHostCalls(reactor::Shard& home, reactor::BlockingPool& pool,
                BlockingHostCalls calls = BlockingHostCalls::OfTheKernel())
      : home_(home),
        pool_(pool),
        calls_(std::move(calls)),
        spaces_(pool.MakeLane()),
        interfaces_(pool.MakeLane()),
        names_(pool.MakeLane()) {}

  void MeasureFileSystem(const Context&, std::string path, reactor::Done<FileSystemSpace>) override;
  void Interfaces(const Context&, reactor::Done<std::vector<NetworkInterface>>) override;
  void Resolve(const Context&, std::string name, reactor::Done<std::vector<IpAddress>>) override;

 private:
  reactor::Shard& home_;
  reactor::BlockingPool& pool_;
  const BlockingHostCalls calls_;
  const reactor::Lane spaces_, interfaces_, names_;
};

}  // namespace denselet::node
