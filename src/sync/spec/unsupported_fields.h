// What a pod asks for that nobody here can do yet, and without which it would be another pod than
// the one that was asked for: less isolated, or without its devices. The one place that names them:
// who learns to do one takes its line away.
//
// Volumes and variables from elsewhere are refused by those who would make them
// (managers/volume, environment.h). What is merely missing (hostAliases, DNS) stands in the
// README.
//
// Pure functions, on any thread.
#pragma once

#include "base/result.h"
#include "kube/api/fwd.h"

namespace denselet::sync {

// kUnsupported, with the field in words for people: nothing of this pod may be started.
Status CheckSupported(const kube::core::Pod& pod);

}  // namespace denselet::sync
