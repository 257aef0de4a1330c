#include "kube/api/patch/element_order.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "kube/api/patch/patch_terms.h"

namespace denselet::kube {

ElementOrder::ElementOrder(const Json::List& list, std::string_view merge_key)
    : merge_key_(merge_key) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (const Json* key = MergeKeyOf(list[i], merge_key_)) places_.emplace(key->ToString(), i);
  }
}

std::optional<size_t> ElementOrder::Find(const Json& element) const {
  const Json* key = MergeKeyOf(element, merge_key_);
  if (key == nullptr) return std::nullopt;
  const auto found = places_.find(key->ToString());
  if (found == places_.end()) return std::nullopt;
  return found->second;
}

void ElementOrder::Sort(Json::List& elements) const {
  std::vector<std::pair<size_t, Json>> placed;
  placed.reserve(elements.size());
  for (Json& element : elements) {
    const size_t place = Find(element).value_or(SIZE_MAX);
    placed.emplace_back(place, std::move(element));
  }
  std::ranges::stable_sort(placed, {}, &std::pair<size_t, Json>::first);
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = std::move(placed[i].second);
}

SplitElements Split(Json::List elements, const ElementOrder& order) {
  SplitElements split;
  for (Json& element : elements) {
    (order.Find(element) ? split.known : split.others).push_back(std::move(element));
  }
  return split;
}

Json::List Interleave(Json::List live, Json::List patched, const ElementOrder& live_order) {
  const auto before = [&](const Json& a, const Json& b) {
    const auto place_a = live_order.Find(a), place_b = live_order.Find(b);
    return place_a && place_b && *place_a < *place_b;
  };
  Json::List all;
  all.reserve(live.size() + patched.size());
  size_t next = 0;
  for (Json& element : patched) {
    while (next < live.size() && before(live[next], element)) {
      all.push_back(std::move(live[next++]));
    }
    all.push_back(std::move(element));
  }
  while (next < live.size()) all.push_back(std::move(live[next++]));
  return all;
}

}  // namespace denselet::kube
