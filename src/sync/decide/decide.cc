#include "sync/decide/decide.h"

#include <algorithm>

#include "sync/decide/phases.h"
#include "sync/decide/steps.h"

namespace denselet::sync {
namespace {

// As the kubelet's status says it.
constexpr std::string_view kDeadlineReason = "DeadlineExceeded";
constexpr std::string_view kDeadlineMessage =
    "Pod was active on the node longer than the specified deadline";

// Why a pod that is to run is to end now; nothing: it is not.
std::optional<Ending> EndWanted(const DecideInput& input) {
  if (input.state.ending) return input.state.ending;
  if (input.plan.deleted) return Ending{.reason = EndReason::kDeleted};
  if (input.plan.api_outcome) {
    return Ending{.reason = EndReason::kApiTerminal, .outcome = input.plan.api_outcome};
  }
  if (input.now >= ActiveDeadline(input)) {
    return Ending{.reason = EndReason::kDeadline,
                  .outcome = PodOutcome::kFailed,
                  .status_reason = std::string(kDeadlineReason),
                  .status_message = std::string(kDeadlineMessage)};
  }
  return std::nullopt;
}

bool StartsUnderWay(const DecideInput& input) {
  const auto busy = [](const Work& work) { return work.state == WorkState::kInProgress; };
  return busy(input.facts.prepare) || busy(input.facts.volumes) ||
         std::ranges::any_of(input.facts.containers,
                             [](const ContainerFacts& facts) {
                               return facts.image.state == WorkState::kInProgress;
                             }) ||
         std::ranges::any_of(input.ledger.sandboxes,
                             [](const SandboxEntry& entry) { return entry.run.in_flight(); }) ||
         std::ranges::any_of(input.ledger.containers, [](const ContainerEntry& entry) {
           return entry.create.in_flight() || entry.start.in_flight() ||
                  entry.post_start.in_flight();
         });
}

bool EndIsToBeRecorded(const DecideInput& input) {
  return input.state.phase == Phase::kTerminating && input.state.ending &&
         IsForGood(*input.state.ending) && input.facts.end_record.state == WorkState::kNone;
}

Action DecideKnown(const DecideInput& input) {
  // Nothing can be asked of a runtime that is down, and its answers would be failures.
  if (!input.node.runtime_ready) {
    return Wait{.what = WaitFor::kRuntime,
                .until = input.state.phase == Phase::kSyncing ? ActiveDeadline(input) : kNever,
                .detail = input.node.why_not};
  }
  if (!input.observation.pod) return Steps(input, {}).ReadPod();
  const KnownPod pod = MakeKnownPod(input);
  switch (input.state.phase) {
    case Phase::kSyncing:
      // Nothing is made that may be there already.
      if (pod.outcome_unknown) return Steps(input, pod).ReadPod();
      return DecideSyncing(input, pod);
    case Phase::kTerminating:
      return DecideTerminating(input, pod);
    case Phase::kTerminated:
      return DecideTerminated(input, pod);
    case Phase::kFinished:
      return DecideFinished(input, pod);
  }
  return Nothing{};
}

}  // namespace

Decision Decide(const DecideInput& input) {
  if (input.state.phase == Phase::kSyncing) {
    if (auto ending = EndWanted(input)) {
      return {.action = EnterPhase{.phase = Phase::kTerminating, .ending = std::move(ending)},
              .cancel_starts = StartsUnderWay(input)};
    }
    return {.action = DecideKnown(input)};
  }
  const bool cancel_starts = StartsUnderWay(input);
  if (EndIsToBeRecorded(input)) return {.action = RecordEnd{}, .cancel_starts = cancel_starts};
  return {.action = DecideKnown(input), .cancel_starts = cancel_starts};
}

}  // namespace denselet::sync
