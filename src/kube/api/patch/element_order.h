// The order of a list whose elements are merged: that of another list, where it knows them.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kube/api/patch/json_tree.h"

namespace denselet::kube {

// Where the elements of a list stand, found by their merge key (by themselves, where that is
// empty).
class ElementOrder {
 public:
  ElementOrder(const Json::List& list, std::string_view merge_key);

  // Of several that are the same, the first; nothing: there is none.
  std::optional<size_t> Find(const Json& element) const;

  // The elements that the list knows come in its order, behind them the others as they are.
  void Sort(Json::List& elements) const;

 private:
  std::string merge_key_;
  std::map<std::string, size_t, std::less<>> places_;
};

// The elements that `order` knows, and the others, each as they follow each other.
struct SplitElements {
  Json::List known;
  Json::List others;
};
SplitElements Split(Json::List elements, const ElementOrder& order);

// Both lists in one, each as it is; an element of `live` comes before one of `patched` where
// `live_order` knows both and says so.
Json::List Interleave(Json::List live, Json::List patched, const ElementOrder& live_order);

}  // namespace denselet::kube
