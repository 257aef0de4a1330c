// What a scalar of YAML means: the rules of YAML 1.1 as go-yaml v2 has them, which is what the
// whole Kubernetes ecosystem reads YAML with. For the YAML part of the codec alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"

namespace denselet::kube {

// null, true, 7, 18446744073709551615 (only what is too big for an int64_t), 1.5, "text"
using YamlScalar = std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string>;

// How the scalar was written decides: in quotes, and without a tag, it is text.
enum class YamlStyle : uint8_t { kPlain, kQuoted };

// `tag`: in its long form; empty where there is none. An error is what go-yaml says.
Result<YamlScalar> ResolveYamlScalar(std::string_view tag, YamlStyle style, std::string_view text);

// Whether the text can stand without quotes and is still read as text, also by others that follow
// YAML 1.1 to the letter.
bool IsPlainYamlText(std::string_view text);

}  // namespace denselet::kube
