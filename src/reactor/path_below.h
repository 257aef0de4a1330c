// Ways through directories that others may change while we go: by descriptors, and no step that
// leaves the folder or crosses a mount. Blocking, any thread; the kernel must have openat2 (5.6).
#pragma once

#include <string>

#include "base/result.h"
#include "reactor/api/disk_jobs.h"
#include "reactor/unique_fd.h"

namespace denselet::reactor::path_below {

// What is there, as O_PATH. Links are followed as long as they stay below the folder: kPermission
// if they do not.
Result<UniqueFd> Find(const PathBelow& path);
// The same, with the directories made that are missing on the way.
Result<UniqueFd> FindOrMake(const PathBelow& path, uint32_t mode);
// Links that lead out of the folder are followed as if the folder were the root.
Result<std::string> Read(const PathBelow& path, size_t bytes_max);

// See DiskCalls.
Status RemoveTree(const std::string& path);
Status ShareTree(const std::string& path, const GroupAccess& access);

}  // namespace denselet::reactor::path_below
