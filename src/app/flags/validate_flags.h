// What is wrong with flags that no file replaces, when each of them is well-formed.
#pragma once

#include <vector>

#include "app/flags/parsed_flags.h"
#include "kube/api/fault.h"

namespace denselet::app {

// All of them; their paths are the flags: "--node-labels".
std::vector<kube::Fault> ValidateFlags(const ParsedFlags& flags);

// Whether a node may give itself a label of that key: one outside of Kubernetes' own name spaces,
// or one of the few within that are allowed.
bool MayLabelItself(std::string_view key);

}  // namespace denselet::app
