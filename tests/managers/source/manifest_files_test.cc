#include "managers/source/manifest_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/api/types.h"

namespace denselet::managers {
namespace {

using reactor::FileInfo;
using testing::ElementsAre;
using testing::IsEmpty;

// Content "NAME UID": a pod; with a "+" in front there is more that nobody reads; anything else is
// bad.
Result<ManifestFiles::Decoded> DecodeWords(const std::string&, std::string_view content) {
  const bool more = content.starts_with('+');
  if (more) content.remove_prefix(1);
  const size_t blank = content.find(' ');
  if (blank == std::string_view::npos) return Error(ErrorCode::kInvalid, "line 1: no blank");
  kube::core::Pod pod;
  pod.mutable_metadata()->set_name(std::string(content.substr(0, blank)));
  pod.mutable_metadata()->set_uid(std::string(content.substr(blank + 1)));
  ManifestFiles::Decoded decoded{*kube::PodAtRest::FromPod(pod)};
  if (more) decoded.ignored = Error(ErrorCode::kInvalid, "line 7 is ignored");
  return decoded;
}

class ManifestFilesTest : public testing::Test {
 protected:
  using Contents = std::map<std::string, std::string>;

  ManifestFiles::Outcome Scan(const Contents& contents) {
    files_.BeginScan();
    for (const auto& [path, content] : contents) {
      files_.Note(path);
      files_.OnContent(path, content, std::nullopt, WallTime(), now_);
    }
    return files_.EndScan(now_);
  }
  // Until what is there counts.
  ManifestFiles::Outcome Settle(const Contents& contents) {
    (void)Scan(contents);
    now_ += Milliseconds(100);
    return Scan(contents);
  }
  std::vector<std::string> Uids() const {
    std::vector<std::string> uids;
    for (const kube::PodRef& pod : files_.Pods()) uids.emplace_back(pod->hot().uid);
    return uids;
  }

  TimePoint now_{Seconds(1000)};
  ManifestFiles files_{{}, DecodeWords};
};

TEST_F(ManifestFilesTest, ContentCountsWhenItWasTheSameTwice) {
  auto outcome = Scan({{"a", "x 1"}});
  EXPECT_TRUE(outcome.undecided);
  EXPECT_EQ(outcome.look_again_at, now_ + Milliseconds(100));
  EXPECT_THAT(outcome.changed, IsEmpty());
  now_ += Milliseconds(50);
  EXPECT_TRUE(Scan({{"a", "x 12"}}).undecided);
  now_ += Milliseconds(60);
  EXPECT_TRUE(Scan({{"a", "x 12"}}).undecided);
  now_ += Milliseconds(40);
  outcome = Scan({{"a", "x 12"}});
  EXPECT_FALSE(outcome.undecided);
  EXPECT_EQ(outcome.changed.size(), 1u);
  EXPECT_THAT(Uids(), ElementsAre("12"));
}

TEST_F(ManifestFilesTest, WhatGoesAndComesIsTold) {
  (void)Settle({{"a", "x 1"}, {"b", "y 2"}});
  const auto outcome = Settle({{"a", "x 3"}});
  EXPECT_THAT(Uids(), ElementsAre("3"));
  EXPECT_THAT(outcome.gone, ElementsAre("1"));
  EXPECT_EQ(outcome.changed.size(), 1u);
  EXPECT_THAT(Scan({}).gone, ElementsAre("3"));
}

TEST_F(ManifestFilesTest, ABadFileKeepsItsPodForAWhileAndIsReported) {
  (void)Settle({{"a", "x 1"}, {"b", "y 2"}});
  auto outcome = Settle({{"a", "bad"}, {"b", "y 2"}});
  EXPECT_THAT(outcome.gone, IsEmpty());
  EXPECT_THAT(outcome.troubles, IsEmpty());
  EXPECT_EQ(outcome.look_again_at, now_ + Seconds(1));
  now_ += Seconds(1);
  outcome = Scan({{"a", "bad"}, {"b", "y 2"}});
  ASSERT_EQ(outcome.troubles.size(), 1u);
  EXPECT_EQ(outcome.troubles[0].path, "a");
  EXPECT_EQ(outcome.troubles[0].reason->message(), "line 1: no blank");
  EXPECT_EQ(outcome.look_again_at, now_ + Seconds(19));
  now_ += Seconds(19);
  outcome = Scan({{"a", "bad"}, {"b", "y 2"}});
  EXPECT_THAT(outcome.gone, ElementsAre("1"));
  EXPECT_THAT(outcome.troubles, IsEmpty());
  outcome = Settle({{"a", "x 1"}, {"b", "y 2"}});
  EXPECT_THAT(Uids(), ElementsAre("1", "2"));
  ASSERT_EQ(outcome.troubles.size(), 1u);
  EXPECT_FALSE(outcome.troubles[0].reason);
}

TEST_F(ManifestFilesTest, AFileThatIsBadOnlyWhileItIsWrittenIsNoNews) {
  (void)Settle({{"a", "x 1"}});
  const kube::PodRef before = files_.Pods()[0];
  (void)Settle({{"a", "x"}});
  const auto outcome = Settle({{"a", "x 1"}});
  EXPECT_THAT(outcome.troubles, IsEmpty());
  EXPECT_THAT(outcome.changed, IsEmpty());
  EXPECT_EQ(files_.Pods()[0], before);
}

TEST_F(ManifestFilesTest, AnUnreadableFileKeepsItsPod) {
  (void)Settle({{"a", "x 1"}});
  for (int i = 0; i < 100; ++i) {
    now_ += Seconds(1);
    files_.BeginScan();
    files_.Note("a");
    files_.OnUnreadable("a", Error(ErrorCode::kIo, "disk"), now_);
    const auto outcome = files_.EndScan(now_);
    EXPECT_TRUE(outcome.unreadable && outcome.undecided);
    EXPECT_THAT(outcome.gone, IsEmpty());
    EXPECT_EQ(outcome.troubles.size(), i == 1 ? 1u : 0u);
  }
  const auto outcome = Scan({{"a", "x 1"}});
  EXPECT_EQ(outcome.troubles.size(), 1u);
  EXPECT_THAT(outcome.changed, IsEmpty());
}

TEST_F(ManifestFilesTest, AFileThatCannotBeReadAnyMoreIsToldAsThat) {
  (void)Scan({{"a", "x 1"}});
  ManifestFiles::Outcome outcome;
  std::string told;
  for (int i = 0; i < 30; ++i) {
    now_ += Seconds(1);
    files_.BeginScan();
    files_.Note("a");
    files_.OnUnreadable("a", Error(ErrorCode::kIo, "disk"), now_);
    outcome = files_.EndScan(now_);
    EXPECT_TRUE(outcome.undecided);
    EXPECT_GT(outcome.look_again_at, now_) << "at once, and again";
    for (const auto& trouble : outcome.troubles) told += trouble.reason->message() + ";";
  }
  EXPECT_EQ(told, "disk;");
}

TEST_F(ManifestFilesTest, OfTwoFilesWithOnePodTheLastCounts) {
  auto outcome = Settle({{"a", "x 1"}, {"b", "x 2"}, {"c", "z 3"}, {"d", "q 3"}});
  EXPECT_THAT(Uids(), ElementsAre("2", "3"));
  ASSERT_EQ(outcome.troubles.size(), 2u);
  EXPECT_EQ(outcome.troubles[0].path, "a");
  EXPECT_EQ(outcome.troubles[0].reason->code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(outcome.troubles[1].path, "c");
  ASSERT_EQ(outcome.left_out.size(), 2u);
  EXPECT_EQ(outcome.left_out[0].pod->hot().uid, "1");
  EXPECT_EQ(outcome.left_out[0].reason,
            Error(ErrorCode::kAlreadyExists,
                  "\"a\" has the same pod as \"b\", which counts because its name comes last"));
  // Once.
  EXPECT_THAT(Scan({{"a", "x 1"}, {"b", "x 2"}, {"c", "z 3"}, {"d", "q 3"}}).left_out, IsEmpty());
  outcome = Scan({{"a", "x 1"}, {"c", "z 3"}});
  EXPECT_THAT(Uids(), ElementsAre("1", "3"));
  EXPECT_EQ(outcome.troubles.size(), 2u);
}

TEST_F(ManifestFilesTest, ACopyUnderAnEarlierNameOrWithTheSameUidDisturbsNobody) {
  (void)Settle({{"m", "x 5"}});
  auto outcome = Settle({{"m", "x 5"}, {"a", "x 1"}});
  EXPECT_THAT(outcome.gone, IsEmpty());
  EXPECT_THAT(outcome.changed, IsEmpty());
  ASSERT_EQ(outcome.troubles.size(), 1u);
  EXPECT_EQ(outcome.troubles[0].path, "a");
  // Its manifest says which uid it has, so that it is the same pod.
  outcome = Settle({{"m", "x 5"}, {"z", "x 5"}});
  EXPECT_THAT(outcome.gone, IsEmpty());
  EXPECT_THAT(outcome.changed, IsEmpty());
  EXPECT_EQ(outcome.left_out.size(), 1u);
}

// As upstream: the path is part of the uid.
TEST_F(ManifestFilesTest, ACopyUnderALaterNameTakesThePlaceOfThePodAndBothFilesAreNamed) {
  (void)Settle({{"m", "x 5"}});
  const auto outcome = Settle({{"m", "x 5"}, {"z", "x 9"}});
  EXPECT_THAT(outcome.gone, ElementsAre("5"));
  EXPECT_THAT(Uids(), ElementsAre("9"));
  ASSERT_EQ(outcome.troubles.size(), 1u);
  EXPECT_EQ(outcome.troubles[0].path, "m");
  EXPECT_EQ(outcome.troubles[0].reason->message(),
            "has the same pod as \"z\", which counts because its name comes last");
}

TEST_F(ManifestFilesTest, WhatIsIgnoredInAGoodFileIsReportedAndItsPodCounts) {
  auto outcome = Settle({{"a", "+x 1"}});
  EXPECT_THAT(Uids(), ElementsAre("1"));
  ASSERT_EQ(outcome.troubles.size(), 1u);
  EXPECT_EQ(outcome.troubles[0].reason->message(), "line 7 is ignored");
  EXPECT_TRUE(outcome.troubles[0].pod_counts);
  outcome = Settle({{"a", "x 1"}});
  ASSERT_EQ(outcome.troubles.size(), 1u);
  EXPECT_FALSE(outcome.troubles[0].reason);
  EXPECT_THAT(Uids(), ElementsAre("1"));
}

TEST_F(ManifestFilesTest, AFileThatKeepsChangingIsReportedAndNotUsed) {
  std::string uid = "1";
  ManifestFiles::Outcome outcome;
  for (int i = 0; i < 30; ++i) {
    now_ += Seconds(1);
    uid += "1";
    outcome = Scan({{"a", "x " + uid}});
    EXPECT_TRUE(outcome.undecided);
    EXPECT_EQ(outcome.troubles.size(), i == 20 ? 1u : 0u) << i;
  }
  EXPECT_THAT(Uids(), IsEmpty());
}

TEST_F(ManifestFilesTest, OldFilesAreReadAgainOnlyWhenTheirTimesSaySo) {
  const WallTime wall(Hours(490'000));
  const FileInfo old{FileInfo::Kind::kFile, 0644, 3, wall - Hours(1)};
  const FileInfo young{FileInfo::Kind::kFile, 0644, 3, wall - Milliseconds(500)};
  EXPECT_TRUE(files_.IsNew("a"));
  EXPECT_TRUE(files_.MustRead("a", old));
  const auto scan = [&](const FileInfo& info) {
    files_.BeginScan();
    files_.Note("a");
    files_.OnContent("a", "x 1", info, wall, now_);
    (void)files_.EndScan(now_);
    now_ += Milliseconds(100);
  };
  scan(old);
  EXPECT_FALSE(files_.IsNew("a"));
  EXPECT_TRUE(files_.MustRead("a", old));  // read once
  scan(old);
  EXPECT_FALSE(files_.MustRead("a", old));
  EXPECT_TRUE(files_.MustRead("a", young));
  FileInfo longer = old;
  longer.size = 4;
  EXPECT_TRUE(files_.MustRead("a", longer));
  scan(young);
  EXPECT_TRUE(files_.MustRead("a", young)) << "it may change again within a tick";
}

}  // namespace
}  // namespace denselet::managers
