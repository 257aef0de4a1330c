// The only way through a map whose order in memory is random: protobuf maps and unordered
// containers. What leaves the process or decides must not depend on that order.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

namespace denselet::kube {

// Pointers to the entries, by ascending key: `for (const auto* entry : Sorted(pod.labels()))`. They
// live as long as the map is not changed.
template <class Map>
std::vector<const typename Map::value_type*> Sorted(const Map& map) {
  std::vector<const typename Map::value_type*> entries;
  entries.reserve(map.size());
  for (const auto& entry : map) entries.push_back(&entry);
  std::ranges::sort(
      entries, {}, [](const auto* entry) -> const auto& { return entry->first; });
  return entries;
}

}  // namespace denselet::kube
