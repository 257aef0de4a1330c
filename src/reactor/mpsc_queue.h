// A bounded queue from any number of threads to one: how threads that are not ours (gRPC's, the
// blocking pool's) reach a shard. Pushing never blocks and never throws. After D. Vyukov's bounded
// queue: each slot has a turn number that says whose turn it is, so producers meet only at one
// counter. Large values wait outside of their slots, so an empty queue is small however much it may
// hold.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/check.h"

namespace denselet::reactor {

template <class T>
class MpscQueue {
 public:
  explicit MpscQueue(size_t entries_max)
      // Two at least: with one, a slot just filled looks like one that was emptied for the next
      // round.
      : mask_(std::bit_ceil(std::max<size_t>(entries_max, 2)) - 1),
        slots_(std::make_unique<Slot[]>(mask_ + 1)) {
    CHECK(entries_max > 0);
    for (size_t i = 0; i <= mask_; ++i) slots_[i].turn.store(i, std::memory_order_relaxed);
  }

  // Any thread. Takes the value only on success.
  [[nodiscard]] bool TryPush(T&& value) noexcept {
    size_t tail = tail_.load(std::memory_order_relaxed);
    while (true) {
      Slot& slot = slots_[tail & mask_];
      const size_t turn = slot.turn.load(std::memory_order_acquire);
      if (turn == tail) {
        if (tail_.compare_exchange_weak(tail, tail + 1, std::memory_order_relaxed)) {
          Put(slot.value, std::move(value));
          slot.turn.store(tail + 1, std::memory_order_release);
          return true;
        }
      } else if (turn < tail) {
        return false;  // still holds a value of the previous round: full
      } else {
        tail = tail_.load(std::memory_order_relaxed);
      }
    }
  }

  // The one consumer. A slot that a producer has claimed but not yet filled ends the queue for now.
  std::optional<T> TryPop() {
    Slot& slot = slots_[head_ & mask_];
    if (slot.turn.load(std::memory_order_acquire) != head_ + 1) return std::nullopt;
    std::optional<T> value(std::move(*slot.value));
    slot.value.reset();
    slot.turn.store(head_ + mask_ + 1, std::memory_order_release);
    ++head_;
    return value;
  }
  bool empty() const {
    return slots_[head_ & mask_].turn.load(std::memory_order_acquire) != head_ + 1;
  }

 private:
  static constexpr size_t kInPlaceBytes = 32;
  using Held =
      std::conditional_t<(sizeof(T) > kInPlaceBytes), std::unique_ptr<T>, std::optional<T>>;

  struct Slot {
    std::atomic<size_t> turn;
    Held value;
  };

  static void Put(std::optional<T>& held, T&& value) { held.emplace(std::move(value)); }
  static void Put(std::unique_ptr<T>& held, T&& value) {
    held = std::make_unique<T>(std::move(value));
  }

  const size_t mask_;
  const std::unique_ptr<Slot[]> slots_;
  alignas(64) std::atomic<size_t> tail_ = 0;
  alignas(64) size_t head_ = 0;
};

}  // namespace denselet::reactor
