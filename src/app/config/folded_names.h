// Names of fields in drop-ins. The kubelet merges drop-ins as JSON, where names are what they are,
// and then reads the sum with Go's own decoder, for which "maxpods" is maxPods: of several
// spellings of one field the last in the order of their bytes counts, and objects are put together.
// Files given by --config are read by another decoder, which is strict.
//
// Pure functions, on any thread.
#pragma once

#include <string_view>

#include "app/config/origins.h"
#include "kube/api/codec/schema.h"
#include "kube/api/patch/json_tree.h"

namespace denselet::app {

// Gives every field of the merged drop-ins the name that it has, and to its origin the path.
void FoldNames(const kube::MessageSchema& schema, kube::Json& document, Origins& origins);

// Whether Go takes it for a field, though it is spelt otherwise. A path as the codec writes it: all
// but its last name are spelt right.
bool IsOtherSpelling(const kube::MessageSchema& schema, std::string_view path);

}  // namespace denselet::app
