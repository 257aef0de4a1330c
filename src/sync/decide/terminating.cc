// A pod that ends: containers, sandboxes, then what was set up for it, then what the runtime
// remembers. Nothing starts any more.
#include "sync/decide/phases.h"
#include "sync/decide/steps.h"
#include "sync/decide/tidy.h"

namespace denselet::sync {
namespace {

// Everything that still runs is stopped, whatever phase it is found in: a call that was given up
// may take effect late. Nothing: it is quiet, and that was looked at.
MaybeAction Quiet(const DecideInput& input, const KnownPod& pod, Steps& steps) {
  if (steps.StartsInFlight()) {
    steps.WaitForStarts();
    return steps.waits().Take({.what = WaitFor::kStart});
  }
  if (pod.outcome_unknown) return steps.ReadPod();
  const Work& record = input.facts.end_record;
  if (record.state == WorkState::kInProgress && input.now < record.retry_at) {
    return Wait{.what = WaitFor::kEndRecord, .until = record.retry_at};
  }
  const Seconds grace(std::max<int64_t>(input.state.grace_seconds, 1));
  if (auto action = steps.StopPod(grace)) return action;
  if (!steps.waits().empty()) return steps.waits().Take({.what = WaitFor::kStop});
  if (pod.changed_since_read) return steps.ReadPod();
  return std::nullopt;
}

// Logs that cannot be removed hold up nobody: who looks for leftovers finds them.
Action LogsThenNothing(const PodFacts& facts) {
  if (!facts.removal_allowed) return Nothing{};
  switch (facts.logs.state) {
    case WorkState::kNone:
      return RemoveLogs{};
    case WorkState::kInProgress:
      return Wait{.what = WaitFor::kRelease};
    case WorkState::kDone:
    case WorkState::kFailed:
      break;
  }
  return Nothing{};
}

}  // namespace

Action DecideTerminating(const DecideInput& input, const KnownPod& pod) {
  Steps steps(input, pod);
  if (auto action = Quiet(input, pod, steps)) return *action;
  return EnterPhase{.phase = Phase::kTerminated, .ending = input.state.ending};
}

Action DecideTerminated(const DecideInput& input, const KnownPod& pod) {
  Steps steps(input, pod);
  if (auto action = Quiet(input, pod, steps)) return *action;
  const Work& release = input.facts.release;
  switch (release.state) {
    case WorkState::kNone:
      return ReleasePod{};
    case WorkState::kInProgress:
      return Wait{.what = WaitFor::kRelease};
    case WorkState::kFailed:
      if (input.facts.leftover) break;
      if (input.now >= release.retry_at) return ReleasePod{};
      return Wait{.what = WaitFor::kRelease, .until = release.retry_at, .detail = release.message};
    case WorkState::kDone:
      break;
  }
  return EnterPhase{.phase = Phase::kFinished, .ending = input.state.ending};
}

Action DecideFinished(const DecideInput& input, const KnownPod& pod) {
  Steps steps(input, pod);
  if (auto action = Quiet(input, pod, steps)) return *action;
  if (pod.containers.empty() && pod.sandboxes.empty()) return LogsThenNothing(input.facts);
  if (!input.facts.removal_allowed) {
    if (input.facts.status_settled) {
      if (auto action = Tidy(input, pod, TidyWhat::kAll, steps)) return *action;
    }
    return steps.waits().Take({.what = WaitFor::kRemovalAllowed});
  }
  if (auto action = steps.RemoveAll()) return *action;
  return steps.waits().Take({.what = WaitFor::kRemove});
}

}  // namespace denselet::sync
