// ./dev sim: runs the scenario for a range of seeds and prints one line each, "seed hash lines
// time". A seed that fails says why, and how to see it again. Exit status 1 when one failed.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tests/sim/scenario.h"

namespace {

struct Arguments {
  uint64_t first_seed = 1;
  uint64_t seeds = 20;
  denselet::sim::Trace::Mode mode = denselet::sim::Trace::Mode::kHash;
};

bool ParseNumber(const char* text, uint64_t& number) {
  char* end = nullptr;
  number = std::strtoull(text, &end, 10);
  return end != text && *end == '\0';
}

bool Parse(int argc, char** argv, Arguments& arguments) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--trace") {
      arguments.mode = denselet::sim::Trace::Mode::kPrint;
    } else if (word == "--seeds" && i + 1 < argc) {
      if (!ParseNumber(argv[++i], arguments.seeds)) return false;
    } else if (word == "--seed" && i + 1 < argc) {
      if (!ParseNumber(argv[++i], arguments.first_seed)) return false;
      arguments.seeds = 1;
    } else if (word == "--from" && i + 1 < argc) {
      if (!ParseNumber(argv[++i], arguments.first_seed)) return false;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  if (!Parse(argc, argv, arguments)) {
    std::fprintf(stderr, "usage: %s [--seeds N] [--from SEED] [--seed SEED] [--trace]\n", argv[0]);
    return 2;
  }
  int status = 0;
  for (uint64_t i = 0; i < arguments.seeds; ++i) {
    const uint64_t seed = arguments.first_seed + i;
    const auto result = denselet::sim::RunReactorScenario(seed, arguments.mode);
    std::printf("seed %" PRIu64 " hash %016" PRIx64 " events %" PRIu64 " virtual %s\n", seed,
                result.trace_hash, result.trace_lines,
                denselet::FormatDuration(result.virtual_time).c_str());
    for (const std::string& problem : result.problems) {
      std::printf("seed %" PRIu64 " FAILED: %s (again with: ./dev sim --seed %" PRIu64
                  " --trace)\n",
                  seed, problem.c_str(), seed);
      status = 1;
    }
  }
  return status;
}
