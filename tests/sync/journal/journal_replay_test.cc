#include "sync/journal/journal_replay.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace denselet::sync {
namespace {

constexpr uint32_t kSalt = 77;

struct Numbered {
  uint64_t sequence;
  std::string payload;
};

std::string Segment(const std::vector<Numbered>& records) {
  std::string bytes = EncodeJournalHeader({.salt = kSalt});
  for (const auto& [sequence, payload] : records) {
    AppendJournalRecord(bytes, {1, 1, sequence, payload}, kSalt);
  }
  return bytes;
}

std::string Snapshot(uint64_t through, const std::vector<std::string>& records) {
  std::string bytes = EncodeJournalHeader({.kind = JournalFileKind::kSnapshot,
                                           .salt = kSalt,
                                           .count = static_cast<uint32_t>(records.size()),
                                           .through = through});
  for (const std::string& payload : records) AppendJournalRecord(bytes, {1, 1, 0, payload}, kSalt);
  return bytes;
}

JournalFileName SegmentName(uint64_t number) { return {JournalFileKind::kSegment, number}; }
JournalFileName SnapshotName(uint64_t number) { return {JournalFileKind::kSnapshot, number}; }

std::string Payloads(const ReplayedJournal& journal) {
  std::string text;
  for (const JournalRecord& record : journal.records) text += record.payload + " ";
  return text;
}

TEST(JournalFileName, IsReadAsItIsWritten) {
  EXPECT_EQ(SegmentName(12).Text(), "segment-000000000012");
  EXPECT_EQ(JournalFileName::Parse("segment-000000000012"), SegmentName(12));
  EXPECT_EQ(JournalFileName::Parse("snapshot-1234567890123"), SnapshotName(1234567890123));
  for (const char* other :
       {"segment-12", "segment-", "segment-00000000001x", "snapshot", "",
        "segment-000000000012.tmp", "snapshot-18446744073709551615", "segment-0001234567890123"}) {
    EXPECT_FALSE(JournalFileName::Parse(other)) << other;
  }
}

TEST(JournalReplay, EachRecordCountsOnceThoughItStandsInTwoSegments) {
  JournalReplay replay;
  replay.Add(SegmentName(1), Segment({{1, "a"}, {2, "b"}, {3, "c"}}));
  replay.Add(SegmentName(2), Segment({{2, "b"}, {3, "c"}, {4, "d"}}));
  const ReplayedJournal journal = replay.Take();
  EXPECT_EQ(Payloads(journal), "a b c d ");
  EXPECT_EQ(journal.last_sequence, 4u);
}

TEST(JournalReplay, AWholeSnapshotTakesThePlaceOfAllBeforeIt) {
  JournalReplay replay;
  replay.Add(SegmentName(1), Segment({{1, "a"}, {2, "b"}}));
  replay.Add(SnapshotName(2), Snapshot(3, {"B", "C"}));
  replay.Add(SegmentName(3), Segment({{3, "c"}, {4, "d"}}));
  const ReplayedJournal journal = replay.Take();
  EXPECT_EQ(Payloads(journal), "B C d ");
  EXPECT_TRUE(journal.files.at(1).obsolete);
  EXPECT_FALSE(journal.files.at(2).obsolete);
  EXPECT_EQ(journal.last_sequence, 4u);
}

TEST(JournalReplay, ADamagedSnapshotAddsWhatItHasAndReplacesNothing) {
  std::string damaged = Snapshot(3, {"B", "C"});
  damaged[kJournalHeaderBytes + 1] = '?';
  JournalReplay replay;
  replay.Add(SegmentName(1), Segment({{1, "a"}, {2, "b"}}));
  replay.Add(SnapshotName(2), damaged);
  replay.Add(SegmentName(3), Segment({{4, "d"}}));
  const ReplayedJournal journal = replay.Take();
  EXPECT_EQ(Payloads(journal), "a b C d ");
  EXPECT_FALSE(journal.files.at(1).obsolete);
  ASSERT_EQ(journal.troubles.size(), 1u);
  EXPECT_EQ(journal.troubles[0].file, "snapshot-000000000002");
  EXPECT_EQ(journal.troubles[0].reason.message(),
            "damaged records were passed over at byte 64, 25 bytes");
}

TEST(JournalReplay, AFileThatCannotBeReadIsToldAndPassedOver) {
  JournalReplay replay;
  replay.Add(SegmentName(1), Error(ErrorCode::kIo, "sector gone"));
  replay.Add(SegmentName(2),
             std::string("something else entirely, and long enough for a header...."));
  replay.Add(SegmentName(3), std::string());
  replay.Add(SegmentName(4), Segment({{9, "z"}}));
  const ReplayedJournal journal = replay.Take();
  EXPECT_EQ(Payloads(journal), "z ");
  ASSERT_EQ(journal.troubles.size(), 2u) << "an empty one is of a crash right after it was made";
  EXPECT_EQ(journal.troubles[0].reason.message(), "sector gone");
}

TEST(JournalReplay, TroublesHaveABound) {
  JournalReplay replay;
  for (uint64_t i = 0; i < kJournalTroublesMax + 5; ++i) {
    replay.Add(SegmentName(i), Error(ErrorCode::kIo, "no"));
  }
  const ReplayedJournal journal = replay.Take();
  EXPECT_EQ(journal.troubles.size(), kJournalTroublesMax);
  EXPECT_EQ(journal.troubles_not_kept, 5u);
}

}  // namespace
}  // namespace denselet::sync
