// A thousand static pods appear at once: how long, and at what cost, until all are desired?
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace denselet::bench {

struct FileSourceNumbers {
  size_t manifests = 0;
  Duration until_all{};    // from the moment they are there until the merge has told the last
  Duration cpu{};          // of this process meanwhile, all threads
  Duration recheck_cpu{};  // of one look at all of them when nothing has changed
  Duration longest_turn{};
  uint64_t reads = 0;
  uint64_t decodes = 0;
};

// On the backend that the agent would choose, with inotify and the blocking pool, in a folder of
// its own.
FileSourceNumbers BenchFileSource(size_t manifests = 1000);

}  // namespace denselet::bench
