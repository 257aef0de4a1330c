// What is mounted below a directory, as /proc/self/mountinfo tells: nothing is removed through a
// mount point.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace denselet::managers {

inline constexpr size_t kMountTableBytesMax = size_t{64} << 20;

// The first mount point at or below `folder`, an absolute path without a slash at its end. Lines
// that cannot be read are passed over.
std::optional<std::string> MountBelow(std::string_view table, std::string_view folder);

}  // namespace denselet::managers
