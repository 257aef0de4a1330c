// First in, first out, with a bound fixed at construction. One thread. A full queue refuses and
// leaves the value with the caller, who knows what losing it means.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "base/check.h"

namespace denselet {

template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t entries_max)
      : entries_max_(entries_max), slots_(std::make_unique<std::optional<T>[]>(entries_max)) {
    CHECK(entries_max > 0);
  }

  BoundedQueue(const BoundedQueue&) = delete;
  BoundedQueue& operator=(const BoundedQueue&) = delete;

  // Takes the value only on success.
  [[nodiscard]] bool TryPush(T&& value) {
    if (full()) return false;
    slots_[(head_ + size_) % entries_max_].emplace(std::move(value));
    ++size_;
    return true;
  }
  [[nodiscard]] bool TryPush(const T& value) { return TryPush(T(value)); }

  std::optional<T> TryPop() {
    if (size_ == 0) return std::nullopt;
    std::optional<T> value = std::move(slots_[head_]);
    slots_[head_].reset();
    head_ = (head_ + 1) % entries_max_;
    --size_;
    return value;
  }

  T& Front() {
    CHECK(size_ > 0);
    return *slots_[head_];
  }

  size_t size() const { return size_; }
  size_t entries_max() const { return entries_max_; }
  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == entries_max_; }

 private:
  const size_t entries_max_;
  std::unique_ptr<std::optional<T>[]> slots_;
  size_t head_ = 0;
  size_t size_ = 0;
};

}  // namespace denselet
