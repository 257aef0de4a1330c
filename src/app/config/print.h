// The configuration that holds, for people and for programs.
//
// As JSON it is what the kubelet shows, but for one thing: a header of staticPodURLHeader that is
// null is shown as an empty list, since the message holds no difference.
#pragma once

#include <string>

#include "app/config/load.h"
#include "app/config/settings.h"

namespace denselet::app {

// YAML of every field, each with a comment that says where its value came from. Fields that are not
// set at all are comments. Read again, it gives the same configuration (but for what is
// said of paths that a drop-in or a flag left relative).
std::string PrintConfig(const LoadedConfig& loaded, const LoadedSettings& own);

// What the kubelet shows at /configz: {"kubeletconfig":{...}}.
std::string PrintConfigz(const LoadedConfig& loaded);

}  // namespace denselet::app
