#include "tests/sim/core/core_world.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "app/crash_record.h"
#include "kube/api/types.h"

namespace denselet::sim {
namespace {

constexpr size_t kProblemsMax = 5;
constexpr uint64_t kTickMaxMs = 1000;
constexpr const char* kCrashRecord = "/crashes";
constexpr size_t kCrashRecordBytesMax = static_cast<size_t>(app::kCrashRecordBytesMax);

WorldOptions DrawWorld(const CoreRun& run) {
  SeededRandom random(run.seed * 7919 + 1);
  WorldOptions options;
  options.seed = run.seed;
  options.shards = static_cast<uint32_t>(1 + random.Below(4));
  options.trace = run.trace;
  // Roomy, and in a quarter of the seeds too small.
  options.mail = {.requests_max = 256, .replies_max = 256, .hints_max = 256};
  if (!run.quiet && random.Below(4) == 0) {
    options.mail = {.requests_max = 8, .replies_max = 16, .hints_max = 8};
  }
  return options;
}

// What is kept of dead containers: mostly the default.
void DrawKept(const CoreRun& run, CoreAgentOptions& options) {
  SeededRandom random(run.seed * 104729 + 5);
  const auto one_of = [&random](std::initializer_list<int32_t> those) {
    return *(those.begin() + random.Below(those.size()));
  };
  options.node.keep.per_container_max = one_of({1, 1, 1, 0, 2, 3, -1});
  options.dead_containers_max = one_of({-1, -1, 0, 5});
  if (!run.quiet) options.node.keep.age_min = Seconds(one_of({0, 0, 0, 20}));
}

// The faults of each kind come in the same order here and there.
SimFault NthFrom(SimFault first, size_t n) {
  return static_cast<SimFault>(static_cast<size_t>(first) + n);
}

}  // namespace

AgentBreak DrawBreak(Random& random) {
  const auto below = [&random](uint64_t ms) {
    return Milliseconds(static_cast<int64_t>(random.Below(ms)));
  };
  return {.down = below(5000), .files_after = below(4000), .api_after = below(8000)};
}

CoreWorld::CoreWorld(const CoreRun& run)
    : run_(run),
      world_(DrawWorld(run)),
      model_(world_.clock(),
             [this](Duration d, UniqueFunction<void()> task) { world_.Later(d, std::move(task)); }),
      host_(model_, world_.random(),
            [this](Duration d, UniqueFunction<void()> task) { world_.Later(d, std::move(task)); }),
      leaves_(host_),
      api_(world_, [this](const ServerChange& change) { OnServerChange(change); }) {
  agent_options_.api = &api_.server();
  agent_options_.milli_cpus = kSimMilliCpus;
  DrawKept(run, agent_options_);
  model_.images() = {"image:1"};
  model_.set_on_request([this](const fakes::SentRequest& request) {
    for (CoreWatcher* watcher : watchers_) watcher->OnRequest(request);
    if (request.request == fakes::RuntimeRequest::kCreateContainer && request.pod == deadly_) {
      DieOf(request.pod);
    }
  });
  model_.set_behave([this](const PodUid& uid, const std::string& name, uint32_t attempt) {
    const auto found = pods_.find(uid);
    if (found == pods_.end()) return fakes::ContainerBehaviour{};
    leaves_.Logged({{"default", found->second.name}, uid}, name, attempt);
    return BehaviourOf(found->second, name, attempt);
  });
  const auto cover = [this](SimFault fault, const PodUid& pod) {
    const sync::PodWorker* worker = Worker(pod);
    if (worker == nullptr) return;
    result_.coverage.Hit(fault, worker->state().phase, worker->waits().what);
  };
  host_.set_on_fault([cover](fakes::FakeFault fault, const PodUid& pod) {
    cover(NthFrom(SimFault::kNotSent, static_cast<size_t>(fault)), pod);
  });
  leaves_.set_on_fault([cover](PodLeaves::Fault fault, const PodUid& pod) {
    cover(fault == PodLeaves::Fault::kFailed ? SimFault::kLeafFailed : SimFault::kLeafHung, pod);
  });
  host_.set_on_event_fault([cover](fakes::FakeEventFault fault, const PodUid& pod) {
    cover(NthFrom(SimFault::kEventLost, static_cast<size_t>(fault)), pod);
  });
  // Its mirror's, of a static pod.
  api_.server().set_on_fault([this, cover](fakes::FakeApiFault fault, const ObjectRef& object) {
    for (const auto& [uid, pod] : pods_) {
      if (pod.name != object.name) continue;
      cover(NthFrom(SimFault::kApiRequestLost, static_cast<size_t>(fault)), uid);
    }
  });
}

CoreWorld::~CoreWorld() { agent_.reset(); }

void CoreWorld::Problem(std::string what) {
  Note("PROBLEM " + what);
  if (result_.problems.size() < kProblemsMax) result_.problems.push_back(std::move(what));
}

void CoreWorld::Cover(SimEvent event, const PodUid& pod) {
  if (const sync::PodWorker* worker = Worker(pod)) {
    result_.coverage.Hit(event, worker->state().phase, worker->waits().what);
  }
}

void CoreWorld::CoverAll(SimEvent event) {
  for (const auto& [uid, pod] : pods_) Cover(event, uid);
}

bool CoreWorld::Step() {
  const bool more = world_.Step();
  if (agent_ != nullptr && host_.agent_dead()) KillAgent(at_call_);
  return more;
}

// The agent.

void CoreWorld::StartAgent(const AgentBreak& after) {
  Note("agent starts");
  for (CoreWatcher* watcher : watchers_) watcher->OnAgentStarts();
  const uint64_t number = ++agents_;
  if (deadly_) deadly_version_ = pods_[*deadly_].version;
  const auto record = leaves_.disk().ReadFile(kCrashRecord, kCrashRecordBytesMax);
  if (record) agent_options_.shard.held_back = app::PodsToHoldBack(*record);
  CoreAgentUser& user = *this;
  agent_ = std::make_unique<CoreAgent>(world_, host_, leaves_, log_, agent_options_, user);
  agent_->SetTrouble(trouble_);
  if (run_.mutation != nullptr) run_.mutation->put(*agent_);
  const auto later = [this, number](Duration delay, void (CoreWorld::*tell)()) {
    world_.Later(delay, [this, number, tell] {
      if (agent_ != nullptr && agents_ == number) (this->*tell)();
    });
  };
  later(after.files_after, &CoreWorld::TellFiles);
  later(after.api_after, &CoreWorld::Join);
}

void CoreWorld::KillAgent(const AgentBreak& away) {
  if (agent_ == nullptr) return;
  CoverAll(SimEvent::kAgentKilled);
  Note("agent killed");
  for (CoreWatcher* watcher : watchers_) watcher->OnAgentDies();
  ++result_.kills;
  agent_.reset();
  probed_.clear();
  world_.Later(away.down, [this, away] { StartAgent(away); });
}

void CoreWorld::DieOf(const PodUid& pod) {
  const SimPod& wished = pods_[pod];
  if (agent_options_.shard.held_back.count(pod) != 0 && wished.version == deadly_version_ &&
      wished.wished && !wished.deleting && !wished.debugged) {
    Problem(pod.value() + ": begun though it is held back and did not change");
  }
  Note("agent dies under the work of " + pod.value());
  ++result_.deaths;
  Disk& disk = leaves_.disk();
  auto record = disk.ReadFile(kCrashRecord, kCrashRecordBytesMax);
  const Status kept = disk.ReplaceFile(
      kCrashRecord, (record ? *record : "") + "{\"podUID\":\"" + pod.value() + "\"}\n", 0600,
      reactor::Durability::kSynced, {});
  static_cast<void>(kept);  // a full disk: it is not known then
  KillAgentAtCall(0, DrawBreak(world_.random()));
}

void CoreWorld::KillAgentAtCall(uint32_t calls, const AgentBreak& away) {
  if (agent_ == nullptr) return;
  at_call_ = away;
  host_.KillAgentAfter(calls);
}

// The sources.

void CoreWorld::Join() {
  if (agent_ != nullptr) agent_->Join();
}

kube::PodRef CoreWorld::FromFile(const SimPod& pod) {
  auto& [state, made] = from_files_[pod.uid];
  if (!made || state != pod) {
    state = pod;
    made = pod.Build();
  }
  return made;
}

void CoreWorld::TellFiles() {
  for (auto& [uid, pod] : pods_) {
    if (!pod.wished && pod.is_static) pod.dropped = true;
  }
  if (agent_ == nullptr) return;
  std::vector<kube::PodRef> pods;
  for (const auto& [uid, pod] : pods_) {
    if (pod.wished && pod.is_static) pods.push_back(FromFile(pod));
    const bool missed = pod.dropped && !pod.wished && !agent_->core().gate().Knows(uid);
    if (!missed || !pod.is_static) continue;
    for (CoreWatcher* watcher : watchers_) watcher->OnMissedByAgent(uid);
  }
  agent_->OnSources([pods = std::move(pods)](sync::PodSources& sources) {
    sources.OnPods(sync::SourceKind::kFile, pods);
  });
}

void CoreWorld::TellFilesAgain() {
  ++result_.wishes;
  TellFiles();
}

void CoreWorld::Tell(const SimPod& pod) {
  ++result_.wishes;
  if (pod.is_static) return TellFiles();
  api_.Apply(pod);
}

void CoreWorld::ApiOutage(Duration length, bool forgets) {
  CoverAll(SimEvent::kApiOutage);
  Note("the API server cannot be reached");
  ++outages_;
  api_.server().Crash();
  world_.Later(length, [this, forgets] {
    if (--outages_ > 0) return;
    Note("the API server is back");
    if (forgets) api_.Compact();
    api_.server().Start();
  });
}

void CoreWorld::NotReady(const sync::RuntimeTrouble& trouble, Duration length) {
  CoverAll(SimEvent::kNodeNotReady);
  Note("the node is not ready");
  ++not_ready_;
  const auto set = [this](const sync::RuntimeTrouble& now) {
    trouble_ = now;
    if (agent_ != nullptr) agent_->SetTrouble(now);
  };
  set(trouble);
  world_.Later(length, [this, set] {
    if (--not_ready_ > 0) return;
    Note("the node is ready");
    set({});
  });
}

// Probes, managers.

void CoreWorld::StartTicking() {
  world_.Later(Milliseconds(static_cast<int64_t>(1 + world_.random().Below(kTickMaxMs))), [this] {
    if (agent_ != nullptr) Tick();
    StartTicking();
  });
}

void CoreWorld::Tick() {
  for (auto& [uid, pod] : pods_) {
    const sync::PodWorker* worker = pod.wished ? agent_->Find(uid) : nullptr;
    if (worker == nullptr) continue;
    if (worker->state().phase == sync::Phase::kFinished) {
      // The containers of a pod that has ended go some time after the API server knows its end.
      if (!pod.succeeded || pod.deleting || worker->facts().removal_allowed) continue;
      agent_->OnOwner(uid, [id = uid](sync::PodShard& shard) { shard.AllowRemoval(id); });
    } else if (worker->state().phase == sync::Phase::kSyncing) {
      if (pod.kind == SimPodKind::kProbed) Probe(pod, *worker);
      if (pod.evicted && !worker->state().ending) EvictNow(pod);
    }
  }
}

// The sidecar's startup probe: succeeds after two seconds, and never for the first instance of
// some. Who asked is told once.
void CoreWorld::Probe(const SimPod& pod, const sync::PodWorker& worker) {
  for (const sync::ObservedContainer& container : model_.Read(pod.uid).containers) {
    if (container.name != "proxy" || container.state != sync::ContainerState::kRunning) continue;
    if (world_.clock().WallNow() - *container.started < Seconds(2)) continue;
    const Probed now{worker.generation(), container.attempt};
    if (std::exchange(probed_[pod.uid], now) == now) continue;
    const bool fails = container.attempt == 0 && pod.name.size() % 2 == 0;
    if (fails) Touch(pod.uid);
    agent_->OnOwner(
        pod.uid, [uid = pod.uid, attempt = container.attempt, fails](sync::PodShard& shard) {
          shard.SetProbe(uid, "proxy", attempt,
                         fails ? sync::ProbeResult::kFailure : sync::ProbeResult::kSuccess,
                         std::nullopt);
        });
  }
}

// Asked for until it has begun, as a manager does that looks again and again.
void CoreWorld::EvictNow(const SimPod& pod) {
  if (agent_ == nullptr) return;
  agent_->OnOwner(pod.uid, [uid = pod.uid, grace = pod.eviction_grace](sync::PodShard& shard) {
    shard.Kill(uid,
               {.reason = sync::EndReason::kKilled,
                .outcome = sync::PodOutcome::kFailed,
                .status_reason = "Evicted"},
               grace);
  });
}

// What the agent tells.

void CoreWorld::OnPodDecided(const sync::PodWorker& worker, const sync::Decision& decision) {
  result_.coverage.Decided(worker, decision);
  const auto* wait = std::get_if<sync::Wait>(&decision.action);
  if (wait == nullptr || wait->what == worker.waits().what) return;
  const SimPlace place{worker.state().phase, wait->what};
  for (CoreWatcher* watcher : watchers_) watcher->OnPodRests(worker.pod().uid, place);
}

void CoreWorld::OnPodChanged(uint32_t, const sync::PodWorker& worker) {
  for (CoreWatcher* watcher : watchers_) watcher->OnPodChanged(worker);
}

void CoreWorld::OnPodGone(const sync::PodIdentity& pod) {
  Note(pod.uid.value() + " is gone");
  for (CoreWatcher* watcher : watchers_) watcher->OnPodGone(pod.uid);
}

void CoreWorld::OnPodFault(const sync::PodWorker& worker, const Error& error) {
  Problem("fault in " + worker.pod().uid.value() + ": " + error.message());
}

void CoreWorld::OnPlegMode(const sync::PlegModeChange& change) {
  Note("PLEG: " + std::string(sync::PlegModeName(change.mode)) + " lead: " + change.why);
}

void CoreWorld::OnStatus(const sync::PodStatusUpdate& update) {
  for (CoreWatcher* watcher : watchers_) watcher->OnStatus(update);
}

void CoreWorld::OnStatusForgotten(const PodUid& pod) {
  for (CoreWatcher* watcher : watchers_) watcher->OnStatusForgotten(pod);
}

// What the API server has of a pod counts from here on.
void CoreWorld::OnServerChange(const ServerChange& change) {
  const kube::core::Pod& pod = change.after != nullptr ? *change.after : *change.before;
  const auto found = pods_.find(PodUid(pod.metadata().uid()));
  if (found != pods_.end()) {
    if (change.after == nullptr) {
      found->second.wished = false;
      found->second.dropped = true;
    } else if (sync::IsTerminalPhase(pod.status().phase())) {
      found->second.succeeded = pod.status().phase() == "Succeeded";
    }
  }
  const char* const who = change.who == ServerChange::Who::kAgent ? "agent" : "other";
  Note("API server, by " + std::string(who) + ": " + pod.metadata().name() + " " +
       (change.after == nullptr ? "gone"
                                : pod.metadata().resourceversion() + " " + pod.status().phase()));
  for (CoreWatcher* watcher : watchers_) watcher->OnServerChange(change);
}

void CoreWorld::OnPodRejected(const kube::PodRef& pod, const sync::Rejection& rejection) {
  const PodUid uid(std::string(pod->hot().uid));
  Note(uid.value() + " is rejected: " + rejection.message);
  if (!pods_[uid].contested) Problem(uid.value() + ": rejected: " + rejection.message);
  for (CoreWatcher* watcher : watchers_) watcher->OnPodRejected(uid, rejection);
}

}  // namespace denselet::sim
