// The journal's compaction: the live set as one snapshot, then the files that it replaces go.
#include <algorithm>
#include <utility>

#include "sync/journal/journal.h"

namespace denselet::sync {

void JournalSnapshot::Add(uint16_t type, uint16_t version, std::string_view payload,
                          uint64_t sequence) {
  if (payload.size() > kJournalPayloadBytesMax ||
      records_.size() + payload.size() + kJournalRecordHeaderBytes + kJournalHeaderBytes >
          bytes_max_) {
    too_large_ = true;
    return;
  }
  ++count_;
  AppendJournalRecord(records_, {type, version, sequence, payload}, salt_);
}

Result<std::string> JournalSnapshot::Take(uint64_t through) {
  if (too_large_) {
    return Error(ErrorCode::kOverloaded, "what counts is too large for a file of the journal");
  }
  return EncodeJournalHeader({.kind = JournalFileKind::kSnapshot,
                              .salt = salt_,
                              .count = count_,
                              .through = through}) +
         records_;
}

uint64_t Journal::LiveBytes() const {
  uint64_t bytes = 0;
  for (const auto& [number, file] : on_disk_) bytes += file.obsolete ? 0 : file.bytes;
  return bytes;
}

size_t Journal::LiveFiles() const {
  return static_cast<size_t>(std::count_if(
      on_disk_.begin(), on_disk_.end(), [](const auto& entry) { return !entry.second.obsolete; }));
}

bool Journal::CompactionDue() const {
  if (compacting_ || compact_never_ || loop_.Now() < compact_not_before_) return false;
  if (compact_now_ || LiveFiles() >= options_.compact_files) return true;
  const uint64_t bytes = LiveBytes();
  return bytes >= options_.compact_bytes_min && bytes / options_.compact_ratio >= snapshot_bytes_;
}

// Between two writes: the segments so far have nothing that the snapshot does not account for, and
// what is pending has its sequence among those that it covers.
void Journal::Compact() {
  segment_.reset();
  JournalSnapshot snapshot(salt_, options_.file_bytes_max);
  for (const JournalRecord& record : foreign_) {
    snapshot.Add(record.type, record.version, record.payload, record.sequence);
  }
  std::vector<JournalUser*> written;
  for (const JournalKind& kind : kinds_) {
    if (std::find(written.begin(), written.end(), kind.user) != written.end()) continue;
    written.push_back(kind.user);
    kind.user->WriteLive(snapshot);
  }
  Result<std::string> content = snapshot.Take(next_sequence_ - 1);
  if (!content) return CompactLater(content.error());
  compacting_ = true;
  const uint64_t number = next_number_++;
  const uint64_t bytes = content->size();
  on_disk_[number] = {.kind = JournalFileKind::kSnapshot, .bytes = 0};
  files_.ReplaceFile({}, PathOf({JournalFileKind::kSnapshot, number}), *std::move(content), 0600,
                     reactor::Durability::kSynced,
                     [self = self_, number, bytes](const Status& replaced) {
                       if (*self != nullptr) (*self)->OnCompacted(number, bytes, replaced);
                     });
}

void Journal::OnCompacted(uint64_t number, uint64_t bytes, const Status& written) {
  compacting_ = false;
  if (!written) {
    // It may be there all the same; then it is as good as what it would replace, but not needed.
    on_disk_[number].obsolete = true;
    return CompactLater(written.error());
  }
  compact_now_ = false;
  compact_failures_ = 0;
  compaction_error_.reset();
  ++compactions_;
  snapshot_bytes_ = bytes;
  on_disk_[number].bytes = bytes;
  for (auto& [older, file] : on_disk_) file.obsolete |= older < number;
  Sweep(0);
}

void Journal::CompactLater(const Error& error) {
  if (compact_failures_ == 0) log_.Error(error, "Could not compact the journal");
  compaction_error_ = error;
  compact_not_before_ = After(loop_.Now(), BackOff(compact_failures_++));
  loop_.Disarm(compact_timer_);
  compact_timer_ = loop_.Arm(compact_not_before_, [this] {
    Sweep(0);
    CommitSoon();
  });
}

void Journal::Sweep(uint64_t number) {
  if (sweeping_) return;
  const auto next = std::find_if(on_disk_.lower_bound(number), on_disk_.end(),
                                 [](const auto& entry) { return entry.second.obsolete; });
  if (next == on_disk_.end()) return;
  sweeping_ = true;
  files_.Unlink({}, PathOf({next->second.kind, next->first}),
                [self = self_, removing = next->first](const Status& removed) {
                  if (*self != nullptr) (*self)->OnSwept(removing, removed);
                });
}

// What cannot be removed stays until the next compaction or pause; it is harmless.
void Journal::OnSwept(uint64_t number, const Status& removed) {
  sweeping_ = false;
  if (removed || removed.error().code() == ErrorCode::kNotFound) on_disk_.erase(number);
  Sweep(number + 1);
}

}  // namespace denselet::sync
