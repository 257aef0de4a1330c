// Puts the files of a journal together: in the order of their numbers, from the newest whole
// snapshot on, each record once. What is damaged is told and passed over.
//
// A pure class.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sync/journal/journal_format.h"

namespace denselet::sync {

struct JournalRecord {
  uint16_t type = 0;
  uint16_t version = 0;
  uint64_t sequence = 0;
  std::string payload = {};

  JournalRecordView view() const { return {type, version, sequence, payload}; }
  friend bool operator==(const JournalRecord&, const JournalRecord&) = default;
};

// The name of a file: "segment-000000000012", "snapshot-000000000013". One number, one file.
struct JournalFileName {
  JournalFileKind kind = JournalFileKind::kSegment;
  uint64_t number = 0;

  std::string Text() const;
  static std::optional<JournalFileName> Parse(std::string_view name);
  friend bool operator==(const JournalFileName&, const JournalFileName&) = default;
};

// Something about a file that is not as it should be; `reason` is for people.
struct JournalTrouble {
  std::string file = {};
  Error reason;
};

struct JournalFile {
  JournalFileKind kind = JournalFileKind::kSegment;
  uint64_t bytes = 0;
  bool obsolete = false;  // a newer snapshot has all of it: to be removed
};

struct ReplayedJournal {
  std::vector<JournalRecord> records = {};
  std::map<uint64_t, JournalFile> files = {};  // by number
  uint64_t last_sequence = 0;
  uint64_t snapshot_bytes = 0;  // of the one that the records begin with
  std::vector<JournalTrouble> troubles = {};
  uint64_t troubles_not_kept = 0;
  // A file of a later format is among them: a snapshot of ours must not take its place.
  bool later_format = false;
};

inline constexpr size_t kJournalTroublesMax = 100;

class JournalReplay {
 public:
  // In the order of their numbers. An error: the file could not be read.
  void Add(const JournalFileName& name, const Result<std::string>& bytes);
  void AddTrouble(const std::string& file, const Error& reason);
  ReplayedJournal Take() { return std::move(out_); }

 private:
  void AddContent(const JournalFileName& name, const JournalFileContent& content);

  ReplayedJournal out_;
  uint32_t salt_ = 0;  // of the file before
  uint64_t salt_sequence_ = 0;
};

}  // namespace denselet::sync
