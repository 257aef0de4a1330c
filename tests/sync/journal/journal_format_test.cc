#include "sync/journal/journal_format.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "base/random.h"

namespace denselet::sync {
namespace {

using Where = JournalDamage::Where;

constexpr uint32_t kSalt = 0x12345678;

// A segment with `count` records, and where each of them begins.
struct Segment {
  explicit Segment(int count, uint32_t salt = kSalt) {
    bytes = EncodeJournalHeader({.salt = salt});
    for (int i = 0; i < count; ++i) {
      begins.push_back(bytes.size());
      payloads.push_back("payload " + std::to_string(i) + std::string(static_cast<size_t>(i), 'x'));
      AppendJournalRecord(bytes, Record(i), salt);
    }
    begins.push_back(bytes.size());
  }
  JournalRecordView Record(int i) const {
    return {.type = 7,
            .version = 2,
            .sequence = static_cast<uint64_t>(i) + 10,
            .payload = payloads[static_cast<size_t>(i)]};
  }

  std::string bytes;
  std::vector<size_t> begins;
  std::deque<std::string> payloads;
};

TEST(JournalFormat, WhatWasWrittenIsRead) {
  const Segment segment(20);
  const auto read = ReadJournalFile(segment.bytes);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->header, (JournalFileHeader{.salt = kSalt}));
  EXPECT_TRUE(read->damages.empty());
  ASSERT_EQ(read->records.size(), 20u);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(read->records[static_cast<size_t>(i)], segment.Record(i));
}

TEST(JournalFormat, ATornTailIsCutAtEveryByte) {
  const Segment segment(4);
  for (size_t size = kJournalHeaderBytes; size < segment.bytes.size(); ++size) {
    const auto read = ReadJournalFile(std::string_view(segment.bytes).substr(0, size));
    ASSERT_TRUE(read) << size;
    size_t whole = 0;
    while (segment.begins[whole + 1] <= size) ++whole;
    EXPECT_EQ(read->records.size(), whole) << size;
    const size_t good = segment.begins[whole];
    if (good == size) {
      EXPECT_TRUE(read->damages.empty()) << size;
    } else {
      ASSERT_EQ(read->damages.size(), 1u) << size;
      EXPECT_EQ(read->damages[0], (JournalDamage{Where::kTail, good, size - good})) << size;
    }
  }
}

TEST(JournalFormat, ABadByteAnywhereCostsOneRecordAndTheRestIsFoundAgain) {
  const Segment segment(5);
  for (size_t at = kJournalHeaderBytes; at < segment.bytes.size(); ++at) {
    std::string bad = segment.bytes;
    bad[at] = static_cast<char>(bad[at] ^ 0x40);
    const auto read = ReadJournalFile(bad);
    ASSERT_TRUE(read) << at;
    ASSERT_EQ(read->records.size(), 4u) << at;
    size_t hit = 0;
    while (segment.begins[hit + 1] <= at) ++hit;
    ASSERT_EQ(read->damages.size(), 1u) << at;
    EXPECT_EQ(read->damages[0].where, hit == 4 ? Where::kTail : Where::kMiddle) << at;
    EXPECT_EQ(read->damages[0].offset, segment.begins[hit]) << at;
    EXPECT_EQ(read->damages[0].bytes, segment.begins[hit + 1] - segment.begins[hit]) << at;
  }
}

TEST(JournalFormat, OneBadCopyOfTheHeaderCostsNothing) {
  const Segment segment(3);
  for (size_t at = 0; at < kJournalHeaderBytes; ++at) {
    std::string bad = segment.bytes;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    const auto read = ReadJournalFile(bad);
    ASSERT_TRUE(read) << at;
    EXPECT_EQ(read->records.size(), 3u) << at;
    ASSERT_EQ(read->damages.size(), 1u) << at;
    EXPECT_EQ(read->damages[0].where, Where::kHeader) << at;
  }
}

TEST(JournalFormat, WithoutAHeaderNothingIsTakenForARecord) {
  Segment segment(3);
  segment.bytes[3] = 'X';
  segment.bytes[3 + kJournalHeaderBytes / 2] = 'X';
  const auto read = ReadJournalFile(segment.bytes);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::kCorrupt);
  EXPECT_FALSE(ReadJournalFile("")) << "no header at all";
}

// Texts of others stand in payloads: one of them may be made to look like a record.
TEST(JournalFormat, ARecordInsideADamagedOneIsNotTaken) {
  std::string forged;
  AppendJournalRecord(forged, {.type = 1, .version = 1, .sequence = 99, .payload = "forged"}, 0);
  std::string bytes = EncodeJournalHeader({.salt = kSalt});
  AppendJournalRecord(bytes, {.type = 1, .version = 1, .sequence = 1, .payload = forged}, kSalt);
  AppendJournalRecord(bytes, {.type = 1, .version = 1, .sequence = 2, .payload = "true"}, kSalt);
  bytes[kJournalHeaderBytes] = '?';
  const auto read = ReadJournalFile(bytes);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->records.size(), 1u);
  EXPECT_EQ(read->records[0].payload, "true");
}

TEST(JournalFormat, ALaterFormatIsLeftAlone) {
  std::string bytes = Segment(2).bytes;
  std::string later = EncodeJournalHeader({.salt = kSalt});
  ASSERT_EQ(later, bytes.substr(0, later.size()));
  // The version is summed, so a later one is written by hand.
  const std::string_view golden(
      "dnsl-jnl"
      "\x44\xb9\x42\xd2"
      "\x02\x00\x00\x00"
      "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
      32);
  const auto read = ReadJournalFile(golden);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), ErrorCode::kUnsupported);
}

TEST(JournalFormat, ASnapshotIsWholeOnlyWithAllOfItsRecords) {
  std::string bytes = EncodeJournalHeader(
      {.kind = JournalFileKind::kSnapshot, .salt = kSalt, .count = 2, .through = 41});
  AppendJournalRecord(bytes, {.type = 1, .version = 1, .sequence = 0, .payload = "a"}, kSalt);
  EXPECT_FALSE(ReadJournalFile(bytes)->IsWholeSnapshot());
  EXPECT_EQ(ReadJournalFile(bytes)->damages[0].where, Where::kMissing);
  AppendJournalRecord(bytes, {.type = 1, .version = 1, .sequence = 0, .payload = "b"}, kSalt);
  EXPECT_TRUE(ReadJournalFile(bytes)->IsWholeSnapshot());
  EXPECT_EQ(ReadJournalFile(bytes)->header.through, 41u);
  EXPECT_FALSE(ReadJournalFile(bytes + "x")->IsWholeSnapshot());
}

// Marks without records: each is a candidate whose sum must be taken.
TEST(JournalFormat, AFileMadeOfMarksIsReadInBoundedWork) {
  std::string bytes = EncodeJournalHeader({.salt = kSalt});
  std::string one;
  AppendJournalRecord(one, {.type = 1, .version = 1, .sequence = 1, .payload = ""}, 0);
  one.replace(8, 4, std::string("\0\xff\0\0", 4));  // 65280 bytes follow
  while (bytes.size() < (4u << 20)) bytes += one;
  const auto read = ReadJournalFile(bytes);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->records.empty());
  ASSERT_EQ(read->damages.size(), 1u);
}

TEST(JournalFormat, RandomDamageInventsNothing) {
  SeededRandom random(5);
  const Segment segment(30);
  for (int round = 0; round < 2000; ++round) {
    std::string bad = segment.bytes;
    const uint64_t hits = 1 + random.Below(6);
    for (uint64_t hit = 0; hit < hits; ++hit) {
      const size_t at = kJournalHeaderBytes + random.Below(bad.size() - kJournalHeaderBytes);
      const size_t bytes = std::min<size_t>(1 + random.Below(80), bad.size() - at);
      if (random.Below(3) == 0) {
        bad.erase(at, bytes);
        bad.resize(std::max(bad.size(), kJournalHeaderBytes + 1));
      } else {
        for (size_t i = 0; i < bytes; ++i) bad[at + i] = static_cast<char>(random.Below(256));
      }
    }
    const auto read = ReadJournalFile(bad);
    ASSERT_TRUE(read);
    uint64_t last = 0;
    for (const JournalRecordView& record : read->records) {
      ASSERT_GE(record.sequence, 10u);
      ASSERT_LT(record.sequence, 40u);
      EXPECT_GT(record.sequence, last);
      last = record.sequence;
      EXPECT_EQ(record, segment.Record(static_cast<int>(record.sequence - 10)));
    }
  }
}

}  // namespace
}  // namespace denselet::sync
