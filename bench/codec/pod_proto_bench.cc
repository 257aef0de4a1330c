// A pod in the API server's envelope, against protobuf's parse of the bytes inside.
#include "base/check.h"
#include "bench/codec/benches.h"
#include "bench/codec/rounds.h"
#include "kube/api/codec/envelope.h"
#include "kube/api/types.h"

namespace denselet::bench {
namespace {

constexpr int kDecodesPerRound = 5000;

void Parse(std::string_view wire) {
  kube::core::Pod pod;
  CHECK(pod.ParseFromArray(wire.data(), static_cast<int>(wire.size())));
}

}  // namespace

void BenchPodProtobuf(const PodSample& pod, Report& report) {
  const std::string bytes = kube::EncodeEnvelope({.api_version = "v1", .kind = "Pod"}, pod.wire);
  std::vector<double> ours, theirs;
  for (int round = 0; round < kRounds; ++round) {
    ours.push_back(TimeOf(kDecodesPerRound, [&] {
      const auto envelope = kube::DecodeEnvelope(bytes);
      CHECK(envelope);
      Parse(envelope->raw);
    }));
    theirs.push_back(TimeOf(kDecodesPerRound, [&] { Parse(pod.wire); }));
  }
  report.Cost("pod_proto_vs_protobuf", "pod from its envelope, against protobuf alone", Least(ours),
              Least(theirs), "us", 1.1);
}

}  // namespace denselet::bench
