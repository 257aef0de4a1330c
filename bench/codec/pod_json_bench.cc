// JSON to a parsed pod: against the two things that it cannot do without (yyjson's parse of the
// text, protobuf's parse of the same pod's bytes), and against Go's decoder.
#include <yyjson.h>

#include <cstdio>
#include <cstdlib>

#include "base/check.h"
#include "bench/codec/benches.h"
#include "bench/codec/rounds.h"
#include "kube/api/codec/codec.h"
#include "kube/api/types.h"

namespace denselet::bench {
namespace {

constexpr int kDecodesPerRound = 2000;

void DecodeOurs(const PodSample& sample) {
  kube::core::Pod pod;
  CHECK(kube::DecodeJson(sample.json, pod).ok());
}

void ParseText(const PodSample& sample) {
  yyjson_doc* doc = yyjson_read(sample.json.data(), sample.json.size(), YYJSON_READ_NOFLAG);
  CHECK(doc != nullptr);
  yyjson_doc_free(doc);
}

void ParseWire(const PodSample& sample) {
  kube::core::Pod pod;
  CHECK(pod.ParseFromString(sample.wire));
}

// A process that decodes the same pod a few thousand times; microseconds for one.
double TimeOfGo(const PodSample& sample, const std::string& program) {
  const std::string command =
      "'" + program + "' '" + sample.path + "' " + std::to_string(kDecodesPerRound);
  std::FILE* out = ::popen(command.c_str(), "r");
  CHECK(out != nullptr);
  char line[64] = {};
  CHECK(std::fgets(line, sizeof line, out) != nullptr);
  CHECK(::pclose(out) == 0);
  return std::atof(line) / 1000;
}

}  // namespace

void BenchPodJson(const PodSample& pod, const std::string& go_program, Report& report) {
  std::vector<double> ours, text, wire, go;
  for (int round = 0; round < kRounds; ++round) {
    ours.push_back(TimeOf(kDecodesPerRound, [&] { DecodeOurs(pod); }));
    text.push_back(TimeOf(kDecodesPerRound, [&] { ParseText(pod); }));
    wire.push_back(TimeOf(kDecodesPerRound, [&] { ParseWire(pod); }));
    if (!go_program.empty()) go.push_back(TimeOfGo(pod, go_program));
  }
  report.Cost("pod_json_vs_parts", "pod from JSON, against yyjson + protobuf", Least(ours),
              Least(text) + Least(wire), "us", 1.5);
  report.Show("pod_text_parse_us", "  of that yyjson", Least(text), "us");
  report.Show("pod_wire_parse_us", "  of that protobuf", Least(wire), "us");
  if (go.empty()) {
    std::puts("Go's decoder was not measured: there is no Go here.");
    return;
  }
  report.Cost("pod_json_vs_go", "pod from JSON, against client-go's decoder", Least(ours),
              Least(go), "us", 0.2);
}

}  // namespace denselet::bench
