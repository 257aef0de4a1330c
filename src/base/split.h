// Taking a text apart without a copy.
#pragma once

#include <algorithm>
#include <string_view>

namespace denselet {

// The part up to the separator, or all of it; it is taken off `text`, and the separator with it.
inline std::string_view TakeUntil(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

}  // namespace denselet
