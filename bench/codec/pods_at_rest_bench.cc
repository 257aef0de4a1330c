// What ten thousand pods take while nobody works on them, and what they would take parsed.
#include <unistd.h>

#include <fstream>
#include <memory>
#include <vector>

#include "base/check.h"
#include "bench/codec/benches.h"
#include "kube/api/pod/pod_at_rest.h"
#include "kube/api/types.h"

namespace denselet::bench {
namespace {

constexpr int kPods = 10'000;
constexpr int kParsedPods = 1'000;

// Of the process, as the kernel counts it.
double ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  long total = 0, resident = 0;
  statm >> total >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

void BenchPodsAtRest(const PodSample& sample, Report& report) {
  kube::core::Pod pod;
  CHECK(pod.ParseFromString(sample.wire));
  std::string wire;
  std::vector<kube::PodRef> pods(kPods);
  const double before = ResidentBytes();
  for (int i = 0; i < kPods; ++i) {
    // No two are alike.
    pod.mutable_metadata()->set_resourceversion(std::to_string(123'400'000 + i));
    pod.SerializeToString(&wire);
    auto ref = kube::PodAtRest::FromWire(wire);
    CHECK(ref);
    pods[static_cast<size_t>(i)] = *std::move(ref);
  }
  const double per_pod = (ResidentBytes() - before) / kPods;
  report.AtMost("bytes_per_pod_at_rest",
                "a pod at rest, " + std::to_string(sample.wire.size()) + " bytes of wire", per_pod,
                "bytes", 5000);

  std::vector<std::unique_ptr<kube::core::Pod>> parsed;
  const double before_parsed = ResidentBytes();
  for (int i = 0; i < kParsedPods; ++i) parsed.push_back(*pods[static_cast<size_t>(i)]->Parse());
  report.Show("bytes_per_pod_parsed", "the same, parsed",
              (ResidentBytes() - before_parsed) / kParsedPods, "bytes");
}

}  // namespace denselet::bench
