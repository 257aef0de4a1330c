// The agent's threads: one shard each, pinned to one of the CPUs the process may use.
//
// Owned by main(), or by a test. Start() returns when every shard runs; Stop() ends the loops and
// joins the threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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
  // What all run on where loops of that kind cannot be made; none: then there are no shards.
  std::optional<Backend> otherwise = {};
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

  Backend backend() const { return backend_; }
  // Why it is not the one that was wanted first, if so.
  const std::optional<Error>& denied() const { return denied_; }
  uint32_t size() const { return static_cast<uint32_t>(threads_.size()); }

  // Any thread, at any time: runs `work` on a shard. False when its mailbox is full or the shards
  // have stopped; then `work` was destroyed unrun.
  [[nodiscard]] bool TryPost(uint32_t shard, UniqueFunction<void(Shard&)> work);
  // From a thread that is no shard, before Stop(): runs `work` and waits for its end. For start and
  // stop, and for tests.
  void RunAndWait(uint32_t shard, UniqueFunction<void(Shard&)> work);

  // Any thread, at any time: shards whose present turn has lasted longer than `limit`, with the
  // name of what they do.
  std::vector<StuckShard> FindStuck(TimePoint now, Duration limit) const;

  // From a thread that is no shard. What still waits on a shard is destroyed there, unrun, before
  // any shard goes; so is what threads of others post from then on.
  void Stop();

 private:
  struct Thread;
  struct Beginning;
  class End;

  Shards() = default;
  static Result<std::unique_ptr<Shards>> StartAs(const ShardsOptions& options, const Clock& clock);
  void RunThread(uint32_t index, const ShardsOptions& options, const Clock& clock, Beginning& begin,
                 End& end);

  Backend backend_ = Backend::kUring;
  std::optional<Error> denied_;
  std::shared_ptr<End> end_;  // null: stopped
  std::vector<std::unique_ptr<Thread>> threads_;
  std::vector<Shard*> all_;
};

// The CPUs this process may run on.
std::vector<int> AllowedCpus();

}  // namespace denselet::reactor
