#include "sync/decide/decision.h"

#include <array>

#include "base/quoted.h"

namespace denselet::sync {
namespace {

constexpr size_t kNameShownMax = 64;
constexpr size_t kDetailShownMax = 512;

struct WaitText {
  std::string_view name;
  std::string_view text;  // after "wait for"
};

// In the order of WaitFor.
constexpr std::array<WaitText, kWaitForCount> kWaits{{
    {"change", "a change"},
    {"read", "the runtime's answer about the pod"},
    {"read-retry", "the next try to read the pod"},
    {"runtime", "the container runtime, which is down"},
    {"network", "the network, which is not ready"},
    {"prepare", "cgroup and directories"},
    {"volumes", "volumes"},
    {"sandbox-run", "the sandbox"},
    {"sandbox-stop", "the sandbox to stop"},
    {"sandbox-retry", "the next try with the sandbox"},
    {"image", "the image"},
    {"image-retry", "the next try to get the image"},
    {"create", "the container to be created"},
    {"start", "the container to be started"},
    {"container-retry", "the next try"},
    {"post-start", "the post-start hook"},
    {"back-off", "the back-off of its crash loop"},
    {"init-container", "the init container to finish"},
    {"startup-probe", "the startup probe"},
    {"pre-stop", "the pre-stop hook"},
    {"stop-turn", "its turn to stop"},
    {"stop", "the container to stop"},
    {"stop-retry", "the next try to stop"},
    {"remove", "removal"},
    {"remove-retry", "the next try to remove"},
    {"end-record", "the journal to have it that the pod ends"},
    {"release", "volumes, directories and cgroup to go"},
    {"removal-allowed", "the API server to know the final status"},
}};

const WaitText& TextOf(WaitFor what) { return kWaits.at(static_cast<size_t>(what)); }

// In the order of Action.
constexpr std::array<std::string_view, std::variant_size_v<Action>> kActions{
    "wait",        "read",       "prepare",    "mount-volumes",   "run-sandbox",    "ensure-images",
    "create",      "start",      "post-start", "stop-containers", "stop-sandboxes", "remove",
    "enter-phase", "record-end", "release",    "remove-logs",     "nothing",
};

std::string Of(const PodPlan& plan, ContainerIndex index) {
  if (index >= plan.containers.size()) return {};
  return " of container " + Quoted(plan.containers[index].name, kNameShownMax);
}

std::string DescribeWait(const Wait& wait, const PodPlan& plan, TimePoint now) {
  std::string text = "wait for ";
  text += TextOf(wait.what).text;
  text += Of(plan, wait.container);
  if (wait.until != kNever) {
    const Duration left = std::max(wait.until - now, Duration(0));
    text += ", " + FormatDuration(left) + " at most";
  }
  if (!wait.detail.empty()) text += ": " + Quoted(wait.detail, kDetailShownMax);
  return text;
}

// Names and numbers of what an action is about.
struct Subject {
  const PodPlan& plan;

  std::string operator()(const RunSandbox& a) const {
    return " attempt " + std::to_string(a.attempt);
  }
  std::string operator()(const CreateContainer& a) const {
    return Instance(a.container, a.attempt);
  }
  std::string operator()(const StartContainer& a) const { return Instance(a.container, a.attempt); }
  std::string operator()(const RunPostStart& a) const { return Instance(a.container, a.attempt); }
  std::string operator()(const EnsureImages& a) const {
    std::string text;
    for (const auto& item : a.items) text += Instance(item.container, item.attempt);
    return text;
  }
  std::string operator()(const StopContainers& a) const {
    std::string text;
    for (const ContainerStop& step : a.steps) {
      text += step.step == ContainerStop::Step::kPreStop ? " hook of " : " ";
      text += Quoted(step.name, kNameShownMax) + " in " + FormatDuration(step.grace);
    }
    return text;
  }
  template <class Other>
  std::string operator()(const Other&) const {
    return {};
  }

  std::string Instance(ContainerIndex index, uint32_t attempt) const {
    return Of(plan, index) + " attempt " + std::to_string(attempt);
  }
};

}  // namespace

std::string_view ActionName(const Action& action) { return kActions.at(action.index()); }

std::string_view WaitName(WaitFor what) { return TextOf(what).name; }

std::string Describe(const Decision& decision, const PodPlan& plan, TimePoint now) {
  if (const Wait* wait = std::get_if<Wait>(&decision.action)) return DescribeWait(*wait, plan, now);
  return std::string(ActionName(decision.action)) + std::visit(Subject{plan}, decision.action);
}

}  // namespace denselet::sync
