// Parts of a decision that more than one phase needs: collecting what is waited for, stopping
// containers and sandboxes, removing, reading. Each gives the action that may be begun now, or
// nothing, having noted what it waits for.
#pragma once

#include <optional>
#include <vector>

#include "sync/decide/decide.h"
#include "sync/decide/grace.h"
#include "sync/decide/known_pod.h"

namespace denselet::sync {

// The first thing waited for is told, and all back-offs; the earliest time of all is when to look
// again.
class Waits {
 public:
  void Add(Wait wait) {
    if (wait.until < until_) until_ = wait.until;
    if (wait.what == WaitFor::kBackOff) in_back_off_.push_back(wait.container);
    if (!first_) first_ = std::move(wait);
  }
  void Until(TimePoint time) { until_ = std::min(until_, time); }
  bool empty() const { return !first_; }
  Wait Take(Wait otherwise) {
    Wait wait = first_ ? std::move(*first_) : std::move(otherwise);
    wait.until = std::min(wait.until, until_);
    wait.in_back_off = std::move(in_back_off_);
    return wait;
  }

 private:
  std::optional<Wait> first_ = {};
  std::vector<ContainerIndex> in_back_off_ = {};
  TimePoint until_ = kNever;
};

using MaybeAction = std::optional<Action>;

// A container that is to stop.
struct Kill {
  const KnownContainer* container = nullptr;
  ContainerIndex index = kNoContainer;
  KillReason reason = KillReason::kNone;
  Seconds grace = {};
  bool restart_at_once = false;
  bool its_turn = true;
  TimePoint began = kNever;  // when its grace began to run, if that was before its own first step
};

class Steps {
 public:
  Steps(const DecideInput& input, const KnownPod& pod) : in_(input), pod_(pod) {}

  Waits& waits() { return waits_; }

  // The next step of each that can take one.
  MaybeAction Stop(const std::vector<Kill>& kills);
  // Everything that runs, in the order that sidecars need; then all sandboxes. `grace`: of a pod
  // that ends; nothing: each container's own.
  MaybeAction StopPod(std::optional<Seconds> grace);
  MaybeAction StopSandboxesNow();
  // Removes what is not being removed. What failed is tried again in time and holds up nobody.
  MaybeAction RemoveContainers(const std::vector<const KnownContainer*>& containers, KeepLogs logs);
  // Of a pod that goes altogether: its logs go as a whole, afterwards.
  MaybeAction RemoveAll();
  // Each is stopped first, if we did not do that: only then the runtime has given back its network.
  MaybeAction RemoveDeadSandboxes(const std::vector<const KnownSandbox*>& sandboxes);
  // Looks at the whole pod.
  Action ReadPod();
  // Looks at what our own calls changed and nobody has looked at since.
  MaybeAction ReadChanged();
  // Starting calls under way.
  bool StartsInFlight() const;
  void WaitForStarts();

 private:
  // Whether a stop or a removal may be begun; if not, what it waits for is noted.
  bool MayBegin(const Call& call, WaitFor in_flight, WaitFor retry);
  std::optional<ContainerStop> StopStep(const Kill& kill);
  std::vector<Kill> AllRunning(std::optional<Seconds> grace) const;
  bool ItsTurn(ContainerIndex index) const;
  bool Runs(const SandboxId& sandbox) const;
  TimePoint PodStopBegan() const;

  const DecideInput& in_;
  const KnownPod& pod_;
  Waits waits_ = {};
};

}  // namespace denselet::sync
