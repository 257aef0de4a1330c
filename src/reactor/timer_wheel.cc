#include "reactor/timer_wheel.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>
#include <new>
#include <utility>

#include "base/check.h"

namespace denselet::reactor {
namespace {

constexpr int64_t TickDown(TimePoint t) {
  return std::chrono::floor<Milliseconds>(t.time_since_epoch()).count();
}

constexpr int64_t TickUp(TimePoint t) {
  return std::chrono::ceil<Milliseconds>(t.time_since_epoch()).count();
}

constexpr TimePoint TimeOf(int64_t tick) { return TimePoint(Milliseconds(tick)); }

// No reading of the clock is later.
constexpr int64_t kTickMax = TickDown(kNever);

}  // namespace

void* TimerWheel::NewPage(PageKind kind) {
  void* page = ::operator new (kPageBytes, std::align_val_t{kPageBytes});
  // Only a wish: a kernel without huge pages refuses, and gives small ones.
  if (kind == PageKind::kHuge) ::madvise(page, kPageBytes, MADV_HUGEPAGE);
  return page;
}

void TimerWheel::FreePage::operator()(void* page) const {
  ::operator delete (page, std::align_val_t{kPageBytes});
}

void TimerWheel::Occupancy::Set(Index slot) {
  words[slot / 64] |= uint64_t{1} << (slot % 64);
  words_used |= uint64_t{1} << (slot / 64);
}

void TimerWheel::Occupancy::Clear(Index slot) {
  uint64_t& word = words[slot / 64];
  word &= ~(uint64_t{1} << (slot % 64));
  if (word == 0) words_used &= ~(uint64_t{1} << (slot / 64));
}

TimerWheel::Index TimerWheel::Occupancy::FirstFrom(Index slot) const {
  if (words_used == 0) return kNone;
  const Index word = slot / 64;
  const uint64_t here = words[word] & (~uint64_t{0} << (slot % 64));
  if (here != 0) return word * 64 + static_cast<Index>(std::countr_zero(here));
  // Around the end this word comes again, now for the slots before `slot`.
  const uint64_t behind = words_used & (~uint64_t{1} << word);
  const auto next = static_cast<Index>(std::countr_zero(behind != 0 ? behind : words_used));
  return next * 64 + static_cast<Index>(std::countr_zero(words[next]));
}

TimerWheel::TimerWheel(TimePoint now) : now_(now), tick_(TickDown(now)) {
  static_assert(sizeof(Node) == 32 && sizeof(Cell) == 64);
  static_assert((kTickMax >> (kLevels * kLevelBits - 1)) == 0, "the top level must not wrap");
  for (; nodes_end_ < kTimersBegin; ++nodes_end_) {
    ::new (nodes_.Place(nodes_end_)) Node{0, nodes_end_, nodes_end_, 0};
  }
}

TimerWheel::~TimerWheel() { Clear(); }

void TimerWheel::Clear() {
  CHECK(!running_);
  // One by one and with the wheel intact, because a task's destructor may disarm others.
  while (size_ > 0) {
    for (Index i = kTimersBegin; i < nodes_end_; ++i) {
      if (TaskAt(i)) Disarm(TimerId{{i, At(i).generation}});
    }
  }
}

TimerId TimerWheel::Arm(TimePoint when, Task task) {
  CHECK(task);
  const Index index = TakeFree();
  Node& node = At(index);
  node.tick = TickUp(when);
  TaskAt(index) = std::move(task);
  PushBack(when > now_ ? ListFor(node.tick) : kDueNextRun, index);
  ++size_;
  return TimerId{{index, node.generation}};
}

bool TimerWheel::Disarm(TimerId timer) {
  const Index index = timer.key.index;
  if (timer.key.generation == 0 || index >= nodes_end_) return false;
  if (At(index).generation != timer.key.generation) return false;
  __builtin_prefetch(&TaskAt(index), 1);  // one cache miss at the same time as those of Forget
  Forget(index);
  // The node is free only afterwards: the task's destructor may arm.
  TaskAt(index) = nullptr;
  GiveFree(index);
  return true;
}

size_t TimerWheel::RunDue(TimePoint now, size_t tasks_max) {
  CHECK(!running_);
  CHECK(now >= now_);
  now_ = now;
  AppendAll(kDue, kDueNextRun);
  Advance(TickDown(now));

  running_ = true;
  size_t ran = 0;
  for (; ran < tasks_max && !IsEmpty(kDue); ++ran) RunFirstDue();
  running_ = false;
  return ran;
}

void TimerWheel::RunFirstDue() {
  const Index index = At(kDue).next;
  Forget(index);
  Task task = std::move(TaskAt(index));
  GiveFree(index);
  // The next task arrives in the cache while this one runs.
  const Index next = At(kDue).next;
  if (next >= kTimersBegin) __builtin_prefetch(&TaskAt(next));
  task();
}

TimePoint TimerWheel::NextDue() const {
  if (!IsEmpty(kDue) || !IsEmpty(kDueNextRun)) return now_;
  Tick earliest = std::numeric_limits<Tick>::max();
  for (int level = 0; level < kLevels; ++level) {
    const Index slot = occupancy_[level].FirstFrom(SlotOf(level, tick_));
    if (slot != kNone) earliest = std::min(earliest, At(ListAt(level, slot)).tick);
  }
  return earliest <= kTickMax ? TimeOf(earliest) : kNever;
}

TimerWheel::Index TimerWheel::ListFor(Tick tick) const {
  if (tick > kTickMax) return kNeverDue;
  int level = 0;
  while (SlotsBetween(level, tick_, tick) >= kLevelSlots) ++level;
  return ListAt(level, SlotOf(level, tick));
}

// Moves everything up to `target` to kDue, and all else to where it belongs at that time. Jumps
// from one occupied slot to the next, so that time without timers costs nothing.
void TimerWheel::Advance(Tick target) {
  for (Slot slot = FirstSlot(); slot.start <= target; slot = FirstSlot()) {
    tick_ = slot.start;
    if (slot.level == 0) {
      AppendAll(kDue, slot.list);
    } else {
      Cascade(slot);
    }
  }
  tick_ = target;
}

// The first to be entered; of several that start together the coarsest, whose timers belong into
// the finer ones.
TimerWheel::Slot TimerWheel::FirstSlot() const {
  Slot first{.start = std::numeric_limits<Tick>::max(), .level = 0, .list = kNone};
  for (int level = kLevels - 1; level >= 0; --level) {
    const Index here = SlotOf(level, tick_);
    const Index slot = occupancy_[level].FirstFrom(here);
    if (slot == kNone) continue;
    const Tick ahead = (slot - here) % kLevelSlots;
    const int shift = level * kLevelBits;
    const Tick start = ((tick_ >> shift) + ahead) << shift;
    if (start < first.start) first = {start, level, ListAt(level, slot)};
  }
  return first;
}

// Keeps the order of arming within a tick: as time only goes forward, the later of two timers with
// the same tick was armed into the same level or a finer one. So what comes from above is older
// than all with its tick that are already there, and goes in front of them, last first.
void TimerWheel::Cascade(const Slot& slot) {
  Node& head = At(slot.list);
  Index index = head.prev;
  head.prev = head.next = slot.list;
  NoteEmpty(slot.list);
  while (index != slot.list) {
    const Node& node = At(index);
    const Index before = node.prev;
    PushFront(ListAt(slot.level - 1, SlotOf(slot.level - 1, node.tick)), index);
    index = before;
  }
}

TimerWheel::Index TimerWheel::TakeFree() {
  if (free_head_ != kNone) return std::exchange(free_head_, At(free_head_).next);
  CHECK(nodes_end_ < kTimersBegin + kTimersMax);
  ::new (nodes_.Place(nodes_end_)) Node{0, kNone, kNone, 1};
  ::new (cells_.Place(nodes_end_ - kTimersBegin)) Cell;
  return nodes_end_++;
}

void TimerWheel::GiveFree(Index index) {
  Node& node = At(index);
  // Generations used up: retired, so that an old id does not come to life.
  if (node.generation == 0) return;
  node.next = free_head_;
  free_head_ = index;
}

void TimerWheel::NoteTick(Index list, Tick tick) {
  if (list >= kWheelEnd) return;
  Node& head = At(list);
  if (head.next != list) {
    head.tick = std::min(head.tick, tick);
    return;
  }
  head.tick = tick;
  occupancy_[list / kLevelSlots].Set(list % kLevelSlots);
}

void TimerWheel::NoteEmpty(Index list) {
  if (list < kWheelEnd) occupancy_[list / kLevelSlots].Clear(list % kLevelSlots);
}

void TimerWheel::PushBack(Index list, Index index) {
  NoteTick(list, At(index).tick);
  Link(At(list).prev, index, list);
}

void TimerWheel::PushFront(Index list, Index index) {
  NoteTick(list, At(index).tick);
  Link(list, index, At(list).next);
}

void TimerWheel::Link(Index prev, Index index, Index next) {
  Node& node = At(index);
  node.prev = prev;
  node.next = next;
  At(prev).next = index;
  At(next).prev = index;
}

// From here on no id names the timer.
void TimerWheel::Forget(Index index) {
  Node& node = At(index);
  // Stores become visible in order, so two that miss the cache would wait one for the other.
  __builtin_prefetch(&At(node.prev), 1);
  __builtin_prefetch(&At(node.next), 1);
  At(node.prev).next = node.next;
  At(node.next).prev = node.prev;
  if (node.prev == node.next) NoteEmpty(node.prev);  // only a head is alone
  ++node.generation;
  --size_;
}

void TimerWheel::AppendAll(Index to, Index from) {
  if (IsEmpty(from)) return;
  Node& source = At(from);
  Node& target = At(to);
  At(target.prev).next = source.next;
  At(source.next).prev = target.prev;
  At(source.prev).next = to;
  target.prev = source.prev;
  source.prev = source.next = from;
  NoteEmpty(from);
}

}  // namespace denselet::reactor
