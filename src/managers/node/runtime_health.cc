#include "managers/node/runtime_health.h"

#include <utility>

#include "managers/node/node_conditions.h"

namespace denselet::node {

namespace {

// As Go prints it: what the runtime did not tell is a nil pointer.
std::string Text(const char* type, const std::optional<sync::RuntimeCondition>& condition) {
  if (!condition) return "<nil>";
  return std::string(type) + (condition->met ? "=true" : "=false") +
         " reason:" + condition->reason + " message:" + condition->message;
}

bool IsMet(const std::optional<sync::RuntimeCondition>& condition) {
  return condition && condition->met;
}

}  // namespace

RuntimeHealth::RuntimeHealth(reactor::Loop& loop, sync::Runtime& runtime, Logger log,
                             reactor::Task first_ready)
    : loop_(loop), runtime_(runtime), log_(std::move(log)), first_ready_(std::move(first_ready)) {}

Context RuntimeHealth::AnswerContext() const {
  Context context;
  context.priority = Priority::kCritical;
  return context.WithTimeout(loop_.Now(), kAnswerTimeMax);
}

void RuntimeHealth::Start() {
  started_at_ = loop_.Now();
  AskForStatus();
}

void RuntimeHealth::AskForStatus() {
  runtime_.Status(AnswerContext(),
                  [weak = std::weak_ptr(self_)](Result<sync::RuntimeStatus> status) {
                    if (const auto self = weak.lock()) (*self)->OnStatus(std::move(status));
                  });
}

void RuntimeHealth::OnStatus(Result<sync::RuntimeStatus> status) {
  if (!status) {
    // Said once, not every five seconds.
    if (!unanswered_) log_.Error(status.error(), "Container runtime sanity check failed");
    unanswered_ = status.error();
    return Rest();
  }
  if (std::exchange(unanswered_, std::nullopt)) {
    log_.Info("Container runtime answers again");
    if (answers_again_) answers_again_();
  }
  Take(*status);
  if (loop_.Now() < version_due_) return Rest();
  runtime_.Version(AnswerContext(),
                   [weak = std::weak_ptr(self_)](Result<sync::RuntimeVersion> version) {
                     if (const auto self = weak.lock()) (*self)->OnVersion(std::move(version));
                   });
}

void RuntimeHealth::Take(const sync::RuntimeStatus& status) {
  TakeNetwork(status.network_ready);
  if (!IsMet(status.runtime_ready)) {
    if (!status_error_) {
      log_.Info("Container runtime is not ready",
                KV("condition", Text("RuntimeReady", status.runtime_ready)));
    }
    status_error_ = "container runtime not ready: " + Text("RuntimeReady", status.runtime_ready);
    return SetErrors();
  }
  if (std::exchange(status_error_, std::nullopt)) log_.Info("Container runtime is ready again");
  SetErrors();
  // Of a runtime that is not ready they are not taken: it may not know itself yet.
  input_.handlers.clear();
  for (const sync::RuntimeHandler& handler : status.handlers) {
    input_.handlers.push_back({.name = handler.name,
                               .recursive_read_only_mounts = handler.recursive_read_only_mounts,
                               .user_namespaces = handler.user_namespaces});
  }
  input_.supplemental_groups_policy = status.supplemental_groups_policy;
  user_namespaces_host_network_ = status.user_namespaces_host_network;
  input_.synced_at = loop_.Now();
  if (first_ready_) std::exchange(first_ready_, {})();
}

void RuntimeHealth::TakeNetwork(const std::optional<sync::RuntimeCondition>& condition) {
  const bool was_ready = !input_.network_error;
  input_.network_error.reset();
  if (IsMet(condition)) {
    if (!was_ready) log_.Info("Container runtime network is ready again");
    return;
  }
  const std::string text = Text("NetworkReady", condition);
  if (was_ready) log_.Info("Container runtime network is not ready", KV("condition", text));
  input_.network_error = "container runtime network not ready: " + text;
}

void RuntimeHealth::OnVersion(Result<sync::RuntimeVersion> version) {
  if (version) {
    if (std::exchange(version_silent_, false)) {
      log_.Info("Container runtime tells its version again");
    }
    input_.name = version->name;
    input_.version = version->version;
    version_due_ = After(loop_.Now(), kVersionAgeMax);
    version_error_.reset();
  } else if (version.error().code() == ErrorCode::kCorrupt) {
    // It answers, and is not one that we can use: another one has taken its place.
    if (!version_error_) log_.Error(version.error(), "Container runtime cannot be used");
    version_error_ = "container runtime cannot be used: " + version.error().message();
  } else if (!std::exchange(version_silent_, true)) {
    // Our patience ends before that with slow calls does, and its status is answered meanwhile:
    // nobody else tells of it. Said once.
    log_.Error(version.error(), "Container runtime did not tell its version");
  }
  SetErrors();
  Rest();
}

void RuntimeHealth::SetErrors() {
  input_.errors.clear();
  for (const auto* error : {&status_error_, &version_error_}) {
    if (*error) input_.errors.push_back(**error);
  }
}

void RuntimeHealth::TellTrouble() {
  const bool down = input_.synced_at && After(*input_.synced_at, kRuntimeSyncAgeMax) <= loop_.Now();
  const bool is_news = std::exchange(down_, down) != down;
  sync::RuntimeTrouble trouble;
  if (unanswered_ && unanswered_->code() != ErrorCode::kUnavailable) {
    if (!told_) return;
    trouble = *told_;
  } else if (unanswered_) {
    trouble.runtime = "container runtime is down";
  } else {
    if (!input_.errors.empty()) trouble.runtime = input_.errors[0];
    trouble.network = input_.network_error.value_or("");
  }
  if (told_ == trouble && !is_news) return;
  told_ = trouble;
  if (tell_) tell_(trouble);
}

void RuntimeHealth::Rest() {
  TellTrouble();
  const bool hurry = !input_.synced_at && loop_.Now() < After(started_at_, kFastTimeMax);
  const bool well = told_ == sync::RuntimeTrouble();
  const Duration pause = hurry ? kFastPeriod : well ? kPeriod : kTroubledPeriod;
  timer_ = loop_.Arm(After(loop_.Now(), pause), [this] { AskForStatus(); });
}

}  // namespace denselet::node
