// A bounded queue from one thread to one other. Neither side ever waits; a full queue refuses and
// leaves the value with the producer.
//
// Its memory follows what waits in it: values lie in chunks that the producer adds and the consumer
// takes away, of which one is kept for the next time. A queue whose bound is for the worst hour
// costs little in all others.
#pragma once

#include <algorithm>
#include <array>
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
      : entries_max_(std::bit_ceil(entries_max)), reading_(new Chunk), writing_(reading_) {
    CHECK(entries_max > 0);
  }
  ~SpscQueue() {
    delete spare_.load(std::memory_order_acquire);
    while (reading_ != nullptr) delete std::exchange(reading_, reading_->next);
  }
  SpscQueue(const SpscQueue&) = delete;
  SpscQueue& operator=(const SpscQueue&) = delete;

  // Producer. Takes the value only on success.
  [[nodiscard]] bool TryPush(T&& value) {
    const size_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - head_seen_ >= entries_max_) {
      head_seen_ = head_.load(std::memory_order_acquire);
      if (tail - head_seen_ >= entries_max_) return false;
    }
    if (written_ == kChunkEntries) AddChunk();
    writing_->entries[written_++].emplace(std::move(value));
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
    if (read_ == kChunkEntries) TakeChunkAway();
    std::optional<T>& entry = reading_->entries[read_++];
    std::optional<T> value = std::move(entry);
    entry.reset();
    head_.store(head + 1, std::memory_order_release);
    return value;
  }
  bool empty() const {
    return head_.load(std::memory_order_relaxed) == tail_.load(std::memory_order_acquire);
  }

 private:
  static constexpr size_t kChunkEntries =
      std::bit_floor(std::clamp<size_t>(8192 / sizeof(std::optional<T>), 8, 256));

  struct Chunk {
    std::array<std::optional<T>, kChunkEntries> entries = {};
    // Written before the tail moves into the next chunk, read after it was seen there.
    Chunk* next = nullptr;
  };

  void AddChunk() {
    Chunk* fresh = spare_.exchange(nullptr, std::memory_order_acquire);
    if (fresh == nullptr) fresh = new Chunk;
    fresh->next = nullptr;
    writing_->next = fresh;
    writing_ = fresh;
    written_ = 0;
  }
  // The producer has left it behind: there is something in the next one.
  void TakeChunkAway() {
    Chunk* const empty = std::exchange(reading_, reading_->next);
    read_ = 0;
    delete spare_.exchange(empty, std::memory_order_acq_rel);
  }

  const size_t entries_max_;
  // Each side has what is its own, and its last sight of the other's, on a cache line of its own.
  alignas(64) std::atomic<size_t> head_ = 0;
  size_t tail_seen_ = 0;
  Chunk* reading_;
  size_t read_ = 0;  // of its entries
  alignas(64) std::atomic<size_t> tail_ = 0;
  size_t head_seen_ = 0;
  Chunk* writing_;
  size_t written_ = 0;
  alignas(64) std::atomic<Chunk*> spare_ = nullptr;
};

}  // namespace denselet::reactor
