#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "bench/kube/benches.h"
#include "bench/kube/file_source_bench.h"
#include "bench/kube/follower.h"

namespace denselet::bench {

void BenchManifests(Report& report) {
  const FileSourceNumbers numbers = BenchFileSource();
  const auto ms = [](Duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
  };
  report.Show("manifests_all_ms", "1000 manifests appear: until all are desired",
              ms(numbers.until_all), "ms");
  report.Show("manifests_cpu_ms", "  CPU until then", ms(numbers.cpu), "ms");
  report.Show("manifests_longest_turn_ms", "  longest turn of the loop", ms(numbers.longest_turn),
              "ms");
  report.Show("manifests_recheck_cpu_ms", "  CPU of a later look at them, nothing changed",
              ms(numbers.recheck_cpu), "ms");
}

}  // namespace denselet::bench

// bench_kube [FOLDER [GO_PROGRAM [PODS]]], by control_plane.sh; runs itself as bench_kube follow
// ...
int main(int argc, char** argv) {
  using namespace denselet::bench;
  if (argc == 6 && std::strcmp(argv[1], "follow") == 0) {
    return Follow(argv[2], std::strtoul(argv[3], nullptr, 10), std::strtoul(argv[4], nullptr, 10),
                  argv[5]);
  }
  const std::string folder = argc > 1 ? argv[1] : "build/bench";
  const std::string go_program = argc > 2 ? argv[2] : "";
  const size_t pods = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : kPods;
  Report report("kube");
  BenchManifests(report);
  {
    ApiAccess api;
    LoadPods(api, pods, report);
    BenchWatch(api, pods, "/proc/self/exe", go_program, report);
    BenchLease(api, pods, report);
  }
  report.Print();
  if (report.missed()) std::puts("Some goals were missed; bench/README.md says why.");
  return report.Write(folder) ? 0 : 1;
}
