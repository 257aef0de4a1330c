// Which seeds a simulation runs under: a few by default; others by the environment, to look for
// more (DENSELET_SIM_SEEDS=5000) or at one that failed (DENSELET_SIM_SEED=17).
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
  std::vector<uint64_t> seeds(count);
  std::iota(seeds.begin(), seeds.end(), uint64_t{1});
  return seeds;
}

// Others with each commit, as ./dev test says where they begin. For what holds in every story; what
// must come within a time may be a little late in one of thousands.
inline std::vector<uint64_t> FreshSeeds(uint64_t count) {
  std::vector<uint64_t> seeds = Seeds(count);
  const char* const from = std::getenv("DENSELET_SIM_FROM");
  if (from == nullptr || std::getenv("DENSELET_SIM_SEED") != nullptr) return seeds;
  std::iota(seeds.begin(), seeds.end(), std::strtoull(from, nullptr, 10));
  return seeds;
}

}  // namespace denselet::sim
