// One thread's loop: everything a shard does happens in a turn of its loop. Three implementations
// stand behind this interface: io_uring, epoll, and a simulated one on virtual time.
//
// Rules that hold for all three:
//   - All calls are for the loop's own thread. Other threads come in by mail (reactor/mail).
//   - A callback never runs inside the call that started it.
//   - Every started operation calls back exactly once, also after Cancel (ReceiveStream: ends
//     exactly once); what it was given (descriptors, buffers) must stay valid until then.
#pragma once

#include <cstdint>
#include <memory>

#include "base/slot_map.h"
#include "base/time.h"
#include "base/unique_function.h"
#include "reactor/api/activity.h"

namespace denselet::reactor {

using Task = UniqueFunction<void()>;

// Names an armed timer. A default one, or one that has run or was disarmed, names nothing.
struct TimerId {
  SlotKey key;
  friend bool operator==(const TimerId&, const TimerId&) = default;
};

class Timers {
 public:
  virtual ~Timers() = default;

  // Runs `task` once, in the first turn that begins at or after `when`; kNever never comes.
  // Resolution is a millisecond, rounded up: a timer may be late, never early.
  virtual TimerId Arm(TimePoint when, Task task) = 0;
  // True: the task was still armed and will not run.
  virtual bool Disarm(TimerId timer) = 0;
};

// Base of what DeferDelete takes.
class Deletable {
 public:
  virtual ~Deletable() = default;
};

class Io;

class Loop : public Timers {
 public:
  // The monotonic time at which this turn began: one reading a turn, so that everything decided in
  // it agrees.
  virtual TimePoint Now() const = 0;
  virtual WallTime WallNow() const = 0;

  // Runs `task` in the next turn, before the loop sleeps. Tasks run in the order in which they were
  // posted.
  virtual void Post(Task task) = 0;

  // Destroys the object after the current callback has returned: for an object that ends in its own
  // callback.
  virtual void DeferDelete(std::unique_ptr<Deletable> object) = 0;

  virtual Io& io() = 0;

  // Where long work names itself: ActivityScope scope(loop.activity(), "relist").
  virtual Activity& activity() = 0;
};

}  // namespace denselet::reactor
