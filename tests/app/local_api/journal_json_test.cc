#include "app/local_api/journal_json.h"

#include <gtest/gtest.h>

#include <string>

namespace denselet::app {
namespace {

TEST(JournalJson, SaysWhatIsWrongWithIt) {
  const sync::JournalReport opening{
      .foreign_records = 3,
      .troubles = {{"segment-7", Error(ErrorCode::kCorrupt, "bytes 12 to 90 are damaged")}},
      .troubles_not_kept = 1};
  const sync::JournalState state{.stage = sync::JournalState::Stage::kPausing,
                                 .since = After(TimePoint(), Seconds(90)),
                                 .failures = 4,
                                 .last_error = Error(ErrorCode::kIo, "no space left on device"),
                                 .pending_records = 2,
                                 .pending_bytes = 300,
                                 .files = 5,
                                 .bytes = 7000,
                                 .foreign_dropped = 9};
  const Moment moment{.now = After(TimePoint(), Seconds(100)),
                      .wall = WallTime(Seconds(1'700'000'000))};
  std::string text;
  AppendJournal(opening, state, 1, moment, text);
  EXPECT_EQ(text,
            R"({"state":"pausing","since":"2023-11-14T22:13:10.000Z","sinceSecondsAgo":10.000,)"
            R"("failures":4,"lastError":"no space left on device","pendingRecords":2,)"
            R"("pendingBytes":300,"files":5,"bytes":7000,"recordsNotUnderstood":1,)"
            R"("foreignRecords":3,"foreignRecordsDropped":9,"damages":2,)"
            R"("damagedFiles":[{"file":"segment-7","reason":"bytes 12 to 90 are damaged"}]})");
}

}  // namespace
}  // namespace denselet::app
