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
    if (running && !StartIsUnseen(*container)) return std::nullopt;
    const bool never = !container;
    const bool coming = container && container->life != Life::kExited;
    const bool ends = in_.state.phase != Phase::kSyncing || in_.state.ending || plan_.deleted;
    if (!ends && (never || coming || Again(index, *container))) {
      if (auto failure = Failure(index, container)) return failure;
    }
    if (never || coming) return NotYet();
    return std::nullopt;  // it ended, and its status says how
  }

  // Its status shows what was seen, so until then it waits for what it waited for.
  static bool StartIsUnseen(const KnownContainer& container) {
    return container.entry && container.entry->start.done() &&
           container.as_of <= container.entry->start.ended;
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
      if (const auto loop = CrashLoop(in_, pod_, index)) return InLoop(plan, loop->delay);
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
      if (entry.attempt == attempt && !entry.create.reason().empty()) return Told(entry.create);
    }
    if (auto loop = LoopUntilStarted(index, container)) return loop;
    for (const ContainerEntry& entry : in_.ledger.containers) {
      if (entry.name != plan.name) continue;
      const bool last = container && entry.attempt == container->attempt;
      // Most runtimes have it as exited then; that is told, once it was looked at.
      const bool looked_at =
          last && (container->life == Life::kExited || container->as_of > entry.start.ended);
      if (looked_at && !entry.start.reason().empty()) return Told(entry.start);
      if (last && !entry.post_start.reason().empty()) return Told(entry.post_start);
    }
    return std::nullopt;
  }

  // What it waited for is told until it has started again.
  Maybe LoopUntilStarted(ContainerIndex index, const KnownContainer* container) const {
    const ContainerPlan& plan = plan_.containers[index];
    const ContainerMemory* memory = in_.memory.Find(plan.name);
    if (!container || !memory) return std::nullopt;
    const bool exited = container->life == Life::kExited;
    const auto delay = exited ? CrashLoopDelay(in_, pod_, index) : memory->waited;
    if (!delay) return std::nullopt;
    return InLoop(plan, *delay);
  }

  ContainerWaiting InLoop(const ContainerPlan& plan, Duration delay) const {
    return {.reason = "CrashLoopBackOff",
            .message = "back-off " + FormatDuration(delay) +
                       " restarting failed container=" + plan.name + " pod=" + plan_.pod.ref.name +
                       "_" + plan_.pod.ref.ns + "(" + plan_.pod.uid.value() + ")"};
  }

  static ContainerWaiting Told(const Call& call) {
    return {.reason = call.reason(), .message = std::string(WithoutRpcCode(call.message()))};
  }

  const DecideInput& in_;
  const PodPlan& plan_;
  const KnownPod& pod_;
  std::vector<ContainerWaiting> out_ = {};
};

}  // namespace

std::string_view WithoutRpcCode(std::string_view message) {
  constexpr std::string_view kBegin = "rpc error: code = ";
  constexpr std::string_view kText = " desc = ";
  if (!message.starts_with(kBegin)) return message;
  const size_t text = message.find(kText);
  return text == message.npos ? message : message.substr(text + kText.size());
}

std::vector<ContainerWaiting> WaitingReasons(const DecideInput& input) {
  static const ObservedPod kNothing;
  DecideInput seen = input;
  if (!seen.observation.pod) seen.observation.pod = &kNothing;
  const KnownPod pod = MakeKnownPod(seen);
  return Reasons(seen, pod).Run();
}

}  // namespace denselet::sync
