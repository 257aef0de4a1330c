// The pods of a node as the agent knows them: list-watch, pod source, merge; for tests against a
// real API server.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "kube/api/types.h"
#include "kube/client/pod_source.h"
#include "sync/sources/pod_sources.h"
#include "tests/fakes/capturing_log_sink.h"

namespace denselet::e2e {

// Owned by a test, on the loop of `api`, which outlives it.
class DesiredPodsOfNode final : private sync::DesiredPodsUser {
 public:
  DesiredPodsOfNode(reactor::Loop& loop, const Clock& clock, sync::ApiServer& api,
                    const std::string& node)
      : output_{.format = {}, .clock = clock, .verbosity = verbosity_, .sink = sink_},
        sources_(loop, Logger(output_), {.configured = {sync::SourceKind::kApi}}, *this),
        source_(std::in_place, api, NodeName(node), sources_) {}
  ~DesiredPodsOfNode() { source_.reset(); }

  bool ready() const { return ready_; }
  size_t size() const { return sources_.pods().size(); }
  bool Has(const std::string& uid) const {
    return static_cast<bool>(sources_.pods().Find(sync::SourceKind::kApi, uid));
  }
  // By its name; nothing when it is not desired.
  std::optional<kube::core::Pod> Find(const std::string& name) const {
    for (const kube::PodRef& pod : sources_.pods().All()) {
      if (pod->hot().name != name) continue;
      kube::core::Pod parsed;
      return pod->ParseInto(parsed) ? std::optional(parsed) : std::nullopt;
    }
    return std::nullopt;
  }
  // What went wrong so far, as it was logged.
  int troubles() const { return Count("Could not use what a pod source has"); }

 private:
  void OnPodChanges(sync::SourceKind, std::span<const sync::PodChange>) override {}
  void OnPodRefused(sync::SourceKind, const sync::RefusedPod&) override {}
  void OnSourceReady(sync::SourceKind) override { ready_ = true; }
  void OnSourceLate(sync::SourceKind) override {}

  int Count(const std::string& text) const {
    int count = 0;
    for (const CapturingLogSink::Line& line : sink_.lines()) {
      if (line.text.find(text) != std::string::npos) ++count;
    }
    return count;
  }

  bool ready_ = false;
  LogVerbosity verbosity_;
  CapturingLogSink sink_;
  LogOutput output_;
  sync::PodSources sources_;
  std::optional<kube::ApiPodSource> source_;
};

}  // namespace denselet::e2e
