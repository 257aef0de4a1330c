// Any bytes are read as a file of the journal without harm: records and damage cover the file from
// its header to its end, in order; and what was read, written again, is read the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "sync/journal/journal_format.h"
#include "sync/journal/journal_replay.h"

namespace denselet::sync {
namespace {

void CheckContent(std::string_view bytes, const JournalFileContent& content) {
  size_t covered = 0;
  for (const JournalRecordView& record : content.records) {
    CHECK(record.payload.size() <= kJournalPayloadBytesMax);
    covered += kJournalRecordHeaderBytes + record.payload.size();
  }
  for (const JournalDamage& damage : content.damages) {
    if (damage.where == JournalDamage::Where::kHeader) continue;
    CHECK(damage.offset + damage.bytes <= bytes.size());
    covered += damage.bytes;
  }
  CHECK(bytes.size() <= kJournalHeaderBytes || covered == bytes.size() - kJournalHeaderBytes);
}

void CheckAgain(const JournalFileContent& content) {
  std::string again = EncodeJournalHeader(content.header);
  for (const JournalRecordView& record : content.records) {
    AppendJournalRecord(again, record, content.header.salt);
  }
  const auto read = ReadJournalFile(again);
  CHECK(read);
  CHECK(read->header == content.header);
  CHECK(read->records == content.records);
}

}  // namespace
}  // namespace denselet::sync

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace denselet::sync;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto content = ReadJournalFile(bytes);
  if (content) {
    CheckContent(bytes, *content);
    CheckAgain(*content);
  }
  // The name of a file, too, is of outside.
  const std::string_view line = bytes.substr(0, bytes.find('\n'));
  if (const auto name = JournalFileName::Parse(line)) CHECK(name->Text() == line);
  return 0;
}
