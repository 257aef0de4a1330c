// A loop as its thread drives it: turns, sleep, wake-up, counters. What runs on it sees only
// reactor/api/loop.h.
//
// One turn: mail of other threads, due timers, posted tasks, deferred deletions; then the backend
// submits what was started, sleeps until something happens or the next timer is due, and runs the
// callbacks of what completed.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "reactor/api/loop.h"
#include "reactor/inbox.h"
#include "reactor/timer_wheel.h"

namespace denselet::reactor {

struct LoopOptions {
  // I/O operations under way at once; more are refused with -EBUSY.
  uint32_t operations_max = 65536;
  // Work of one kind in one turn: what is left waits for the next, so that no kind starves the
  // others.
  size_t timers_per_turn_max = 4096;
  size_t messages_per_turn_max = 4096;
  // Off: io_uring receives as on a kernel before 6.0, by poll and then receive. To test that and to
  // measure.
  bool multishot_receive = true;
  // How long a loop looks for mail before it sleeps, when answers have lately come that soon: about
  // what a sleep and a wake-up cost, so that it never costs more than twice the best choice. An
  // idle loop does not spin.
  Duration spin_max = Microseconds(30);
  // A turn longer than this is reported, with the name of the work that was the longest in it.
  Duration stall_threshold = Milliseconds(100);
};

// Plain numbers of one loop: read on its thread, or after it has stopped.
struct LoopStats {
  uint64_t turns = 0;
  uint64_t stalls = 0;  // turns beyond stall_threshold
  Duration busy{};      // time in turns, without sleep
  Duration longest_turn{};
  const char* longest_doing = "";
  uint64_t tasks = 0;         // posted tasks run
  uint64_t timers = 0;        // timers run
  uint64_t messages = 0;      // messages of other threads run
  uint64_t completions = 0;   // I/O callbacks run
  uint64_t spins = 0;         // looks for mail before sleep
  uint64_t spins_paid = 0;    // that found some
  uint64_t wakeups_sent = 0;  // to other loops
  size_t task_queue_longest = 0;
};

struct Stall {
  Duration took;
  const char* doing;
};

class EventLoop : public Loop {
 public:
  using StallHandler = UniqueFunction<void(const Stall&)>;

  EventLoop(const Clock& clock, const LoopOptions& options);
  ~EventLoop() override = default;

  // Loop
  TimePoint Now() const final { return now_; }
  WallTime WallNow() const final { return clock_.WallNow(); }
  TimerId Arm(TimePoint when, Task task) final { return wheel_.Arm(when, std::move(task)); }
  bool Disarm(TimerId timer) final { return wheel_.Disarm(timer); }
  void Post(Task task) final;
  void DeferDelete(std::unique_ptr<Deletable> object) final;

  // Turns until Stop(). The caller's thread is the loop's thread from here on.
  void Run();
  // Run() returns after the present turn. On the loop's thread.
  void Stop() { stopping_ = true; }
  // One turn; sleeps no longer than until `sleep_until`.
  void RunTurn(TimePoint sleep_until);

  // For the end, on the loop's thread: destroys unrun what waits here (tasks, timers, callbacks of
  // operations, which are cancelled first), while everything can still call into the loop. True:
  // there was something. Also done by the destructor of every backend.
  bool Drop();

  // When a turn would have something to do of itself: not later than now when it has already.
  TimePoint NextWork() const;

  // Asked every turn, in the order of addition. Before the first turn, or on the loop's thread.
  void AddInbox(Inbox& inbox) { inboxes_.push_back(&inbox); }

  // A reading of the clock, not the turn's; any thread.
  TimePoint ReadClock() const { return clock_.Now(); }

  // From any thread: if the loop sleeps, it wakes up. A message must be in its inbox before this is
  // called.
  void Notify();
  // The same from the thread of another loop, which may have a cheaper way than a system call of
  // its own.
  void NotifyFrom(EventLoop& sender);

  // Called after a turn longer than stall_threshold, on the loop's thread.
  void OnStall(StallHandler handler) { stall_handler_ = std::move(handler); }

  Activity& activity() final { return *activity_; }
  // Shared with who watches from another thread, also after the loop has ended.
  std::shared_ptr<const Activity> shared_activity() const { return activity_; }
  const LoopStats& stats() const { return stats_; }
  virtual std::string_view backend_name() const = 0;
  virtual size_t operations() const = 0;  // under way

 protected:
  // Time went on between two turns, which only virtual time can do: the next one reads the clock.
  void ReadClockAgain() { in_turn_ = false; }

  // Starts what is to be started, sleeps until completions, a wake-up or `until` (kNever: no limit;
  // not later than LastReading(): does not sleep), runs the callbacks of what completed.
  virtual void Wait(TimePoint until) = 0;
  // Cancels what is under way and destroys the callbacks; false: there was nothing. Part of Drop.
  virtual bool DropOperations() = 0;
  // The latest reading of the clock, of the end of the turn: Now() may be a whole turn ago.
  TimePoint LastReading() const { return phase_began_; }
  // Has Wait something to run without sleeping? Asked while spinning, so without a system call;
  // false when unknown.
  virtual bool HasCompletions() const { return false; }
  // Makes Wait return; any thread.
  virtual void WakeUp() = 0;
  // Makes `sleeper` return from its Wait; on this loop's thread. The default is the system call of
  // WakeUp.
  virtual void WakeUpOther(EventLoop& sleeper) { sleeper.WakeUp(); }
  // Where another ring can put a message that wakes this one; -1 when there is no such place.
  virtual int message_ring_fd() const { return -1; }
  static int MessageRingFd(const EventLoop& loop) { return loop.message_ring_fd(); }

  // Backends announce the end of sleep, so that the callbacks they run are part of a turn.
  void WokeUp();
  // After the callbacks of one Wait.
  void RanCompletions(size_t count);
  const Clock& clock_;
  const LoopOptions options_;
  LoopStats stats_;

 private:
  bool HasMail() const;
  // Looks for mail for a while; true when there is some, or something else to do.
  bool SpinForMail(TimePoint until);
  void LearnFromSleep(TimePoint fell_asleep);
  void RunMail();
  void RunTimers();
  void RunTasks();
  void RunDeletions();
  // Reads the clock after a phase that did something.
  void PhaseEnded();
  void EndTurn();

  TimePoint now_;
  TimerWheel wheel_;
  std::deque<Task>
      tasks_;  // bounded by what runs on this loop: every poster is itself a bounded piece of work
  std::vector<std::unique_ptr<Deletable>> deletions_;
  std::vector<Inbox*> inboxes_;
  StallHandler stall_handler_;
  const std::shared_ptr<Activity> activity_;
  TimePoint turn_began_;
  TimePoint phase_began_;  // the latest reading of the clock
  int spin_credit_ = 0;    // earned by sleeps that mail ended at once, spent by spinning in vain
  bool in_turn_ = false;
  bool stopping_ = false;

  // Set while asleep or about to be. Who takes it back to false owes the wake-up.
  alignas(64) std::atomic<bool> sleeping_ = false;
};

enum class Backend : uint8_t { kUring, kEpoll };

std::string_view BackendName(Backend backend);
// Whether a loop on io_uring can be made, and why not: kUnsupported, it is absent or forbidden;
// kOverloaded, there is no memory for it now.
Status CheckUring(const Clock& clock);
// The best backend this kernel allows: io_uring unless it cannot be used.
Backend ProbeBackend(const Clock& clock);
Result<std::unique_ptr<EventLoop>> MakeEventLoop(Backend backend, const Clock& clock,
                                                 const LoopOptions& options = {});

}  // namespace denselet::reactor
