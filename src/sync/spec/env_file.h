// Files of environment variables (gate EnvFiles): NAME='value' lines, the part of a shell's syntax
// that upstream reads.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace denselet::sync {

// Empty: the file has no such name, or an empty value for it. What comes behind the name is not
// looked at.
Result<std::string> ValueInEnvFile(std::string_view text, std::string_view name);

}  // namespace denselet::sync
