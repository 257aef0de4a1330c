// What a request says in HTTP/2: the pseudo headers and those of its headers that have a meaning
// there. Internal to http2/.
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "reactor/net/http/message.h"

namespace denselet::net {

// Views into the request. Names may have capitals: nghttp2 lowers them.
using RequestHead = std::vector<std::pair<std::string_view, std::string_view>>;

// nghttp2 takes no longer block.
inline constexpr size_t kRequestHeadBytesMax = 60 * 1024;

// Fills `head`, which is empty. kInvalid: something would change the shape of the message, or it is
// longer than `bytes_max` as SETTINGS_MAX_HEADER_LIST_SIZE counts. Left out are Host (the authority
// says it) and what belongs to a connection of HTTP/1: Connection and what it names, Keep-Alive,
// Proxy-Connection, Transfer-Encoding, Upgrade, and TE unless it says "trailers".
Status MakeRequestHead(const HttpRequest& request, size_t bytes_max, RequestHead& head);

}  // namespace denselet::net
