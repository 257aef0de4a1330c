#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/cri/benches.h"

namespace {

size_t Number(const std::string& text) { return std::strtoul(text.c_str(), nullptr, 10); }

}  // namespace

// bench_cri [FOLDER CRI_SIM [GO_PROGRAM]]; runs itself as bench_cri PART SOCKET ...
int main(int argc, char** argv) {
  using namespace denselet::bench;
  const std::vector<std::string> args(argv + 1, argv + argc);
  const auto is = [&](const char* part, size_t count) {
    return args.size() == count && args[0] == part;
  };
  if (is("list", 5)) return ListMany(args[1], args[2], Number(args[3]), Number(args[4]));
  if (is("drain", 3)) return DrainEvents(args[1], Number(args[2]));
  if (is("calls", 4)) return CallMany(args[1], Number(args[2]), Number(args[3]));
  if (is("bare", 4)) return CallManyBare(args[1], Number(args[2]), Number(args[3]));
  if (is("hop", 4)) return CallManyHop(args[1], Number(args[2]), Number(args[3]));
  if (is("serve", 3)) return ServeFast(args[1], Number(args[2]));
  if (args.size() < 2) {
    std::fputs("usage: bench_cri FOLDER CRI_SIM [GO_PROGRAM]\n", stderr);
    return 2;
  }
  const CriPeers peers{std::filesystem::read_symlink("/proc/self/exe"), args[1],
                       args.size() > 2 ? args[2] : ""};
  Report report("cri");
  BenchList(peers, 1000, report);
  BenchList(peers, 10'000, report);
  BenchEvents(peers, report);
  BenchUnary(peers, report);
  report.Print();
  if (report.missed()) std::puts("Some goals were missed; bench/README.md says why.");
  return report.Write(args[0]) ? 0 : 1;
}
