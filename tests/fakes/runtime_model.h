// A container runtime as a model: sandboxes, containers that live and die by a script, images. It
// is the part that outlives the agent: FakeRuntime stands between the two, with delays and faults.
//
// Strict: it keeps the names of what is being made reserved, as real runtimes do, and writes down
// every request that a careful agent would not have sent. Everything happens at once, in tasks of
// the simulated world; owned by a test.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/unique_function.h"
#include "sync/ports/image_service.h"
#include "sync/ports/observed_pod.h"
#include "sync/ports/runtime.h"
#include "sync/ports/runtime_spec.h"

namespace denselet::fakes {

struct ContainerBehaviour {
  std::optional<Duration> runs_for = {};  // nothing: until it is stopped
  int32_t exit_code = 0;
  Duration stops_within = Milliseconds(50);  // after the signal; longer than the grace: killed
};

enum class RuntimeRequest : uint8_t {
  kRunSandbox,
  kStopSandbox,
  kRemoveSandbox,
  kCreateContainer,
  kStartContainer,
  kStopContainer,
  kRemoveContainer,
};
std::string_view RuntimeRequestName(RuntimeRequest request);
std::string_view ContainerStateName(sync::ContainerState state);

// One request that the agent sent, as it was sent.
struct SentRequest {
  RuntimeRequest request;
  PodUid pod = {};
  std::string name = {};  // of a container
  uint32_t attempt = 0;
  Duration grace = {};
  SandboxId sandbox = {};  // that a container is to be made in
  uint64_t agent = 0;      // that asked
};

class RuntimeModel {
 public:
  using Later = std::function<void(Duration, UniqueFunction<void()>)>;
  using Behave =
      std::function<ContainerBehaviour(const PodUid&, const std::string& name, uint32_t attempt)>;

  RuntimeModel(const Clock& clock, Later later);

  TimePoint Now() const { return clock_.Now(); }
  void set_behave(Behave behave) { behave_ = std::move(behave); }
  // Told of every request at the moment the agent sends it, before the model judges it.
  void set_on_request(std::function<void(const SentRequest&)> f) { on_request_ = std::move(f); }
  // Told of every change, with the pod that changed.
  uint64_t Subscribe(std::function<void(const sync::PodHint&)> changed);
  void Unsubscribe(uint64_t subscription) { subscribers_.erase(subscription); }

  // Requests, in two steps: what the agent sends is judged when it is sent; what it does happens
  // when the model gets to it.
  void Sent(const SentRequest& request);
  void ReadSent(const PodUid& pod);                        // a look at this pod begins
  void WasRead(const sync::ObservedContainer& container);  // the agent has the answer
  void ListSent();                                         // ... at all
  // The agent gave up on a create without knowing what became of it.
  void OutcomeUnknown(const SentRequest& request);
  // ... or on a start.
  void StartUnknown(const ContainerId& id);
  // A new agent: it knows nothing of the requests of the one before.
  void AgentStarted();

  // Taken when a create arrives, given back when it failed. False: something of that name is there
  // or in the making.
  bool Reserve(const SentRequest& create);
  void Release(const SentRequest& create);
  void ReleaseAll() { reserved_.clear(); }

  Result<SandboxId> RunSandbox(const sync::SandboxSpec& spec);
  Status StopSandbox(const SandboxId& id);
  Status RemoveSandbox(const SandboxId& id);
  Result<ContainerId> CreateContainer(const SandboxId& sandbox, const sync::ContainerSpec& spec);
  // Asked for by that agent; nothing: by the present one.
  Status StartContainer(const ContainerId& id, std::optional<uint64_t> agent = {});
  uint64_t agent() const { return agent_; }  // the present one
  // Calls back when it has ended.
  void StopContainer(const ContainerId& id, Duration grace, UniqueFunction<void(Status)> done);
  Status RemoveContainer(const ContainerId& id);
  bool IsRunning(const ContainerId& id) const;

  using Listed = std::map<PodUid, sync::ListedPod>;
  Listed ListSandboxes() const;
  void ListContainers(Listed& pods) const;
  sync::ObservedPod Read(const PodUid& pod) const;
  Result<sync::ObservedSandbox> ReadSandbox(const SandboxId& id) const;
  Result<sync::ObservedContainer> ReadContainer(const ContainerId& id) const;

  std::set<std::string>& images() { return images_; }

  // The machine under the runtime restarts: nothing runs any more.
  void KillEverything();
  // A container ends by itself, now. False: it does not run.
  bool Exit(const ContainerId& id, int32_t exit_code);
  // The runtime lost track of a running container; only a stop brings clarity. False: it does not
  // run.
  bool LoseState(const ContainerId& id);
  // Some sandbox dies of itself, with its containers; or its pause process does, and they live on
  // until it is stopped.
  enum class Containers : uint8_t { kDieWithIt, kLiveOn };
  bool KillSandbox(const SandboxId& id, Containers containers = Containers::kDieWithIt);

  // The network was set up anew: it has no address any more, and is ready all the same.
  bool LoseAddress(const SandboxId& id);

  const std::vector<std::string>& violations() const { return violations_; }
  void Violation(std::string what);
  // Of each pod, in their order: what was made, started and stopped by the agent's requests.
  const std::map<PodUid, std::vector<std::string>>& history() const { return history_; }
  // Who the objects belong to; nothing: there is none.
  std::optional<std::pair<PodUid, uint32_t>> SandboxOwner(const SandboxId& id) const;
  struct ContainerOwner {
    PodUid pod;
    std::string name;
    uint32_t attempt;
  };
  std::optional<ContainerOwner> OwnerOf(const ContainerId& id) const;

  size_t sandboxes() const { return sandboxes_.size(); }
  size_t containers() const { return containers_.size(); }
  // What there is, for people and for comparing two runs: states without ids and times.
  std::string Describe() const;
  std::string Describe(const PodUid& pod) const;

 private:
  struct Sandbox {
    sync::PodIdentity pod;
    sync::ObservedSandbox observed;
    bool stop_sent = false;  // by the present agent
    bool alone = false;      // there was nothing of its pod when it was made
    bool late = false;       // when it was made, the agent that had asked for it was dead
    uint64_t number = 0;     // in the order in which they were made
  };
  struct Container {
    PodUid pod;
    sync::ObservedContainer observed;
    bool start_known = true;     // false: asked for by an agent before, and not read since
    bool removal_tried = false;  // by the present agent, which has not looked since
    bool stopping = false;
    std::optional<TimePoint> kill_at = {};  // the nearest end of a grace that was sent
    std::vector<UniqueFunction<void(Status)>> waiting = {};
    uint32_t life = 0;  // counts ends that were planned: an old plan finds nobody
  };
  using Key = std::tuple<PodUid, std::string, uint32_t>;  // an empty name: the sandbox

  void Changed(const sync::PodHint& hint);
  void End(Container& container, int32_t exit_code, std::string reason);
  void PlanEnd(const ContainerId& id, Duration after, int32_t exit_code, std::string reason);
  void CheckRunning(const PodUid& pod, const std::string& name);
  void JudgeCreate(const SentRequest& request);
  void JudgeStart(const SentRequest& request);
  void JudgeStop(const SentRequest& request);
  void JudgeRemove(const SentRequest& request);
  void JudgeReady(const Sandbox& made);
  Container* FindContainer(const SentRequest& request);
  void Did(const PodUid& pod, std::string what) { history_[pod].push_back(std::move(what)); }

  const Clock& clock_;
  Later later_;
  Behave behave_;
  std::function<void(const SentRequest&)> on_request_;
  std::map<uint64_t, std::function<void(const sync::PodHint&)>> subscribers_;
  uint64_t next_ = 1;
  std::map<SandboxId, Sandbox> sandboxes_;
  std::map<ContainerId, Container> containers_;
  struct Reserved {
    uint64_t agent;     // that asked
    SandboxId sandbox;  // of a container
  };
  // Whether what is being made there can still come to be.
  bool CanStillBeMade(const Reserved& reserved) const;
  std::map<Key, Reserved> reserved_;
  uint64_t agent_ = 0;
  std::map<Key, uint64_t> asked_at_;  // of the last request to make it: the next number then
  std::set<Key> unknown_;  // creates whose outcome the agent does not know and has not looked for
  std::set<ContainerId> start_unknown_;  // of starts that the present agent gave up on
  std::map<Key, TimePoint> kill_at_sent_;
  std::set<std::string> images_;
  std::vector<std::string> violations_;
  std::map<PodUid, std::vector<std::string>> history_;
};

}  // namespace denselet::fakes
