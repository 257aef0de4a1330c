#include "managers/status/status_manager.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "kube/api/patch/status_patch.h"
#include "kube/api/types.h"

namespace denselet::managers {
namespace {

using kube::core::PodStatus;

ObjectRef NameOf(const kube::PodAtRest& pod) {
  return {std::string(pod.hot().ns), std::string(pod.hot().name)};
}

// Versions are numbers of one store that grow. Nothing: this one is none.
std::optional<uint64_t> VersionOf(const kube::PodAtRest& pod) {
  const std::string_view text = pod.hot().resource_version;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool IsOlder(const kube::PodAtRest& pod, const kube::PodAtRest& than) {
  const auto a = VersionOf(pod), b = VersionOf(than);
  return a && b && *a < *b;
}

}  // namespace

std::string_view Name(StatusManager::Stage stage) {
  switch (stage) {
    case StatusManager::Stage::kResting:
      return "resting";
    case StatusManager::Stage::kHeld:
      return "held";
    case StatusManager::Stage::kInLine:
      return "in line";
    case StatusManager::Stage::kPatching:
      return "patching";
    case StatusManager::Stage::kReading:
      return "reading";
    case StatusManager::Stage::kDeleting:
      return "deleting";
    case StatusManager::Stage::kPausing:
      return "pausing";
  }
  return "";
}

struct StatusManager::Scratch {
  kube::core::Pod pod;
  PodStatus ours;
};

StatusManager::StatusManager(reactor::Loop& loop, Random& random, Logger log, sync::ApiServer& api,
                             sync::PodStatusUser& user, const StatusManagerOptions& options)
    : loop_(loop),
      random_(random),
      log_(std::move(log)),
      api_(api),
      user_(user),
      options_(options),
      scratch_(std::make_unique<Scratch>()) {}

StatusManager::~StatusManager() {
  cancel_.Cancel();
  for (auto& [pod, entry] : entries_) loop_.Disarm(entry.timer);
  loop_.Disarm(quiet_timer_);
}

StatusManager::Counts StatusManager::counts() const {
  Counts counts{.pods = entries_.size(),
                .in_line = line_.size(),
                .requests = requests_,
                .server_in_trouble = troubles_ > 0};
  for (const auto& [pod, entry] : entries_) {
    counts.held += entry.stage == Stage::kHeld ? 1 : 0;
    counts.pausing += entry.stage == Stage::kPausing ? 1 : 0;
  }
  return counts;
}

StatusManager::Stage StatusManager::stage(const PodUid& pod) const {
  const auto found = entries_.find(pod);
  return found == entries_.end() ? Stage::kResting : found->second.stage;
}

// ---- what is wanted, and what there is

void StatusManager::SetStatus(sync::PodStatusUpdate update) {
  CHECK(update.pod);
  const PodUid pod(std::string(update.pod->hot().uid));
  const auto [place, is_new] = entries_.try_emplace(pod);
  Entry& entry = place->second;
  if (is_new) {
    entry.generation = next_generation_++;
    entry.name = NameOf(*update.pod);
    entry.is_static = update.pod->hot().IsStatic();
    named_[entry.name].insert(pod);
  } else if (update.version <= entry.wanted.version) {
    return;  // on its way it was overtaken
  }
  if (is_new || entry.settled == entry.wanted.version) entry.changed = loop_.Now();
  const sync::PodStatusUpdate& before = entry.wanted;
  if (update.status != before.status || update.may_run != before.may_run ||
      update.finished != before.finished || update.mirror != before.mirror) {
    entry.shows.reset();
  }
  entry.wanted = std::move(update);
  // What it was made from was at the server once; if it is no more, the server will say so.
  if (is_new && !entry.is_static) Show(entry.wanted.pod);
  Judge(pod, entry);
}

void StatusManager::Forget(const PodUid& pod) {
  const auto found = entries_.find(pod);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  LeaveLine(pod, entry);
  loop_.Disarm(entry.timer);
  const auto named = named_.find(entry.name);
  named->second.erase(pod);
  if (named->second.empty()) named_.erase(named);
  const auto shown = shown_.find(entry.name);
  if (shown != shown_.end() && shown->second->hot().uid == pod.value()) shown_.erase(shown);
  entries_.erase(found);
}

void StatusManager::OnApiPod(const kube::PodRef& pod) {
  if (Show(pod)) JudgeNamed(NameOf(*pod));
}

void StatusManager::OnApiPodGone(const kube::PodRef& pod) {
  const ObjectRef name = NameOf(*pod);
  const auto found = shown_.find(name);
  if (found == shown_.end() || found->second->hot().uid != pod->hot().uid) return;
  shown_.erase(found);
  JudgeNamed(name);
}

// The watch may tell what an answer has told before it; that must not count again.
bool StatusManager::Show(const kube::PodRef& pod) {
  kube::PodRef& place = shown_[NameOf(*pod)];
  if (place && IsOlder(*pod, *place)) return false;
  const bool same = place && place->hot().resource_version == pod->hot().resource_version &&
                    place->hot().uid == pod->hot().uid;
  place = pod;  // also the same: the watch's one is shared with others
  return !same;
}

kube::PodRef StatusManager::ShownOf(const Entry& entry) const {
  const auto found = shown_.find(entry.name);
  if (found == shown_.end()) return {};
  const kube::PodHotFields& shown = found->second->hot();
  const kube::PodHotFields& wanted = entry.wanted.pod->hot();
  const bool its_own = entry.is_static
                           ? shown.IsMirror() && shown.config_mirror == wanted.config_hash
                           : shown.uid == wanted.uid;
  return its_own ? found->second : kube::PodRef();
}

// A mirror that was there before us shows more than we can know. The pod's shard is told of it, and
// soon sends a status that goes on from there.
bool StatusManager::GoesOnFrom(const Entry& entry, const kube::core::Pod& shown) {
  return !entry.is_static || !shown.status().has_starttime() ||
         entry.wanted.mirror == shown.metadata().uid() || entry.taken_for == shown.metadata().uid();
}

bool StatusManager::NeedsPatch(const Entry& entry, Urgency urgency) const {
  if (entry.stage == Stage::kInLine) return urgency < entry.urgency;
  return urgency != Urgency::kMayWait || HoldIsOver(entry);
}

bool StatusManager::HoldIsOver(const Entry& entry) const {
  if (!entry.held_since) return false;
  const Duration held = loop_.Now() - *entry.held_since;
  if (held < options_.start_hold) return false;
  return held >= options_.start_hold_max || !api_.IsBusy(sync::ApiTraffic::kMain);
}

Result<StatusManager::Work> StatusManager::Plan(const Entry& entry, const kube::PodAtRest& shown,
                                                Purpose purpose) const {
  kube::core::Pod& pod = scratch_->pod;
  if (const Status read = shown.ParseWithoutSpecInto(pod); !read) {
    return read.error().With("read pod of the API server");
  }
  if (!GoesOnFrom(entry, pod)) return Work{.kind = Work::Kind::kNotYet};
  PodStatus& ours = scratch_->ours;
  if (!ours.ParseFromString(entry.wanted.status)) {
    return Error(ErrorCode::kBug, "the status is no status");
  }
  const auto may_run = faults_.end_while_running ? sync::MayRun::kNo : entry.wanted.may_run;
  PodStatus merged = MergeStatus(pod, ours, may_run, loop_.WallNow());
  if (faults_.drop_foreign) *merged.mutable_conditions() = ours.conditions();
  const bool finished = entry.wanted.finished == sync::Finished::kYes &&
                        pod.metadata().has_deletiontimestamp() && !shown.hot().IsMirror();
  if (SameStatus(pod.status(), merged) || (faults_.delete_early && finished)) {
    const bool over = finished && (faults_.delete_early || sync::IsTerminalPhase(merged.phase()));
    return Work{.kind = over ? Work::Kind::kDelete : Work::Kind::kNothing,
                .urgency = Urgency::kEnd};
  }
  const Urgency urgency = UrgencyOf(pod, merged);
  if (purpose == Purpose::kJudging && !NeedsPatch(entry, urgency)) {
    return Work{.kind = Work::Kind::kPatch, .urgency = urgency};
  }
  auto patch = kube::MakePodStatusPatch(shown.hot().uid, pod.status(), merged,
                                        faults_.no_version ? "" : shown.hot().resource_version);
  if (!patch) return patch.error();
  if (!*patch) return Work{};
  return Work{.kind = Work::Kind::kPatch, .urgency = urgency, .patch = std::move(**patch)};
}

bool StatusManager::Shows(const Entry& entry, const kube::PodAtRest& shown) {
  return entry.shows && entry.shows->uid == shown.hot().uid &&
         entry.shows->version == shown.hot().resource_version;
}

// ---- judging

void StatusManager::JudgeNamed(const ObjectRef& name) {
  const auto named = named_.find(name);
  if (named == named_.end()) return;
  for (const PodUid& pod : named->second) Judge(pod, entries_.at(pod));
}

// Asked whenever something changed; while a request is under way its answer asks again.
void StatusManager::Judge(const PodUid& pod, Entry& entry) {
  if (entry.stage == Stage::kPatching || entry.stage == Stage::kReading ||
      entry.stage == Stage::kDeleting) {
    return;
  }
  const kube::PodRef shown = ShownOf(entry);
  if (!shown) {
    LeaveLine(pod, entry);
    Rest(entry);
    return Settle(pod, entry);
  }
  Result<Work> work =
      Shows(entry, *shown) ? Result<Work>(Work{}) : Plan(entry, *shown, Purpose::kJudging);
  if (!work) {
    log_.Error(work.error(), "Could not make the patch of a pod's status", Pod(entry.name),
               Uid(pod));
    LeaveLine(pod, entry);
    return Rest(entry);  // a newer status or object may do better
  }
  entry.shows.reset();
  if (work->kind == Work::Kind::kNothing) {
    entry.shows = {std::string(shown->hot().uid), std::string(shown->hot().resource_version)};
  }
  const bool nothing = work->kind == Work::Kind::kNothing || work->kind == Work::Kind::kNotYet;
  if (work->kind == Work::Kind::kNothing || work->kind == Work::Kind::kDelete) Settle(pod, entry);
  if (nothing) {
    entry.failures = 0;
    LeaveLine(pod, entry);
    return Rest(entry);
  }
  if (entry.stage == Stage::kPausing && entry.refused != entry.wanted.version &&
      entry.failures == 0) {
    Rest(entry);  // what paused was another status
  }
  if (entry.stage == Stage::kPausing) return;
  if (work->kind == Work::Kind::kPatch && entry.taken == entry.wanted.version &&
      entry.taken_for == shown->hot().uid) {
    const TimePoint again = After(entry.taken_at, options_.reconcile_interval);
    if (loop_.Now() < again) return Pause(pod, entry, again - loop_.Now());
  }
  const Urgency urgency = work->urgency;
  if (urgency == Urgency::kMayWait) return Hold(pod, entry, *std::move(work));
  LineUp(pod, entry, urgency, *std::move(work));
}

void StatusManager::Settle(const PodUid& pod, Entry& entry) {
  const uint64_t version = entry.wanted.version;
  if (entry.settled == version) return;
  entry.settled = version;
  loop_.Post([this, alive = cancel_.token(), pod, version] {
    if (!alive.cancelled()) user_.OnStatusSettled(pod, version);
  });
}

void StatusManager::Rest(Entry& entry) {
  loop_.Disarm(entry.timer);
  entry.stage = Stage::kResting;
  entry.held_since.reset();
}

void StatusManager::Hold(const PodUid& pod, Entry& entry, Work work) {
  if (entry.stage == Stage::kInLine) return;  // the hold is over, it has its place
  if (!entry.held_since) entry.held_since = loop_.Now();
  if (HoldIsOver(entry)) return LineUp(pod, entry, Urgency::kNormal, std::move(work));
  if (entry.stage == Stage::kHeld) return;
  entry.stage = Stage::kHeld;
  const TimePoint until = After(*entry.held_since, options_.start_hold);
  Wake(pod, entry, loop_.Now() < until ? until : After(loop_.Now(), options_.start_hold));
}

void StatusManager::Pause(const PodUid& pod, Entry& entry, Duration pause) {
  LeaveLine(pod, entry);
  entry.stage = Stage::kPausing;
  Wake(pod, entry, After(loop_.Now(), pause));
}

void StatusManager::Wake(const PodUid& pod, Entry& entry, TimePoint when) {
  loop_.Disarm(entry.timer);
  entry.timer = loop_.Arm(when, [this, pod] {
    Entry& woken = entries_.at(pod);
    if (woken.stage == Stage::kPausing) woken.stage = Stage::kResting;
    if (woken.stage == Stage::kHeld && !HoldIsOver(woken)) {
      // Nothing has changed but the time: it is not read and judged again for that.
      return Wake(pod, woken, After(loop_.Now(), options_.start_hold));
    }
    Judge(pod, woken);
  });
}

// ---- the line

void StatusManager::LineUp(const PodUid& pod, Entry& entry, Urgency urgency, Work work) {
  if (entry.stage == Stage::kInLine) {
    if (entry.urgency <= urgency) return;
    LeaveLine(pod, entry);
  }
  loop_.Disarm(entry.timer);
  entry.stage = Stage::kInLine;
  entry.urgency = urgency;
  entry.turn = next_turn_++;
  line_.emplace(urgency, entry.turn, pod);
  judged_ = {pod, std::move(work)};
  Pump();
  judged_.reset();
}

void StatusManager::LeaveLine(const PodUid& pod, Entry& entry) {
  if (entry.stage != Stage::kInLine) return;
  line_.erase({entry.urgency, entry.turn, pod});
  entry.stage = Stage::kResting;
}

// The most urgent one; now and then the one that would be last, so that none waits for ever.
StatusManager::Line::iterator StatusManager::Next() {
  constexpr uint32_t kUrgentInARowMax = 8;
  const auto ordinary = line_.lower_bound({Urgency::kNormal, 0, PodUid()});
  if (ordinary == line_.begin()) {
    urgent_in_a_row_ = 0;
    return ordinary;
  }
  if (++urgent_in_a_row_ <= kUrgentInARowMax || ordinary == line_.end()) return line_.begin();
  urgent_in_a_row_ = 0;
  return ordinary;
}

void StatusManager::Pump() {
  const uint32_t requests_max = troubles_ > 0 ? 1 : options_.requests_max;
  while (!line_.empty() && requests_ < requests_max && loop_.Now() >= quiet_until_) {
    const auto next = Next();
    const PodUid pod = std::get<PodUid>(*next);
    Entry& entry = entries_.at(pod);
    LeaveLine(pod, entry);
    Send(pod, entry);
  }
}

}  // namespace denselet::managers
