// What a file of the journal looks like, and how as much as possible is read from a bad one.
//
//   file    = header header record*              the header twice: one bad sector costs no file
//   header  = "dnsl-jnl" crc:u32 format:u16 kind:u8 0:u8 salt:u32 count:u32 through:u64
//   record  = mark:u32 crc:u32 size:u32 type:u16 version:u16 sequence:u64 payload
//
// Little-endian; the sums are CRC-32C of what follows them, a record's begun with the file's salt.
//
// A record whose mark, size or sum is wrong is damage. The reader looks byte by byte for the next
// mark behind which a whole record checks out, and goes on there. A salt of chance keeps it from
// taking a text inside a damaged record, which somebody else may have written, for a record. Damage
// with nothing good behind it is a torn tail: what a crash leaves of the last write.
//
// Pure functions, on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace denselet::sync {

inline constexpr uint16_t kJournalFormat = 1;
inline constexpr size_t kJournalHeaderBytes = 64;  // both copies
inline constexpr size_t kJournalRecordHeaderBytes = 24;
inline constexpr size_t kJournalPayloadBytesMax = 64 << 10;

enum class JournalFileKind : uint8_t {
  kSegment,   // records in the order in which they were appended
  kSnapshot,  // all that counted at one moment: takes the place of everything before it
};

struct JournalFileHeader {
  JournalFileKind kind = JournalFileKind::kSegment;
  uint32_t salt = 0;
  // Of a snapshot: how many records it has, and the last sequence that went into it.
  uint32_t count = 0;
  uint64_t through = 0;

  friend bool operator==(const JournalFileHeader&, const JournalFileHeader&) = default;
};

struct JournalRecordView {
  uint16_t type = 0;
  uint16_t version = 0;
  uint64_t sequence = 0;
  std::string_view payload = {};

  friend bool operator==(const JournalRecordView&, const JournalRecordView&) = default;
};

std::string EncodeJournalHeader(const JournalFileHeader& header);
// The payload has kJournalPayloadBytesMax at most.
void AppendJournalRecord(std::string& out, const JournalRecordView& record, uint32_t salt);

struct JournalDamage {
  enum class Where : uint8_t {
    kHeader,  // one copy, or both
    kMiddle,  // what follows was found again
    kTail,    // nothing follows
    kMissing  // a snapshot with fewer records than it says
  };
  Where where = Where::kTail;
  uint64_t offset = 0;
  uint64_t bytes = 0;

  friend bool operator==(const JournalDamage&, const JournalDamage&) = default;
};

struct JournalFileContent {
  JournalFileHeader header = {};
  std::vector<JournalRecordView> records = {};  // views into the file's bytes
  std::vector<JournalDamage> damages = {};

  // A snapshot that may take the place of all that is older.
  bool IsWholeSnapshot() const;
};

// Bytes that are summed while looking for the next good record, in sizes of the file: a bound for
// files that are made of marks. Beyond it the rest counts as damaged.
inline constexpr size_t kJournalResyncWorkMax = 16;

// kUnsupported: of a later format. kCorrupt: no header; nothing in it can be told from noise.
Result<JournalFileContent> ReadJournalFile(std::string_view bytes);

}  // namespace denselet::sync
