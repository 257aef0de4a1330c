// Threads for calls that have no asynchronous form: mount, statfs on a server that is gone, name
// resolution, files.
//
// One pool for the process, owned by main; every shard may Run jobs. No shard ever waits for one: a
// call that hangs costs one worker, shows in Snapshot(), and is abandoned when its context ends;
// from then on another worker takes its place, and for calls with paths of others after a second.
// main calls Stop() before it stops the shards, because answers go to them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/result.h"
#include "base/unique_function.h"
#include "reactor/shard.h"

namespace denselet::reactor {

struct BlockingPoolOptions {
  uint32_t workers_max = 16;  // started when first needed
  size_t queue_max = 1024;    // jobs beyond one for each worker; the next: kOverloaded
  // A worker that nobody needed for so long ends: what a burst made of them would otherwise hold
  // stacks and pages of the allocator for ever.
  Duration worker_idle_max = Seconds(10);
  Duration stop_wait_max = Seconds(5);  // how long Stop() waits for the calls under way
  // A call that nobody waits for any more takes no worker from others: another one is started in
  // its place. Of so many, with those that have made way; those beyond keep theirs.
  uint32_t abandoned_max = 64;
  uint32_t share_max = 4;  // calls of one share that run at once
  // A call with paths of others that takes longer makes way for the next of its share, as one that
  // nobody waits for: others' servers that are gone are many calls that hang.
  Duration foreign_time_max = Seconds(1);
};

// Calls that may take long, as many of them as there are: they have a part of the workers and
// never all. Those that do not fit wait for each other, and must have a lane.
enum class Share : uint8_t { kAll, kRemovals, kForeignPaths };

// Jobs of one lane run one after the other, in the order in which they came, whatever their
// priorities: also behind one that was abandoned, until its call has returned.
struct Lane {
  uint64_t number = 0;  // 0: no lane, in any order
};

// What a job does: for its errors, and for whoever looks at a hung one. mount "/var/lib/kubelet/.."
struct BlockingCall {
  BlockingCall(const char* doing_now, std::string to_what = {}, Lane in_lane = {},
               Share of_share = Share::kAll)
      : doing(doing_now), subject(std::move(to_what)), lane(in_lane), share(of_share) {}

  const char* doing;  // a string literal
  std::string subject;
  Lane lane;
  Share share;
};

struct BlockingPoolSnapshot {
  struct Running {
    std::string doing;
    std::string subject;
    TimePoint since;
    uint32_t shard;
    bool abandoned;  // nobody waits for it any more
  };
  std::vector<Running> running;  // the longest first
  size_t waiting = 0;
  size_t abandoned = 0;  // of the running ones
  uint32_t workers = 0;
  size_t asleep = 0;            // of the workers
  uint64_t finished_total = 0;  // calls that have returned
  uint64_t abandoned_total = 0;
  uint64_t refused_total = 0;  // kOverloaded
};

class BlockingPool {
 public:
  explicit BlockingPool(const Clock& clock, const BlockingPoolOptions& options = {});
  ~BlockingPool();
  BlockingPool(const BlockingPool&) = delete;
  BlockingPool& operator=(const BlockingPool&) = delete;

  // On the home shard, to which the context's cancel source belongs. `work` runs on a worker, the
  // most urgent first; `done` runs on the home shard, once, never inside Run. Besides what `work`
  // returns it may get:
  //   kOverloaded                     the queue or the home's mailbox was full; nothing was done
  //   kDeadlineExceeded, kCancelled   the context ended before a worker was free; nothing was done
  //   kUnknownOutcome                 it ended while the call was under way, which goes on
  // `work`, and a result that nobody waits for, die on any thread: what they own (a UniqueFd) they
  // give back themselves.
  template <class T>
  void Run(Shard& home, const Context& context, BlockingCall call, UniqueFunction<Result<T>()> work,
           UniqueFunction<void(Result<T>)> done) {
    Start(
        home, context, std::move(call),
        [work = std::move(work)]() mutable -> Answer {
          return [result = work()](Asker& asker) mutable {
            static_cast<AskerOf<T>&>(asker).done(std::move(result));
          };
        },
        std::make_unique<AskerOf<T>>(home.loop(), std::move(done)));
  }

  // For what gives something back (close, umount): no answer, never refused, not dropped by Stop.
  // The bound is the caller's, who has a bounded number of things to give back. Where no worker can
  // be had any more, it runs at once on the caller's thread.
  void Dispose(Shard& home, BlockingCall call, UniqueFunction<void()> work);

  // Any thread. Every call makes a new one; a lane without jobs costs nothing.
  Lane MakeLane();

  // Any thread.
  BlockingPoolSnapshot Snapshot() const;

  // From a thread that is no shard, while the shards still run. Takes no more jobs (kCancelled),
  // drops those that wait (kCancelled), waits up to stop_wait_max for calls under way and abandons
  // the rest. Afterwards nothing of the pool touches a shard.
  void Stop();

 private:
  // The asker's half of a job. It lives and dies on the home shard: other threads only move the
  // pointer to it.
  struct Asker {
    explicit Asker(EventLoop& home) : loop(home) {}
    virtual ~Asker() = default;
    virtual void Refuse(Error error) = 0;

    EventLoop& loop;
    TimerId deadline;
    TimerId patience;
    CancelRegistration cancel;
  };
  template <class T>
  struct AskerOf final : Asker {
    AskerOf(EventLoop& home, UniqueFunction<void(Result<T>)> d) : Asker(home), done(std::move(d)) {}
    void Refuse(Error error) override { done(std::move(error)); }
    UniqueFunction<void(Result<T>)> done;
  };
  // A result on its way to the asker, whose type it knows.
  using Answer = UniqueFunction<void(Asker&)>;
  using Work = UniqueFunction<Answer()>;

  // In the order in which workers take them. Never used twice: a late timer or cancel finds nobody.
  struct JobId {
    Priority priority = Priority::kNormal;
    uint64_t number = 0;
    friend auto operator<=>(const JobId&, const JobId&) = default;
  };

  struct Waiter;
  struct Job;
  struct Running;
  struct State;
  enum class Reason : uint8_t;

  void Start(Shard& home, const Context& context, BlockingCall call, Work work,
             std::unique_ptr<Asker> asker);
  // On the home shard: looks after a while whether the call is to make way, as long as it may have
  // to.
  static void BePatient(const std::shared_ptr<State>& state, Asker& asker, JobId id);
  static Answer Refusal(Error error);
  static void Deliver(std::unique_ptr<Asker> asker, Answer answer);  // on the home shard
  static void Tell(Waiter waiter, Answer answer);                    // on any thread

  // Shared because a worker whose call hangs outlives the pool: it comes back to this state
  // whenever the kernel lets it go. Timers and cancel callbacks on the shards hold it too.
  const std::shared_ptr<State> state_;
};

}  // namespace denselet::reactor
