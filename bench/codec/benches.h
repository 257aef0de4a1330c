// The parts of ./dev bench codec. Each measures ours and its reference in turns within one run,
// several rounds, and reports the medians.
#pragma once

#include <string>

#include "bench/report.h"

namespace denselet::bench {

struct PodSample {
  std::string path;  // of the JSON
  std::string json;
  std::string wire;
};

// Memory first: what others leave behind in the allocator would hide it.
void BenchPodsAtRest(const PodSample& pod, Report& report);
// `go_program`: third_party/peers/codecbench, built; empty: Go's part is left out.
void BenchPodJson(const PodSample& pod, const std::string& go_program, Report& report);
void BenchPodProtobuf(const PodSample& pod, Report& report);

}  // namespace denselet::bench
