// A bounded queue from one thread to one other. Neither side ever waits; a full queue refuses and
// leaves the value with the producer.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"

namespace denselet::reactor {

template <class T>
class SpscQueue {
 public:
  // Room for at least entries_max.
  explicit SpscQueue(size_t entries_max)
      : mask_(std::bit_ceil(entries_max) - 1),
        slots_(std::make_unique<std::optional<T>[]>(mask_ + 1)) {
    CHECK(entries_max > 0);
  }

  // Producer. Takes the value only on success.
  [[nodiscard]] bool TryPush(T&& value) {
    const size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_seen_ > mask_) {
      head_seen_ = head_.load(std::memory_order_acquire);
      if (tail - head_seen_ > mask_) return false;
    }
    slots_[tail & mask_].emplace(std::move(value));
    tail_.store(tail + 1, std::memory_order_release);
    return true;
  }

  // Consumer.
  std::optional<T> TryPop() {
    const size_t head = head_.load(std::memory_order_relaxed);
    if (head == tail_seen_) {
      tail_seen_ = tail_.load(std::memory_order_acquire);
      if (head == tail_seen_) return std::nullopt;
    }
    std::optional<T> value = std::move(slots_[head & mask_]);
    slots_[head & mask_].reset();
    head_.store(head + 1, std::memory_order_release);
    return value;
  }
  bool empty() const {
    return head_.load(std::memory_order_relaxed) == tail_.load(std::memory_order_acquire);
  }

 private:
  const size_t mask_;
  const std::unique_ptr<std::optional<T>[]> slots_;
  // Each side has its index and its last sight of the other's on a cache line of its own.
  alignas(64) std::atomic<size_t> head_ = 0;
  size_t tail_seen_ = 0;
  alignas(64) std::atomic<size_t> tail_ = 0;
  size_t head_seen_ = 0;
};

}  // namespace denselet::reactor
