#include "sync/journal/journal_format.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/little_endian.h"

namespace denselet::sync {
namespace {

constexpr std::string_view kMagic = "dnsl-jnl";
constexpr std::string_view kMark = "\x9d\x4a\x0e\xd7";
constexpr size_t kCopyBytes = kJournalHeaderBytes / 2;
constexpr size_t kSummedFrom = 8;  // of a record
constexpr size_t kHeaderSummedFrom = 12;

struct HeaderCopy {
  JournalFileHeader header;
  uint16_t format;
};

std::optional<HeaderCopy> ReadHeaderCopy(std::string_view bytes, size_t offset) {
  if (bytes.size() < offset + kCopyBytes) return std::nullopt;
  const std::string_view copy = bytes.substr(offset, kCopyBytes);
  if (!copy.starts_with(kMagic)) return std::nullopt;
  if (GetLittleEndian<uint32_t>(copy, 8) != Crc32c(copy.substr(kHeaderSummedFrom))) {
    return std::nullopt;
  }
  const auto kind = static_cast<uint8_t>(copy[14]);
  HeaderCopy read{.header = {.kind = static_cast<JournalFileKind>(kind),
                             .salt = GetLittleEndian<uint32_t>(copy, 16),
                             .count = GetLittleEndian<uint32_t>(copy, 20),
                             .through = GetLittleEndian<uint64_t>(copy, 24)},
                  .format = GetLittleEndian<uint16_t>(copy, 12)};
  // Later formats may have kinds that are not known here.
  if (kind > static_cast<uint8_t>(JournalFileKind::kSnapshot)) read.format = UINT16_MAX;
  return read;
}

// The record that begins at `offset`, if one does.
struct Found {
  JournalRecordView record;
  size_t bytes;
};

class Reader {
 public:
  Reader(std::string_view bytes, uint32_t salt) : bytes_(bytes), salt_(salt) {}

  void Read(JournalFileContent& content) {
    size_t at = kJournalHeaderBytes;
    while (at < bytes_.size()) {
      if (const std::optional<Found> found = RecordAt(at)) {
        content.records.push_back(found->record);
        at += found->bytes;
        continue;
      }
      const std::optional<size_t> next = NextRecord(at + 1);
      const size_t end = next.value_or(bytes_.size());
      content.damages.push_back(
          {next ? JournalDamage::Where::kMiddle : JournalDamage::Where::kTail, at, end - at});
      at = end;
    }
  }

 private:
  std::optional<Found> RecordAt(size_t offset) {
    const std::string_view rest = bytes_.substr(offset);
    if (rest.size() < kJournalRecordHeaderBytes || !rest.starts_with(kMark)) return std::nullopt;
    const auto size = GetLittleEndian<uint32_t>(rest, 8);
    if (size > kJournalPayloadBytesMax) return std::nullopt;
    const size_t whole = kJournalRecordHeaderBytes + size;
    if (rest.size() < whole) return std::nullopt;
    summed_ += whole;
    const std::string_view summed = rest.substr(kSummedFrom, whole - kSummedFrom);
    if (GetLittleEndian<uint32_t>(rest, 4) != Crc32c(summed, salt_)) return std::nullopt;
    return Found{{.type = GetLittleEndian<uint16_t>(rest, 12),
                  .version = GetLittleEndian<uint16_t>(rest, 14),
                  .sequence = GetLittleEndian<uint64_t>(rest, 16),
                  .payload = rest.substr(kJournalRecordHeaderBytes, size)},
                 whole};
  }

  std::optional<size_t> NextRecord(size_t from) {
    while (summed_ / kJournalResyncWorkMax <= bytes_.size()) {
      const size_t mark = bytes_.find(kMark, from);
      if (mark == bytes_.npos) return std::nullopt;
      if (RecordAt(mark)) return mark;
      from = mark + 1;
    }
    return std::nullopt;
  }

  const std::string_view bytes_;
  const uint32_t salt_;
  size_t summed_ = 0;
};

}  // namespace

std::string EncodeJournalHeader(const JournalFileHeader& header) {
  std::string summed;
  PutLittleEndian(summed, kJournalFormat);
  PutLittleEndian(summed, static_cast<uint8_t>(header.kind));
  PutLittleEndian(summed, uint8_t{0});
  PutLittleEndian(summed, header.salt);
  PutLittleEndian(summed, header.count);
  PutLittleEndian(summed, header.through);
  std::string copy(kMagic);
  PutLittleEndian(copy, Crc32c(summed));
  copy += summed;
  CHECK(copy.size() == kCopyBytes);
  return copy + copy;
}

void AppendJournalRecord(std::string& out, const JournalRecordView& record, uint32_t salt) {
  CHECK(record.payload.size() <= kJournalPayloadBytesMax);
  const size_t begin = out.size();
  out += kMark;
  PutLittleEndian(out, uint32_t{0});  // the sum, below
  PutLittleEndian(out, static_cast<uint32_t>(record.payload.size()));
  PutLittleEndian(out, record.type);
  PutLittleEndian(out, record.version);
  PutLittleEndian(out, record.sequence);
  out += record.payload;
  std::string sum;
  PutLittleEndian(sum, Crc32c(std::string_view(out).substr(begin + kSummedFrom), salt));
  out.replace(begin + kMark.size(), sum.size(), sum);
}

bool JournalFileContent::IsWholeSnapshot() const {
  const auto of_records = [](const JournalDamage& damage) {
    return damage.where != JournalDamage::Where::kHeader;
  };
  return header.kind == JournalFileKind::kSnapshot && records.size() == header.count &&
         std::none_of(damages.begin(), damages.end(), of_records);
}

Result<JournalFileContent> ReadJournalFile(std::string_view bytes) {
  const std::optional<HeaderCopy> first = ReadHeaderCopy(bytes, 0);
  const std::optional<HeaderCopy> second = ReadHeaderCopy(bytes, kCopyBytes);
  if (!first && !second) return Error(ErrorCode::kCorrupt, "the file has no header of a journal");
  const HeaderCopy& header = first ? *first : *second;
  if (header.format > kJournalFormat) {
    return Error(ErrorCode::kUnsupported, "the file is of a later format");
  }
  JournalFileContent content{.header = header.header};
  if (!first) content.damages.push_back({JournalDamage::Where::kHeader, 0, kCopyBytes});
  if (!second) content.damages.push_back({JournalDamage::Where::kHeader, kCopyBytes, kCopyBytes});
  Reader(bytes, content.header.salt).Read(content);
  const bool snapshot = content.header.kind == JournalFileKind::kSnapshot;
  if (snapshot && content.records.size() < content.header.count && content.damages.empty()) {
    content.damages.push_back({JournalDamage::Where::kMissing, bytes.size(), 0});
  }
  return content;
}

}  // namespace denselet::sync
