#include "sync/admission/admission_record.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "sync/journal/record_fields.h"

namespace denselet::sync {
namespace {

AdmissionRecord Full() {
  AdmissionRecord record;
  record.needs = {.pod = {.ref = {"kube-system", "dns"}, .uid = PodUid("1234")},
                  .is_static = true,
                  .critical = true,
                  .priority = -5,
                  .qos = QosClass::kBurstable,
                  .grace_seconds = 30,
                  .requests = {{"cpu", 100}, {"memory", 1 << 30}},
                  .overhead = {{"cpu", 1}},
                  .reclaimable = {{"cpu", 100}},
                  .ports = {{"0.0.0.0", "TCP", 80}, {"10.0.0.1", "UDP", 53}}};
  record.decided = WallTime(Seconds(1'700'000'000));
  return record;
}

TEST(AdmissionRecord, IsReadAsItWasWritten) {
  AdmissionRecord record = Full();
  EXPECT_EQ(*DecodeAdmission(EncodeAdmission(record)), record);
  record.rejected = Rejection{"OutOfcpu", "not enough"};
  record.needs.priority.reset();
  EXPECT_EQ(*DecodeAdmission(EncodeAdmission(record)), record);
  for (const SourceKind source : {SourceKind::kFile, SourceKind::kHttp}) {
    record.needs.source = {source};
    EXPECT_EQ(*DecodeAdmission(EncodeAdmission(record)), record);
  }
  EXPECT_EQ(*DecodeAdmissionGone(EncodeAdmissionGone(PodUid("u"))), PodUid("u"));
  EXPECT_LT(EncodeAdmission(Full()).size(), 250u);
}

TEST(AdmissionRecord, FieldsOfALaterAgentArePassedOver) {
  const AdmissionRecord record = Full();
  EXPECT_EQ(*DecodeAdmission(EncodeAdmission(record) + std::string("\xc8\x03\x00new", 6)), record);
}

TEST(AdmissionRecord, NoBytesAreTakenForOneThatTheyAreNot) {
  for (const std::string& bytes :
       {std::string(), std::string("\x01"), std::string("\x01\x05\x00u", 4),
        EncodeAdmissionGone(PodUid("u"))}) {
    const auto read = DecodeAdmission(bytes);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), ErrorCode::kCorrupt);
  }
  EXPECT_FALSE(DecodeAdmissionGone(""));
}

TEST(AdmissionRecord, MutatedBytesAreReadOrRefused) {
  SeededRandom random(9);
  const std::string good = EncodeAdmission(Full());
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bad = good;
    bad[random.Below(bad.size())] = static_cast<char>(random.Below(256));
    if (random.Below(4) == 0) bad.resize(random.Below(bad.size()));
    const auto record = DecodeAdmission(bad);
    if (!record) continue;
    ++read;
    // What was understood can be written and is understood the same.
    EXPECT_EQ(*DecodeAdmission(EncodeAdmission(*record)), *record);
  }
  EXPECT_GT(read, 100);
}

TEST(AdmissionRecord, LongTextsAreCut) {
  AdmissionRecord record = Full();
  record.rejected = Rejection{"Why", std::string(100'000, 'x')};
  EXPECT_EQ(DecodeAdmission(EncodeAdmission(record))->rejected->message.size(),
            kRecordTextBytesMax);
}

}  // namespace
}  // namespace denselet::sync
