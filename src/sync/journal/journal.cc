#include "sync/journal/journal.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace denselet::sync {

Journal::Journal(reactor::Loop& loop, reactor::FileSystem& files, Random& random, const Logger& log,
                 const JournalOptions& options, std::vector<JournalKind> kinds)
    : loop_(loop),
      files_(files),
      log_(log),
      options_(options),
      kinds_(std::move(kinds)),
      salt_(static_cast<uint32_t>(random.Next())),
      self_(std::make_shared<Journal*>(this)) {}

Journal::~Journal() {
  *self_ = nullptr;
  loop_.Disarm(timer_);
  loop_.Disarm(compact_timer_);
}

void Journal::Enter(Stage stage) {
  stage_ = stage;
  since_ = loop_.Now();
}

Duration Journal::BackOff(uint32_t failures) const {
  constexpr uint32_t kDoublingsMax = 20;
  const Duration pause = options_.backoff_min * (int64_t{1} << std::min(failures, kDoublingsMax));
  return std::min(pause, options_.backoff_max);
}

void Journal::Open(UniqueFunction<void(const JournalReport&)> opened) {
  CHECK(stage_ == Stage::kClosed);
  opened_ = std::move(opened);
  Enter(Stage::kOpening);
  Load();
}

void Journal::Load() {
  JournalLoader::Start(loop_, files_,
                       {.directory = options_.directory, .file_bytes_max = options_.file_bytes_max},
                       [self = self_](Result<ReplayedJournal> loaded) {
                         if (*self != nullptr) (*self)->OnLoaded(std::move(loaded));
                       });
}

void Journal::OnLoaded(Result<ReplayedJournal> loaded) {
  if (!loaded) {
    if (failures_ == 0) log_.Error(loaded.error(), "Could not read the journal");
    last_error_ = loaded.error();
    timer_ = loop_.Arm(After(loop_.Now(), BackOff(failures_++)), [this] { Load(); });
    return;
  }
  failures_ = 0;
  last_error_.reset();
  ReplayedJournal journal = *std::move(loaded);
  on_disk_ = std::move(journal.files);
  if (!on_disk_.empty()) next_number_ = on_disk_.rbegin()->first + 1;
  next_sequence_ = journal.last_sequence + 1;
  durable_sequence_ = journal.last_sequence;
  snapshot_bytes_ = journal.snapshot_bytes;
  compact_never_ = journal.later_format;
  // Damage is left behind soon, and so are the small segments of former starts.
  compact_now_ = !journal.troubles.empty() || LiveFiles() > 2;
  for (const JournalRecord& record : journal.records) Deliver(record);
  Enter(Stage::kReady);
  for (const JournalTrouble& trouble : journal.troubles) {
    log_.Error(trouble.reason, "A file of the journal was not as it should be",
               KV("directory", options_.directory), KV("file", trouble.file));
  }
  if (foreign_dropped_ > 0) {
    log_.Error(Error(ErrorCode::kOverloaded, "a later agent left more than is kept for it"),
               "Records of the journal were dropped", KV("directory", options_.directory),
               KV("records", foreign_dropped_), KV("keptBytesMax", options_.foreign_bytes_max));
  }
  report_ = {.records = journal.records.size() - foreign_.size() - foreign_dropped_,
             .foreign_records = foreign_.size(),
             .files = on_disk_.size(),
             .troubles = std::move(journal.troubles),
             .troubles_not_kept = journal.troubles_not_kept};
  Sweep(0);
  CommitSoon();
  std::exchange(opened_, nullptr)(report_);
}

const JournalKind* Journal::KindOf(const JournalRecordView& record) const {
  const auto found = std::find_if(kinds_.begin(), kinds_.end(), [&](const JournalKind& kind) {
    return kind.type == record.type && record.version <= kind.version_max;
  });
  return found == kinds_.end() ? nullptr : &*found;
}

void Journal::Deliver(const JournalRecord& record) {
  const JournalKind* const kind = KindOf(record.view());
  if (kind == nullptr) return KeepForeign(record);
  kind->user->OnRecord(record.view());
}

void Journal::KeepForeign(const JournalRecord& record) {
  foreign_.push_back(record);
  foreign_bytes_ += record.payload.size();
  for (; foreign_bytes_ > options_.foreign_bytes_max; ++foreign_dropped_) {
    foreign_bytes_ -= foreign_.front().payload.size();
    foreign_.pop_front();
  }
}

Status Journal::Append(uint16_t type, uint16_t version, std::string payload,
                       UniqueFunction<void()> durable) {
  if (stage_ == Stage::kClosed || stage_ == Stage::kOpening) {
    return Error(ErrorCode::kUnavailable, "the journal is not open yet");
  }
  if (payload.size() > kJournalPayloadBytesMax) {
    return Error(ErrorCode::kInvalid, "a record of " + std::to_string(payload.size()) +
                                          " bytes is too large for the journal");
  }
  if (pending_.size() >= options_.pending_records_max ||
      pending_bytes_ + payload.size() > options_.pending_bytes_max) {
    return Error(ErrorCode::kOverloaded, "too much waits for the journal to be written");
  }
  Pending pending{.sequence = next_sequence_++, .bytes = {}, .durable = std::move(durable)};
  AppendJournalRecord(pending.bytes, {type, version, pending.sequence, payload}, salt_);
  pending_bytes_ += pending.bytes.size();
  pending_.push_back(std::move(pending));
  CommitSoon();
  return Ok();
}

// In the next turn: what else is appended in this one goes along.
void Journal::CommitSoon() {
  if (stage_ != Stage::kReady || commit_posted_) return;
  commit_posted_ = true;
  loop_.Post([self = self_] {
    if (*self == nullptr) return;
    (*self)->commit_posted_ = false;
    (*self)->Commit();
  });
}

void Journal::Commit() {
  if (stage_ != Stage::kReady) return;
  if (CompactionDue()) Compact();
  if (pending_.empty()) return;
  const Status begun = segment_ != nullptr ? Ok() : BeginSegment();
  if (!begun) return Pause(begun.error());
  WriteBatch();
}

Status Journal::BeginSegment() {
  if (on_disk_.size() >= options_.files_max) {
    return Error(ErrorCode::kOverloaded, "the journal has too many files");
  }
  segment_number_ = next_number_++;
  segment_matters_ = false;
  segment_ = JournalSegment::Make(files_, options_.directory,
                                  PathOf({JournalFileKind::kSegment, segment_number_}));
  on_disk_[segment_number_] = {.kind = JournalFileKind::kSegment};
  return Ok();
}

void Journal::WriteBatch() {
  std::string batch;
  if (on_disk_[segment_number_].bytes == 0) batch = EncodeJournalHeader({.salt = salt_});
  writing_records_ = 0;
  writing_bytes_ = 0;
  for (const Pending& pending : pending_) {
    if (writing_records_ > 0 && batch.size() + pending.bytes.size() > options_.batch_bytes_max) {
      break;
    }
    batch += pending.bytes;
    writing_bytes_ += pending.bytes.size();
    ++writing_records_;
  }
  on_disk_[segment_number_].bytes += batch.size();
  Enter(Stage::kWriting);
  segment_->Write(std::move(batch), [self = self_](const Status& written) {
    if (*self != nullptr) (*self)->OnWritten(written);
  });
}

void Journal::OnWritten(const Status& written) {
  if (!written) return Pause(written.error());
  if (failures_ > 0) {
    log_.Info("Journal was written again", KV("failures", failures_));
    failures_ = 0;
    last_error_.reset();
  }
  std::vector<UniqueFunction<void()>> told;
  for (; writing_records_ > 0; --writing_records_) {
    durable_sequence_ = pending_.front().sequence;
    told.push_back(std::move(pending_.front().durable));
    pending_.pop_front();
  }
  pending_bytes_ -= writing_bytes_;
  segment_matters_ = true;
  if (on_disk_[segment_number_].bytes >= options_.segment_bytes_max) segment_.reset();
  Enter(Stage::kReady);
  CommitSoon();
  // Whoever is told may end the journal.
  for (const std::shared_ptr<Journal*> self = self_; auto& durable : told) {
    if (*self == nullptr) return;
    if (durable) durable();
  }
}

void Journal::Pause(const Error& error) {
  if (failures_ == 0) log_.Error(error, "Could not write the journal");
  last_error_ = error;
  if (segment_ != nullptr) {
    on_disk_[segment_number_].obsolete = !segment_matters_;
    segment_.reset();
  }
  writing_records_ = 0;
  writing_bytes_ = 0;
  Enter(Stage::kPausing);
  timer_ = loop_.Arm(After(loop_.Now(), BackOff(failures_++)), [this] {
    Enter(Stage::kReady);
    Sweep(0);
    Commit();
  });
}

JournalState Journal::state() const {
  JournalState state{.since = since_,
                     .failures = failures_,
                     .last_error = last_error_,
                     .pending_records = pending_.size(),
                     .pending_bytes = pending_bytes_,
                     .durable_sequence = durable_sequence_,
                     .files = on_disk_.size(),
                     .bytes = LiveBytes(),
                     .compacting = compacting_,
                     .compactions = compactions_,
                     .compaction_error = compaction_error_,
                     .foreign_dropped = foreign_dropped_};
  switch (stage_) {
    case Stage::kClosed:
      state.stage = JournalState::Stage::kClosed;
      break;
    case Stage::kOpening:
      state.stage = JournalState::Stage::kOpening;
      break;
    case Stage::kReady:
      state.stage = pending_.empty() ? JournalState::Stage::kIdle : JournalState::Stage::kWriting;
      break;
    case Stage::kWriting:
      state.stage = JournalState::Stage::kWriting;
      break;
    case Stage::kPausing:
      state.stage = JournalState::Stage::kPausing;
      break;
  }
  return state;
}

}  // namespace denselet::sync
