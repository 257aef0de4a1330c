// The order in which go-yaml v2 writes the keys of a map.
#pragma once

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

namespace denselet::kube {

// Letters behind everything else, runs of digits by their number: "a-1", "a2", "a10", "aa". Not an
// order in the strict sense: a1y < a5 < a12 < a1y.
bool YamlKeyLess(std::string_view a, std::string_view b);

// By YamlKeyLess, where that is an order; in any case the same keys give the same result, and equal
// ones stay as they were. Not by std::stable_sort, which may do anything when there is no order.
template <class T, class KeyOf = std::identity>
void SortYamlKeys(std::vector<T>& members, KeyOf key_of) {
  std::ranges::stable_sort(members, {}, key_of);
  std::vector<T> merged(members);
  for (size_t width = 1; width < members.size(); width *= 2) {
    for (size_t begin = 0; begin < members.size(); begin += 2 * width) {
      size_t left = begin, right = std::min(begin + width, members.size());
      const size_t middle = right, end = std::min(begin + 2 * width, members.size());
      for (size_t out = begin; out < end; ++out) {
        const bool take_right =
            left == middle ||
            (right < end && YamlKeyLess(key_of(members[right]), key_of(members[left])));
        merged[out] = members[take_right ? right++ : left++];
      }
    }
    members.swap(merged);
  }
}

}  // namespace denselet::kube
