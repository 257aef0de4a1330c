// Two versions: the Kubernetes release whose kubelet we stand in for, and our own.
#pragma once

#include <string_view>

namespace denselet::app {

extern const std::string_view kKubernetesVersion;  // "v1.36.3"
extern const std::string_view kDenseletVersion;    // "0.1.0"

}  // namespace denselet::app
