// The desk's way from a question to a decision.
#include <algorithm>
#include <utility>

#include "kube/api/types.h"
#include "sync/admission/admission_desk.h"
#include "sync/admission/preemption.h"

namespace denselet::sync {

void AdmissionDesk::Begin(Entry& entry) {
  if (!TakeName(entry)) return Enter(entry, Stage::kWaitingForName);
  if (entry.question == AdmissionQuestion::kAdopt) {
    entry.plugins_asked = ports_.plugins.size();  // they are told of its end
    return Admit(entry);
  }
  kube::core::Pod pod;
  // It was parsed once.
  if (!entry.pod->ParseInto(pod)) {
    return Reject(entry, {std::string(kUnexpectedAdmissionError), "the pod cannot be read"});
  }
  if (auto forbidden = sysctls_.Refuse(pod)) {
    return Reject(entry, {"SysctlForbidden", *std::move(forbidden)});
  }
  AskNextPlugin(entry);
}

void AdmissionDesk::AskNextPlugin(Entry& entry) {
  if (entry.plugins_asked == ports_.plugins.size()) return Judge(entry, nullptr);
  Enter(entry, Stage::kAskingPlugins);
  AdmissionPlugin& plugin = *ports_.plugins[entry.plugins_asked++];
  plugin.Admit({}, entry.pod,
               [self = self_, uid = entry.record->needs.pod.uid,
                generation = entry.generation](std::optional<Rejection> rejected) {
                 if (*self == nullptr) return;
                 Entry* const asked = (*self)->Find(uid, generation);
                 if (asked == nullptr) return;
                 if (rejected) return (*self)->Reject(*asked, *std::move(rejected));
                 (*self)->AskNextPlugin(*asked);
               });
}

void AdmissionDesk::Judge(Entry& entry, const NodeView* fresh) {
  if (fresh == nullptr && !node_) return Reject(entry, NodeUnknown());
  const NodeView& node = fresh != nullptr ? *fresh : *node_;
  kube::core::Pod pod;
  if (!entry.pod->ParseInto(pod)) {
    return Reject(entry, {std::string(kUnexpectedAdmissionError), "the pod cannot be read"});
  }
  if (auto refused = RefuseByKind(pod, node)) return Reject(entry, *std::move(refused));
  const std::vector<AdmissionFailure> failures =
      FindFailures(pod, entry.record->needs, node, bookings_);
  if (failures.empty()) return Admit(entry);
  if (MayPass(entry, failures)) return WaitForRoom(entry, failures.front().rejection);
  const bool only_affinity = std::all_of(failures.begin(), failures.end(),
                                         [](const AdmissionFailure& f) { return f.is_affinity; });
  // The node's labels may have changed and not be known here yet.
  if (only_affinity && fresh == nullptr) return FetchNode(entry, failures.front().rejection);
  if (!entry.record->needs.critical) return Reject(entry, failures.front().rejection);
  const auto other = std::find_if(failures.begin(), failures.end(),
                                  [](const AdmissionFailure& f) { return !f.shortage; });
  if (other != failures.end()) return Reject(entry, other->rejection);
  Preempt(entry, failures);
}

// A rejection is for good, so nobody is rejected for what is about to be free: host ports of pods
// that go already, what those that make room for a critical pod leave beyond that, and what pods of
// the journal have that may have been dropped while no agent ran.
// A critical pod does not wait for resources of the latter: the API server itself may be one, and
// it may preempt. Host ports it cannot take from anybody. Whom it must preempt is known when those
// have gone that make room already: one that has its room but does not run yet would be preempted
// at once, and its room be taken while those are still in it.
bool AdmissionDesk::MayPass(const Entry& entry,
                            const std::vector<AdmissionFailure>& failures) const {
  const bool lacks_ports = std::any_of(failures.begin(), failures.end(),
                                       [](const AdmissionFailure& f) { return f.is_ports; });
  const bool heeds_doubt = !doubtful_.empty() && (lacks_ports || !entry.record->needs.critical);
  const bool preempts_later = entry.record->needs.critical && !bookings_.rooms().empty();
  return std::all_of(failures.begin(), failures.end(), [&](const AdmissionFailure& failure) {
    const bool by_others = failure.shortage || failure.is_ports;
    return failure.passes || (by_others && heeds_doubt) || (failure.shortage && preempts_later);
  });
}

void AdmissionDesk::WaitForRoom(Entry& entry, const Rejection& otherwise) {
  const PodIdentity& pod = entry.record->needs.pod;
  if (entry.stage != Stage::kWaitingForRoom) {
    log_.Info("Pod waits for what other pods are about to leave", KV("pod", pod.ref.ToString()),
              KV("podUID", pod.uid.value()), KV("lacks", otherwise.message));
    Enter(entry, Stage::kWaitingForRoom);
  }
  entry.lacks = otherwise.message;
  waiting_.emplace(entry.generation, pod.uid);
}

// In a turn of its own, as whoever leaves or is released is not in the middle of another's
// admission.
void AdmissionDesk::JudgeThoseThatWait() {
  if (waiting_.empty() || judging_soon_) return;
  judging_soon_ = true;
  ports_.loop.Post([self = self_] {
    if (*self == nullptr) return;
    (*self)->judging_soon_ = false;
    for (const auto& [generation, pod] : std::exchange((*self)->waiting_, {})) {
      if (Entry* const entry = (*self)->Find(pod, generation)) (*self)->Judge(*entry, nullptr);
    }
  });
}

void AdmissionDesk::FetchNode(Entry& entry, Rejection otherwise) {
  Enter(entry, Stage::kFetchingNode);
  Context context;
  context.deadline = After(ports_.loop.Now(), options_.node_fetch_max);
  ports_.nodes.Fetch(
      context, [self = self_, uid = entry.record->needs.pod.uid, generation = entry.generation,
                otherwise = std::move(otherwise)](Result<NodeView> node) mutable {
        if (*self == nullptr) return;
        Entry* const waiting = (*self)->Find(uid, generation);
        if (waiting == nullptr) return;
        if (!node) return (*self)->Reject(*waiting, std::move(otherwise));
        (*self)->Judge(*waiting, &*node);
      });
}

// Booked at once, in the place of those that go: nobody else gets what they leave, nor what they
// have beyond that while they still run.
void AdmissionDesk::Preempt(Entry& entry, const std::vector<AdmissionFailure>& failures) {
  const PodIdentity& pod = entry.record->needs.pod;
  std::vector<Shortage> shortages;
  for (const AdmissionFailure& failure : failures) shortages.push_back(*failure.shortage);
  const Result<std::vector<PodUid>> chosen =
      ChoosePodsToPreempt(entry.record->needs, bookings_.Staying(), shortages);
  if (!chosen) {
    return Reject(entry, {std::string(kUnexpectedAdmissionError),
                          "Unexpected error while attempting to recover from admission failure: "
                          "preemption: error finding a set of pods to preempt: " +
                              chosen.error().message()});
  }
  bookings_.Book({entry.record, &entry.record->needs});
  Enter(entry, Stage::kPreempting);
  preempting_.insert(pod.uid);
  Duration wait = options_.preemption_wait_min;
  for (const PodUid& victim : *chosen) {
    const PodNeeds& needs = entries_.at(victim).record->needs;
    log_.Info("Preempting pod to free up resources", KV("pod", needs.pod.ref.ToString()),
              KV("podUID", victim.value()), KV("requestingPod", pod.ref.ToString()));
    bookings_.MakeRoom(victim, pod.uid);
    entry.victims.insert(victim);
    constexpr int64_t kGraceSecondsMax = 365 * 24 * 3600;
    const int64_t grace = std::clamp<int64_t>(needs.grace_seconds, 0, kGraceSecondsMax);
    wait = std::max<Duration>(wait, Seconds(grace + grace / 2));
    ports_.preemptor.Preempt(needs.pod, [self = self_, victim] {
      if (*self != nullptr) (*self)->VictimGone(victim);
    });
  }
  if (faults_.preempt_early) {
    for (const PodUid& victim : std::exchange(entry.victims, {})) bookings_.MarkGoing(victim);
    preempting_.erase(pod.uid);
    return Record(entry);
  }
  entry.timer = ports_.loop.Arm(
      After(ports_.loop.Now(), wait), [this, uid = pod.uid, generation = entry.generation] {
        Entry* const waiting = Find(uid, generation);
        if (waiting == nullptr) return;
        log_.Error("Preempted pods did not go in time",
                   KV("requestingPod", waiting->record->needs.pod.ref.ToString()));
        for (const PodUid& victim : std::exchange(waiting->victims, {})) {
          bookings_.MarkGoing(victim);
          const auto late = entries_.find(victim);
          if (late == entries_.end()) continue;
          ports_.preemptor.NotGoneInTime(late->second.record->needs.pod);
        }
        preempting_.erase(uid);
        Record(*waiting);
        JudgeThoseThatWait();
      });
}

// It is wanted no more, and those that were to go for it still run: nobody else begins beside them.
void AdmissionDesk::GiveBackRoom(const Entry& preemptor) {
  for (const PodUid& victim : preemptor.victims) {
    const auto found = entries_.find(victim);
    if (found != entries_.end() && !found->second.left) bookings_.MarkStaying(victim);
  }
}

void AdmissionDesk::VictimGone(const PodUid& victim) {
  std::vector<Entry*> ready;
  for (const PodUid& uid : preempting_) {
    Entry& entry = entries_.at(uid);
    if (entry.victims.erase(victim) != 0) bookings_.MarkGoing(victim);
    if (entry.victims.empty()) ready.push_back(&entry);
  }
  for (Entry* entry : ready) {
    preempting_.erase(entry->record->needs.pod.uid);
    ports_.loop.Disarm(entry->timer);
    Record(*entry);
  }
  JudgeThoseThatWait();
}

}  // namespace denselet::sync
