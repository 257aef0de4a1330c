// The command line of cri_sim.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "bench/cri_sim/host.h"

namespace denselet::cri_sim {

struct Flags {
  HostOptions host;
  uint64_t populate_pods = 0, populate_containers = 2;
  bool help = false;
};

Result<Flags> ParseFlags(const std::vector<std::string>& arguments);
extern const char kUsage[];

}  // namespace denselet::cri_sim
