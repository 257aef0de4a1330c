#include "bench/kube/file_source_bench.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/log.h"
#include "managers/source/file_source.h"
#include "reactor/event_loop.h"
#include "reactor/inotify_watcher.h"
#include "reactor/pool_file_system.h"
#include "reactor/real_clock.h"
#include "reactor/shard.h"
#include "sync/sources/pod_sources.h"

namespace denselet::bench {
namespace {

namespace fs = std::filesystem;

Duration CpuTime() {
  rusage usage{};
  CHECK(::getrusage(RUSAGE_SELF, &usage) == 0);
  const auto of = [](const timeval& t) { return Seconds(t.tv_sec) + Microseconds(t.tv_usec); };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

// About as much as kubeadm writes for a control plane's pod.
std::string Manifest(size_t number) {
  const std::string name = "bench-" + std::to_string(number);
  std::string text = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: " + name +
                     "\n  namespace: kube-system\n  labels: {component: bench, tier: node}\n"
                     "  annotations: {example.com/endpoint: \"https://10.0.0.1:6443\"}\nspec:\n"
                     "  priorityClassName: system-node-critical\n  hostNetwork: true\n"
                     "  securityContext: {seccompProfile: {type: RuntimeDefault}}\n  containers:\n";
  for (const char* container : {"main", "side"}) {
    text +=
        "  - name: " + std::string(container) +
        "\n    image: registry.example/bench:v1.2.3\n    imagePullPolicy: IfNotPresent\n"
        "    command: [bench, --port=10250, --config=/etc/bench/config, --v=2]\n"
        "    env: [{name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]\n"
        "    resources: {requests: {cpu: 100m, memory: 128Mi}, limits: {memory: 256Mi}}\n"
        "    volumeMounts: [{name: config, mountPath: /etc/bench, readOnly: true}]\n"
        "    startupProbe: &probe\n      httpGet: {host: 127.0.0.1, path: /livez, port: 10250}\n"
        "      failureThreshold: 24\n      periodSeconds: 10\n      timeoutSeconds: 15\n"
        "    livenessProbe: *probe\n    readinessProbe: *probe\n";
    // An anchor is defined once in a document.
    if (container[0] == 'm') continue;
    const size_t last = text.rfind("&probe");
    text.replace(last, 6, "&other");
    for (size_t at = last; (at = text.find("*probe", at)) != std::string::npos;) {
      text.replace(at, 6, "*other");
    }
  }
  return text + "  volumes:\n  - name: config\n    hostPath: {path: /etc/bench, type: Directory}\n";
}

class Folder {
 public:
  explicit Folder(size_t manifests) {
    std::string name = fs::temp_directory_path() / "file_source_bench.XXXXXX";
    CHECK(::mkdtemp(name.data()) != nullptr);
    root_ = name;
    fs::create_directory(root_ / "staged");
    for (size_t i = 0; i < manifests; ++i) {
      std::ofstream(root_ / "staged" / (std::to_string(i) + ".yaml")) << Manifest(i);
    }
  }
  ~Folder() { fs::remove_all(root_); }

  std::string path() const { return root_ / "manifests"; }
  void Appear() { fs::rename(root_ / "staged", root_ / "manifests"); }

 private:
  fs::path root_;
};

class NoLines final : public LogSink {
 public:
  void Write(std::string_view, Severity) noexcept override {}
};

struct NoUser final : sync::DesiredPodsUser {
  void OnPodChanges(sync::SourceKind, std::span<const sync::PodChange>) override {}
  void OnPodRefused(sync::SourceKind, const sync::RefusedPod&) override {}
  void OnSourceReady(sync::SourceKind) override {}
  void OnSourceLate(sync::SourceKind) override {}
};

class Bench {
 public:
  explicit Bench(size_t manifests)
      : folder_(manifests),
        loop_(*reactor::MakeEventLoop(reactor::ProbeBackend(clock_), clock_)),
        shard_(0, *loop_, 1, reactor::MailLimits{}, all_),
        pool_(clock_),
        files_(shard_, pool_),
        watcher_(*reactor::InotifyWatcher::Make(*loop_, {})),
        sources_(*loop_, Logger(output_), {.configured = {sync::SourceKind::kFile}}, user_) {
    all_.push_back(&shard_);
    managers::FileSourceOptions options;
    options.path = folder_.path();
    options.node_name = "bench";
    options.check_period = kPeriod;
    source_ = std::make_unique<managers::FileSource>(*loop_, files_, *watcher_, options, sources_);
    numbers_.manifests = manifests;
  }
  ~Bench() {
    source_.reset();
    watcher_.reset();
    bool stopped = false;
    files_.Stop([&] { stopped = true; });
    RunUntil([&] { return stopped; });
  }

  FileSourceNumbers Run() {
    RunUntil([&] { return sources_.Ready({sync::SourceKind::kFile}); });
    numbers_.longest_turn = {};
    const TimePoint began = clock_.Now();
    const Duration cpu = CpuTime();
    folder_.Appear();
    RunUntil([&] { return sources_.pods().size() == numbers_.manifests; });
    numbers_.until_all = clock_.Now() - began;
    numbers_.cpu = CpuTime() - cpu;
    numbers_.reads = source_->stats().reads;
    numbers_.decodes = source_->stats().decodes;

    // Looks that follow the events of the rename are over by then.
    RunFor(kPeriod);
    const uint64_t before = source_->stats().reads;
    const Duration idle = CpuTime();
    RunUntil([&] { return source_->stats().reads >= before + numbers_.manifests; });
    numbers_.recheck_cpu = CpuTime() - idle;
    return numbers_;
  }

 private:
  static constexpr Duration kPeriod = Seconds(3);

  void Turn() {
    const TimePoint began = clock_.Now();
    loop_->RunTurn(began);
    numbers_.longest_turn = std::max(numbers_.longest_turn, clock_.Now() - began);
    loop_->RunTurn(After(clock_.Now(), Milliseconds(50)));  // or until something happens
  }
  template <class Predicate>
  void RunUntil(Predicate done) {
    const TimePoint limit = After(clock_.Now(), Minutes(2));
    while (!done()) {
      CHECK(clock_.Now() < limit);
      Turn();
    }
  }
  void RunFor(Duration time) {
    const TimePoint end = clock_.Now() + time;
    RunUntil([&] { return clock_.Now() >= end; });
  }

  const reactor::RealClock clock_;
  Folder folder_;
  NoLines sink_;
  const LogVerbosity verbosity_;
  const LogOutput output_{LogFormat{}, clock_, verbosity_, sink_};
  std::unique_ptr<reactor::EventLoop> loop_;
  std::vector<reactor::Shard*> all_;
  reactor::Shard shard_;
  reactor::BlockingPool pool_;
  reactor::PoolFileSystem files_;
  std::unique_ptr<reactor::InotifyWatcher> watcher_;
  NoUser user_;
  sync::PodSources sources_;
  FileSourceNumbers numbers_;
  std::unique_ptr<managers::FileSource> source_;
};

}  // namespace

FileSourceNumbers BenchFileSource(size_t manifests) { return Bench(manifests).Run(); }

}  // namespace denselet::bench
