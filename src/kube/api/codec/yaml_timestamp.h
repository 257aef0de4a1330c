// Which texts go-yaml v2 takes for times. They stay texts, but are quoted when written.
#pragma once

#include <string_view>

namespace denselet::kube {

// "2026-1-2", "2026-01-02T15:04:05Z", "2026-01-02 15:04:05.5"
bool IsYamlTimestamp(std::string_view text);

}  // namespace denselet::kube
