// Replaces all files of a volume at once: who reads sees the old ones or the new ones.
//
//   <volume>/..2026_01_02_15_04_05.123456/   the files; one such directory when nobody writes
//   <volume>/..data -> ..2026_01_02_15_04_05.123456
//   <volume>/key -> ..data/key
//
// The layout is upstream's, to the letter: programs in containers watch ..data. What a writer that
// was killed left behind goes with the next write, before it takes any place itself; one that fails
// takes its own away.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "managers/volume/payload.h"
#include "reactor/api/disk_jobs.h"

namespace denselet::managers {

// "..2026_01_02_15_04_05."
std::string StampOf(WallTime now);

struct ContentWrite {
  std::string folder = {};  // exists
  Payload payload = {};
  std::string stamp = {};
  uint32_t number = 0;  // drawn: the end of the directory's name
  std::optional<uint32_t> fs_group = {};
};

// Blocking. What is there already is left as it is, and its directory keeps its name.
Status WriteContent(reactor::DiskCalls& disk, const ContentWrite& write);

}  // namespace denselet::managers
