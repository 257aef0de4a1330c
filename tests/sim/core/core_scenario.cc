#include "tests/sim/core/core_scenario.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "tests/sim/core/core_agent.h"
#include "tests/sim/core/sim_pods.h"

namespace denselet::sim {
namespace {

using fakes::RuntimeRequest;
using fakes::SentRequest;

constexpr Duration kTroubled = Minutes(5);
constexpr Duration kPeaceMax = Minutes(15);
constexpr uint32_t kPodsMax = 40;
constexpr size_t kProblemsMax = 5;

class NullSink final : public LogSink {
 public:
  void Write(std::string_view, Severity) noexcept override {}
};

WorldOptions DrawWorld(const CoreRun& run) {
  SeededRandom random(run.seed * 7919 + 1);
  WorldOptions options;
  options.seed = run.seed;
  options.shards = static_cast<uint32_t>(1 + random.Below(4));
  options.trace = run.trace;
  if (!run.quiet && random.Below(4) == 0) {
    options.mail = {.requests_max = 8, .replies_max = 16, .hints_max = 8};
  }
  return options;
}

class Scenario final : public CoreAgentUser {
 public:
  explicit Scenario(const CoreRun& run);
  ~Scenario() { agent_.reset(); }
  CoreResult Run();

 private:
  struct Life {  // of one worker
    uint64_t generation = 0;
    sync::Phase phase = sync::Phase::kSyncing;
    int64_t grace = 0;
  };

  // The agent.
  void StartAgent();
  void KillAgent();
  void TellAll();

  // Wishes and disturbances.
  void PlanNext();
  void Disturb();
  void AddPod();
  void AddStaticAgain(const PodUid& uid);
  void DeletePod(SimPod& pod);
  void RemovePod(SimPod& pod);
  void Tell(SimPod& pod);
  void TellFiles();
  void CrashRuntime();
  SimPod* AnyPod(bool (*wanted)(const SimPod&));
  bool Chance(double p) { return plan_.Unit() < p; }

  // CoreAgentUser
  void OnPodChanged(uint32_t shard, const sync::PodWorker& worker) override;
  void OnPodGone(const sync::PodIdentity& pod) override;
  void OnPodFault(const sync::PodWorker& worker, const Error& error) override;
  void OnPlegMode(const sync::PlegModeChange& change) override;

  void Acknowledge();
  void OnRequest(const SentRequest& request);
  void CheckTurn();
  std::string NotConverged();
  void Problem(std::string what);
  void Cover(const std::string& event, const PodUid& uid);
  void CoverAll(const std::string& event);
  void Note(const std::string& what) { world_.Note(what); }

  const CoreRun run_;
  World world_;
  SeededRandom plan_;  // what happens to the world; apart from how long things take
  NullSink sink_;
  LogVerbosity verbosity_;
  LogOutput output_{LogFormat{}, world_.clock(), verbosity_, sink_};
  Logger log_{output_};
  fakes::RuntimeModel model_;
  fakes::FakeRuntimeHost host_;
  PodLeaves leaves_;
  CoreAgentOptions agent_options_;
  std::map<PodUid, SimPod> pods_;
  std::set<PodUid> touched_;  // there may be a reason to stop its containers
  std::map<PodUid, Life> lives_;
  uint32_t next_pod_ = 1;
  bool troubled_ = true;
  TimePoint trouble_ends_;
  CoreResult result_;
  std::unique_ptr<CoreAgent> agent_;
};

Scenario::Scenario(const CoreRun& run)
    : run_(run),
      world_(DrawWorld(run)),
      plan_(run.seed * 104729 + 3),
      model_(world_.clock(),
             [this](Duration d, UniqueFunction<void()> task) { world_.Later(d, std::move(task)); }),
      host_(model_, world_.random(),
            [this](Duration d, UniqueFunction<void()> task) { world_.Later(d, std::move(task)); }),
      leaves_(host_) {
  trouble_ends_ = world_.clock().Now() + kTroubled;
  model_.images() = {"image:1"};
  model_.set_on_request([this](const SentRequest& request) { OnRequest(request); });
  model_.set_behave([this](const PodUid& uid, const std::string& name, uint32_t attempt) {
    const auto found = pods_.find(uid);
    return found == pods_.end() ? fakes::ContainerBehaviour{}
                                : BehaviourOf(found->second, name, attempt);
  });
  host_.faults().timeout = Seconds(20);
  agent_options_.pleg.use_events = run.use_events;
  agent_options_.pleg.cross_check_period_max = Minutes(1);
  agent_options_.shard.reader.deadline = Seconds(10);
  agent_options_.shard.reader.backoff_max = Seconds(15);
  agent_options_.images.backoff_max = Seconds(30);
  agent_options_.images.slow_after = Minutes(1);
  agent_options_.node.back_off_base = Seconds(2);
  agent_options_.node.back_off_max = Seconds(20);
  agent_options_.images.parallel_max = static_cast<uint32_t>(1 + plan_.Below(3));
  if (run.quiet) return;
  fakes::FakeRuntimeFaults& faults = host_.faults();
  const auto some = [this](double most) { return plan_.Below(2) == 0 ? 0 : most * plan_.Unit(); };
  faults.delay_max = Milliseconds(1 + static_cast<int64_t>(plan_.Below(300)));
  faults.not_sent = some(0.05);
  faults.refused = some(0.05);
  faults.lost_before = some(0.05);
  faults.lost_after = some(0.1);
  faults.late = some(0.1);
  faults.hang = some(0.03);
  faults.late_max = Seconds(1 + static_cast<int64_t>(plan_.Below(40)));
  fakes::FakeEventFaults& events = agent_options_.events;
  events.delay_max = Milliseconds(static_cast<int64_t>(plan_.Below(200)));
  events.lost = some(0.2);
  events.lost_told = some(0.05);
  events.repeated = some(0.2);
  events.late = some(0.2);
  events.broken = some(0.02);
  events.supported = plan_.Below(10) != 0;
  leaves_.faults().fails = some(0.05);
  leaves_.faults().hangs = some(0.01);
}

void Scenario::Problem(std::string what) {
  Note("PROBLEM " + what);
  if (result_.problems.size() < kProblemsMax) result_.problems.push_back(std::move(what));
}

// The agent.

void Scenario::StartAgent() {
  Note("agent starts");
  lives_.clear();
  agent_ = std::make_unique<CoreAgent>(world_, host_, leaves_, log_, agent_options_, *this);
  if (run_.mutation != nullptr) run_.mutation->put(*agent_);
  const auto later = [this](Duration most, void (Scenario::*tell)()) {
    const uint64_t kills = result_.kills;
    const Duration delay(static_cast<int64_t>(plan_.Below(static_cast<uint64_t>(most.count()))));
    world_.Later(delay, [this, kills, tell] {
      if (agent_ != nullptr && result_.kills == kills) (this->*tell)();
    });
  };
  later(Seconds(run_.quiet ? 1 : 4), &Scenario::TellFiles);
  later(Seconds(run_.quiet ? 1 : 8), &Scenario::TellAll);
}

void Scenario::KillAgent() {
  if (agent_ == nullptr) return;
  CoverAll("agent killed");
  Note("agent killed");
  ++result_.kills;
  agent_.reset();
  world_.Later(Milliseconds(static_cast<int64_t>(plan_.Below(5000))), [this] { StartAgent(); });
}

void Scenario::TellAll() {
  std::vector<kube::PodRef> pods;
  for (const auto& [uid, pod] : pods_) {
    if (pod.wished && !pod.is_static()) pods.push_back(pod.Build());
  }
  agent_->OnSources(
      [pods](sync::PodSources& sources) { sources.OnPods(sync::SourceKind::kApi, pods); });
}

void Scenario::TellFiles() {
  if (agent_ == nullptr) return;
  std::vector<kube::PodRef> pods;
  for (const auto& [uid, pod] : pods_) {
    if (pod.wished && pod.is_static()) pods.push_back(pod.Build());
  }
  agent_->OnSources(
      [pods](sync::PodSources& sources) { sources.OnPods(sync::SourceKind::kFile, pods); });
}

// A source that has not told all it has tells nothing yet.
void Scenario::Tell(SimPod& pod) {
  ++result_.wishes;
  if (agent_ == nullptr) return;
  if (pod.is_static()) return TellFiles();
  if (!agent_->sources().Ready({sync::SourceKind::kApi})) return;
  if (!pod.wished) {
    agent_->OnSources([uid = pod.uid](sync::PodSources& sources) {
      sources.OnPodGone(sync::SourceKind::kApi, uid.value());
    });
    return;
  }
  agent_->OnSources([built = pod.Build()](sync::PodSources& sources) {
    sources.OnPod(sync::SourceKind::kApi, built);
  });
}

// Wishes and disturbances.

void Scenario::PlanNext() {
  const uint64_t most_ms = run_.quiet ? 9000 : 4000;
  const Duration pause =
      Milliseconds((run_.quiet ? 6000 : 1) + static_cast<int64_t>(plan_.Below(most_ms)));
  world_.Later(pause, [this] {
    if (world_.clock().Now() >= trouble_ends_) return;
    Disturb();
    PlanNext();
  });
}

void Scenario::AddPod() {
  SimPod pod = DrawPod(plan_, next_pod_++);
  if (run_.quiet && (pod.kind == SimPodKind::kLooper || pod.kind == SimPodKind::kRetriedJob)) {
    pod.kind = SimPodKind::kServer;
  }
  pod.wished = true;
  Note("wish " + pod.uid.value() + " " + pod.name);
  SimPod& mine = pods_[pod.uid] = pod;
  Tell(mine);
}

void Scenario::DeletePod(SimPod& pod) {
  Cover("deleted", pod.uid);
  if (pod.is_static()) return RemovePod(pod);
  const int64_t before = pod.deletion_grace.value_or(pod.grace_seconds);
  const int64_t grace = 1 + static_cast<int64_t>(plan_.Below(30));
  pod.deletion_grace = pod.deleting ? std::min(before, grace) : grace;
  pod.deleting = true;
  touched_.insert(pod.uid);
  Note("delete " + pod.uid.value() + " grace " + std::to_string(*pod.deletion_grace));
  Tell(pod);
}

void Scenario::RemovePod(SimPod& pod) {
  Cover("removed", pod.uid);
  pod.wished = false;
  touched_.insert(pod.uid);
  Note("remove " + pod.uid.value());
  Tell(pod);
}

void Scenario::AddStaticAgain(const PodUid& uid) {
  SimPod& pod = pods_[uid];
  const bool taken = std::ranges::any_of(pods_, [&pod](const auto& other) {
    return other.second.wished && other.second.name == pod.name;
  });
  if (pod.wished || taken) return;
  Cover("wished again", uid);
  pod.wished = true;
  Note("wish again " + uid.value());
  Tell(pod);
}

SimPod* Scenario::AnyPod(bool (*wanted)(const SimPod&)) {
  std::vector<SimPod*> fitting;
  for (auto& [uid, pod] : pods_) {
    if (wanted(pod)) fitting.push_back(&pod);
  }
  return fitting.empty() ? nullptr : fitting[plan_.Below(fitting.size())];
}

void Scenario::CrashRuntime() {
  if (!host_.up()) return;
  CoverAll("runtime crashed");
  const bool machine = plan_.Below(3) == 0;
  Note(machine ? "runtime crashes with all containers" : "runtime crashes");
  host_.Crash();
  if (machine) {
    for (const auto& [uid, pod] : pods_) touched_.insert(uid);
    model_.KillEverything();
  }
  world_.Later(Milliseconds(static_cast<int64_t>(100 + plan_.Below(15000))), [this] {
    Note("runtime is back");
    host_.Start();
  });
}

void Scenario::Disturb() {
  const auto live = [](const SimPod& p) { return p.wished && !p.deleting; };
  const uint64_t what = plan_.Below(run_.quiet ? 7 : 16);
  if (pods_.size() < 3 || (what < 4 && pods_.size() < kPodsMax)) return AddPod();
  switch (what) {
    case 0:
    case 4:
      if (SimPod* pod = AnyPod([](const SimPod& p) { return p.wished; })) DeletePod(*pod);
      return;
    case 1:
    case 5:
      if (SimPod* pod = AnyPod(live)) {
        Cover("changed", pod->uid);
        ++pod->version;
        model_.images().insert("image:" + std::to_string(plan_.Below(2) == 0 ? pod->version : 1));
        touched_.insert(pod->uid);
        Note("new version of " + pod->uid.value());
        Tell(*pod);
      }
      return;
    case 2:
      if (SimPod* pod = AnyPod([](const SimPod& p) { return p.wished && p.is_static(); })) {
        RemovePod(*pod);
        const PodUid uid = pod->uid;
        world_.Later(Milliseconds(static_cast<int64_t>(plan_.Below(8000))),
                     [this, uid] { AddStaticAgain(uid); });
      }
      return;
    case 3:
      // Another manifest under the same name.
      if (SimPod* pod = AnyPod([](const SimPod& p) { return p.wished && p.is_static(); })) {
        SimPod next = *pod;
        Cover("replaced", pod->uid);
        pod->wished = false;
        touched_.insert(pod->uid);
        next.uid = PodUid("u" + std::to_string(next_pod_++));
        Note("static " + pod->uid.value() + " is replaced by " + next.uid.value());
        SimPod& mine = pods_[next.uid] = next;
        Tell(mine);
      }
      return;
    case 6:
      if (SimPod* pod =
              AnyPod([](const SimPod& p) { return p.wished && p.kind == SimPodKind::kDebugged; })) {
        Cover("debugged", pod->uid);
        pod->debugged = true;
        Tell(*pod);
      }
      return;
    case 7:
      if (SimPod* pod = AnyPod([](const SimPod& p) { return p.wished && !p.is_static(); })) {
        RemovePod(*pod);
      }
      return;
    case 8:
      if (SimPod* pod =
              AnyPod([](const SimPod& p) { return p.wished && !p.is_static() && !p.deleting; });
          pod != nullptr && agent_ != nullptr) {
        Cover("evicted", pod->uid);
        touched_.insert(pod->uid);
        Note("evict " + pod->uid.value());
        const std::optional<int64_t> grace =
            plan_.Below(2) == 0 ? std::optional<int64_t>(1) : std::nullopt;
        agent_->OnOwner(pod->uid, [uid = pod->uid, grace](sync::PodShard& shard) {
          shard.Kill(uid,
                     {.reason = sync::EndReason::kKilled,
                      .outcome = sync::PodOutcome::kFailed,
                      .status_reason = "Evicted"},
                     grace);
        });
      }
      return;
    case 9:
    case 10: {
      const auto containers = model_.ListContainers();
      if (containers.empty()) return;
      const auto& container = containers[plan_.Below(containers.size())];
      Cover("container exited", container.pod);
      Note("exit of " + container.pod.value() + " " + container.name);
      touched_.insert(container.pod);
      model_.Exit(container.id, static_cast<int32_t>(plan_.Below(2)));
      return;
    }
    case 11: {
      const auto sandboxes = model_.ListSandboxes();
      if (sandboxes.empty()) return;
      const auto& sandbox = sandboxes[plan_.Below(sandboxes.size())];
      Cover("sandbox died", sandbox.pod.uid);
      Note("sandbox of " + sandbox.pod.uid.value() + " dies");
      touched_.insert(sandbox.pod.uid);
      model_.KillSandbox(sandbox.id);
      return;
    }
    case 12:
      return CrashRuntime();
    case 13:
      return KillAgent();
    case 14: {
      const auto containers = model_.ListContainers();
      if (containers.empty() || agent_ == nullptr) return;
      const auto container = containers[plan_.Below(containers.size())];
      const auto found = pods_.find(container.pod);
      if (found == pods_.end() || container.state != sync::ContainerState::kRunning) return;
      Cover("liveness failed", container.pod);
      Note("liveness of " + container.pod.value() + " " + container.name + " fails");
      touched_.insert(container.pod);
      agent_->OnOwner(container.pod, [container](sync::PodShard& shard) {
        shard.SetProbe(container.pod, container.name, container.attempt, std::nullopt,
                       sync::ProbeResult::kFailure);
      });
      return;
    }
    default:
      if (SimPod* pod = AnyPod([](const SimPod& p) { return p.wished; })) {
        Cover("told again", pod->uid);
        Tell(*pod);
      }
      return;
  }
}

// What the agent tells, and what the API server makes of it.

void Scenario::OnPodChanged(uint32_t, const sync::PodWorker& worker) {
  const PodUid uid = worker.pod().uid;
  Life& life = lives_[uid];
  if (life.generation != worker.generation()) life = {.generation = worker.generation()};
  const sync::PodState& state = worker.state();
  if (state.phase < life.phase) Problem("the phase of " + uid.value() + " moved back");
  if (life.grace != 0 && state.grace_seconds > life.grace) {
    Problem("the grace of " + uid.value() + " grew");
  }
  if (life.phase != state.phase) {
    Note(uid.value() + " is " + std::string(sync::PhaseName(state.phase)));
  }
  life.phase = state.phase;
  life.grace = state.grace_seconds;
  ++result_.coverage["phase " + std::string(sync::PhaseName(state.phase)) + ", waits for " +
                     std::string(sync::WaitName(worker.waits().what))];
}

// The final status of a pod reaches the API server, which answers: it removes what was to be
// deleted, and keeps the phase of what ended by itself.
void Scenario::Acknowledge() {
  world_.Later(Milliseconds(static_cast<int64_t>(1 + world_.random().Below(500))),
               [this] { Acknowledge(); });
  if (agent_ == nullptr) return;
  for (auto& [uid, pod] : pods_) {
    const sync::PodWorker* worker = pod.wished ? agent_->Find(uid) : nullptr;
    if (worker == nullptr || worker->state().phase < sync::Phase::kTerminated) continue;
    if (pod.deleting) {
      pod.wished = false;
      Note("API server removes " + uid.value());
      Tell(pod);
      continue;
    }
    if (pod.is_static() || worker->facts().removal_allowed) continue;
    if (!pod.succeeded) {
      const auto& ending = worker->state().ending;
      pod.succeeded = !ending || ending->outcome != sync::PodOutcome::kFailed;
      Tell(pod);
    }
    agent_->OnOwner(uid, [id = uid](sync::PodShard& shard) { shard.AllowRemoval(id); });
  }
}

void Scenario::OnPodGone(const sync::PodIdentity& pod) {
  Note(pod.uid.value() + " is gone");
  lives_.erase(pod.uid);
}

void Scenario::OnPodFault(const sync::PodWorker& worker, const Error& error) {
  Problem("fault in " + worker.pod().uid.value() + ": " + error.message());
}

void Scenario::OnPlegMode(const sync::PlegModeChange& change) {
  Note("PLEG: " + std::string(sync::PlegModeName(change.mode)) + " lead: " + change.why);
  ++result_.coverage["pleg " + std::string(sync::PlegModeName(change.mode))];
}

// Safety.

void Scenario::OnRequest(const SentRequest& request) {
  const std::string what = std::string(fakes::RuntimeRequestName(request.request)) + " " +
                           request.pod.value() + " " + request.name + " " +
                           std::to_string(request.attempt);
  Note(what);
  ++result_.coverage["request " + std::string(fakes::RuntimeRequestName(request.request))];
  const bool starts = request.request == RuntimeRequest::kRunSandbox ||
                      request.request == RuntimeRequest::kCreateContainer ||
                      request.request == RuntimeRequest::kStartContainer;
  if (agent_ == nullptr) return Problem(what + ": of an agent that is no more");
  const sync::PodWorker* worker = agent_->Find(request.pod);
  const auto pod = pods_.find(request.pod);
  if (starts) {
    if (worker == nullptr || worker->state().phase != sync::Phase::kSyncing) {
      Problem(what + ": after its termination began");
    }
    if (request.request != RuntimeRequest::kRunSandbox && !leaves_.IsMounted(request.pod)) {
      Problem(what + ": before its volumes");
    }
  }
  if (request.request == RuntimeRequest::kStopContainer && pod != pods_.end()) {
    const bool reason = touched_.count(request.pod) != 0 || EndsByItself(pod->second.kind) ||
                        pod->second.kind == SimPodKind::kHooks;
    if (!reason) Problem(what + ": for no reason");
  }
  const bool removes = request.request == RuntimeRequest::kRemoveSandbox ||
                       request.request == RuntimeRequest::kRemoveContainer;
  if (removes && worker != nullptr && worker->state().phase == sync::Phase::kFinished &&
      pod != pods_.end() && pod->second.wished && !pod->second.is_static() &&
      !pod->second.succeeded) {
    Problem(what + ": before its final status was acknowledged");
  }
  if (request.request == RuntimeRequest::kCreateContainer && pod != pods_.end() &&
      request.attempt > 0 && touched_.count(request.pod) == 0) {
    const bool may = pod->second.kind == SimPodKind::kLooper ||
                     pod->second.kind == SimPodKind::kRetriedJob ||
                     pod->second.kind == SimPodKind::kHooks;
    // One that never ran because the runtime refused to start it is no restart.
    const sync::ObservedPod there = model_.Read(request.pod);
    const bool ran = std::ranges::any_of(there.containers, [&request](const auto& c) {
      return c.name == request.name && c.started.has_value();
    });
    if (!may && ran) Problem(what + ": restarted for no reason");
  }
}

void Scenario::CheckTurn() {
  if (!model_.violations().empty()) {
    Problem(model_.violations().front());
    return;
  }
  if (agent_ == nullptr) return;
  for (uint32_t i = 0; i < agent_->shards(); ++i) {
    const sync::PodShard& shard = agent_->shard(i);
    if (shard.line() > shard.size()) Problem("a line longer than there are pods");
    const size_t known = pods_.size();
    if (shard.reader().marked() > known) Problem("more pods are marked than there are");
    if (shard.reader().reading() > 16) Problem("too many reads at once");
  }
}

// Liveness.

std::string Scenario::NotConverged() {
  if (agent_ == nullptr) return "the agent is down";
  for (auto& [uid, pod] : pods_) {
    const sync::ObservedPod there = model_.Read(uid);
    const auto running = [&there](const std::string& name) {
      return std::ranges::count_if(there.containers, [&name](const sync::ObservedContainer& c) {
        return c.name == name && c.state == sync::ContainerState::kRunning;
      });
    };
    const auto ready = std::ranges::count_if(there.sandboxes, [](const sync::ObservedSandbox& s) {
      return s.state == sync::SandboxState::kReady;
    });
    const std::string says = uid.value() + " " + pod.name + ":" + model_.Describe(uid);
    const sync::PodWorker* worker = agent_->Find(uid);
    if (!pod.wished) {
      if (!there.empty()) return says + ", and nobody wishes it";
      if (worker != nullptr) return says + ": its worker is still there";
      // Directories of a pod that went while the agent was down are the housekeeping's.
      continue;
    }
    if (worker == nullptr) return says + ": has no worker";
    const bool ended = pod.succeeded || worker->state().ending.has_value();
    if (ended || EndsByItself(pod.kind)) {
      if (ready != 0) return says + ", and it has ended";
      if (worker->state().phase != sync::Phase::kFinished) return says + ": not finished";
      if (!pod.deleting && !there.empty()) return says + ": not removed";
      if (pod.deleting) return says + ": not deleted";
      continue;
    }
    if (pod.deleting) return says + ": not deleted";
    for (const std::string& name : RunsInTheEnd(pod)) {
      if (running(name) != 1) return says + ": " + name + " does not run";
    }
    if (ready != 1 && pod.kind != SimPodKind::kLooper) return says + ": no sandbox";
    const auto app = std::ranges::find_if(there.containers, [](const auto& c) {
      return c.name == "app" && c.state == sync::ContainerState::kRunning;
    });
    if (app != there.containers.end() && pod.kind != SimPodKind::kLooper &&
        app->image != "image:" + std::to_string(pod.version)) {
      return says + ": runs " + app->image + ", not version " + std::to_string(pod.version);
    }
  }
  return "";
}

void Scenario::Cover(const std::string& event, const PodUid& uid) {
  const sync::PodWorker* worker = agent_ == nullptr ? nullptr : agent_->Find(uid);
  const std::string where = worker == nullptr
                                ? "no worker"
                                : std::string(sync::PhaseName(worker->state().phase)) + "/" +
                                      std::string(sync::WaitName(worker->waits().what));
  ++result_.coverage[event + " in " + where];
}

void Scenario::CoverAll(const std::string& event) {
  for (const auto& [uid, pod] : pods_) {
    if (pod.wished) Cover(event, uid);
  }
}

CoreResult Scenario::Run() {
  const uint32_t pods = static_cast<uint32_t>(3 + plan_.Below(run_.quiet ? 5 : 12));
  StartAgent();
  for (uint32_t i = 0; i < pods; ++i) AddPod();
  PlanNext();
  Acknowledge();
  if (!run_.quiet) {
    world_.Later(Milliseconds(static_cast<int64_t>(1 + plan_.Below(290'000))),
                 [this] { KillAgent(); });
  }
  const auto run_until = [this](TimePoint end) {
    while (world_.clock().Now() < end && result_.problems.empty()) {
      if (!world_.Step()) return;
      CheckTurn();
    }
  };
  run_until(trouble_ends_);

  Note("peace");
  host_.faults() = {.timeout = Seconds(20)};
  leaves_.faults() = {};
  agent_options_.events = {};
  for (const auto& [uid, pod] : pods_) {
    model_.images().insert("image:" + std::to_string(pod.version));
  }
  if (agent_ != nullptr) agent_->events().faults() = {};
  const TimePoint limit = world_.clock().Now() + kPeaceMax;
  std::string missing = "never looked";
  while (result_.problems.empty() && world_.clock().Now() < limit) {
    run_until(world_.clock().Now() + Seconds(1));
    missing = NotConverged();
    if (missing.empty()) break;
  }
  if (result_.problems.empty() && !missing.empty()) {
    std::string worker;
    for (const auto& [uid, pod] : pods_) {
      if (missing.rfind(uid.value() + " ", 0) != 0 || agent_ == nullptr) continue;
      if (const sync::PodWorker* stuck = agent_->Find(uid)) {
        worker = "; it waits for " + stuck->Report(world_.clock().Now()).waits_for;
      }
    }
    Problem("did not converge: " + missing + worker);
  }
  for (const auto& [uid, pod] : pods_) {
    if (pod.kind == SimPodKind::kLooper) continue;
    std::string names;
    for (const auto& c : model_.Read(uid).containers) {
      if (c.state == sync::ContainerState::kRunning) names += " " + c.name;
    }
    result_.end_state[uid.value()] = names;
  }
  for (const auto& [uid, lines] : model_.history()) result_.history[uid.value()] = lines;
  result_.trace_hash = world_.trace().hash();
  result_.trace_lines = world_.trace().lines();
  result_.virtual_time = world_.clock().Now().time_since_epoch();
  agent_.reset();
  return std::move(result_);
}

}  // namespace

CoreResult RunCoreScenario(const CoreRun& run) { return Scenario(run).Run(); }

}  // namespace denselet::sim
