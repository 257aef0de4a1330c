// What is known of a command before it runs: its name, its members, and those whose values can be
// read. A misspelt fault must not pass for one that was injected.
#pragma once

#include <string_view>

#include "base/result.h"

namespace denselet::cri_sim {

class Json;

// A call of CRI, or "*" for all of them.
bool IsMethodName(std::string_view name);

// `after`, the time of a command in a scenario, is a member of each.
Status CheckCommand(const Json& command);

}  // namespace denselet::cri_sim
