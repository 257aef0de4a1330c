// Values found by index and generation: a key of a removed value finds nobody, also after its slot
// was used again. That is how late replies, timers and cancels miss their dead targets. One thread;
// bounded.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"

namespace denselet {

struct SlotKey {
  uint32_t index = 0;
  uint32_t generation = 0;  // 0 names nothing: a default key is never found

  friend auto operator<=>(const SlotKey&, const SlotKey&) = default;
};

template <class T>
class SlotMap {
 public:
  // slots_max bounds the memory. When full, Insert says so and the caller sheds.
  explicit SlotMap(uint32_t slots_max) : slots_max_(slots_max) {}
  // A copy would accept the keys of the original.
  SlotMap(const SlotMap&) = delete;
  SlotMap& operator=(const SlotMap&) = delete;

  // Takes the value only on success.
  [[nodiscard]] std::optional<SlotKey> Insert(T&& value) {
    if (free_head_ == kNone) {
      if (slots_.size() == slots_max_) return std::nullopt;
      slots_.emplace_back();
      free_head_ = static_cast<uint32_t>(slots_.size() - 1);
    }
    const uint32_t index = free_head_;
    Slot& slot = slots_[index];
    free_head_ = slot.next_free;
    slot.value.emplace(std::move(value));
    ++size_;
    return SlotKey{index, slot.generation};
  }

  // Valid until the next Insert or Remove.
  T* Find(SlotKey key) {
    if (key.index >= slots_.size()) return nullptr;
    Slot& slot = slots_[key.index];
    return slot.value && slot.generation == key.generation ? &*slot.value : nullptr;
  }
  const T* Find(SlotKey key) const { return const_cast<SlotMap*>(this)->Find(key); }

  // Moves the value out, so that its destructor runs where the caller wants it.
  std::optional<T> Remove(SlotKey key) {
    if (Find(key) == nullptr) return std::nullopt;
    Slot& slot = slots_[key.index];
    std::optional<T> value = std::move(slot.value);
    slot.value.reset();
    --size_;
    // A slot whose generations are used up is retired: an old key must not come to life after 2^32
    // reuses.
    if (++slot.generation != 0) {
      slot.next_free = free_head_;
      free_head_ = key.index;
    }
    return value;
  }

  // In the order of the slots. `visit` must not insert or remove.
  template <class Visit>
  void ForEach(Visit visit) {
    for (uint32_t i = 0; i < slots_.size(); ++i) {
      if (slots_[i].value) visit(SlotKey{i, slots_[i].generation}, *slots_[i].value);
    }
  }

  // Moves the values out, in the order of the slots.
  std::vector<T> TakeAll() {
    std::vector<SlotKey> keys;
    ForEach([&keys](SlotKey key, T&) { keys.push_back(key); });
    std::vector<T> values;
    for (const SlotKey key : keys) values.push_back(std::move(*Remove(key)));
    return values;
  }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  struct Slot {
    std::optional<T> value;
    uint32_t generation = 1;
    uint32_t next_free = kNone;
  };

  const uint32_t slots_max_;
  std::vector<Slot> slots_;
  uint32_t free_head_ = kNone;
  size_t size_ = 0;
};

}  // namespace denselet
