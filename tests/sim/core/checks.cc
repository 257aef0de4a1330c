#include "tests/sim/core/checks.h"

#include <algorithm>

#include "kube/api/types.h"

namespace denselet::sim {
namespace {

using fakes::RuntimeRequest;
using fakes::SentRequest;
using sync::ContainerState;
using sync::Phase;

// Longer than any read or list is waited for.
constexpr Duration kAnswersComeWithin = Minutes(3);
// No kind of pod has more.
constexpr size_t kContainersMax = 8;

bool Starts(RuntimeRequest request) {
  return request == RuntimeRequest::kRunSandbox || request == RuntimeRequest::kCreateContainer ||
         request == RuntimeRequest::kStartContainer;
}

bool Removes(RuntimeRequest request) {
  return request == RuntimeRequest::kRemoveSandbox || request == RuntimeRequest::kRemoveContainer;
}

std::string Describe(const sync::Ending& ending) {
  std::string text = "ended for reason " + std::to_string(static_cast<int>(ending.reason));
  if (ending.outcome) text += " as " + std::to_string(static_cast<int>(*ending.outcome));
  return text + " " + ending.status_reason;
}

}  // namespace

void Checks::OnPodChanged(const sync::PodWorker& worker) {
  const PodUid& uid = worker.pod().uid;
  Life& life = lives_[uid];
  if (life.generation != worker.generation()) life = {.generation = worker.generation()};
  const sync::PodState& state = worker.state();
  if (state.phase < life.phase) core_.Problem("the phase of " + uid.value() + " moved back");
  if (life.grace != 0 && state.grace_seconds > life.grace) {
    core_.Problem("the grace of " + uid.value() + " grew");
  }
  if (life.phase != state.phase) {
    if (life.phase == Phase::kSyncing) life.ends_since = core_.Now();
    core_.Note(uid.value() + " is " + std::string(sync::PhaseName(state.phase)));
    if (state.phase == Phase::kTerminated && state.ending) {
      core_.result().endings[uid.value()].push_back(Describe(*state.ending));
    }
  }
  life.phase = state.phase;
  life.grace = state.grace_seconds;
}

void Checks::OnRequest(const SentRequest& request) {
  const std::string what = std::string(fakes::RuntimeRequestName(request.request)) + " " +
                           request.pod.value() + " " + request.name + " " +
                           std::to_string(request.attempt);
  core_.Note(what);
  if (core_.agent() == nullptr) return core_.Problem(what + ": of an agent that is no more");
  if (Starts(request.request)) CheckStart(request, what);
  asked_at_[request.pod] = core_.Now();
  const auto pod = core_.pods().find(request.pod);
  if (pod == core_.pods().end()) return;
  CheckSandbox(request, pod->second, what);
  CheckReason(request, pod->second, what);
  if (Removes(request.request)) CheckRemoval(request, pod->second, what);
  if (request.request == RuntimeRequest::kRemoveContainer) CheckKept(request, pod->second, what);
}

void Checks::CheckStart(const SentRequest& request, const std::string& what) {
  const sync::PodWorker* worker = core_.Worker(request.pod);
  if (worker == nullptr || worker->state().phase != Phase::kSyncing) {
    core_.Problem(what + ": after its termination began");
  }
  if (request.request != RuntimeRequest::kRunSandbox && !core_.leaves().IsMounted(request.pod)) {
    core_.Problem(what + ": before its volumes");
  }
}

// A restart of the agent, an event too many or too few: nothing of that stops or restarts anything.
void Checks::CheckReason(const SentRequest& request, const SimPod& pod, const std::string& what) {
  if (core_.Touched(pod.uid)) return;
  if (request.request == RuntimeRequest::kStopContainer && !EndsByItself(pod.kind) &&
      !RestartsByItself(pod.kind)) {
    core_.Problem(what + ": for no reason");
  }
  if (request.request == RuntimeRequest::kCreateContainer && request.attempt > 0 &&
      !RestartsByItself(pod.kind)) {
    // One that never ran because the runtime refused to start it is no restart.
    const sync::ObservedPod there = core_.model().Read(pod.uid);
    const bool ran = std::ranges::any_of(there.containers, [&request](const auto& c) {
      return c.name == request.name && c.started.has_value();
    });
    if (ran) core_.Problem(what + ": restarted for no reason");
  }
}

// The same of its sandbox, in which all would end: another one is run only in the place of one that
// is of no use.
void Checks::CheckSandbox(const SentRequest& request, const SimPod& pod, const std::string& what) {
  const bool runs = request.request == RuntimeRequest::kRunSandbox && request.attempt > 0;
  const bool stops = request.request == RuntimeRequest::kStopSandbox;
  if (!runs && !stops) return;
  if (core_.Touched(pod.uid) || EndsByItself(pod.kind) || RestartsByItself(pod.kind)) return;
  const sync::ObservedPod there = core_.model().Read(pod.uid);
  for (const sync::ObservedSandbox& sandbox : there.sandboxes) {
    if (stops && sandbox.attempt != request.attempt) continue;
    const bool is_used = std::ranges::any_of(there.containers, [&sandbox](const auto& container) {
      return container.sandbox == sandbox.id && container.state == ContainerState::kRunning;
    });
    if (is_used) core_.Problem(what + ": for no reason");
  }
}

// Whatever happened to it before is done with: the next agent finds it as it is to be, and nothing
// of it is under way, also not what an agent before this one asked for.
bool Checks::IsAtRest(const SimPod& pod) {
  constexpr Duration kNothingComesAfter = Seconds(75);
  if (!core_.IsForgotten(pod.uid, kNothingComesAfter)) return false;
  if (const auto asked = asked_at_.find(pod.uid);
      asked != asked_at_.end() && core_.Now() <= asked->second + kNothingComesAfter) {
    return false;
  }
  if (!pod.wished || pod.deleting || pod.evicted || pod.contested) return false;
  if (EndsByItself(pod.kind) || RestartsByItself(pod.kind)) return false;
  const sync::PodWorker* const worker = core_.Worker(pod.uid);
  if (worker == nullptr || worker->state().phase != Phase::kSyncing || worker->state().ending) {
    return false;
  }
  if (worker->waits().what != sync::WaitFor::kChange) return false;
  const sync::ObservedPod there = core_.model().Read(pod.uid);
  const bool has_address = std::ranges::any_of(there.sandboxes, [](const auto& sandbox) {
    return sandbox.state == sync::SandboxState::kReady &&
           (!sandbox.ips.empty() || sandbox.network == sync::NetworkMode::kNode);
  });
  return has_address && NotRunning(pod, there).empty();
}

void Checks::OnAgentDies() {
  for (const auto& [uid, pod] : core_.pods()) {
    if (!IsAtRest(pod)) continue;
    core_.Note(uid.value() + " is at rest");
    core_.Untouch(uid);
  }
}

void Checks::CheckRemoval(const SentRequest& request, const SimPod& pod, const std::string& what) {
  const sync::PodWorker* worker = core_.Worker(pod.uid);
  if (worker == nullptr || worker->state().phase != Phase::kFinished) return;
  // One that was too many while the pod lived: first its log goes, which may take its time.
  const auto& entries = worker->ledger().view().containers;
  const bool begun_before = std::ranges::any_of(entries, [&](const sync::ContainerEntry& entry) {
    return entry.name == request.name && entry.attempt == request.attempt &&
           entry.remove.in_flight() && entry.remove.began <= lives_[pod.uid].ends_since;
  });
  if (begun_before) return;
  if (pod.wished && !pod.is_static && !pod.succeeded) {
    core_.Problem(what + ": before its final status was acknowledged");
  }
}

// What a living pod's status tells of its last end comes from the newest that is dead.
void Checks::CheckKept(const SentRequest& request, const SimPod& pod, const std::string& what) {
  const sync::PodWorker* worker = core_.Worker(pod.uid);
  if (worker == nullptr || worker->state().phase != Phase::kSyncing) return;
  // A new sandbox begins with the first init container, and some exits restart all.
  if (RoleOf(request.name) != ContainerRole::kRegular || pod.kind == SimPodKind::kRestartAll)
    return;
  const sync::ObservedPod there = core_.model().Read(pod.uid);
  const auto newest = std::ranges::find_if(there.containers, [&request](const auto& c) {
    return c.name == request.name && c.state == ContainerState::kExited;
  });
  if (newest != there.containers.end() && newest->attempt == request.attempt) {
    core_.Problem(what + ": the newest dead one of a pod that lives");
  }
}

void Checks::CheckTurn() {
  if (!core_.model().violations().empty()) {
    return core_.Problem(core_.model().violations().front());
  }
  CoreAgent* agent = core_.agent();
  if (agent == nullptr) return;
  const sync::PodShardOptions& options = core_.agent_options().shard;
  for (uint32_t i = 0; i < agent->shards(); ++i) {
    const sync::PodShard& shard = agent->shard(i);
    if (shard.line() > shard.size()) core_.Problem("a line longer than there are pods");
    if (shard.ops() > options.ops_max) core_.Problem("more calls than places for them");
    if (shard.reader().marked() > core_.pods().size()) {
      core_.Problem("more pods are marked than there are");
    }
    if (shard.reader().reading() > options.reader.reads_max) core_.Problem("too many reads");
  }
  if (!core_.run().effects_only) {
    CheckPleg(agent->pleg());
    CheckLists(*agent);
  }
  CheckGhosts(*agent);
  CheckQueues(*agent);
}

void Checks::CheckQueues(CoreAgent& agent) {
  const size_t pods = core_.pods().size();
  if (agent.dispatcher().unsent() > pods) core_.Problem("too many wishes wait");
  if (agent.core().gate_for_tests().waiting() > pods) core_.Problem("too many wait at the gate");
  if (agent.core().admission_for_tests().size() > pods) core_.Problem("the desk has too many");
  for (uint32_t i = 0; i < agent.shards(); ++i) {
    if (agent.core().statuses(i)->waiting() > pods) core_.Problem("too many statuses wait");
  }
  const sync::ImagePuller& puller = agent.core().puller();
  if (puller.pulling() > puller.options().parallel_max + puller.options().slow_max)
    core_.Problem("too many pulls");
  if (puller.wishes() > pods * kContainersMax) core_.Problem("too many wishes for images");
  if (puller.waiting() > puller.wishes()) core_.Problem("pulls that nobody wishes wait");
  if (const managers::StatusManager* const manager = agent.reports().statuses()) {
    const managers::StatusManager::Counts counts = manager->counts();
    if (counts.pods > pods) core_.Problem("statuses of too many pods are kept");
    if (counts.in_line > counts.pods) core_.Problem("statuses wait twice in line");
    if (counts.requests > managers::StatusManagerOptions().requests_max) {
      core_.Problem("too many requests for statuses");
    }
  }
}

// What a list found and no event had announced makes the next list come sooner.
// What was lost is looked for by a list that begins after the loss, soon. And events lead only when
// a list has begun after the stream was there.
void Checks::CheckLists(CoreAgent& agent) {
  constexpr Duration kSoon = Seconds(30);  // a list under way ends within that
  const sync::Pleg& pleg = agent.pleg();
  if (agent.hints_refused() != refused_) {
    refused_ = agent.hints_refused();
    refused_at_ = core_.Now();
  }
  for (const auto& lost : {refused_at_, agent.events().lost_at()}) {
    if (lost && pleg.list_began() < *lost && core_.Now() > *lost + kSoon) {
      core_.Problem("hints were lost, and no list followed");
    }
  }
  if (pleg.mode() == sync::PlegMode::kEventsLead && agent.events().established() &&
      pleg.list_began() < agent.events().established_at()) {
    core_.Problem("events lead before a list has proved the stream");
  }
}

void Checks::OnPodGone(const PodUid& pod) {
  lives_.erase(pod);
  if (core_.agent() != nullptr) gone_[pod] = {core_.agent()->last_epoch(), core_.Now()};
}

// Nothing that was asked for before a pod's end says anything about it afterwards.
void Checks::CheckGhosts(CoreAgent& agent) {
  std::erase_if(gone_, [this](const auto& entry) {
    return core_.Now() > entry.second.at + kAnswersComeWithin;
  });
  for (const auto& [pod, end] : gone_) {
    const sync::StoredPod* stored = agent.OwnerShard(pod).store().Find(pod);
    if (stored == nullptr) continue;
    if (std::max(stored->read, stored->listed) <= end.epoch) {
      core_.Problem(pod.value() + ": a picture from before its end");
    }
  }
}

void Checks::CheckPleg(sync::Pleg& pleg) {
  const Duration least = core_.agent_options().pleg.cross_check_period_min;
  if (pleg.missed_events() > missed_ && period_ > least && pleg.cross_check_period() >= period_) {
    core_.Problem("events were missed, and lists do not come sooner");
  }
  missed_ = pleg.missed_events();
  period_ = pleg.cross_check_period();
}

std::string Checks::NotConverged() {
  if (core_.agent() == nullptr) return "the agent is down";
  for (const auto& [uid, pod] : core_.pods()) {
    std::string missing = NotConverged(uid, pod);
    if (missing.empty()) continue;
    missing = uid.value() + " " + pod.name + ":" + core_.model().Describe(uid) + ": " + missing;
    if (const sync::PodWorker* stuck = core_.Worker(uid)) {
      missing += "; its worker is to " + stuck->Report(core_.Now()).waits_for;
    }
    return missing;
  }
  return TooManyDead();
}

// One that ends again and again has one more until that was seen and removed.
std::string Checks::TooManyDead(const SimPod& pod, const sync::ObservedPod& there, int64_t most) {
  const Duration age_min = core_.agent_options().node.keep.age_min;
  const WallTime now = core_.world().clock().WallNow();
  std::map<std::string, int64_t> dead;
  for (const sync::ObservedContainer& container : there.containers) {
    if (container.state != ContainerState::kExited || now - container.created < age_min) continue;
    ++dead[container.name];
  }
  for (const auto& [name, count] : dead) {
    if (count > most + (pod.kind == SimPodKind::kLooper ? 1 : 0)) {
      return std::to_string(count) + " dead containers of " + name;
    }
  }
  return "";
}

// All together: no more than the bound, or one of each name.
std::string Checks::TooManyDead() {
  const int32_t most = core_.agent_options().dead_containers_max;
  if (most < 0) return "";
  int64_t all = 0;
  int64_t not_seen = 0;  // of each that ends again and again one, as above
  std::string several;
  for (const auto& [uid, pod] : core_.pods()) {
    const sync::ObservedPod there = core_.model().Read(uid);
    all += std::ranges::count(there.containers, ContainerState::kExited,
                              &sync::ObservedContainer::state);
    if (pod.kind == SimPodKind::kLooper) ++not_seen;
    if (several.empty()) several = TooManyDead(pod, there, 1);
  }
  if (all <= most + not_seen || several.empty()) return "";
  return std::to_string(all) + " dead containers on the node, " + several;
}

std::string Checks::NotConverged(const PodUid& uid, const SimPod& pod) {
  const sync::ObservedPod there = core_.model().Read(uid);
  const sync::PodWorker* worker = core_.Worker(uid);
  if (!pod.wished) {
    if (pod.coming && !pod.removed && !pod.deleting) return "the one before it is still there";
    if (!there.empty()) return "nobody wishes it";
    if (worker != nullptr) return "its worker is still there";
    if (core_.leaves().HasData(uid)) return "its data is still there";
    return core_.leaves().HasLogs({{"default", pod.name}, uid}) ? "its logs are still there" : "";
  }
  if (worker == nullptr) return "has no worker";
  if (pod.deleting) return "not deleted";
  if (pod.succeeded || pod.evicted || EndsByItself(pod.kind) || worker->state().ending) {
    if (worker->state().phase != Phase::kFinished) return "not finished";
    const bool open = core_.Touched(uid) || pod.contested;
    const std::optional<bool> expected = open ? std::nullopt : Succeeds(pod.kind);
    if (expected && pod.succeeded && pod.succeeded != expected) {
      core_.Problem(uid.value() + " " + pod.name + ": ended with the wrong outcome");
    }
    return there.empty() ? "" : "not removed";
  }
  return NotRunning(pod, there);
}

std::string Checks::NotRunning(const SimPod& pod, const sync::ObservedPod& there) {
  const int32_t keep = core_.agent_options().node.keep.per_container_max;
  if (keep >= 0) {
    if (std::string many = TooManyDead(pod, there, std::max(keep, 1)); !many.empty()) return many;
  }
  if (pod.kind == SimPodKind::kLooper) return "";
  for (const std::string& name : RunsInTheEnd(pod)) {
    const auto running = std::ranges::count_if(there.containers, [&name](const auto& c) {
      return c.name == name && c.state == ContainerState::kRunning;
    });
    if (running != 1) return name + " does not run";
  }
  const auto ready = std::ranges::count_if(
      there.sandboxes, [](const auto& s) { return s.state == sync::SandboxState::kReady; });
  if (ready != 1) return "no sandbox";
  if (!core_.leaves().HasData(pod.uid)) return "no directory";
  const std::string image = "image:" + std::to_string(pod.version);
  for (const sync::ObservedContainer& container : there.containers) {
    if (container.name != "app" || container.state != ContainerState::kRunning) continue;
    if (container.image != image) return "runs " + container.image + ", not " + image;
  }
  return "";
}

std::map<std::string, std::string> Checks::EndState() {
  std::map<std::string, std::string> state;
  for (const auto& [uid, pod] : core_.pods()) {
    if (pod.kind == SimPodKind::kLooper || pod.contested) continue;
    std::string names;
    for (const sync::ObservedContainer& container : core_.model().Read(uid).containers) {
      // One that debugs is started once, whatever becomes of it.
      if (container.name == "debug" || container.state != ContainerState::kRunning) continue;
      names += " " + container.name + " of " + container.image;
    }
    state[uid.value()] = names;
  }
  return state;
}

std::map<std::string, std::string> Checks::UntouchedState() {
  std::map<std::string, std::string> state;
  for (const auto& [uid, pod] : core_.pods()) {
    if (pod.kind == SimPodKind::kLooper || pod.contested || !pod.wished) continue;
    if (core_.Touched(uid)) continue;
    const kube::core::Pod* const shown = core_.api().Find(pod.name);
    const auto ready = std::ranges::count_if(core_.model().Read(uid).sandboxes, [](const auto& s) {
      return s.state == sync::SandboxState::kReady;
    });
    state[uid.value()] = " " + (shown == nullptr ? "not shown" : shown->status().phase()) +
                         " with " + std::to_string(ready) + " sandboxes";
  }
  return state;
}

}  // namespace denselet::sim
