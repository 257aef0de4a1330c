#include <cstdio>
#include <fstream>
#include <iterator>

#include "base/check.h"
#include "bench/codec/benches.h"
#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "tests/source_dir.h"

namespace denselet::bench {
namespace {

PodSample ReadSample() {
  PodSample sample{.path = tests::SourcePath("bench/codec/pod.json"), .json = {}, .wire = {}};
  std::ifstream file(sample.path);
  sample.json.assign(std::istreambuf_iterator<char>(file), {});
  kube::core::Pod pod;
  const kube::DecodeReport report =
      kube::DecodeJson(sample.json, pod, {.extras = kube::Extras::kRefused});
  CHECK(report.ok());
  sample.wire = kube::EncodeWire(pod);
  return sample;
}

}  // namespace
}  // namespace denselet::bench

// bench_codec [FOLDER [GO_PROGRAM]]
int main(int argc, char** argv) {
  using namespace denselet::bench;
  const std::string folder = argc > 1 ? argv[1] : "build/bench";
  const std::string go_program = argc > 2 ? argv[2] : "";
  Report report("codec");
  const PodSample pod = ReadSample();
  BenchPodsAtRest(pod, report);
  BenchPodJson(pod, go_program, report);
  BenchPodProtobuf(pod, report);
  report.Print();
  if (report.missed())
    std::puts(
        "Some goals were missed; bench/README.md says what the time goes to, and what is noise.");
  return report.Write(folder) ? 0 : 1;
}
