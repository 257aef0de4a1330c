#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>

#include "bench/network/benches.h"

int main(int argc, char** argv) {
  using namespace denselet::bench;
  const std::string first = argc > 1 ? argv[1] : "build/bench";
  if (first == "--hold-connections" && argc == 4)
    return HoldConnections(argv[2], std::atoi(argv[3]));
  if (first == "--open-connections" && argc == 4)
    return OpenConnections(argv[2], std::atoi(argv[3]));
  const std::string only = argc > 2 ? argv[2] : "";
  Report report("network");
  for (const auto& [part, run] : std::initializer_list<std::pair<const char*, void (*)(Report&)>>{
           {"http1", BenchHttp1Server},
           {"client", BenchClientLoop},
           {"accept", BenchAccept},
           {"http2", BenchHttp2Client},
           {"idle", BenchIdleConnections}}) {
    if (!only.empty() && only != part) continue;
    std::fprintf(stderr, "%s ...\n", part);
    run(report);
  }
  report.Print();
  if (report.missed()) std::puts("Some goals were missed; bench/README.md says why.");
  return report.Write(first) ? 0 : 1;
}
