// Which seeds a simulation runs under: a few by default; others by the environment, to look for
// more (DENSELET_SIM_SEEDS=5000), for others (DENSELET_SIM_FROM=1000, as ./dev test has it, anew
// with each commit) or at one that failed (DENSELET_SIM_SEED=17).
#pragma once

#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <vector>

namespace denselet::sim {

inline std::vector<uint64_t> Seeds(uint64_t count) {
  if (const char* one = std::getenv("DENSELET_SIM_SEED")) return {std::strtoull(one, nullptr, 10)};
  if (const char* many = std::getenv("DENSELET_SIM_SEEDS")) {
    count = std::strtoull(many, nullptr, 10);
  }
  const char* from = std::getenv("DENSELET_SIM_FROM");
  std::vector<uint64_t> seeds(count);
  std::iota(seeds.begin(), seeds.end(), from ? std::strtoull(from, nullptr, 10) : uint64_t{1});
  return seeds;
}

}  // namespace denselet::sim
