#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "bench/sync/agent_node.h"
#include "bench/sync/benches.h"

// bench_sync FOLDER DENSELET CRI_SIM [PART]: one of evented, relist, many, patches, decide; else
// all
int main(int argc, char** argv) {
  using namespace denselet::bench;
  if (argc < 4) {
    std::fputs("bench_sync FOLDER DENSELET CRI_SIM [PART]\n", stderr);
    return 2;
  }
  const SyncPrograms programs = {argv[2], argv[3]};
  const std::string part = argc > 4 ? argv[4] : "";
  const auto wanted = [&part](const char* name) { return part.empty() || part == name; };
  Report report("sync");
  if (wanted("evented")) BenchEvented(programs, report);
  if (wanted("relist")) BenchRelisting(programs, kSyncPods, report);
  if (wanted("many")) BenchRelisting(programs, 10 * kSyncPods, report);
  if (wanted("patches")) BenchPatches(programs, report);
  if (wanted("decide")) BenchDecide(report);
  RemoveFolders();
  report.Print();
  if (report.missed()) std::puts("Some goals were missed; bench/README.md says why.");
  return report.Write(argv[1]) ? 0 : 1;
}
