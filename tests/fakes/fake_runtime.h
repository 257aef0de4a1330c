// The ports Runtime and ImageService over a RuntimeModel: one object per shard, with calls that
// take a while, fail, hang, end with an unknown outcome, or take effect after the caller gave up.
//
//   agent --send--> [ on its way ] --> arrives: name reserved --> takes effect --> answer
//                                                         (late: after the agent was told)
//
// Destroyed with the agent: calls under way take effect all the same, and answer nobody.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "reactor/api/loop.h"
#include "sync/ports/image_service.h"
#include "sync/ports/runtime.h"
#include "tests/fakes/runtime_model.h"

namespace denselet::fakes {

struct FakeRuntimeFaults {
  // Of each way; uniform between them.
  Duration delay_min = Microseconds(100);
  Duration delay_max = Milliseconds(5);
  double not_sent = 0;     // kUnavailable; nothing was done
  double refused = 0;      // kIo, the runtime's own failure; nothing was done
  double lost_before = 0;  // kUnknownOutcome; nothing was done
  double lost_after = 0;   // kUnknownOutcome; it was done
  double late = 0;         // kUnknownOutcome at once; it is done later
  double hang = 0;         // no answer; done at once, late, or never
  Duration late_max = Seconds(30);
  // Deadlines of the classes. Short ones make a simulation dense.
  Duration timeout = Minutes(2);
};

// What went wrong with a call, in the order of the chances above.
enum class FakeFault : uint8_t { kNotSent, kDown, kRefused, kLostBefore, kLostAfter, kLate, kHang };

// What becomes of a word about a pod's change in the stream of events, in the order of the chances
// there.
enum class FakeEventFault : uint8_t { kLost, kLostTold, kBroken, kLate, kRepeated };

// What the runtimes of all shards of one agent and all agents share: is it up, how bad is it.
class FakeRuntimeHost {
 public:
  FakeRuntimeHost(RuntimeModel& model, Random& random, RuntimeModel::Later later)
      : model_(model), random_(random), later_(std::move(later)) {}

  FakeRuntimeFaults& faults() { return faults_; }
  RuntimeModel& model() { return model_; }
  Random& random() { return random_; }
  void Later(Duration delay, UniqueFunction<void()> task) { later_(delay, std::move(task)); }

  bool up() const { return up_; }
  // While it is down nothing arrives; what was under way is lost, with an unknown outcome. Names
  // that were reserved are free again.
  void Crash();
  void Start() { up_ = true; }
  // Grows with every crash: what arrived before belongs to the past.
  uint64_t life() const { return life_; }

  // The agent dies with its n-th call from now: this one and those after it are never sent, though
  // the turn that it is in the middle of goes on. Whoever owns the agent then destroys it.
  void KillAgentAfter(uint32_t calls) { calls_left_ = calls; }
  void AgentStarted() { calls_left_.reset(); }
  // One call more; false: the agent is dead.
  bool CountCall();
  bool agent_dead() const { return calls_left_ == 0u; }

  // Told when a call that went wrong is answered, before its caller hears.
  void set_on_fault(std::function<void(FakeFault, const PodUid&)> f) { on_fault_ = std::move(f); }
  void Told(FakeFault fault, const PodUid& pod) {
    if (on_fault_) on_fault_(fault, pod);
  }
  // Told when the change happens.
  void set_on_event_fault(std::function<void(FakeEventFault, const PodUid&)> f) {
    on_event_fault_ = std::move(f);
  }
  void Told(FakeEventFault fault, const PodUid& pod) {
    if (on_event_fault_) on_event_fault_(fault, pod);
  }

  Duration Delay();
  bool Chance(double chance) { return chance > 0 && random_.Unit() < chance; }

  struct Counters {
    std::map<std::string, uint64_t> calls = {};
    std::map<std::string, uint64_t> faults = {};
    std::map<std::string, uint64_t> of_no_pod = {};  // calls whose context names none
  };
  Counters& counters() { return counters_; }

 private:
  RuntimeModel& model_;
  Random& random_;
  RuntimeModel::Later later_;
  FakeRuntimeFaults faults_;
  bool up_ = true;
  uint64_t life_ = 0;
  std::optional<uint32_t> calls_left_ = {};
  std::function<void(FakeFault, const PodUid&)> on_fault_;
  std::function<void(FakeEventFault, const PodUid&)> on_event_fault_;
  Counters counters_;
};

class FakeRuntime final : public sync::Runtime, public sync::ImageService {
 public:
  FakeRuntime(reactor::Loop& loop, FakeRuntimeHost& host);
  ~FakeRuntime() override;

  size_t calls() const { return calls_.size(); }

  // Runtime
  void Version(const Context&, reactor::Done<sync::RuntimeVersion>) override;
  void Status(const Context&, reactor::Done<sync::RuntimeStatus>) override;
  void CgroupDriverInUse(const Context&, reactor::Done<std::optional<sync::CgroupDriver>>) override;
  void SetPodCidr(const Context&, std::string pod_cidr, reactor::Done<Unit>) override;
  void ListAll(const Context&, reactor::Done<sync::RuntimeList>) override;
  void ReadPod(const Context&, const PodUid&, reactor::Done<sync::ObservedPod>) override;
  void ReadSandbox(const Context&, const SandboxId&, reactor::Done<sync::ObservedSandbox>) override;
  void ReadContainer(const Context&, const ContainerId&, const SandboxId&,
                     reactor::Done<sync::ObservedContainer>) override;
  void RunSandbox(const Context&, const sync::SandboxSpec&, reactor::Done<SandboxId>) override;
  void StopSandbox(const Context&, const SandboxId&, reactor::Done<Unit>) override;
  void RemoveSandbox(const Context&, const SandboxId&, reactor::Done<Unit>) override;
  void CreateContainer(const Context&, const SandboxId&, const sync::ContainerSpec&,
                       const sync::SandboxSpec&, reactor::Done<ContainerId>) override;
  void StartContainer(const Context&, const ContainerId&, reactor::Done<Unit>) override;
  void StopContainer(const Context&, const ContainerId&, Duration grace,
                     reactor::Done<Unit>) override;
  void RemoveContainer(const Context&, const ContainerId&, reactor::Done<Unit>) override;
  void UpdateResources(const Context&, const ContainerId&, const sync::LinuxResources&,
                       reactor::Done<Unit>) override;
  void UpdateSandboxResources(const Context&, const SandboxId&, const sync::LinuxResources&,
                              const sync::LinuxResources&, reactor::Done<Unit>) override;
  void ReopenLog(const Context&, const ContainerId&, reactor::Done<Unit>) override;
  void Exec(const Context&, const ContainerId&, std::vector<std::string> command, Duration timeout,
            reactor::Done<sync::ExecResult>) override;

  // ImageService
  void Find(const Context&, const sync::ImageRequest&,
            reactor::Done<std::optional<sync::ObservedImage>>) override;
  void Pull(const Context&, const sync::ImageRequest&, const sync::ImageCredentials&,
            const sync::SandboxSpec& sandbox, reactor::Done<std::string>) override;
  void List(const Context&, reactor::Done<std::vector<sync::ObservedImage>>) override;
  void Remove(const Context&, const ImageId&, reactor::Done<Unit>) override;
  void Filesystems(const Context&, reactor::Done<sync::ImageFilesystems>) override;

 private:
  struct CallBase;
  template <class T>
  struct Call;
  template <class T>
  using Answer = UniqueFunction<void(Result<T>)>;
  // What the model does when the request arrives; answers now or later.
  template <class T>
  using Effect = std::function<void(Answer<T>)>;

  struct Kind {
    const char* name;
    bool mutates = false;
    Duration timeout = {};
    PodUid pod = {};  // whose it is; empty: nobody's
    std::optional<SentRequest> sent = {};
    std::optional<ContainerId> starts = {};
  };

  template <class T>
  void Begin(const Context& context, Kind kind, Effect<T> effect, reactor::Done<T> done);
  template <class T>
  void Finish(uint64_t number, Result<T> result);
  Duration Timeout() const { return host_.faults().timeout; }

  reactor::Loop& loop_;
  FakeRuntimeHost& host_;
  std::shared_ptr<bool> alive_;  // shared with what the world still does for dead callers
  uint64_t next_ = 1;
  std::map<uint64_t, std::unique_ptr<CallBase>> calls_;
};

}  // namespace denselet::fakes
