#include "app/agent/object_ttl.h"

#include <algorithm>
#include <charconv>

#include "kube/api/types.h"

namespace denselet::app {

std::optional<Duration> ObjectTtlOf(const kube::core::Node& node) {
  const auto& annotations = node.metadata().annotations();
  const auto found = annotations.find("node.alpha.kubernetes.io/ttl");
  if (found == annotations.end()) return std::nullopt;
  std::string_view text = found->second;
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  // Beyond a year it is for ever.
  constexpr int64_t kLongest = 365 * 24 * 3600;
  return Seconds(std::clamp<int64_t>(seconds, 0, kLongest));
}

}  // namespace denselet::app
