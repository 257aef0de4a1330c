#include "bench/kube/follower.h"

#include <sys/resource.h>

#include <cstdio>
#include <fstream>
#include <span>

#include "bench/kube/api_access.h"
#include "kube/api/types.h"
#include "kube/client/pod_source.h"
#include "sync/sources/pod_sources.h"
#include "tests/e2e/many_pods.h"

namespace denselet::bench {
namespace {

struct CountingUser final : sync::DesiredPodsUser {
  void OnPodChanges(sync::SourceKind, std::span<const sync::PodChange> changes) override {
    for (const sync::PodChange& change : changes) updates += change.op == sync::PodOp::kUpdate;
  }
  void OnPodRefused(sync::SourceKind, const sync::RefusedPod&) override { CHECK(false); }
  void OnSourceReady(sync::SourceKind) override { ready = true; }
  void OnSourceLate(sync::SourceKind) override {}

  size_t updates = 0;
  bool ready = false;
};

double CpuSeconds() {
  rusage usage{};
  CHECK(::getrusage(RUSAGE_SELF, &usage) == 0);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

// The high-water mark of this program's own memory; rusage's would count what the parent had before
// exec.
long PeakBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmHWM:") continue;
    long kibibytes = 0;
    status >> kibibytes;
    return kibibytes << 10;
  }
  CHECK(false);
  return 0;
}

void Tell(const char* what) {
  std::printf("%s %f %ld\n", what, CpuSeconds(), PeakBytes());
  std::fflush(stdout);
}

bool AllLabelled(const sync::PodSources& sources, const std::string& label) {
  for (const kube::PodRef& pod : sources.pods().All()) {
    const auto parsed = pod->Parse();
    CHECK(parsed);
    const auto& labels = (*parsed)->metadata().labels();
    const auto found = labels.find(e2e::ManyPods::kLabel);
    if (found == labels.end() || found->second != label) return false;
  }
  return true;
}

}  // namespace

int Follow(const std::string& node, size_t pods, size_t updates, const std::string& label) {
  ApiAccess api;
  CountingUser user;
  sync::PodSources sources(api.loop(), api.log(), {.configured = {sync::SourceKind::kApi}}, user);
  const kube::ApiPodSource source(api.client(), NodeName(node), sources);
  api.RunUntil([&] { return user.ready; });
  CHECK(sources.pods().size() == pods);
  Tell("listed");
  if (updates > 0) {
    api.RunUntil([&] { return user.updates == updates; });
    Tell("updated");
    CHECK(AllLabelled(sources, label));
  }
  std::puts("ok");
  return 0;
}

}  // namespace denselet::bench
