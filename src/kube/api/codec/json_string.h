// Text in JSON's quotes.
#pragma once

#include <string>
#include <string_view>

namespace denselet::kube {

// Bytes that are no UTF-8 become U+FFFD, one for each byte, as Go writes them.
std::string JsonString(std::string_view text);

}  // namespace denselet::kube
