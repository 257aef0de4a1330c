// Names of images, as people write them into pods.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace denselet::sync {

// With ":latest" where neither tag nor digest is named. kInvalid: no name of an image.
Result<std::string> WithDefaultTag(std::string_view image);

// The full name without tag and digest, as Docker completes it: "busybox:1" is
// docker.io/library/busybox.
Result<std::string> RepositoryOf(std::string_view image);

}  // namespace denselet::sync
