// When an image is pulled that is there already.
#pragma once

#include <cstdint>
#include <string_view>

namespace denselet::sync {

enum class PullPolicy : uint8_t { kAlways, kIfNotPresent, kNever };

// The API server and the pod sources have filled it in; what is left is what both would say.
constexpr PullPolicy PullPolicyOf(std::string_view text) {
  if (text == "Always") return PullPolicy::kAlways;
  if (text == "Never") return PullPolicy::kNever;
  return PullPolicy::kIfNotPresent;
}

}  // namespace denselet::sync
