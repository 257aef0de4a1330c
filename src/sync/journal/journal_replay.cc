#include "sync/journal/journal_replay.h"

#include <algorithm>
#include <charconv>

namespace denselet::sync {
namespace {

constexpr size_t kDigits = 12;
constexpr std::string_view kSegment = "segment-";
constexpr std::string_view kSnapshot = "snapshot-";

std::string Text(const JournalDamage& damage) {
  const std::string at =
      " at byte " + std::to_string(damage.offset) + ", " + std::to_string(damage.bytes) + " bytes";
  switch (damage.where) {
    case JournalDamage::Where::kHeader:
      return "a bad copy of the header" + at;
    case JournalDamage::Where::kMiddle:
      return "damaged records were passed over" + at;
    case JournalDamage::Where::kTail:
      return "a torn tail was cut off" + at;
    case JournalDamage::Where::kMissing:
      return "records of a snapshot are missing";
  }
  return "";
}

}  // namespace

std::string JournalFileName::Text() const {
  std::string digits = std::to_string(number);
  if (digits.size() < kDigits) digits.insert(0, kDigits - digits.size(), '0');
  return std::string(kind == JournalFileKind::kSegment ? kSegment : kSnapshot) + digits;
}

std::optional<JournalFileName> JournalFileName::Parse(std::string_view name) {
  JournalFileName parsed;
  const bool snapshot = name.starts_with(kSnapshot);
  if (!snapshot && !name.starts_with(kSegment)) return std::nullopt;
  parsed.kind = snapshot ? JournalFileKind::kSnapshot : JournalFileKind::kSegment;
  const std::string_view digits = name.substr((snapshot ? kSnapshot : kSegment).size());
  const char* const end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, parsed.number);
  if (error != std::errc() || stopped != end || parsed.Text() != name) return std::nullopt;
  // The next number must exist.
  if (parsed.number == UINT64_MAX) return std::nullopt;
  return parsed;
}

void JournalReplay::AddTrouble(const std::string& file, const Error& reason) {
  if (out_.troubles.size() == kJournalTroublesMax) {
    ++out_.troubles_not_kept;
    return;
  }
  out_.troubles.push_back({file, reason});
}

void JournalReplay::Add(const JournalFileName& name, const Result<std::string>& bytes) {
  JournalFile& file = out_.files[name.number];
  file.kind = name.kind;
  if (!bytes) return AddTrouble(name.Text(), bytes.error());
  file.bytes = bytes->size();
  if (bytes->empty()) return;  // made, and never written to
  const Result<JournalFileContent> content = ReadJournalFile(*bytes);
  if (!content) {
    out_.later_format |= content.error().code() == ErrorCode::kUnsupported;
    return AddTrouble(name.Text(), content.error());
  }
  for (const JournalDamage& damage : content->damages) {
    AddTrouble(name.Text(), Error(ErrorCode::kCorrupt, Text(damage)));
  }
  AddContent(name, *content);
}

void JournalReplay::AddContent(const JournalFileName& name, const JournalFileContent& content) {
  const bool snapshot = content.header.kind == JournalFileKind::kSnapshot;
  if (content.IsWholeSnapshot()) {
    out_.records.clear();
    out_.snapshot_bytes = out_.files[name.number].bytes;
    for (auto& [number, file] : out_.files) file.obsolete = number < name.number;
  }
  // Sequences are those of one agent's life, which has one salt.
  if (content.header.salt != salt_) {
    salt_ = content.header.salt;
    salt_sequence_ = 0;
  }
  for (const JournalRecordView& record : content.records) {
    // What an earlier file has already; the records of a snapshot are of any age.
    if (!snapshot && record.sequence <= salt_sequence_) continue;
    out_.records.push_back(
        {record.type, record.version, record.sequence, std::string(record.payload)});
    if (!snapshot) salt_sequence_ = record.sequence;
  }
  if (snapshot) salt_sequence_ = std::max(salt_sequence_, content.header.through);
  out_.last_sequence = std::max(out_.last_sequence, salt_sequence_);
}

}  // namespace denselet::sync
