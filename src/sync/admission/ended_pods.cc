#include "sync/admission/ended_pods.h"

#include <utility>

#include "sync/journal/journal_types.h"

namespace denselet::sync {

void EndedPods::Record(const EndRecord& record, UniqueFunction<void()> durable) {
  const PodUid& uid = record.pod.uid;
  const auto [found, is_new] = entries_.try_emplace(uid);
  Entry& entry = found->second;
  if (entry.durable) {
    if (durable) durable();
    return;
  }
  if (durable) entry.waiting.push_back(std::move(durable));
  if (!is_new) return;
  entry.record = record;
  entry.generation = next_generation_++;
  log_.Info("Pod ends for good", KV("pod", record.pod.ref.ToString()), KV("podUID", uid.value()),
            KV("reason", record.ending.status_reason));
  line_.Append(static_cast<uint16_t>(JournalType::kPodEnd), kEndRecordVersion, EncodeEnd(record),
               [this, uid, generation = entry.generation] { OnDurable(uid, generation); });
}

void EndedPods::OnDurable(const PodUid& pod, uint64_t generation) {
  const auto found = entries_.find(pod);
  if (found == entries_.end() || found->second.generation != generation) return;
  found->second.durable = true;
  for (auto& tell : std::exchange(found->second.waiting, {})) tell();
}

const EndRecord* EndedPods::Find(const PodUid& pod) const {
  const auto found = entries_.find(pod);
  return found == entries_.end() ? nullptr : &found->second.record;
}

bool EndedPods::IsDurable(const PodUid& pod) const {
  const auto found = entries_.find(pod);
  return found != entries_.end() && found->second.durable;
}

std::vector<PodUid> EndedPods::Pods() const {
  std::vector<PodUid> pods;
  for (const auto& [uid, entry] : entries_) pods.push_back(uid);
  return pods;
}

void EndedPods::Forget(const PodUid& pod) {
  if (entries_.erase(pod) == 0) return;
  line_.Append(static_cast<uint16_t>(JournalType::kPodEndGone), kEndRecordVersion,
               EncodeEndGone(pod));
}

// Of one pod the last record counts.
bool EndedPods::OnEnd(std::string_view payload) {
  Result<EndRecord> record = DecodeEnd(payload);
  if (!record) {
    log_.Error(record.error(), "A journalled end of a pod was not understood");
    return false;
  }
  if (faults_.forget_records) return true;
  record->from_journal = true;
  entries_[record->pod.uid] = {
      .record = *record, .generation = next_generation_++, .durable = true};
  return true;
}

bool EndedPods::OnEndGone(std::string_view payload) {
  const Result<PodUid> gone = DecodeEndGone(payload);
  if (gone) entries_.erase(*gone);
  return static_cast<bool>(gone);
}

void EndedPods::WriteLive(JournalSnapshot& out) const {
  for (const auto& [uid, entry] : entries_) {
    out.Add(static_cast<uint16_t>(JournalType::kPodEnd), kEndRecordVersion,
            EncodeEnd(entry.record));
  }
}

}  // namespace denselet::sync
