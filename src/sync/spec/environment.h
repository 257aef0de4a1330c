// The variables of a container as its specification names them, `$(NAME)` in them expanded.
//
// Pure functions, on any thread.
#pragma once

#include "base/result.h"
#include "kube/api/fwd.h"
#include "sync/ports/runtime_spec.h"

namespace denselet::sync {

// Sorted by name; of a name that comes twice the last counts. kUnsupported: a value from somewhere
// else (a configMap, a secret, a field), for which nobody answers yet.
Result<KeyValues> EnvironmentOf(const kube::core::Container& container);

}  // namespace denselet::sync
