#include "tests/sim/core/disturbances.h"

#include <algorithm>
#include <utility>

#include "kube/api/types.h"

namespace denselet::sim {
namespace {

constexpr uint32_t kPodsMin = 3;
constexpr uint32_t kPodsMax = 40;
constexpr int kAmbushTries = 4;  // much fits only some pods

std::string VersionName(uint32_t version) { return "image:" + std::to_string(version); }

Duration Below(Random& random, uint64_t ms) {
  return Milliseconds(static_cast<int64_t>(random.Below(ms)));
}

// The story has nothing more for it. When a doomed one goes depends on the run.
bool IsThrough(const SimPod& pod) {
  return !pod.doomed && !pod.away && (pod.removed || pod.deleting);
}

}  // namespace

Disturbances::Disturbances(CoreWorld& core)
    : core_(core), plan_(core.run().seed * 104729 + 3), repeats_(core.run().seed * 611953 + 5) {}

void Disturbances::Meddle() {
  constexpr uint64_t kPauseMaxMs = 6000;
  Random& random = core_.world().random();
  core_.world().Later(Below(random, kPauseMaxMs), [this] {
    if (!troubled_) return;
    Random& now = core_.world().random();
    fakes::ModelFaults& faults = core_.api().model().faults();
    if (now.Below(16) == 0) faults.too_many_requests += static_cast<uint32_t>(now.Below(12));
    if (now.Below(16) == 0) faults.internal_errors += static_cast<uint32_t>(now.Below(4));
    if (now.Below(16) == 0) core_.api().Compact();
    core_.Note(core_.api().Meddle(now));
    Meddle();
  });
}

void Disturbances::Begin(TimePoint end) {
  DrawFaults();
  const bool quiet = core_.run().quiet;
  // Mostly few: what a seed costs is what its pods do, and most faults need no more than a few.
  const auto drawn = [this] { return plan_.Below(kPodsMax - kPodsMin + 1); };
  pods_max_ = quiet ? 8 : static_cast<uint32_t>(kPodsMin + std::min({drawn(), drawn(), drawn()}));
  const uint32_t first =
      static_cast<uint32_t>(kPodsMin + plan_.Below(std::min(pods_max_, 15u) - kPodsMin + 1));
  began_ = core_.Now();
  // A few seeds are dense; most have hardly more than the wishes that every run must have.
  pause_max_ = quiet ? Seconds(9) : plan_.Below(32) == 0 ? Seconds(1) : Seconds(6);
  core_.StartAgent(DrawBreak(plan_));
  for (uint32_t i = 0; i < first; ++i) AddPod(plan_);
  PlanNext(end);
  if (quiet) return;
  ambushes_.Draw(plan_);
  // Once at least.
  const auto length = static_cast<uint64_t>((end - core_.Now()) / Milliseconds(1));
  core_.world().Later(Below(plan_, length),
                      [this, away = DrawBreak(plan_)] { core_.KillAgent(away); });
}

void Disturbances::PlanNext(TimePoint end) {
  const Duration pause = (core_.run().quiet ? Seconds(6) : Milliseconds(1)) +
                         Below(plan_, static_cast<uint64_t>(pause_max_ / Milliseconds(1)));
  core_.world().Later(pause, [this, end, seed = plan_.Next()] {
    if (core_.Now() >= end) return;
    SeededRandom random(seed);
    Disturb(random);
    Repeat(end);
    PlanNext(end);
  });
}

void Disturbances::Repeat(TimePoint end) {
  // Events come late and end early: what is due at the end is told a little before.
  const Duration length = end - began_ - 2 * pause_max_;
  const uint64_t due = std::min<uint64_t>(
      kWishesMin, static_cast<uint64_t>(kWishesMin * (core_.Now() - began_) / length));
  for (uint32_t tries = 0; core_.result().wishes < due && tries < kWishesMin; ++tries) {
    Hit(SimEvent::kToldAgain, core_.pods()[slots_[repeats_.Below(slots_.size())]], repeats_);
  }
  // Nobody is wished any more: then files are looked at again.
  while (core_.result().wishes < due) core_.TellFilesAgain();
}

// Longer than a back-off, a grace and a job take together.
bool Disturbances::IsCalm(const PodUid& pod) const {
  constexpr Duration kComesToRestWithin = Seconds(60);
  const auto found = calm_at_.find(pod);
  return found == calm_at_.end() || core_.Now() >= found->second + kComesToRestWithin;
}

void Disturbances::Stir(const SimPod& pod, Duration length) {
  if (!core_.run().quiet) return;
  TimePoint& at = calm_at_[pod.uid];
  at = std::max(at, core_.Now() + length);
}

void Disturbances::AddPod(Random& random) {
  SimPod pod = DrawPod(random, ++pods_drawn_);
  if (crowded_) Crowd(pod, random);
  if (core_.run().quiet && ChangesFast(pod.kind)) pod.kind = SimPodKind::kServer;
  // Who gets what depends on the run.
  if (core_.run().quiet) pod.contested = false;
  pod.wished = true;
  core_.Note("wish " + pod.uid.value() + " " + pod.name);
  // The place of one that the story is through with, or another one.
  const auto place = std::ranges::find_if(
      slots_, [this](const PodUid& uid) { return IsThrough(core_.pods()[uid]); });
  if (slots_.size() < pods_max_ || place == slots_.end()) {
    slots_.push_back(pod.uid);
  } else {
    *place = pod.uid;
  }
  // A third of those that there may be at a time, at most.
  pod.doomed = !core_.run().quiet && random.Below(3) == 0 && doomed_ < pods_max_ / 3;
  if (pod.doomed) ++doomed_;
  // Under the work of one of these the agent dies, again and again.
  if (pod.doomed && !core_.deadly() && random.Below(8) == 0) core_.set_deadly(pod.uid);
  const SimPod& mine = core_.pods()[pod.uid] = pod;
  // Its deadline comes by itself.
  Stir(mine, pod.kind == SimPodKind::kDeadline ? Seconds(100) : Seconds(10));
  core_.Tell(mine);
}

void Disturbances::OnPodChanged(const sync::PodWorker& worker) {
  OnPodRests(worker.pod().uid, {worker.state().phase, worker.waits().what});
}

void Disturbances::OnPodRests(const PodUid& pod, const SimPlace& place) {
  const auto found = core_.pods().find(pod);
  if (!troubled_ || found == core_.pods().end()) return;
  Ambush* const ambush = ambushes_.Find(place, found->second);
  if (ambush == nullptr) return;
  Random& random = core_.world().random();
  if (random.Below(4) == 0) return;
  --ambush->left;
  // Not from inside the agent.
  core_.world().Later(Duration::zero(), [this, pod, event = ambush->event, seed = random.Next()] {
    Spring(pod, event, seed);
  });
}

void Disturbances::Spring(const PodUid& uid, std::optional<SimEvent> event, uint64_t seed) {
  const auto found = core_.pods().find(uid);
  if (found == core_.pods().end() || !troubled_) return;
  SeededRandom random(seed);
  for (int i = 0; i < kAmbushTries; ++i) {
    const SimEvent drawn = event.value_or(static_cast<SimEvent>(random.Below(kSimEvents)));
    if (!MayAmbush(drawn, found->second)) continue;
    core_.Note("ambush of " + uid.value());
    const bool removed = found->second.removed;
    const bool hit = Hit(drawn, found->second, random);
    // Of one that the story has deleted, it does not know.
    if (!found->second.doomed) found->second.removed = removed;
    if (hit) return;
  }
}

void Disturbances::MakePeace() {
  core_.Note("peace");
  troubled_ = false;
  std::vector<PodUid> doomed;
  for (const auto& [uid, pod] : core_.pods()) {
    if (pod.doomed) doomed.push_back(uid);
  }
  for (const PodUid& uid : doomed) Remove(core_.pods()[uid]);
  core_.host().faults() = {.timeout = Seconds(20)};
  core_.leaves().faults() = {};
  core_.leaves().disk().faults() = {};
  core_.api().server().faults() = {};
  core_.api().model().faults() = {};
  const fakes::FakeEventFaults events{.supported = core_.run().use_events};
  core_.agent_options().events = events;
  if (core_.agent() != nullptr) core_.agent()->events().faults() = events;
  for (const auto& [uid, pod] : core_.pods()) {
    core_.model().images().insert(VersionName(pod.version));
  }
}

void Disturbances::Disturb(Random& random) {
  const uint64_t what = random.Below(100);
  const auto through = std::ranges::count_if(
      slots_, [this](const PodUid& uid) { return IsThrough(core_.pods()[uid]); });
  const size_t present = slots_.size() - static_cast<size_t>(through);
  if (present < kPodsMin || (what < 25 && present < pods_max_)) return AddPod(random);
  struct Weight {
    SimEvent event;
    uint64_t weight;
    bool in_quiet;
  };
  constexpr Weight kWeights[] = {
      {SimEvent::kDeleted, 10, true},        {SimEvent::kRemoved, 6, true},
      {SimEvent::kWishedAgain, 8, true},     {SimEvent::kReplaced, 8, true},
      {SimEvent::kChanged, 18, true},        {SimEvent::kDebugged, 6, true},
      {SimEvent::kToldAgain, 20, true},      {SimEvent::kEvicted, 5, true},
      {SimEvent::kExited, 10, true},         {SimEvent::kSandboxDied, 5, true},
      {SimEvent::kStateLost, 2, true},       {SimEvent::kLivenessFailed, 5, true},
      {SimEvent::kRuntimeCrashed, 2, false}, {SimEvent::kMachineCrashed, 1, false},
      {SimEvent::kAgentKilled, 3, false},    {SimEvent::kApiOutage, 2, false},
      {SimEvent::kNodeNotReady, 1, false},   {SimEvent::kDiskFull, 1, false},
  };
  const bool quiet = core_.run().quiet;
  uint64_t all = 0;
  for (const Weight& w : kWeights) all += quiet && !w.in_quiet ? 0 : w.weight;
  uint64_t drawn = random.Below(all);
  SimEvent event = SimEvent::kToldAgain;
  for (const Weight& w : kWeights) {
    const uint64_t weight = quiet && !w.in_quiet ? 0 : w.weight;
    if (drawn < weight) {
      event = w.event;
      break;
    }
    drawn -= weight;
  }
  // A few places are tried: much fits only some pods.
  for (int i = 0; i < 5; ++i) {
    SimPod& pod = core_.pods()[slots_[random.Below(slots_.size())]];
    // These have an end of their own.
    if (pod.doomed && DecidesTheEnd(event)) continue;
    if (Hit(event, pod, random)) return;
  }
  // Nothing of it fits: a source repeats itself.
  for (const PodUid& uid : slots_) {
    if (Hit(SimEvent::kToldAgain, core_.pods()[uid], random)) return;
  }
}

bool Disturbances::Hit(SimEvent event, SimPod& pod, Random& random) {
  const bool stirs = event != SimEvent::kToldAgain;
  if (stirs && !IsCalm(pod.uid)) return false;
  if (!Do(event, pod, random)) return false;
  if (stirs) Stir(pod);
  return true;
}

bool Disturbances::Do(SimEvent event, SimPod& pod, Random& random) {
  switch (event) {
    case SimEvent::kDeleted:
      return Delete(pod, random);
    case SimEvent::kRemoved:
      return Remove(pod);
    case SimEvent::kWishedAgain:
      return WishAgain(pod, random);
    case SimEvent::kReplaced:
      return Replace(pod, random);
    case SimEvent::kChanged:
      return Change(pod, random);
    case SimEvent::kDebugged:
      return Debug(pod);
    case SimEvent::kToldAgain:
      if (!pod.wished) return false;
      core_.Cover(event, pod.uid);
      core_.Tell(pod);
      return true;
    case SimEvent::kEvicted:
      return Evict(pod, random);
    case SimEvent::kExited:
    case SimEvent::kStateLost:
    case SimEvent::kLivenessFailed:
      return HitContainer(event, pod, random);
    case SimEvent::kSandboxDied:
      return KillSandbox(pod, random);
    case SimEvent::kRuntimeCrashed:
    case SimEvent::kMachineCrashed:
      return CrashRuntime(event, random);
    case SimEvent::kAgentKilled:
      return KillAgent(random);
    case SimEvent::kApiOutage:
      core_.ApiOutage(Below(random, 20'000), random.Below(2) == 0);
      return true;
    case SimEvent::kNodeNotReady:
      return MakeNotReady(random);
    case SimEvent::kDiskFull:
      return FillDisk(random);
  }
  return false;
}

// Whether an event fits is decided by the story; what is gone already is left alone then.
bool Disturbances::Delete(SimPod& pod, Random& random) {
  if (pod.removed) return false;
  if (pod.is_static) return Remove(pod);
  if (!pod.wished && !pod.coming) return true;
  core_.Cover(SimEvent::kDeleted, pod.uid);
  const int64_t before = pod.deletion_grace.value_or(pod.grace_seconds);
  const int64_t grace = 1 + static_cast<int64_t>(random.Below(30));
  pod.deletion_grace = pod.deleting ? std::min(before, grace) : grace;
  pod.deleting = true;
  deleted_at_.try_emplace(pod.uid, core_.Now());
  core_.Touch(pod.uid);
  core_.Note("delete " + pod.uid.value() + " grace " + std::to_string(*pod.deletion_grace));
  core_.Tell(pod);
  return true;
}

bool Disturbances::Remove(SimPod& pod) {
  if (pod.removed) return false;
  pod.removed = true;
  if (!pod.wished) return true;
  core_.Cover(SimEvent::kRemoved, pod.uid);
  pod.wished = false;
  core_.Touch(pod.uid);
  core_.Note("remove " + pod.uid.value());
  core_.Tell(pod);
  return true;
}

bool Disturbances::WishAgain(SimPod& pod, Random& random) {
  // Of a doomed one it does not matter when.
  if (pod.away && pod.doomed) return ComeBack(pod);
  if (pod.removed || !pod.is_static) return false;
  pod.removed = pod.away = true;
  core_.Cover(SimEvent::kRemoved, pod.uid);
  pod.wished = false;
  core_.Touch(pod.uid);
  core_.Note("remove for a while " + pod.uid.value());
  core_.Tell(pod);
  const Duration away = Below(random, 8000);
  Stir(pod, away);
  core_.world().Later(away, [this, uid = pod.uid] { ComeBack(core_.pods()[uid]); });
  return true;
}

bool Disturbances::ComeBack(SimPod& pod) {
  if (!pod.away || (!troubled_ && pod.doomed)) return false;
  core_.Cover(SimEvent::kWishedAgain, pod.uid);
  pod.removed = pod.away = false;
  pod.wished = true;
  core_.Note("wish again " + pod.uid.value());
  core_.Tell(pod);
  return true;
}

bool Disturbances::Replace(SimPod& pod, Random& random) {
  if (pod.removed || pod.deleting) return false;
  if (pod.is_static) return ReplaceManifest(pod);
  core_.Cover(SimEvent::kReplaced, pod.uid);
  const SimPod& next = Succeed(pod);
  // It waits until the other has gone, for which that has its grace; the API server forgets some at
  // once, while they still run.
  Stir(next, Seconds(60));
  return random.Below(4) == 0 ? Remove(pod) : Delete(pod, random);
}

// Another manifest under the same name.
bool Disturbances::ReplaceManifest(SimPod& pod) {
  core_.Cover(SimEvent::kReplaced, pod.uid);
  const SimPod& next = Succeed(pod);
  pod.wished = false;
  pod.removed = true;
  core_.Touch(pod.uid);
  Stir(next, Seconds(30));  // it waits until the other has stopped
  core_.Tell(next);
  return true;
}

// One of the same name takes the place in the story. That of the API server is made when the name
// is free there, as the author of a set does.
const SimPod& Disturbances::Succeed(const SimPod& pod) {
  SimPod next = pod;
  next.uid = PodUid(pod.uid.value() + "r");
  if (!pod.is_static) {
    next.wished = next.debugged = next.dropped = next.evicted = false;
    next.succeeded.reset();
    next.eviction_grace.reset();
    next.coming = next.follows = true;
  }
  core_.Note(pod.uid.value() + " is replaced by " + next.uid.value());
  std::ranges::replace(slots_, pod.uid, next.uid);
  return core_.pods()[next.uid] = next;
}

void Disturbances::OnServerChange(const ServerChange& change) {
  if (change.after != nullptr) return;
  // Not from inside the API server.
  core_.world().Later(Duration::zero(),
                      [this, name = change.before->metadata().name()] { Come(name); });
}

// What the story was through with before it could come is left out.
void Disturbances::Come(const std::string& name) {
  if (core_.api().Find(name) != nullptr) return;
  for (auto& [uid, pod] : core_.pods()) {
    if (!pod.coming || pod.name != name) continue;
    pod.coming = false;
    if (pod.removed || pod.deleting) continue;
    pod.wished = true;
    core_.Note(uid.value() + " comes as " + name);
    return core_.Tell(pod);
  }
}

bool Disturbances::IsLongDeleted(const SimPod& pod) const {
  constexpr Duration kEndsWithin = Seconds(40);
  return pod.deleting && core_.Now() >= deleted_at_.at(pod.uid) + kEndsWithin;
}

bool Disturbances::Change(SimPod& pod, Random& random) {
  if (pod.removed || IsLongDeleted(pod)) return false;
  if (!pod.wished && !pod.coming) return true;
  ++pod.version;
  // There at once, or to be pulled.
  if (random.Below(2) == 0) core_.model().images().insert(VersionName(pod.version));
  if (pod.coming) return true;
  core_.Cover(SimEvent::kChanged, pod.uid);
  core_.Touch(pod.uid);
  core_.Note("new version of " + pod.uid.value());
  core_.Tell(pod);
  return true;
}

bool Disturbances::Debug(SimPod& pod) {
  if (pod.removed || pod.is_static) return false;
  if (!pod.wished && !pod.coming) return true;
  pod.debugged = true;
  if (pod.coming) return true;
  core_.Cover(SimEvent::kDebugged, pod.uid);
  core_.Tell(pod);
  return true;
}

bool Disturbances::Evict(SimPod& pod, Random& random) {
  if (pod.removed || pod.is_static || pod.follows || IsLongDeleted(pod)) return false;
  if (!pod.wished) return true;
  core_.Cover(SimEvent::kEvicted, pod.uid);
  core_.Touch(pod.uid);
  core_.Note("evict " + pod.uid.value());
  pod.evicted = true;
  if (random.Below(2) == 0) pod.eviction_grace = 1;
  core_.EvictNow(pod);
  return true;
}

bool Disturbances::HitContainer(SimEvent event, const SimPod& pod, Random& random) {
  std::vector<sync::ObservedContainer> running = core_.model().Read(pod.uid).containers;
  std::erase_if(running, [](const auto& c) { return c.state != sync::ContainerState::kRunning; });
  if (running.empty()) return false;
  const sync::ObservedContainer container = running[random.Below(running.size())];
  if (event == SimEvent::kLivenessFailed && core_.agent() == nullptr) return false;
  core_.Cover(event, pod.uid);
  core_.Touch(pod.uid);
  core_.Note(std::string(SimEventName(event)) + ": " + pod.uid.value() + " " + container.name);
  if (event == SimEvent::kExited) {
    core_.model().Exit(container.id, static_cast<int32_t>(random.Below(2)));
  } else if (event == SimEvent::kStateLost) {
    core_.model().LoseState(container.id);
  } else {
    core_.agent()->OnOwner(pod.uid, [uid = pod.uid, name = container.name,
                                     attempt = container.attempt](sync::PodShard& shard) {
      shard.SetProbe(uid, name, attempt, std::nullopt, sync::ProbeResult::kFailure);
    });
  }
  return true;
}

bool Disturbances::KillSandbox(const SimPod& pod, Random& random) {
  for (const sync::ObservedSandbox& sandbox : core_.model().Read(pod.uid).sandboxes) {
    if (sandbox.state != sync::SandboxState::kReady) continue;
    core_.Cover(SimEvent::kSandboxDied, pod.uid);
    core_.Touch(pod.uid);
    const bool alone = random.Below(2) == 0;
    // A list does not show that: it is nothing for runs that must be the same without events.
    if (!core_.run().quiet && random.Below(4) == 0) {
      core_.Note("sandbox of " + pod.uid.value() + " loses its address");
      return core_.model().LoseAddress(sandbox.id);
    }
    core_.Note("sandbox of " + pod.uid.value() + (alone ? " dies alone" : " dies"));
    return core_.model().KillSandbox(sandbox.id, alone
                                                     ? fakes::RuntimeModel::Containers::kLiveOn
                                                     : fakes::RuntimeModel::Containers::kDieWithIt);
  }
  return false;
}

bool Disturbances::CrashRuntime(SimEvent event, Random& random) {
  if (!core_.host().up()) return false;
  core_.CoverAll(event);
  core_.Note(SimEventName(event) == "machine crashed" ? "runtime crashes with all containers"
                                                      : "runtime crashes");
  core_.host().Crash();
  if (event == SimEvent::kMachineCrashed) {
    for (const auto& [uid, pod] : core_.pods()) core_.Touch(uid);
    core_.model().KillEverything();
  }
  // The whole machine, or the one that the runtime has of its own.
  if (event == SimEvent::kMachineCrashed && random.Below(2) == 0) {
    core_.KillAgent(DrawBreak(random));
    core_.leaves().LosePower();
  }
  core_.world().Later(Milliseconds(100) + Below(random, 15'000), [this] {
    core_.Note("runtime is back");
    core_.host().Start();
  });
  return true;
}

bool Disturbances::KillAgent(Random& random) {
  if (core_.agent() == nullptr) return false;
  const AgentBreak away = DrawBreak(random);
  if (random.Below(2) == 0) {
    core_.KillAgent(away);
  } else {
    core_.KillAgentAtCall(static_cast<uint32_t>(1 + random.Below(20)), away);
  }
  return true;
}

bool Disturbances::FillDisk(Random& random) {
  core_.CoverAll(SimEvent::kDiskFull);
  core_.Note("the disk takes no more");
  ++full_;
  Disk& disk = core_.leaves().disk();
  const Duration length = Below(random, 20'000);
  const uint64_t how = random.Below(3);
  if (how == 0) disk.faults().full = true;
  if (how == 1) disk.faults().bytes_max = disk.UsedBytes() + random.Below(4096);
  if (how == 2) disk.faults().read_only = true;
  core_.world().Later(length, [this] {
    if (--full_ > 0) return;
    core_.Note("the disk has room");
    DiskFaults& faults = core_.leaves().disk().faults();
    faults.full = faults.read_only = false;
    faults.bytes_max = UINT64_MAX;
  });
  return true;
}

bool Disturbances::MakeNotReady(Random& random) {
  sync::RuntimeTrouble trouble;
  (random.Below(2) == 0 ? trouble.runtime : trouble.network) = "it says so";
  core_.NotReady(trouble, Below(random, 10'000));
  return true;
}

}  // namespace denselet::sim
