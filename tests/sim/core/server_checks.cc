#include "tests/sim/core/server_checks.h"

#include <algorithm>
#include <utility>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "sync/sources/pod_difference.h"

namespace denselet::sim {
namespace {

using kube::core::ContainerStatus;
using kube::core::Pod;
using kube::core::PodCondition;
using kube::core::PodStatus;

// A read that was lost, its repetition, a status that is held, and a patch in vain.
constexpr Duration kOnItsWay = Seconds(40);
// The same of what others wrote, while the server cannot be reached again and again.
constexpr Duration kHeardOfWithin = Minutes(2);

const PodCondition* FindCondition(const PodStatus& status, std::string_view type) {
  for (const PodCondition& condition : status.conditions()) {
    if (condition.type() == type) return &condition;
  }
  return nullptr;
}

bool IsTrue(const Pod& pod, std::string_view type) {
  const PodCondition* condition = FindCondition(pod.status(), type);
  return condition != nullptr && condition->status() == "True";
}

bool IsReady(const Pod& pod) { return IsTrue(pod, "Ready"); }

bool IsGated(const Pod& pod) { return pod.spec().readinessgates_size() > 0; }

// Of all kinds.
std::vector<const ContainerStatus*> ContainersOf(const PodStatus& status) {
  std::vector<const ContainerStatus*> all;
  for (const auto& c : status.initcontainerstatuses()) all.push_back(&c);
  for (const auto& c : status.containerstatuses()) all.push_back(&c);
  for (const auto& c : status.ephemeralcontainerstatuses()) all.push_back(&c);
  return all;
}

const ContainerStatus* FindContainer(const PodStatus& status, const std::string& name) {
  for (const ContainerStatus* container : ContainersOf(status)) {
    if (container->name() == name) return container;
  }
  return nullptr;
}

bool ToldAnEnd(const ContainerStatus& container) {
  return container.state().has_terminated() || container.laststate().has_terminated();
}

// A terminal phase is told later, when nothing can run any more.
bool ShowsPhase(const PodStatus& shown, const PodStatus& told) {
  return shown.phase() == told.phase() ||
         (sync::IsTerminalPhase(told.phase()) && !sync::IsTerminalPhase(shown.phase()));
}

// The server keeps restarts and ends that were told before: only what is now is compared.
bool Shows(const PodStatus& shown, const PodStatus& told) {
  const std::vector<const ContainerStatus*> containers = ContainersOf(told);
  return shown.reason() == told.reason() && ShowsPhase(shown, told) &&
         ContainersOf(shown).size() == containers.size() &&
         std::ranges::all_of(containers, [&shown](const ContainerStatus* container) {
           const ContainerStatus* const there = FindContainer(shown, container->name());
           return there != nullptr &&
                  kube::EncodeJson(there->state()) == kube::EncodeJson(container->state());
         });
}

PodStatus Parse(const std::string& bytes) {
  PodStatus status;
  CHECK(status.ParseFromString(bytes));
  return status;
}

std::string MirrorOf(const Pod& pod) {
  const auto found = pod.metadata().annotations().find(std::string(sync::kMirrorAnnotation));
  return found == pod.metadata().annotations().end() ? "" : found->second;
}

}  // namespace

void ServerChecks::Problem(const Pod& pod, const std::string& what) {
  core_.Problem("API server: " + pod.metadata().name() + " (" + pod.metadata().uid() +
                "): " + what);
}

void ServerChecks::OnPodChanged(const sync::PodWorker& worker) {
  const auto& ending = worker.state().ending;
  if (ending && ending->reason == sync::EndReason::kDeleted) removed_.insert(worker.pod().uid);
}

void ServerChecks::OnStatus(const sync::PodStatusUpdate& update) {
  const PodUid uid(std::string(update.pod->hot().uid));
  // Not sooner: what was told of the life before may still be on its way to the server.
  if (ended_.erase(uid) != 0) {
    ++lives_[uid];
    told_[uid].clear();
  }
  if (const auto told = told_.find(uid); told != told_.end()) {
    told->second.push_back(update.status);
  }
  if (update.finished == sync::Finished::kYes) last_[uid] = update.status;
}

void ServerChecks::OnServerChange(const ServerChange& change) {
  if (change.after != nullptr && IsGated(*change.after)) NoteGate(*change.after);
  if (change.who != ServerChange::Who::kAgent) return;
  if (change.after != nullptr && IsGated(*change.after)) CheckGate(*change.after);
  if (change.before == nullptr) CheckMirror(*change.after);
  if (change.before != nullptr && change.after != nullptr)
    CheckForeign(*change.before, *change.after);
  if (change.before != nullptr && change.after != nullptr && IsSameLife(*change.after)) {
    CheckStatus(*change.before, *change.after);
    CheckContainers(*change.before, *change.after);
    CheckReadiness(*change.before, *change.after);
  }
  if (change.after == nullptr && MirrorOf(*change.before).empty()) CheckDeletion(*change.before);
  NoteEnd(change);
}

void ServerChecks::NoteEnd(const ServerChange& change) {
  const bool ended = change.before && sync::IsTerminalPhase(change.before->status().phase());
  if (ended || !change.after || !sync::IsTerminalPhase(change.after->status().phase())) return;
  const std::string mirrored = MirrorOf(*change.after);
  if (!mirrored.empty()) ended_life_[change.after->metadata().uid()] = lives_[PodUid(mirrored)];
}

bool ServerChecks::IsSameLife(const Pod& pod) {
  const std::string mirrored = MirrorOf(pod);
  if (mirrored.empty()) return true;
  const PodUid uid(mirrored);
  const uint32_t life = lives_[uid];
  uint32_t& shown = shown_life_[pod.metadata().uid()];
  if (shown == life) return true;
  // The last word of the life before may arrive after the first of this one was told.
  const bool begins = std::ranges::any_of(
      told_[uid], [&pod](const std::string& status) { return Shows(pod.status(), Parse(status)); });
  if (begins) shown = life;
  return !begins;
}

void ServerChecks::CheckStatus(const Pod& before, const Pod& after) {
  const std::string& then = before.status().phase();
  const std::string& now = after.status().phase();
  // A mirror may show for a while how a life of its pod ended that is over: until the next one
  // runs.
  const std::string mirrored = MirrorOf(after);
  const bool is_next_life =
      !mirrored.empty() && ended_life_[after.metadata().uid()] < lives_[PodUid(mirrored)];
  if (sync::IsTerminalPhase(then) && now != then && !is_next_life) {
    Problem(after, "from " + then + " back to " + now);
  }
  if (sync::IsTerminalPhase(now) && !sync::IsTerminalPhase(then) && MirrorOf(after).empty()) {
    const auto there = core_.model().Read(PodUid(after.metadata().uid()));
    if (std::ranges::any_of(there.containers, [](const auto& c) {
          return c.state == sync::ContainerState::kRunning;
        })) {
      Problem(after, now + " while a container runs");
    }
  }
  if (before.status().has_starttime() &&
      after.status().starttime().seconds() != before.status().starttime().seconds()) {
    Problem(after, "its start time moved");
  }
  if (after.status().observedgeneration() < before.status().observedgeneration()) {
    Problem(after, "an older generation was observed");
  }
}

void ServerChecks::CheckContainers(const Pod& before, const Pod& after) {
  for (const ContainerStatus* old : ContainersOf(before.status())) {
    const ContainerStatus* const now = FindContainer(after.status(), old->name());
    // One that was rejected shows no containers, as the kubelet has it; none of them began.
    const bool never_began = old->state().has_waiting() && !ToldAnEnd(*old);
    const bool rejected = ContainersOf(after.status()).empty() && !after.status().reason().empty();
    if (now == nullptr && rejected && never_began) continue;
    if (now == nullptr) {
      Problem(after, "nothing is told of " + old->name() + " any more");
      continue;
    }
    if (now->restartcount() < old->restartcount()) {
      Problem(after, "fewer restarts of " + old->name() + " than before");
    }
    if (ToldAnEnd(*old) && !ToldAnEnd(*now)) {
      Problem(after, "the end of " + old->name() + " is not told any more");
    }
  }
}

// Conditions of others, labels and the specification are not the agent's.
void ServerChecks::CheckForeign(const Pod& before, const Pod& after) {
  for (const PodCondition& condition : before.status().conditions()) {
    if (sync::IsOwnCondition(condition.type()) || condition.type() == sync::kDisruptionTarget) {
      continue;
    }
    const PodCondition* const now = FindCondition(after.status(), condition.type());
    if (now == nullptr || kube::EncodeWire(*now) != kube::EncodeWire(condition)) {
      Problem(after, "the agent changed the condition " + condition.type());
    }
  }
  const auto text = [](const auto& map) {
    std::map<std::string, std::string> sorted(map.begin(), map.end());
    return sorted;
  };
  if (text(before.metadata().labels()) != text(after.metadata().labels())) {
    Problem(after, "the agent changed its labels");
  }
}

// The agent makes nothing but mirrors, of each static pod one, under its name.
void ServerChecks::CheckMirror(const Pod& made) {
  const std::string mirrored = MirrorOf(made);
  const auto of = core_.pods().find(PodUid(mirrored));
  if (of == core_.pods().end() || !of->second.is_static) {
    return Problem(made, "made, and no mirror of a static pod");
  }
  for (const auto& [name, pod] : core_.api().pods()) {
    if (pod != nullptr && pod.get() != &made && MirrorOf(*pod) == mirrored) {
      Problem(made, "beside " + name.name + ", which is a mirror of the same pod");
    }
  }
}

void ServerChecks::NoteGate(const Pod& pod) {
  const bool is_open = IsTrue(pod, kSimGate);
  const auto [gate, is_new] = gates_.try_emplace(pod.metadata().uid());
  if (!is_new && gate->second.is_open == is_open) return;
  gate->second = {.is_open = is_open, .since = core_.Now()};
}

// What others say takes its time to come here; but then it counts, in every life of the agent.
void ServerChecks::CheckGate(const Pod& pod) {
  const Gate& gate = gates_[pod.metadata().uid()];
  if (IsReady(pod) && !gate.is_open && core_.Now() > gate.since + kHeardOfWithin) {
    Problem(pod, "ready, and its gate is closed");
  }
}

// A pod to which nothing happened stays ready, also across restarts of the agent.
void ServerChecks::CheckReadiness(const Pod& before, const Pod& after) {
  if (!IsReady(before) || IsReady(after)) return;
  const std::string mirrored = MirrorOf(after);
  const PodUid uid(mirrored.empty() ? after.metadata().uid() : mirrored);
  const auto found = core_.pods().find(uid);
  if (found == core_.pods().end() || core_.Touched(uid)) return;
  const SimPod& pod = found->second;
  if (EndsByItself(pod.kind) || RestartsByItself(pod.kind)) return;
  if (IsGated(after)) {
    const Gate& gate = gates_[uid.value()];
    if (!gate.is_open || core_.Now() <= gate.since + kHeardOfWithin) return;
  }
  Problem(after, "not ready any more, for no reason");
}

// The agent lets go of an object whose last status is there.
void ServerChecks::CheckDeletion(const Pod& before) {
  if (!before.metadata().has_deletiontimestamp()) Problem(before, "the agent deleted what stays");
  if (!sync::IsTerminalPhase(before.status().phase())) {
    Problem(before, "deleted in phase " + before.status().phase());
  }
  const auto last = last_.find(PodUid(before.metadata().uid()));
  if (last == last_.end()) return Problem(before, "deleted before it has finished");
  const PodStatus told = Parse(last->second);
  for (const ContainerStatus* container : ContainersOf(told)) {
    const ContainerStatus* const shown = FindContainer(before.status(), container->name());
    // More restarts than we know of may have been told before us.
    const bool same = shown != nullptr && shown->restartcount() >= container->restartcount() &&
                      kube::EncodeJson(shown->state()) == kube::EncodeJson(container->state());
    if (!same) Problem(before, "deleted before the end of " + container->name() + " was told");
  }
}

std::string ServerChecks::NotTrue() {
  for (const auto& [name, pod] : core_.api().pods()) {
    const std::string mirrored = MirrorOf(*pod);
    std::string missing =
        NotShown(*pod, PodUid(mirrored.empty() ? pod->metadata().uid() : mirrored));
    if (!missing.empty()) return "API server: " + name.name + ": " + missing;
  }
  return NotMirrored();
}

std::string ServerChecks::NotShown(const Pod& pod, const PodUid& runs_as) {
  const sync::PodWorker* const worker = core_.Worker(runs_as);
  if (worker == nullptr) return "shown, and nobody works on it";
  const PodStatus& status = pod.status();
  if (!MirrorOf(pod).empty() && worker->state().ending) return "";  // it is the next one's
  if (worker->rejected() && status.phase() != "Failed") return "rejected, and " + status.phase();
  const sync::ObservedPod there_now = core_.model().Read(runs_as);
  bool all_run = true, changes = false;
  for (const ContainerStatus* container : ContainersOf(status)) {
    const auto lately = [&](const std::optional<WallTime>& at) {
      return at && core_.world().clock().WallNow() - *at < kOnItsWay;
    };
    bool runs = false, changed = false;
    for (const sync::ObservedContainer& seen : there_now.containers) {
      if (seen.name != container->name()) continue;
      changed = changed || lately(seen.started) || lately(seen.finished);
      runs = runs || seen.state == sync::ContainerState::kRunning;
    }
    changes = changes || changed;
    if (RoleOf(container->name()) != ContainerRole::kEphemeral &&
        !container->name().starts_with("init")) {
      all_run = all_run && runs;
    }
    if (!changed && runs != container->state().has_running()) {
      return container->name() + (runs ? " runs" : " does not run") + ", which is not shown";
    }
  }
  if (changes) return "";
  if (status.containerstatuses().empty()) all_run = false;
  const bool is_ready = all_run && (!IsGated(pod) || IsTrue(pod, kSimGate));
  if (IsReady(pod) != is_ready) return is_ready ? "ready, and not shown" : "shown as ready";
  if (all_run && status.phase() != "Running") return "runs, and is shown as " + status.phase();
  return "";
}

// Of each static pod there is one mirror, of the others none.
std::string ServerChecks::NotMirrored() {
  std::set<std::string> wished;
  for (const auto& [uid, pod] : core_.pods()) {
    if (!pod.wished || !pod.is_static) continue;
    wished.insert(uid.value());
    const Pod* const mirror = core_.api().Find(pod.name);
    if (mirror == nullptr) return pod.name + " has no mirror";
    if (MirrorOf(*mirror) != uid.value()) return pod.name + " has the mirror of another";
    if (mirror->metadata().has_deletiontimestamp()) return pod.name + ": its mirror is going";
  }
  for (const auto& [name, pod] : core_.api().pods()) {
    const std::string mirrored = MirrorOf(*pod);
    if (!mirrored.empty() && wished.count(mirrored) == 0) {
      return name.name + ": a mirror of a pod that is no more";
    }
  }
  return "";
}

}  // namespace denselet::sim
