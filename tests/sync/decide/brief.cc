// A decision as a short text, for tables.
#include "tests/sync/decide/scene.h"

namespace denselet::sync::tests {
namespace {

std::string_view ReasonText(KillReason reason) {
  switch (reason) {
    case KillReason::kNone:
      return "none";
    case KillReason::kStartupProbe:
      return "startup";
    case KillReason::kLivenessProbe:
      return "liveness";
    case KillReason::kChanged:
      return "changed";
    case KillReason::kPostStartFailed:
      return "post-start";
    case KillReason::kUnknownState:
      return "unknown";
    case KillReason::kDuplicate:
      return "duplicate";
    case KillReason::kRestartAll:
      return "all";
    case KillReason::kPodStops:
      return "pod";
  }
  return "?";
}

std::string_view EndText(EndReason reason) {
  switch (reason) {
    case EndReason::kDeleted:
      return "deleted";
    case EndReason::kApiTerminal:
      return "api-terminal";
    case EndReason::kKilled:
      return "killed";
    case EndReason::kDeadline:
      return "deadline";
    case EndReason::kCompleted:
      return "completed";
    case EndReason::kOrphan:
      return "orphan";
  }
  return "?";
}

struct Teller {
  const PodPlan& plan;
  TimePoint now;

  std::string Name(ContainerIndex index) const {
    return index < plan.containers.size() ? plan.containers[index].name : "?";
  }
  std::string Instance(ContainerIndex index, uint32_t attempt) const {
    return Name(index) + "/" + std::to_string(attempt);
  }

  std::string operator()(const Wait& wait) const {
    std::string text = "wait " + std::string(WaitName(wait.what));
    if (wait.container != kNoContainer) text += " " + Name(wait.container);
    if (wait.until != kNever) text += " +" + FormatDuration(wait.until - now);
    return text;
  }
  std::string operator()(const Read& read) const {
    std::string text = read.whole_pod ? "read pod" : "read";
    for (const auto& id : read.sandboxes) text += " " + id.value();
    for (const auto& id : read.containers) text += " " + id.value();
    return text;
  }
  std::string operator()(const PreparePod&) const { return "prepare"; }
  std::string operator()(const MountVolumes&) const { return "mount"; }
  std::string operator()(const RunSandbox& a) const { return "run sb" + std::to_string(a.attempt); }
  std::string operator()(const EnsureImages& a) const {
    std::string text = "images";
    for (const auto& item : a.items) text += " " + Instance(item.container, item.attempt);
    return text;
  }
  std::string operator()(const CreateContainer& a) const {
    std::string text = "create " + Instance(a.container, a.attempt) + " in " + a.sandbox.value();
    if (a.back_off) text += " backoff=" + FormatDuration(a.back_off->delay);
    if (!a.pid_target.empty()) text += " target=" + a.pid_target.value();
    return text;
  }
  std::string operator()(const StartContainer& a) const {
    return "start " + Instance(a.container, a.attempt);
  }
  std::string operator()(const RunPostStart& a) const {
    return "hook " + Instance(a.container, a.attempt);
  }
  std::string operator()(const StopContainers& a) const {
    std::string text;
    for (const ContainerStop& step : a.steps) {
      if (!text.empty()) text += "; ";
      text += step.step == ContainerStop::Step::kPreStop ? "prestop " : "stop ";
      text += step.name + "/" + std::to_string(step.attempt) + " " + FormatDuration(step.grace) +
              " " + std::string(ReasonText(step.reason));
      if (step.restart_at_once) text += " restart";
      if (step.supersedes) text += " again";
    }
    return text;
  }
  std::string operator()(const StopSandboxes& a) const {
    std::string text = "stop";
    for (const auto& id : a.ids) text += " " + id.value();
    return text;
  }
  std::string operator()(const Remove& a) const {
    std::string text = "remove";
    for (const auto& id : a.containers) text += " " + id.value();
    for (const auto& id : a.sandboxes) text += " " + id.value();
    if (a.logs == KeepLogs::kYes) text += " keep-logs";
    return text;
  }
  std::string operator()(const EnterPhase& a) const {
    std::string text = a.phase == Phase::kTerminating  ? "terminate"
                       : a.phase == Phase::kTerminated ? "terminated"
                                                       : "finished";
    if (a.phase != Phase::kTerminating || !a.ending) return text;
    text += " " + std::string(EndText(a.ending->reason));
    if (a.ending->outcome) {
      text += *a.ending->outcome == PodOutcome::kSucceeded ? " succeeded" : " failed";
    }
    return text;
  }
  std::string operator()(const ReleasePod&) const { return "release"; }
  std::string operator()(const RecordEnd&) const { return "record end"; }
  std::string operator()(const RemoveLogs&) const { return "remove logs"; }
  std::string operator()(const Nothing&) const { return "nothing"; }
};

}  // namespace

std::string Brief(const Decision& decision, const PodPlan& plan, TimePoint now) {
  const std::string text = std::visit(Teller{plan, now}, decision.action);
  return decision.cancel_starts ? "cancel, " + text : text;
}

}  // namespace denselet::sync::tests
