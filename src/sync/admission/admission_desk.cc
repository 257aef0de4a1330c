#include "sync/admission/admission_desk.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "kube/api/types.h"
#include "sync/journal/journal_types.h"

namespace denselet::sync {

AdmissionDesk::AdmissionDesk(const AdmissionPorts& ports, const AdmissionOptions& options,
                             SysctlAllowList sysctls)
    : ports_(ports),
      log_(ports.log),
      options_(options),
      sysctls_(std::move(sysctls)),
      self_(std::make_shared<AdmissionDesk*>(this)),
      line_(ports.loop, ports.log, options.journal_retry),
      ends_(ports.log, line_) {}

AdmissionDesk::~AdmissionDesk() {
  *self_ = nullptr;
  for (auto& [uid, entry] : entries_) ports_.loop.Disarm(entry.timer);
}

std::vector<JournalKind> AdmissionDesk::Kinds() {
  return {{static_cast<uint16_t>(JournalType::kAdmission), kAdmissionRecordVersion, this},
          {static_cast<uint16_t>(JournalType::kAdmissionGone), kAdmissionRecordVersion, this},
          {static_cast<uint16_t>(JournalType::kPodEnd), kEndRecordVersion, this},
          {static_cast<uint16_t>(JournalType::kPodEndGone), kEndRecordVersion, this}};
}

void AdmissionDesk::Enter(Entry& entry, Stage stage) {
  entry.stage = stage;
  entry.since = ports_.loop.Now();
}

AdmissionDesk::Entry* AdmissionDesk::Find(const PodUid& pod, uint64_t generation) {
  const auto found = entries_.find(pod);
  if (found == entries_.end() || found->second.generation != generation) return nullptr;
  return &found->second;
}

void AdmissionDesk::Start(Journal& journal) {
  CHECK(journal_ == nullptr);
  journal_ = &journal;
  line_.Start(journal);
}

Status AdmissionDesk::Ask(const kube::PodRef& pod, AdmissionQuestion question, Answer answer) {
  CHECK(journal_ != nullptr);
  const PodUid uid{std::string(pod->hot().uid)};
  if (faults_.decide_again) ForgetAdopted(uid);
  const auto found = entries_.find(uid);
  if (found != entries_.end()) {
    Entry& known = found->second;
    if (known.stage != Stage::kDecided || known.answer) {
      return Error(ErrorCode::kAlreadyExists, "the pod's admission is being decided");
    }
    known.claimed = true;
    known.answer = std::move(answer);
    Settled(uid);
    LaterIfThere(uid, known.generation, &AdmissionDesk::Tell);
    return Ok();
  }
  if (entries_.size() >= options_.pods_max) {
    return Error(ErrorCode::kOverloaded, "too many pods are known to admission");
  }
  kube::core::Pod parsed;
  if (const Status read = pod->ParseInto(parsed); !read) {
    ports_.loop.Post([self = self_, answer = std::move(answer), error = read.error()]() mutable {
      if (*self != nullptr) answer(error.With("admit pod"));
    });
    return Ok();
  }
  Entry& entry = entries_[uid];
  entry.record->needs = ReadPodNeeds(parsed);
  entry.pod = pod;
  entry.generation = next_generation_++;
  entry.question = question;
  entry.answer = std::move(answer);
  entry.claimed = true;
  Begin(entry);
  return Ok();
}

void AdmissionDesk::Claim(const PodUid& pod) {
  const auto found = entries_.find(pod);
  if (found == entries_.end()) return;
  found->second.claimed = true;
  Settled(pod);
}

void AdmissionDesk::Leave(const PodUid& pod) {
  bookings_.MarkGoing(pod);
  if (const auto found = entries_.find(pod); found != entries_.end()) found->second.left = true;
  doubtful_.erase(pod);
  JudgeThoseThatWait();
}

// No longer in doubt: those that waited to know may be rejected for it now.
void AdmissionDesk::Settled(const PodUid& pod) {
  if (doubtful_.erase(pod) != 0 && doubtful_.empty()) JudgeThoseThatWait();
}

void AdmissionDesk::Release(const PodUid& pod) {
  CHECK(journal_ != nullptr);
  const auto found = entries_.find(pod);
  if (found == entries_.end()) return;
  Entry entry = std::move(found->second);
  entries_.erase(found);
  if (preempting_.erase(pod) != 0) GiveBackRoom(entry);
  waiting_.erase(entry.generation);
  doubtful_.erase(pod);
  ports_.loop.Disarm(entry.timer);
  if (entry.answer) {
    ports_.loop.Post([self = self_, answer = std::move(entry.answer)]() mutable {
      if (*self != nullptr) answer(Error(ErrorCode::kCancelled, "the pod was released"));
    });
  }
  bookings_.Unbook(pod);
  for (size_t i = 0; i < entry.plugins_asked; ++i) ports_.plugins[i]->Release(pod);
  if (entry.journalled) {
    line_.Append(static_cast<uint16_t>(JournalType::kAdmissionGone), kAdmissionRecordVersion,
                 EncodeAdmissionGone(pod));
  }
  FreeName(entry);
  VictimGone(pod);
  JudgeThoseThatWait();
}

// A name is free for the first that waits for it and is still wanted.
void AdmissionDesk::FreeName(const Entry& entry) {
  const PodNeeds& needs = entry.record->needs;
  const auto name = names_.find(needs.pod.ref);
  if (!needs.is_static || name == names_.end()) return;
  std::erase(name->second.waiting, needs.pod.uid);
  if (name->second.holder != needs.pod.uid) return;
  if (name->second.waiting.empty()) {
    names_.erase(name);
    return;
  }
  name->second.holder = name->second.waiting.front();
  name->second.waiting.erase(name->second.waiting.begin());
  const auto next = entries_.find(name->second.holder);
  CHECK(next != entries_.end());
  // In a turn of its own: whoever releases a pod is not in the middle of another's admission.
  LaterIfThere(next->first, next->second.generation, &AdmissionDesk::Begin);
}

void AdmissionDesk::LaterIfThere(const PodUid& pod, uint64_t generation,
                                 void (AdmissionDesk::*then)(Entry&)) {
  ports_.loop.Post([self = self_, pod, generation, then] {
    if (*self == nullptr) return;
    if (Entry* const entry = (*self)->Find(pod, generation)) ((*self)->*then)(*entry);
  });
}

bool AdmissionDesk::TakeName(Entry& entry) {
  const PodNeeds& needs = entry.record->needs;
  if (!needs.is_static) return true;
  StaticName& name = names_[needs.pod.ref];
  if (name.holder.empty()) name.holder = needs.pod.uid;
  if (name.holder == needs.pod.uid) return true;
  name.waiting.push_back(needs.pod.uid);
  return false;
}

void AdmissionDesk::Reject(Entry& entry, Rejection rejection) {
  const PodIdentity& pod = entry.record->needs.pod;
  log_.Info("Pod admission denied", KV("pod", pod.ref.ToString()), KV("podUID", pod.uid.value()),
            KV("reason", rejection.reason), KV("message", rejection.message));
  for (size_t i = 0; i < entry.plugins_asked; ++i) ports_.plugins[i]->Release(pod.uid);
  entry.plugins_asked = 0;
  entry.record->rejected = std::move(rejection);
  FreeName(entry);
  Record(entry);
}

void AdmissionDesk::Admit(Entry& entry) {
  bookings_.Book({entry.record, &entry.record->needs});
  Record(entry);
}

void AdmissionDesk::Record(Entry& entry) {
  if (entry.stage != Stage::kJournalling) {
    Enter(entry, Stage::kJournalling);
    entry.record->decided = ports_.loop.WallNow();
    entry.pod = {};
  }
  const PodUid uid = entry.record->needs.pod.uid;
  Status taken = Error(ErrorCode::kOverloaded, "earlier records wait");
  if (line_.Flush()) {
    taken = journal_->Append(static_cast<uint16_t>(JournalType::kAdmission),
                             kAdmissionRecordVersion, EncodeAdmission(*entry.record),
                             [self = self_, uid, generation = entry.generation] {
                               if (*self == nullptr) return;
                               Entry* const durable = (*self)->Find(uid, generation);
                               if (durable != nullptr) (*self)->Decided(*durable);
                             });
  }
  if (taken) {
    entry.journalled = true;
    if (faults_.tell_early) LaterIfThere(uid, entry.generation, &AdmissionDesk::Decided);
    return;
  }
  if (taken.error().code() == ErrorCode::kInvalid) {
    // Thousands of host ports: it is told all the same, and decided again after a restart.
    log_.Error(taken.error(), "Could not journal a pod's admission", KV("podUID", uid.value()));
    return LaterIfThere(uid, entry.generation, &AdmissionDesk::Decided);
  }
  entry.timer = ports_.loop.Arm(After(ports_.loop.Now(), options_.journal_retry),
                                [this, uid, generation = entry.generation] {
                                  if (Entry* const e = Find(uid, generation)) Record(*e);
                                });
}

void AdmissionDesk::Decided(Entry& entry) {
  Enter(entry, Stage::kDecided);
  Tell(entry);
}

void AdmissionDesk::Tell(Entry& entry) {
  if (Answer answer = std::exchange(entry.answer, nullptr)) {
    answer(AdmissionDecision{entry.record->rejected, entry.adopted});
  }
}

bool AdmissionDesk::IsDecided(const PodUid& pod) const {
  const auto found = entries_.find(pod);
  return found != entries_.end() && found->second.stage == Stage::kDecided;
}

std::optional<AdmissionDesk::Report> AdmissionDesk::Describe(const PodUid& pod) const {
  const auto found = entries_.find(pod);
  if (found == entries_.end()) return std::nullopt;
  const Entry& entry = found->second;
  return Report{.pod = entry.record->needs.pod,
                .stage = entry.stage,
                .since = entry.since,
                .rejected = entry.record->rejected,
                .adopted = entry.adopted,
                .waits = WaitOf(entry)};
}

// ", UID".
std::string AdmissionDesk::HolderOf(const ObjectRef& name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? "" : ", " + found->second.holder.value();
}

std::string AdmissionDesk::WaitOf(const Entry& entry) const {
  const ObjectRef& name = entry.record->needs.pod.ref;
  switch (entry.stage) {
    case Stage::kWaitingForName:
      return "wait for the name " + name.ToString() + ", which another static pod still has" +
             HolderOf(name);
    case Stage::kAskingPlugins:
      return "wait for the word of a manager of the node";
    case Stage::kFetchingNode:
      return "wait for the node as the API server has it now";
    case Stage::kWaitingForRoom:
      return "wait for what other pods are about to leave: " + entry.lacks;
    case Stage::kPreempting:
      return "wait for the end of " + std::to_string(entry.victims.size()) + " preempted pods";
    case Stage::kJournalling:
      return "wait until the journal has the decision";
    case Stage::kDecided:
      break;
  }
  return "";
}

std::string_view AdmissionStageName(AdmissionDesk::Stage stage) {
  using Stage = AdmissionDesk::Stage;
  switch (stage) {
    case Stage::kWaitingForName:
      return "name";
    case Stage::kAskingPlugins:
      return "managers";
    case Stage::kFetchingNode:
      return "node";
    case Stage::kWaitingForRoom:
      return "room";
    case Stage::kPreempting:
      return "preemption";
    case Stage::kJournalling:
      return "journal";
    case Stage::kDecided:
      break;
  }
  return "decided";
}

std::vector<PodIdentity> AdmissionDesk::Unclaimed() const {
  std::vector<PodIdentity> pods;
  for (const auto& [uid, entry] : entries_) {
    if (!entry.claimed) pods.push_back(entry.record->needs.pod);
  }
  return pods;
}

SourceSet AdmissionDesk::SourcesOfStatic(const PodUid& pod) const {
  const auto found = entries_.find(pod);
  if (found == entries_.end() || !found->second.record->needs.is_static) return {};
  const SourceSet told_by = found->second.record->needs.source;
  return told_by.empty() ? SourceSet{SourceKind::kFile, SourceKind::kHttp} : told_by;
}

// Before Start: of one pod the last record counts.
void AdmissionDesk::OnRecord(const JournalRecordView& record) {
  switch (static_cast<JournalType>(record.type)) {
    case JournalType::kAdmission:
      return OnAdmission(record.payload);
    case JournalType::kAdmissionGone: {
      const Result<PodUid> gone = DecodeAdmissionGone(record.payload);
      if (gone) return Forget(*gone);
      break;
    }
    case JournalType::kPodEnd:
      if (ends_.OnEnd(record.payload)) return;
      break;
    case JournalType::kPodEndGone:
      if (ends_.OnEndGone(record.payload)) return;
      break;
  }
  ++not_understood_;
}

void AdmissionDesk::OnAdmission(std::string_view payload) {
  Result<AdmissionRecord> admission = DecodeAdmission(payload);
  if (!admission) {
    ++not_understood_;
    log_.Error(admission.error(), "A journalled admission was not understood");
    return;
  }
  if (faults_.forget_records) return;
  const PodUid uid = admission->needs.pod.uid;
  Forget(uid);
  Entry& entry = entries_[uid];
  *entry.record = *std::move(admission);
  entry.generation = next_generation_++;
  entry.adopted = true;
  entry.journalled = true;
  Enter(entry, Stage::kDecided);
  if (entry.record->rejected) return;
  entry.plugins_asked = ports_.plugins.size();  // they are told of its end
  bookings_.Book({entry.record, &entry.record->needs});
  doubtful_.insert(uid);
  // Two holders cannot be: but what was decided stays decided.
  if (entry.record->needs.is_static) names_[entry.record->needs.pod.ref].holder = uid;
}

void AdmissionDesk::Forget(const PodUid& pod) {
  const auto found = entries_.find(pod);
  if (found == entries_.end()) return;
  const auto name = names_.find(found->second.record->needs.pod.ref);
  if (name != names_.end() && name->second.holder == pod) names_.erase(name);
  bookings_.Unbook(pod);
  doubtful_.erase(pod);
  entries_.erase(found);
}

void AdmissionDesk::ForgetAdopted(const PodUid& pod) {
  const auto found = entries_.find(pod);
  if (found != entries_.end() && found->second.adopted && !found->second.claimed) Forget(pod);
}

void AdmissionDesk::WriteLive(JournalSnapshot& out) {
  for (const auto& [uid, entry] : entries_) {
    if (!entry.journalled) continue;
    out.Add(static_cast<uint16_t>(JournalType::kAdmission), kAdmissionRecordVersion,
            EncodeAdmission(*entry.record));
  }
  ends_.WriteLive(out);
}

}  // namespace denselet::sync
