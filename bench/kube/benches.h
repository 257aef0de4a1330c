// The parts of ./dev bench kube.
#pragma once

#include <string>

#include "bench/kube/api_access.h"
#include "bench/report.h"

namespace denselet::bench {

inline constexpr size_t kPods = 10'000;
inline constexpr char kBenchNode[] = "bench-node";

// Fills the API server with `count` pods of kBenchNode, which the parts below follow.
void LoadPods(ApiAccess& api, size_t count, Report& report);
// Our client in a process of its own (`own_program follow ...`) beside client-go's informer
// (`go_program`: third_party/peers/watchbench, built; empty: left out).
void BenchWatch(ApiAccess& api, size_t count, const std::string& own_program,
                const std::string& go_program, Report& report);
// Whether the lease is renewed in time while the pods are listed again and again.
void BenchLease(ApiAccess& api, size_t count, Report& report);
void BenchManifests(Report& report);

}  // namespace denselet::bench
