// The way of a container from its image to its post-start hook, one call at a time, and who waits
// for whom. Internal to Decide.
#pragma once

#include <string>
#include <vector>

#include "sync/decide/container_rules.h"
#include "sync/decide/steps.h"

namespace denselet::sync {

// The number of the next instance: one more than the newest, or what the logs leave free if the
// runtime remembers none.
uint32_t NextAttempt(const DecideInput& input, const KnownPod& pod, ContainerIndex index);

// The crash-loop delay that holds the container, and since when; nothing: it may be started.
struct BackOff {
  Duration delay = {};
  TimePoint until = {};
};
std::optional<BackOff> CrashLoop(const DecideInput& input, const KnownPod& pod,
                                 ContainerIndex index);
// The delay that holds it or has held it since that exit.
std::optional<Duration> CrashLoopDelay(const DecideInput& input, const KnownPod& pod,
                                       ContainerIndex index);

class Starter {
 public:
  Starter(const DecideInput& input, const KnownPod& pod, const KnownSandbox& sandbox, Steps& steps)
      : in_(input), plan_(input.plan), pod_(pod), sandbox_(sandbox), steps_(steps) {}

  // Ephemeral ones hold up nobody. Init containers and sidecars come one after the other, then
  // regular ones: each waits for the image, the start and the hook of the one before, and not for
  // one that failed or waits for its next try.
  MaybeAction Start(const ContainerVerdict& verdict);
  // One that may yet run, of a start with an unknown outcome: it is asked to start again until that
  // is known, for what is to become of it depends on whether it runs.
  MaybeAction StartAgain(ContainerIndex index, const KnownContainer& made) {
    return StartMade(index, made).action;
  }

 private:
  enum class Hold : uint8_t { kNo, kYes };  // whether the next one has to wait
  struct Step {
    MaybeAction action = {};
    Hold hold = Hold::kNo;
  };

  MaybeAction StartInOrder(const std::vector<ContainerIndex>& containers, bool& held);
  Step Advance(ContainerIndex index);
  Step StartMade(ContainerIndex index, const KnownContainer& made);
  Step NewInstance(ContainerIndex index);
  Step WaitingFor(WaitFor what, ContainerIndex index, Hold hold);
  MaybeAction Create(ContainerIndex index, uint32_t attempt);
  // What the images of all that could be created now need: they come in parallel.
  MaybeAction Images(const std::vector<ContainerIndex>& containers);
  const ImageFact* Image(ContainerIndex index, uint32_t attempt) const;
  const ContainerEntry* EntryOf(ContainerIndex index, uint32_t attempt) const;
  bool NeedsInstance(ContainerIndex index) const;
  bool MayRetry(const Call& call) const { return in_.now >= call.retry_at; }

  const DecideInput& in_;
  const PodPlan& plan_;
  const KnownPod& pod_;
  const KnownSandbox& sandbox_;
  Steps& steps_;
};

}  // namespace denselet::sync
