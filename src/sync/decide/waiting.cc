// Why containers wait, in the words of the API.
#include "sync/decide/container_rules.h"
#include "sync/decide/decide.h"
#include "sync/decide/start_steps.h"

namespace denselet::sync {
namespace {

class Reasons {
 public:
  Reasons(const DecideInput& input, const KnownPod& pod)
      : in_(input), plan_(input.plan), pod_(pod) {}

  std::vector<ContainerWaiting> Run() {
    for (size_t at = 0; at < plan_.containers.size(); ++at) {
      const auto index = static_cast<ContainerIndex>(at);
      auto waiting = Of(index);
      if (!waiting) continue;
      waiting->container = index;
      out_.push_back(std::move(*waiting));
    }
    return std::move(out_);
  }

 private:
  using Maybe = std::optional<ContainerWaiting>;

  ContainerWaiting NotYet() const {
    return {.reason = plan_.init_count > 0 ? "PodInitializing" : "ContainerCreating"};
  }

  Maybe Of(ContainerIndex index) const {
    const KnownContainer* container = pod_.Subject(index);
    const bool running = container && container->life == Life::kRunning;
    if (running) return std::nullopt;
    const bool never = !container;
    const bool coming = container && container->life != Life::kExited;
    const bool ends = in_.state.phase != Phase::kSyncing || in_.state.ending || plan_.deleted;
    if (!ends && (never || coming || Again(index, *container))) {
      if (auto failure = Failure(index, container)) return failure;
    }
    if (never || coming) return NotYet();
    return std::nullopt;  // it ended, and its status says how
  }

  bool Again(ContainerIndex index, const KnownContainer& container) const {
    const ContainerPlan& plan = plan_.containers[index];
    if (plan.kind == ContainerKind::kEphemeral) return false;
    if (plan.kind == ContainerKind::kInit && !IsInitFailure(container)) return false;
    return RestartsAfterExit(plan_, plan, container.exit_code);
  }

  Maybe Failure(ContainerIndex index, const KnownContainer* container) const {
    const ContainerPlan& plan = plan_.containers[index];
    if (container && container->life == Life::kExited) {
      if (const auto loop = CrashLoop(in_, pod_, index)) {
        return ContainerWaiting{.reason = "CrashLoopBackOff",
                                .message = "back-off " + FormatDuration(loop->delay) +
                                           " restarting failed container=" + plan.name +
                                           " pod=" + plan_.pod.ref.name + "_" + plan_.pod.ref.ns +
                                           "(" + plan_.pod.uid.value() + ")"};
      }
    }
    const uint32_t attempt = container && container->life != Life::kExited
                                 ? container->attempt
                                 : NextAttempt(in_, pod_, index);
    if (index < in_.facts.containers.size()) {
      const ImageFact& image = in_.facts.containers[index].image;
      if (image.attempt == attempt && image.state != WorkState::kDone && !image.reason.empty()) {
        return ContainerWaiting{.reason = image.reason, .message = image.message};
      }
    }
    for (const ContainerEntry& entry : in_.ledger.containers) {
      if (entry.name != plan.name) continue;
      if (entry.attempt == attempt && !entry.create.reason.empty()) return Told(entry.create);
      const bool last = container && entry.attempt == container->attempt;
      if (last && !entry.start.reason.empty()) return Told(entry.start);
      if (last && !entry.post_start.reason.empty()) return Told(entry.post_start);
    }
    return std::nullopt;
  }

  static ContainerWaiting Told(const Call& call) {
    return {.reason = call.reason, .message = call.message};
  }

  const DecideInput& in_;
  const PodPlan& plan_;
  const KnownPod& pod_;
  std::vector<ContainerWaiting> out_ = {};
};

}  // namespace

std::vector<ContainerWaiting> WaitingReasons(const DecideInput& input) {
  static const ObservedPod kNothing;
  DecideInput seen = input;
  if (!seen.observation.pod) seen.observation.pod = &kNothing;
  const KnownPod pod = MakeKnownPod(seen);
  return Reasons(seen, pod).Run();
}

}  // namespace denselet::sync
