// Journals of every version that there has been are read, and what is written today is of the
// newest of them, to the byte. A file here never changes; a new version gets new files.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "sync/admission/admission_record.h"
#include "sync/admission/end_record.h"
#include "sync/journal/journal_replay.h"
#include "sync/journal/journal_types.h"
#include "tests/source_dir.h"

namespace denselet::sync {
namespace {

std::string Golden(const std::string& name) {
  std::ifstream file(tests::SourcePath("tests/sync/journal/golden/" + name));
  std::string bytes;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    for (size_t i = 0; i + 1 < line.size(); i += 2) {
      bytes += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
    }
  }
  EXPECT_FALSE(bytes.empty()) << name;
  return bytes;
}

AdmissionRecord Admitted() {
  AdmissionRecord record;
  record.needs = {
      .pod = {.ref = {"kube-system", "dns-node1"},
              .uid = PodUid("11111111-2222-3333-4444-555555555555")},
      .is_static = true,
      .critical = true,
      .priority = 2'000'001'000,
      .qos = QosClass::kBurstable,
      .grace_seconds = 30,
      .requests = {{"cpu", 100}, {"memory", 70 << 20}},
      .overhead = {{"cpu", 5}},
      .reclaimable = {{"cpu", 105}, {"memory", 70 << 20}},
      .ports = {{"0.0.0.0", "UDP", 53}, {"10.0.0.1", "TCP", 9153}},
  };
  record.decided = WallTime(Seconds(1'700'000'000));
  return record;
}

AdmissionRecord Rejected() {
  AdmissionRecord record;
  record.needs = {.pod = {.ref = {"default", "web"}, .uid = PodUid("u2")},
                  .qos = QosClass::kBurstable,
                  .requests = {{"cpu", 3000}},
                  .reclaimable = {{"cpu", 3000}}};
  record.rejected =
      Rejection{"OutOfcpu",
                "Node didn't have enough resource: cpu, requested: 3000, used: 0, capacity: 2000"};
  record.decided = WallTime(Seconds(1'700'000'001));
  return record;
}

EndRecord Preempted() {
  return {.pod = {.ref = {"default", "web"}, .uid = PodUid("11111111-2222-3333-4444-555555555555")},
          .ending = {.reason = EndReason::kKilled,
                     .outcome = PodOutcome::kFailed,
                     .status_reason = "Preempting",
                     .status_message = "Preempted in order to admit critical pod",
                     .disruption = "Pod was preempted by Kubelet to accommodate a critical pod."},
          .grace_seconds = 1,
          .decided = WallTime(Seconds(1'700'000'000))};
}

EndRecord Late() {
  return {.pod = {.ref = {"default", "job"}, .uid = PodUid("u2")},
          .ending = {.reason = EndReason::kDeadline,
                     .outcome = PodOutcome::kFailed,
                     .status_reason = "DeadlineExceeded"},
          .decided = WallTime(Seconds(1'700'000'001))};
}

constexpr uint32_t kSalt = 0xcafe0001;
constexpr auto kAdmission = static_cast<uint16_t>(JournalType::kAdmission);
constexpr auto kGone = static_cast<uint16_t>(JournalType::kAdmissionGone);

TEST(JournalGolden, TheSegmentOfVersion1IsRead) {
  const std::string bytes = Golden("segment_v1.hex");
  const auto content = ReadJournalFile(bytes);
  ASSERT_TRUE(content);
  EXPECT_TRUE(content->damages.empty());
  ASSERT_EQ(content->records.size(), 4u);
  EXPECT_EQ(*DecodeAdmission(content->records[0].payload), Admitted());
  EXPECT_EQ(*DecodeAdmission(content->records[1].payload), Rejected());
  EXPECT_EQ(*DecodeAdmissionGone(content->records[2].payload), PodUid("u3"));
  EXPECT_EQ(content->records[3], (JournalRecordView{900, 3, 4, "of a later agent"}));
}

TEST(JournalGolden, TheSnapshotOfVersion1IsRead) {
  const std::string bytes = Golden("snapshot_v1.hex");
  const auto content = ReadJournalFile(bytes);
  ASSERT_TRUE(content);
  EXPECT_TRUE(content->IsWholeSnapshot());
  EXPECT_EQ(content->header.through, 4u);
  EXPECT_EQ(*DecodeAdmission(content->records[1].payload), Admitted());
}

TEST(JournalGolden, WhatIsWrittenTodayIsVersion1ToTheByte) {
  std::string bytes = EncodeJournalHeader({.salt = kSalt});
  AppendJournalRecord(bytes, {kAdmission, 1, 1, EncodeAdmission(Admitted())}, kSalt);
  AppendJournalRecord(bytes, {kAdmission, 1, 2, EncodeAdmission(Rejected())}, kSalt);
  AppendJournalRecord(bytes, {kGone, 1, 3, EncodeAdmissionGone(PodUid("u3"))}, kSalt);
  AppendJournalRecord(bytes, {900, 3, 4, "of a later agent"}, kSalt);
  EXPECT_EQ(bytes, Golden("segment_v1.hex"));
}

TEST(JournalGolden, EndsOfVersion1AreRead) {
  const std::string bytes = Golden("ends_v1.hex");
  const auto content = ReadJournalFile(bytes);
  ASSERT_TRUE(content);
  EXPECT_TRUE(content->damages.empty());
  ASSERT_EQ(content->records.size(), 3u);
  EXPECT_EQ(*DecodeEnd(content->records[0].payload), Preempted());
  EXPECT_EQ(*DecodeEnd(content->records[1].payload), Late());
  EXPECT_EQ(*DecodeEndGone(content->records[2].payload), PodUid("u3"));
}

TEST(JournalGolden, EndsThatAreWrittenTodayAreVersion1ToTheByte) {
  constexpr auto kEnd = static_cast<uint16_t>(JournalType::kPodEnd);
  constexpr auto kEndGone = static_cast<uint16_t>(JournalType::kPodEndGone);
  std::string bytes = EncodeJournalHeader({.salt = kSalt});
  AppendJournalRecord(bytes, {kEnd, 1, 1, EncodeEnd(Preempted())}, kSalt);
  AppendJournalRecord(bytes, {kEnd, 1, 2, EncodeEnd(Late())}, kSalt);
  AppendJournalRecord(bytes, {kEndGone, 1, 3, EncodeEndGone(PodUid("u3"))}, kSalt);
  EXPECT_EQ(bytes, Golden("ends_v1.hex"));
}

}  // namespace
}  // namespace denselet::sync
