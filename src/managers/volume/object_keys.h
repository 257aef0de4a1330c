// The keys of a configMap or secret with their values, as views into the object's bytes: a volume
// may name one key ten thousand times, and a node has it in memory once.
//
// A pure function, on any thread.
#pragma once

#include <map>
#include <string_view>

#include "base/result.h"
#include "sync/ports/pod_objects.h"

namespace denselet::managers {

using KeyViews = std::map<std::string_view, std::string_view>;

// Of a configMap its data and its binaryData. kCorrupt: it is none.
Result<KeyViews> KeysOf(sync::ObjectKind kind, std::string_view wire);

}  // namespace denselet::managers
