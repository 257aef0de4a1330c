// The node's sign of life while ten thousand pods come in: how far apart are its renewals?
#include <algorithm>
#include <optional>
#include <span>

#include "bench/kube/benches.h"
#include "kube/client/pod_source.h"
#include "managers/node/lease.h"
#include "sync/sources/pod_sources.h"

namespace denselet::bench {
namespace {

constexpr int kLists = 5;
constexpr int32_t kLeaseSeconds = 1;  // renewed four times as often

struct ReadyUser final : sync::DesiredPodsUser {
  void OnPodChanges(sync::SourceKind, std::span<const sync::PodChange>) override {}
  void OnPodRefused(sync::SourceKind, const sync::RefusedPod&) override { CHECK(false); }
  void OnSourceReady(sync::SourceKind) override { ready = true; }
  void OnSourceLate(sync::SourceKind) override {}

  bool ready = false;
};

}  // namespace

void BenchLease(ApiAccess& api, size_t count, Report& report) {
  node::LeaseRenewer lease(api.loop(), api.random(), api.log(), api.client(),
                           {.node_name = kBenchNode, .duration_seconds = kLeaseSeconds});
  lease.Start();
  api.RunUntil([&] { return lease.renewed_at() > TimePoint(); });
  TimePoint renewed_at = lease.renewed_at();
  Duration longest{};
  int renewals = 0;
  const auto look = [&] {
    if (lease.renewed_at() == renewed_at) return;
    longest = std::max(longest, lease.renewed_at() - renewed_at);
    renewed_at = lease.renewed_at();
    ++renewals;
  };
  for (int list = 0; list < kLists; ++list) {
    ReadyUser user;
    sync::PodSources sources(api.loop(), api.log(), {.configured = {sync::SourceKind::kApi}}, user);
    const kube::ApiPodSource source(api.client(), NodeName(kBenchNode), sources);
    api.RunUntil([&] {
      look();
      return user.ready;
    });
    CHECK(sources.pods().size() == count);
  }
  // The one that was due while the last list came in counts as well.
  const int so_far = renewals;
  api.RunUntil([&] {
    look();
    return renewals > so_far;
  });
  report.AtMost("lease_longest_gap_ms", "five lists of these pods: longest gap of a 1 s lease",
                std::chrono::duration<double, std::milli>(longest).count(), "ms",
                kLeaseSeconds * 1000);
}

}  // namespace denselet::bench
