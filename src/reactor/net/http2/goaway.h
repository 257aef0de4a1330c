// What a server gave as its reason when it ended a connection, in words for messages and logs.
// Internal to http2/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace denselet::net {

// `GOAWAY (ENHANCE_YOUR_CALM, "too_many_pings")`; without the second part when there is no debug
// data. They are the server's choice: control characters are escaped, and what is too long is cut.
std::string GoAwayText(uint32_t http2_error, std::string_view debug_data);

}  // namespace denselet::net
