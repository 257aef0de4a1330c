// Removes a directory with what is in it, one operation of the file system after the other; links
// are removed and not followed. Whoever begins it knows that nothing is mounted below.
//
// Begin hands the work from callback to callback, each of which runs once; nobody owns it. What was
// removed before something failed stays removed: begun again, it goes on from there.
#pragma once

#include <cstddef>
#include <string>

#include "base/context.h"
#include "base/result.h"
#include "reactor/api/file_system.h"

namespace denselet::managers {

struct TreeRemovalOptions {
  // Directories only: a file in them is somebody's data, and fails it.
  bool directories_only = false;
  size_t depth_max = 64;         // below the path itself; deeper is kInvalid
  size_t entries_max = 100'000;  // of one directory; more is kOverloaded
};

// What is not there is fine. A path that is no directory is kInvalid.
void RemoveTree(reactor::FileSystem& files, const Context& context, std::string path,
                const TreeRemovalOptions& options, reactor::Done<Unit> done);

}  // namespace denselet::managers
