// What was used last, up to a number of entries: the one that was not used for longest goes first.
// Found by a hash of 128 bits, so that an entry costs the same whatever it is about.
#pragma once

#include <cstddef>
#include <cstring>
#include <list>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/hash.h"

namespace denselet::events {

template <class Value>
class Lru {
 public:
  explicit Lru(size_t entries_max) : entries_max_(entries_max) { CHECK(entries_max > 0); }

  // Null: not there, or forgotten. Valid until the next Add. Counts as a use.
  Value* Find(const Fnv128& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &entries_.front().second;
  }

  // In the place of what was there.
  Value& Add(const Fnv128& key, Value value) {
    if (Value* there = Find(key)) {
      *there = std::move(value);
      return *there;
    }
    if (entries_.size() == entries_max_) {
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(key, std::move(value));
    places_.emplace(key, entries_.begin());
    return entries_.front().second;
  }

  size_t size() const { return entries_.size(); }

 private:
  struct Hash {
    size_t operator()(const Fnv128& key) const {
      size_t part = 0;
      std::memcpy(&part, key.data(), sizeof part);
      return part;
    }
  };
  using Entries = std::list<std::pair<Fnv128, Value>>;

  const size_t entries_max_;
  Entries entries_;
  std::unordered_map<Fnv128, typename Entries::iterator, Hash> places_;
};

}  // namespace denselet::events
