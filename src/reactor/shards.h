// The agent's threads: one shard each, pinned to one of the CPUs the process may use.
//
// Owned by main(), or by a test. Start() returns when every shard runs; Stop() ends the loops and
// joins the threads.
#pragma once

#include <cstdint>
#include <latch>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "reactor/shard.h"

namespace denselet::reactor {

enum class Pinning : uint8_t { kPinned, kFloating };

struct ShardsOptions {
  // 0: as many as CPUs the process may use, four at most: an agent that takes 128 cores to look
  // after them is no help.
  uint32_t count = 0;
  Backend backend = Backend::kUring;
  Pinning pinning = Pinning::kPinned;
  LoopOptions loop = {};
  MailLimits mail = {};
};

struct StuckShard {
  uint32_t shard;
  Duration for_long;
  const char* doing;
};

class Shards {
 public:
  static constexpr uint32_t kCountDefaultMax = 4;

  static Result<std::unique_ptr<Shards>> Start(const ShardsOptions& options, const Clock& clock);
  ~Shards();

  uint32_t size() const { return static_cast<uint32_t>(all_.size()); }

  // Any thread: runs `work` on a shard. False when its mailbox is full; the task was not taken.
  [[nodiscard]] bool TryPost(uint32_t shard, UniqueFunction<void(Shard&)> work);
  // From a thread that is no shard: runs `work` and waits for its end. For start and stop, and for
  // tests.
  void RunAndWait(uint32_t shard, UniqueFunction<void(Shard&)> work);

  // Any thread: shards whose present turn has lasted longer than `limit`, with the name of what
  // they do.
  std::vector<StuckShard> FindStuck(TimePoint now, Duration limit) const;

  // From a thread that is no shard. What waits in mailboxes is dropped: close gates first.
  void Stop();

 private:
  struct Thread;

  Shards() = default;

  // Passed by every shard after its last turn and by Stop() after its last message: only then may
  // any of them go. Shared, because each is still inside when another leaves.
  std::shared_ptr<std::latch> stopped_;
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Shard*> all_;
};

// The CPUs this process may run on.
std::vector<int> AllowedCpus();

}  // namespace denselet::reactor
