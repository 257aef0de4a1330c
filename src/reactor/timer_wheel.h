// Timers by the million: arming and disarming cost the same few cache misses however many are
// armed, which a heap or a tree cannot give. Owned by a loop and used on its thread only; dropped
// with the loop, unrun tasks are destroyed then.
//
// A hierarchical wheel. Level k has 1024 slots of 1024^k ms each: 1 ms, 1 s, 17 min, 12 days, 34
// years; together more than a TimePoint can tell, so there is no list of far timers. A timer sits
// in the finest level whose 1024 slots from now on contain its time; when the time enters a slot of
// a coarser level, the slot's timers move one level down. So a timer moves at most four times in
// its life, once if armed for less than 17 minutes. A slot moves at once: with a million timers
// over ten minutes that is 1700 timers a second, but a million timers of hours would come in
// bursts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/time.h"
#include "reactor/api/loop.h"

namespace denselet::reactor {

// Order. A timer's tick is its time rounded up to a millisecond, or the tick of the last RunDue
// when the time had already come. Timers run in the order of their ticks, and in one tick in the
// order in which they were armed, whatever levels they went through: the levels' lists keep that
// order, see Cascade.
//
// Memory. 88 bytes a timer: 24 of links (kept together, for neighbours are touched too) and 64 of
// Task; plus what the Task holds on the heap when its callable is larger than
// UniqueFunction::kInlineBytes. Allocated 1024 timers at a time and kept for reuse, never given
// back. The empty wheel takes 210 KB, most of it list heads.
class TimerWheel final {
 public:
  // More at once is a leak of ours, not load: Arm fails a CHECK.
  static constexpr uint32_t kTimersMax = 1 << 24;

  explicit TimerWheel(TimePoint now);
  ~TimerWheel();  // destroys the tasks, which may still disarm
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  // O(1). What is not later than the last RunDue is due at the next one, even at the same time.
  // kNever, and what rounds up to beyond it, is armed but never due.
  TimerId Arm(TimePoint when, Task task);

  // O(1). Destroys the task; its destructor may arm and disarm. True: it was armed and will not
  // run.
  bool Disarm(TimerId timer);

  // Runs what is due at `now`, at most tasks_max tasks, and returns how many ran; the rest stays
  // due, and goes first the next time. A task may arm and disarm anything: its own timer is no
  // longer armed when it runs, and what it arms waits for the next call even if due at once. It
  // must not call RunDue or destroy the wheel. `now` must not go back. The cost is in timers due
  // and slots entered, not in time passed.
  size_t RunDue(TimePoint now, size_t tasks_max);

  // When RunDue will next have something to run: a whole millisecond, the time of the last RunDue
  // when something is due already, kNever when nothing ever will be. O(levels). Never late. Exact,
  // except that a disarmed timer further than a second away, earliest of a slot that holds others,
  // is remembered: then its time, which is too early, may be named once. RunDue at that time runs
  // nothing and makes it exact.
  TimePoint NextDue() const;

  // Armed timers: also those due but not yet run, and those that never will be.
  size_t size() const { return size_; }

 private:
  using Tick = int64_t;  // milliseconds of TimePoint, signed as they are
  using Index = uint32_t;

  static constexpr int kLevels = 5;
  static constexpr int kLevelBits = 10;
  static constexpr Index kLevelSlots = 1 << kLevelBits;

  // Nodes are named by index. The first ones are heads of circular lists, so that unlinking has no
  // ends to look at: one for each slot, level by level, then three that are not in time, then the
  // timers.
  static constexpr Index kWheelEnd = kLevels * kLevelSlots;
  static constexpr Index kDue = kWheelEnd;             // to run in this RunDue, in order
  static constexpr Index kDueNextRun = kWheelEnd + 1;  // armed when their time had come
  static constexpr Index kNotInTime = kWheelEnd + 2;   // kNever
  static constexpr Index kTimersBegin = kWheelEnd + 3;
  static constexpr Index kNone = UINT32_MAX;

  static constexpr Index kChunkNodes = 1024;

  struct Node {
    Tick tick = 0;  // of a slot's head: not later than the earliest in the slot
    Index prev = kNone;
    Index next = kNone;  // of a free node: the next free one
    uint32_t generation =
        0;  // of a head, and of a node whose generations are used up: 0, which no id names
  };

  struct alignas(64) TaskCell {  // one cache line
    Task task;
  };

  // Which slots of a level hold timers: two steps of bits, so that finding the next one is O(1).
  struct Occupancy {
    void Set(Index slot);
    void Clear(Index slot);
    // The first at or after `slot`, around the end; kNone if all are empty.
    Index FirstFrom(Index slot) const;

    uint64_t words[kLevelSlots / 64] = {};
    uint64_t words_used = 0;  // bit i: words[i] is not 0
  };

  struct Slot {
    Tick start;
    int level;
    Index list;
  };

  static Index SlotOf(int level, Tick tick) {
    return static_cast<Index>(tick >> (level * kLevelBits)) % kLevelSlots;
  }
  static Tick SlotsBetween(int level, Tick from, Tick to) {
    return (to >> (level * kLevelBits)) - (from >> (level * kLevelBits));
  }
  static Index ListAt(int level, Index slot) {
    return static_cast<Index>(level) * kLevelSlots + slot;
  }

  Index NodesEnd() const { return static_cast<Index>(nodes_.size()) * kChunkNodes; }
  Node& At(Index index) { return nodes_[index / kChunkNodes][index % kChunkNodes]; }
  const Node& At(Index index) const { return nodes_[index / kChunkNodes][index % kChunkNodes]; }
  Task& TaskAt(Index index) { return tasks_[index / kChunkNodes][index % kChunkNodes].task; }
  bool IsEmpty(Index list) const { return At(list).next == list; }

  Index ListFor(Tick tick) const;
  void RunFirstDue();

  void Advance(Tick target);
  Slot FirstSlot() const;
  void Cascade(const Slot& slot);

  Index TakeFree();
  void GiveFree(Index index);
  void AddChunk();

  void NoteTick(Index list, Tick tick);
  void NoteEmpty(Index list);
  void PushBack(Index list, Index index);
  void PushFront(Index list, Index index);
  void Link(Index prev, Index index, Index next);
  void Forget(Index index);
  void AppendAll(Index to, Index from);

  TimePoint now_;  // of the last RunDue
  Tick tick_;      // of now_; inside Advance, the tick up to which the levels are in order
  size_t size_ = 0;
  bool running_ = false;
  Index free_head_ = kNone;
  Occupancy occupancy_[kLevels];
  std::vector<std::unique_ptr<Node[]>> nodes_;
  std::vector<std::unique_ptr<TaskCell[]>> tasks_;  // null where nodes_ has only heads
};

}  // namespace denselet::reactor
