#include <cstdio>
#include <string>

#include "bench/reactor/benches.h"

int main(int argc, char** argv) {
  using namespace denselet::bench;
  const std::string folder = argc > 1 ? argv[1] : "build/bench";
  Report report("reactor");
  std::fputs("cross-shard post ...\n", stderr);
  BenchPost(report);
  std::fputs("timers ...\n", stderr);
  BenchTimers(report);
  std::fputs("cgroup reads ...\n", stderr);
  BenchCgroupReads(report);
  std::fputs("idle ...\n", stderr);
  BenchIdle(report);
  report.Print();
  if (report.missed()) std::puts("Some goals were missed; bench/README.md says why.");
  return report.Write(folder) ? 0 : 1;
}
