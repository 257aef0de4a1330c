#include "sync/admission/end_record.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "sync/journal/record_fields.h"

namespace denselet::sync {
namespace {

EndRecord Full() {
  return {.pod = {.ref = {"default", "web"}, .uid = PodUid("1234")},
          .ending = {.reason = EndReason::kKilled,
                     .outcome = PodOutcome::kFailed,
                     .status_reason = "Preempting",
                     .status_message = "Preempted in order to admit critical pod",
                     .disruption = "Pod was preempted by Kubelet to accommodate a critical pod."},
          .grace_seconds = 1,
          .decided = WallTime(Seconds(1'700'000'000))};
}

TEST(EndRecord, IsReadAsItWasWritten) {
  EXPECT_EQ(*DecodeEnd(EncodeEnd(Full())), Full());
  const EndRecord least{.pod = {.ref = {}, .uid = PodUid("u")},
                        .ending = {.reason = EndReason::kDeadline}};
  EXPECT_EQ(*DecodeEnd(EncodeEnd(least)), least);
  EndRecord well = Full();
  well.ending.outcome = PodOutcome::kSucceeded;
  EXPECT_EQ(*DecodeEnd(EncodeEnd(well)), well);
  EXPECT_EQ(*DecodeEndGone(EncodeEndGone(PodUid("u"))), PodUid("u"));
}

TEST(EndRecord, FieldsOfALaterAgentArePassedOver) {
  EXPECT_EQ(*DecodeEnd(EncodeEnd(Full()) + std::string("\xc8\x03\x00new", 6)), Full());
}

TEST(EndRecord, NoBytesAreTakenForOneThatTheyAreNot) {
  for (const std::string& bytes : {std::string(), std::string("\x01"),
                                   std::string("\x01\x05\x00u", 4), EncodeEndGone(PodUid("u"))}) {
    const auto read = DecodeEnd(bytes);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code(), ErrorCode::kCorrupt);
  }
  EXPECT_FALSE(DecodeEndGone(""));
}

TEST(EndRecord, TextsAreCut) {
  EndRecord record = Full();
  record.ending.status_message = std::string(100'000, 'x');
  EXPECT_EQ(DecodeEnd(EncodeEnd(record))->ending.status_message.size(), kRecordTextBytesMax);
}

TEST(EndRecord, MutatedBytesAreReadOrRefused) {
  SeededRandom random(9);
  const std::string good = EncodeEnd(Full());
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bad = good;
    bad[random.Below(bad.size())] = static_cast<char>(random.Below(256));
    if (random.Below(4) == 0) bad.resize(random.Below(bad.size()));
    if (const auto record = DecodeEnd(bad)) ++read;
  }
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace denselet::sync
