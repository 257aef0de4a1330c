// JSON as encoding/json writes it, piece by piece.
#pragma once

#include <string>
#include <string_view>

namespace denselet::kube {

// In quotes. Also < > & and the line separators U+2028 and U+2029 are escaped; a byte that is not
// UTF-8 becomes U+FFFD.
void AppendJsonText(std::string_view text, std::string& out);

}  // namespace denselet::kube
