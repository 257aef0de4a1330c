// The machine's time zone, as the C library knows it: for the times that people read in logs and in
// the names of files. Read from /etc/localtime or TZ when it is first asked for; main asks before
// there are shards.
#pragma once

#include "base/time.h"

namespace denselet::reactor {

// East of Greenwich is positive. Any thread.
Seconds UtcOffset(WallTime at);

}  // namespace denselet::reactor
