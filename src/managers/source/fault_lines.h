// Lines for faults that were found in a decoded pod, which has forgotten where things stood: the
// author of a manifest wants to know where to look.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "kube/api/fault.h"

namespace denselet::managers {

// Gives a line to each fault that has a path and none yet: that of the field, or of what is nearest
// around it when the field is missing. `text` is the manifest, JSON or YAML, that decoding had no
// fault with; `list_item`: the paths are those of this one of `items`.
void FindLines(std::string_view text, std::optional<size_t> list_item,
               std::vector<kube::Fault>& faults);

}  // namespace denselet::managers
