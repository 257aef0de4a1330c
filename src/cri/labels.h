// Whose an object of the runtime's is, by its labels.
#pragma once

#include <string>

#include "cri/names.h"

namespace denselet::cri {

// Null: there is none. Without an allocation a look-up: lists have thousands.
template <class Map>
const std::string* PodUidLabel(const Map& labels) {
  static const std::string kKey(kPodUidLabel);
  const auto found = labels.find(kKey);
  return found == labels.end() || found->second.empty() ? nullptr : &found->second;
}

}  // namespace denselet::cri
