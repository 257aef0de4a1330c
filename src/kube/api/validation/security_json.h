// Values in upstream's messages that are whole structs: they are shown as JSON of its internal
// types, whose fields have the names of Go's and are all there.
#pragma once

#include <string>

#include "kube/api/types.h"

namespace denselet::kube {

std::string ToInternalJson(const core::SeccompProfile& profile);
std::string ToInternalJson(const core::SecurityContext& context);

}  // namespace denselet::kube
