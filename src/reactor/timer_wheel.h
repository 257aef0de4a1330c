// Timers by the million: arming and disarming touch the same few cache lines however many are
// armed, which a heap or a tree cannot offer. Owned by a loop and used on its thread only; ends
// with the loop, which destroys the tasks that have not run.
//
// A hierarchical wheel. Level k has 1024 slots of 1024^k ms each: 1 ms, 1 s, 17 min, 12 days, 34
// years. Together they span more than a TimePoint can tell, so there is no list of far timers. A
// timer sits in the finest level whose 1024 slots, counted from now, reach its time. When time
// enters a slot of a coarser level, the slot's timers move one level down: at most four moves in a
// timer's life, at most one if armed for less than 17 minutes. The timers of a slot move together:
// of a million spread over ten minutes 1700 each second, but of a million spread over hours all
// those of 17 minutes at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/time.h"
#include "reactor/api/loop.h"

namespace denselet::reactor {

// Order. A timer's tick is its time rounded up to a millisecond; when that time has come already,
// the tick of the last RunDue. Timers run in the order of their ticks, and those of one tick in the
// order in which they were armed, whatever levels they went through.
//
// Memory. 96 bytes a timer: 32 of links and 64 of Task, plus what the Task allocates for a callable
// larger than UniqueFunction::kInlineBytes. It grows with the most timers ever armed at once, is
// reused and not given back. A wheel without timers takes 170 KB, nearly all of it list heads.
class TimerWheel final {
 public:
  // More at once is a leak of ours, not load: Arm fails a CHECK.
  static constexpr uint32_t kTimersMax = 1 << 24;

  explicit TimerWheel(TimePoint now);
  ~TimerWheel();  // destroys the tasks, which may still disarm
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  // O(1). What is not later than the last RunDue is due at the next one, even within the same
  // millisecond. kNever, and what rounds up to later than any clock can read, is never due.
  TimerId Arm(TimePoint when, Task task);

  // O(1). Destroys the task, whose destructor may arm and disarm. True: it was armed and will not
  // run.
  bool Disarm(TimerId timer);

  // Runs what is due at `now`, at most tasks_max tasks, and returns how many ran. The rest stays
  // due and goes first the next time. A task may arm and disarm anything: its own timer is no
  // longer armed when it runs, and what it arms waits for the next call even if due at once. It
  // must not call RunDue or destroy the wheel. `now` must not go back. The cost is in timers moved
  // and run, not in time passed.
  size_t RunDue(TimePoint now, size_t tasks_max);

  // When RunDue will next have something to run: a whole millisecond; the time of the last RunDue
  // if something is due already; kNever if nothing will ever be. O(levels), never too late, and
  // exact but for one case: after the earliest timer of a slot was disarmed while others are in
  // that slot, and the slot is not one of the finest level, the disarmed timer's time may still be
  // named. A RunDue at that time runs nothing and makes it exact: one vain call for such a slot.
  TimePoint NextDue() const;

  // Destroys all tasks unrun, also those that their destructors arm.
  void Clear();

  // Armed timers: also those due but not yet run, and those that never will be.
  size_t size() const { return size_; }

 private:
  using Tick = int64_t;  // milliseconds of TimePoint, signed as they are
  using Index = uint32_t;

  static constexpr int kLevels = 5;
  static constexpr int kLevelBits = 10;
  static constexpr Index kLevelSlots = 1 << kLevelBits;

  // Nodes have indices. The first are the heads of circular lists, so that unlinking needs to know
  // neither list nor end: one for each slot, level by level, and three more. Then the timers.
  static constexpr Index kWheelEnd = kLevels * kLevelSlots;
  static constexpr Index kDue = kWheelEnd;             // in the order in which they will run
  static constexpr Index kDueNextRun = kWheelEnd + 1;  // armed when their time had come
  static constexpr Index kNeverDue = kWheelEnd + 2;
  static constexpr Index kTimersBegin = kWheelEnd + 3;
  static constexpr Index kNone = UINT32_MAX;

  // Apart from the tasks: unlinking touches the neighbours' links too, and small ones stay cached.
  struct alignas(32) Node {
    Tick tick;  // of a slot's head: the earliest in the slot, or earlier
    Index prev;
    Index next;           // of a free node: the next free one
    uint32_t generation;  // 0, which no id has: a head, or a node whose generations are used up
  };

  struct alignas(64) Cell {  // one cache line
    Task task;
  };

  static constexpr size_t kPageBytes = 2 << 20;
  enum class PageKind : uint8_t { kSmall, kHuge };
  struct FreePage {
    void operator()(void* page) const;
  };
  static void* NewPage(PageKind kind);

  // An array that grows by pages and never moves. Memory is touched element by element, so the
  // first page costs a small wheel no more than it uses. The pages after it are huge ones where the
  // kernel has them: with a million timers that saves a third of the time, spent on TLB misses.
  template <class T>
  struct Pages {
    static constexpr Index kPerPage = kPageBytes / sizeof(T);

    T& operator[](Index i) const { return pages[i / kPerPage][i % kPerPage]; }

    // Where the element after the last one goes, for the caller to construct.
    T* Place(Index i) {
      if (i / kPerPage == pages.size()) {
        const PageKind kind = pages.empty() ? PageKind::kSmall : PageKind::kHuge;
        pages.emplace_back(static_cast<T*>(NewPage(kind)));
      }
      return &(*this)[i];
    }

    std::vector<std::unique_ptr<T[], FreePage>> pages;
  };

  // Which slots of a level hold timers. Bits over bits, so that the next one is found in O(1).
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

  Node& At(Index index) { return nodes_[index]; }
  const Node& At(Index index) const { return nodes_[index]; }
  Task& TaskAt(Index index) { return cells_[index - kTimersBegin].task; }
  bool IsEmpty(Index list) const { return At(list).next == list; }

  Index ListFor(Tick tick) const;
  void RunFirstDue();

  void Advance(Tick target);
  Slot FirstSlot() const;
  void Cascade(const Slot& slot);

  Index TakeFree();
  void GiveFree(Index index);

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
  Pages<Node> nodes_;
  Index nodes_end_ = 0;
  Pages<Cell> cells_;  // of the timers only: that of node i is at i - kTimersBegin
};

}  // namespace denselet::reactor
