#include <cstdio>
#include <string>

#include "bench/reactor/benches.h"

int main(int argc, char** argv) {
  using namespace denselet::bench;
  const std::string folder = argc > 1 ? argv[1] : "build/bench";
  Report report("reactor");
  const std::string only = argc > 2 ? argv[2] : "";
  for (const auto& [part, run] : std::initializer_list<std::pair<const char*, void (*)(Report&)>>{
           {"post", BenchPost},
           {"timers", BenchTimers},
           {"cgroup", BenchCgroupReads},
           {"idle", BenchIdle}}) {
    if (!only.empty() && only != part) continue;
    std::fprintf(stderr, "%s ...\n", part);
    run(report);
  }
  report.Print();
  if (report.missed()) std::puts("Some goals were missed; bench/README.md says why.");
  return report.Write(folder) ? 0 : 1;
}
