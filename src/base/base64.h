// Bytes as text: the standard alphabet with padding, as Go's encoding/json writes and reads them.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace denselet {

std::string Base64Encode(std::string_view bytes);

// Newlines are ignored, padding is required, bits that do not fill a byte do not count.
Result<std::string> Base64Decode(std::string_view text);

}  // namespace denselet
