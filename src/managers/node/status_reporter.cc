#include "managers/node/status_reporter.h"

#include <utility>

#include "kube/api/patch/status_patch.h"
#include "managers/node/node_conditions.h"
#include "sync/ports/api_typed.h"

namespace denselet::node {

std::string_view Name(StatusReporter::Stage stage) {
  switch (stage) {
    case StatusReporter::Stage::kIdle:
      return "idle";
    case StatusReporter::Stage::kStarting:
      return "starting";
    case StatusReporter::Stage::kFetching:
      return "fetching";
    case StatusReporter::Stage::kPatching:
      return "patching";
  }
  return "";
}

StatusReporter::StatusReporter(reactor::Loop& loop, Random& random, Logger log,
                               sync::ApiServer& api, const NodeCache& cache, User& user,
                               StatusReporterOptions options)
    : loop_(loop),
      random_(random),
      log_(std::move(log)),
      api_(api),
      cache_(cache),
      user_(user),
      options_(std::move(options)) {}

StatusReporter::~StatusReporter() { cancel_.Cancel(); }

template <class T>
reactor::Done<T> StatusReporter::Guarded(void (StatusReporter::*method)(Result<T>)) {
  return [this, method, alive = cancel_.token()](Result<T> answer) {
    if (!alive.cancelled()) (this->*method)(std::move(answer));
  };
}

void StatusReporter::Report(UniqueFunction<void(Outcome)> done) {
  CHECK(!busy());
  done_ = std::move(done);
  tries_ = 0;
  tries_max_ = kTriesMax;
  stage_ = Stage::kStarting;
  loop_.Post([this, alive = cancel_.token()] {
    if (!alive.cancelled()) Try();
  });
}

StatusReporter::Fast StatusReporter::ReportIfReady(UniqueFunction<void(Outcome)> done) {
  CHECK(!busy());
  const kube::core::Node* before = cache_.node();
  if (before == nullptr) return Fast::kNotReady;
  if (IsReady(before->status())) return Fast::kReadyAlready;
  kube::core::Node after = *before;
  if (!user_.Update(after) || !IsReady(after.status())) return Fast::kNotReady;
  log_.Info("Fast updating node status as it just became ready");
  done_ = std::move(done);
  tries_ = 0;
  tries_max_ = 1;
  stage_ = Stage::kStarting;
  loop_.Post([this, alive = cancel_.token(), was = *before, is = std::move(after)] {
    if (!alive.cancelled()) Send(was, is);
  });
  return Fast::kSending;
}

// The first from what the watch has told, which is nearly always right and costs the server
// nothing.
void StatusReporter::Try() {
  if (tries_ > 0) return Fetch();
  if (const kube::core::Node* node = cache_.node()) return SendIfNeeded(*node);
  ++tries_;  // right after the start the watch has not shown it yet
  Fetch();
}

void StatusReporter::Fetch() {
  stage_ = Stage::kFetching;
  sync::Get<kube::core::Node>(api_, MakeContext(), MakeRequest(),
                              Guarded<kube::core::Node>(&StatusReporter::OnFetched));
}

void StatusReporter::OnFetched(Result<kube::core::Node> node) {
  if (!node) {
    if (node.error().code() == ErrorCode::kNotFound) return Finish(Outcome::kGone);
    return Fail(node.error().With("get node"));
  }
  node->mutable_metadata()->clear_managedfields();
  SendIfNeeded(*node);
}

void StatusReporter::SendIfNeeded(const kube::core::Node& before) {
  kube::core::Node after = before;
  const bool changed = user_.Update(after);
  if (!changed && !ReportIsDue()) {
    user_.OnReported(before);
    return Finish(Outcome::kDone);
  }
  // Nodes that start together, or see the same change, part ways; from then on each reports at even
  // intervals.
  if (changed || !reported_at_) {
    const auto interval = static_cast<double>(options_.report_interval.count());
    delay_ = Duration(static_cast<int64_t>(interval * (random_.Unit() - 0.5)));
  } else {
    delay_ = Duration::zero();
  }
  Send(before, after);
}

void StatusReporter::Send(const kube::core::Node& before, const kube::core::Node& after) {
  Result<std::optional<std::string>> patch = kube::MakeNodeStatusPatch(before, after);
  if (!patch) return Fail(patch.error().With("make patch of node status"));
  stage_ = Stage::kPatching;
  sync::ApiRequest request = MakeRequest();
  request.subresource = "status";
  // The same down to the second of the heartbeat: sent all the same, for it is due.
  std::string body = *patch ? std::move(**patch) : "{}";
  sync::Patch<kube::core::Node>(api_, MakeContext(), std::move(request), std::move(body),
                                Guarded<kube::core::Node>(&StatusReporter::OnPatched));
}

void StatusReporter::OnPatched(Result<kube::core::Node> node) {
  if (!node) return Fail(node.error().With("patch node status"));
  reported_at_ = loop_.Now();
  user_.OnReported(*node);
  Finish(Outcome::kDone);
}

void StatusReporter::Fail(const Error& error) {
  ++tries_;
  if (error.code() == ErrorCode::kOverloaded) {
    log_.Error(error, "Error updating node status, the API server has no time", KV("try", tries_));
    return Finish(Outcome::kFailed);
  }
  if (tries_ > 1) api_.DropIdleConnections();
  log_.Error(error, "Error updating node status, will retry", KV("try", tries_));
  if (tries_ < tries_max_) return Try();
  Finish(Outcome::kFailed);
}

void StatusReporter::Finish(Outcome outcome) {
  stage_ = Stage::kIdle;
  std::exchange(done_, nullptr)(outcome);
}

bool StatusReporter::ReportIsDue() const {
  if (!reported_at_) return true;
  return loop_.Now() - *reported_at_ >= options_.report_interval + delay_;
}

Context StatusReporter::MakeContext() const {
  return {.deadline = After(loop_.Now(), options_.request_time_max),
          .priority = Priority::kCritical,
          .cancel = cancel_.token(),
          .trace = {}};
}

sync::ApiRequest StatusReporter::MakeRequest() const {
  return {.object = {"", options_.node_name}, .traffic = sync::ApiTraffic::kHeartbeat};
}

}  // namespace denselet::node
