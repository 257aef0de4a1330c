// A directory on a mount whose mounts below are seen by others, and theirs by us: what mounts with
// propagation (HostToContainer, Bidirectional) stand on. Hosts without systemd often have none.
//
// Blocking, any thread; of the mount namespace of the thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace denselet::reactor {

// Whether a table as /proc/self/mountinfo says so of the mount that an absolute path, without
// links, is on.
bool IsOnSharedMount(std::string_view table, std::string_view path);

// Mounts the directory onto itself if it is not on such a mount, and makes that one, and all below
// it, shared. True: it was not. The mount stays when we end: containers go on.
Result<bool> MakeSharedMount(const std::string& path);

}  // namespace denselet::reactor
