#include "bench/cri_sim/cri_messages.h"

#include <map>
#include <string_view>

namespace denselet::cri_sim {

Pairs ToPairs(const google::protobuf::Map<std::string, std::string>& map) {
  // tidy: allow random-order because this sorts
  const std::map<std::string_view, std::string_view> sorted(map.begin(), map.end());
  Pairs pairs;
  for (const auto& [key, value] : sorted) pairs.Add(key, value);
  pairs.ShrinkToFit();
  return pairs;
}

}  // namespace denselet::cri_sim
