// What the agent must still know after a restart and the kubelet's own files have no place for:
// admissions, later results of probes. Append-only files with a sum per record (journal_format.h);
// kinds of records are typed above.
//
//   Append --> [ pending ] --- one write and one sync a turn ---> segment-N   (JournalSegment)
//                  ^  failure: pause, then all that is not safe into segment-N+1    |
//                  +----------------------------------------------------------------+
//   compaction: live set of the users --> snapshot-M (atomic, synced) --> older files go
//
// Group commit: what is appended in one turn, or while a write is under way, is one write and one
// sync. Compaction begins between two writes and holds up none: further records go into a new
// segment. A record that an older agent does not know (type, or a version beyond its own) is kept
// as it is and carried into its snapshots.
//
// A disk that is full, read-only or broken loses nothing that was durable: what is pending waits,
// is tried again after pauses of backoff_min doubled to backoff_max, and state() says so.
//
// Owned by the composition root; lives on one shard. Destroyed, it tells nobody any more; a write
// under way may still take place.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "base/result.h"
#include "base/unique_function.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "sync/journal/journal_loader.h"
#include "sync/journal/journal_replay.h"
#include "sync/journal/journal_segment.h"

namespace denselet::sync {

struct JournalOptions {
  std::string directory = {};
  // Not yet durable. Beyond either, Append is refused with kOverloaded.
  size_t pending_records_max = 65'536;
  size_t pending_bytes_max = 8 << 20;
  size_t batch_bytes_max = 1 << 20;     // of one write, and never less than one record
  size_t segment_bytes_max = 16 << 20;  // then the next one is begun
  size_t file_bytes_max = 128 << 20;    // a larger live set is not written, a larger file not read
  // No segment is begun beyond it: files that cannot be removed must not fill the disk.
  size_t files_max = 64;
  // Compaction: at this many bytes, and this many times what the last snapshot had; or at this many
  // files.
  uint64_t compact_bytes_min = 256 << 10;
  uint64_t compact_ratio = 4;
  size_t compact_files = 16;
  // Records that are not known here; beyond it the oldest are dropped, and told.
  size_t foreign_bytes_max = 4 << 20;
  Duration backoff_min = Milliseconds(100);
  Duration backoff_max = Seconds(30);
};

// What counts at this moment, for a snapshot.
class JournalSnapshot {
 public:
  JournalSnapshot(uint32_t salt, size_t bytes_max) : salt_(salt), bytes_max_(bytes_max) {}
  void Add(uint16_t type, uint16_t version, std::string_view payload, uint64_t sequence = 0);

  // With its header. kOverloaded: it is too large.
  Result<std::string> Take(uint64_t through);

 private:
  const uint32_t salt_;
  const size_t bytes_max_;
  uint32_t count_ = 0;
  bool too_large_ = false;
  std::string records_;
};

class JournalUser {
 public:
  // At opening, in the order in which they were appended (those of a snapshot first).
  virtual void OnRecord(const JournalRecordView& record) = 0;
  // All that counts, also what was appended and is not durable yet.
  virtual void WriteLive(JournalSnapshot& out) = 0;

 protected:
  ~JournalUser() = default;
};

// A type of records and who has it. Records of a later version than version_max are kept unread; a
// version is raised only when older agents would misread the record.
struct JournalKind {
  uint16_t type = 0;
  uint16_t version_max = 0;
  JournalUser* user = nullptr;
};

struct JournalReport {
  uint64_t records = 0;
  uint64_t foreign_records = 0;
  size_t files = 0;
  std::vector<JournalTrouble> troubles = {};
  uint64_t troubles_not_kept = 0;
};

struct JournalState {
  enum class Stage : uint8_t {
    kClosed,
    kOpening,
    kIdle,     // everything is durable
    kWriting,  // something is on its way
    kPausing,  // after a failure, before the next try
  };
  Stage stage = Stage::kClosed;
  TimePoint since = {};
  uint32_t failures = 0;  // in a row
  std::optional<Error> last_error = {};
  size_t pending_records = 0;
  size_t pending_bytes = 0;
  uint64_t durable_sequence = 0;
  size_t files = 0;
  uint64_t bytes = 0;
  bool compacting = false;
  uint64_t compactions = 0;
  std::optional<Error> compaction_error = {};  // of the last, if it failed
  uint64_t foreign_dropped = 0;
};

class Journal {
 public:
  Journal(reactor::Loop& loop, reactor::FileSystem& files, Random& random, const Logger& log,
          const JournalOptions& options, std::vector<JournalKind> kinds);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Once. `opened` after all records were handed to their users; a directory that cannot be listed
  // is tried again until it can.
  void Open(UniqueFunction<void(const JournalReport&)> opened);

  // `durable` is called once the record, and all that were appended before it, would survive a
  // power cut. kUnavailable: not open yet. kInvalid: it is too large. kOverloaded: too much waits.
  Status Append(uint16_t type, uint16_t version, std::string payload,
                UniqueFunction<void()> durable);

  JournalState state() const;
  // Of its opening; until then empty.
  const JournalReport& report() const { return report_; }

 private:
  enum class Stage : uint8_t { kClosed, kOpening, kReady, kWriting, kPausing };
  struct Pending {
    uint64_t sequence;
    std::string bytes;  // as it stands in the file
    UniqueFunction<void()> durable;
  };

  void Load();
  void OnLoaded(Result<ReplayedJournal> loaded);
  void Deliver(const JournalRecord& record);
  void KeepForeign(const JournalRecord& record);
  const JournalKind* KindOf(const JournalRecordView& record) const;

  void CommitSoon();
  void Commit();
  Status BeginSegment();
  void WriteBatch();
  void OnWritten(const Status& written);
  void Pause(const Error& error);

  bool CompactionDue() const;
  void Compact();
  void OnCompacted(uint64_t number, uint64_t bytes, const Status& written);
  void CompactLater(const Error& error);
  // Removes obsolete files, one after the other, from `number` on.
  void Sweep(uint64_t number);
  void OnSwept(uint64_t number, const Status& removed);

  std::string PathOf(const JournalFileName& name) const {
    return options_.directory + "/" + name.Text();
  }
  uint64_t LiveBytes() const;
  size_t LiveFiles() const;
  Duration BackOff(uint32_t failures) const;
  void Enter(Stage stage);

  reactor::Loop& loop_;
  reactor::FileSystem& files_;
  const Logger log_;
  const JournalOptions options_;
  const std::vector<JournalKind> kinds_;
  const uint32_t salt_;                   // of all files that this one writes
  const std::shared_ptr<Journal*> self_;  // shared with operations under way
  UniqueFunction<void(const JournalReport&)> opened_;
  JournalReport report_;

  Stage stage_ = Stage::kClosed;
  TimePoint since_ = {};
  uint32_t failures_ = 0;
  std::optional<Error> last_error_;
  reactor::TimerId timer_ = {};

  std::deque<Pending> pending_;
  size_t pending_bytes_ = 0;
  size_t writing_records_ = 0, writing_bytes_ = 0;  // of the first of them
  bool commit_posted_ = false;
  uint64_t next_sequence_ = 1, durable_sequence_ = 0;

  std::shared_ptr<JournalSegment> segment_;  // none: begun with the next write
  uint64_t segment_number_ = 0;
  bool segment_matters_ = false;  // something in it is durable
  uint64_t next_number_ = 1;
  std::map<uint64_t, JournalFile> on_disk_;  // by number

  std::deque<JournalRecord> foreign_;
  size_t foreign_bytes_ = 0;
  uint64_t foreign_dropped_ = 0;

  bool compacting_ = false, compact_now_ = false, compact_never_ = false;
  TimePoint compact_not_before_ = {};
  uint64_t snapshot_bytes_ = 0, compactions_ = 0;
  uint32_t compact_failures_ = 0;
  std::optional<Error> compaction_error_;
  reactor::TimerId compact_timer_ = {};
  bool sweeping_ = false;
};

}  // namespace denselet::sync
