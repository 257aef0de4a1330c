// The annotation by which a cluster tells its nodes how long what they have read of configMaps and
// secrets counts.
//
// Pure.
#pragma once

#include <optional>

#include "base/time.h"
#include "kube/api/fwd.h"

namespace denselet::app {

// Nothing: there is none, or no number of seconds.
std::optional<Duration> ObjectTtlOf(const kube::core::Node& node);

}  // namespace denselet::app
