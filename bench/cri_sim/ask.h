// The other end of the control socket, for scripts: cri_sim --ask PATH COMMAND.
#pragma once

#include <string>

#include "base/result.h"

namespace denselet::cri_sim {

// Sends one command and waits for its answer; blocks.
Result<std::string> Ask(const std::string& control_socket, const std::string& command);

}  // namespace denselet::cri_sim
