// Which pod somebody means by a name on the command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/ctl/rows.h"
#include "base/result.h"

namespace denselet::app {

// `name` is NAME or NAMESPACE/NAME; `ns` is given by an option. kNotFound, with those that are
// written much the same; kConflict: several namespaces have it, which are named. Several pods of
// one namespace and name (one ends, the next begins) are one answer.
Result<PodRow> FindPod(const std::vector<PodRow>& pods, std::string_view name,
                       const std::optional<std::string>& ns);

// How many letters must be changed, added or left out to make one of the other.
size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace denselet::app
