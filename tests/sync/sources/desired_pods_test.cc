#include "sync/sources/desired_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "kube/api/codec/codec.h"
#include "sync/sources/pod_difference.h"
#include "tests/golden.h"
#include "tests/sync/sources/pods.h"

namespace denselet::sync {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr SourceKind kApi = SourceKind::kApi;
constexpr SourceKind kFile = SourceKind::kFile;
constexpr WallTime kNow = WallTime(Hours(490'000));
constexpr WallTime kLater = WallTime(Hours(490'001));

std::vector<std::string> Texts(const PodMerge& merge) {
  std::vector<std::string> texts;
  for (const PodChange& change : merge.changes) {
    texts.push_back(std::string(PodOpName(change.op)) + " " + std::string(change.pod->hot().uid));
  }
  return texts;
}

// {"a":"b"}, without config.seen, as Go writes a map.
std::string AnnotationsOf(const kube::PodRef& pod) {
  kube::core::Pod only;
  const auto parsed = pod->Parse();
  EXPECT_TRUE(parsed);
  auto& annotations = *only.mutable_metadata()->mutable_annotations();
  annotations = (*parsed)->metadata().annotations();
  annotations.erase(std::string(kSeenAnnotation));
  const std::string json = kube::EncodeJson(only.metadata());
  const size_t begin = json.find("{", 1);
  return json.substr(begin, json.find('}', begin) - begin + 1);
}

// Every change from one version of a pod to another, as the real kubelet's merge answers it.
TEST(DesiredPods, SaysOfEveryChangeWhatUpstreamSays) {
  std::map<std::string, kube::PodRef> pods;
  size_t merges = 0;
  for (const auto& row : tests::ReadGolden("tests/sync/sources/golden/merges.txt")) {
    if (row[0] == "pod") {
      kube::core::Pod pod;
      const auto report = kube::DecodeJson(row[2], pod);
      ASSERT_TRUE(report.ok()) << row[1];
      pods[row[1]] = AtRest(pod);
      continue;
    }
    ++merges;
    SCOPED_TRACE(row[1] + " -> " + row[2]);
    const auto set = [&](const std::string& name) {
      return name == "absent" ? std::vector<kube::PodRef>{} : std::vector{pods.at(name)};
    };
    DesiredPods desired;
    const PodMerge first = desired.Set(kApi, set(row[1]), kNow);
    const PodMerge second = desired.Set(kApi, set(row[2]), kLater);
    EXPECT_THAT(second.refused, IsEmpty());
    if (row[3] == "none") {
      EXPECT_THAT(Texts(second), IsEmpty());
      continue;
    }
    ASSERT_THAT(Texts(second), ElementsAre(row[3] + " uid-1"));
    if (row[3] != "RECONCILE") {
      EXPECT_EQ(AnnotationsOf(second.changes[0].pod), row[4]);
    }
    const WallTime seen = row[1] == "absent" ? kLater : kNow;
    EXPECT_EQ(Annotation(second.changes[0].pod, std::string(kSeenAnnotation)),
              FormatRfc3339(seen, 9));

    // One by one it is the same.
    DesiredPods single;
    (void)single.Set(kApi, set(row[1]), kNow);
    const PodMerge put = row[2] == "absent" ? single.Remove(kApi, "uid-1")
                                            : single.Put(kApi, pods.at(row[2]), kLater);
    EXPECT_THAT(Texts(put), ElementsAre(row[3] + " uid-1"));
  }
  EXPECT_GT(merges, 700u);
}

TEST(DesiredPods, TellsRemovalsFirstAndStatusLast) {
  DesiredPods desired;
  const auto running = [](kube::core::Pod& pod) { pod.mutable_status()->set_phase("Running"); };
  const auto deleted = [](kube::core::Pod& pod) {
    pod.mutable_metadata()->mutable_deletiontimestamp()->set_seconds(1);
  };
  const auto relabelled = [](kube::core::Pod& pod) {
    (*pod.mutable_metadata()->mutable_labels())["a"] = "b";
  };
  (void)desired.Set(
      kApi, {MakePod("a", "1"), MakePod("b", "2"), MakePod("c", "3"), MakePod("d", "4")}, kNow);
  const PodMerge merge = desired.Set(kApi,
                                     {MakePod("a", "1", running), MakePod("b", "2", deleted),
                                      MakePod("c", "3", relabelled), MakePod("e", "5")},
                                     kNow);
  EXPECT_THAT(Texts(merge),
              ElementsAre("REMOVE 4", "ADD 5", "UPDATE 3", "DELETE 2", "RECONCILE 1"));
}

TEST(DesiredPods, TellsWhoWasMadeFirstFirst) {
  DesiredPods desired;
  const auto made = [](int64_t seconds) {
    return [seconds](kube::core::Pod& pod) {
      pod.mutable_metadata()->mutable_creationtimestamp()->set_seconds(seconds);
    };
  };
  const PodMerge merge =
      desired.Set(kApi,
                  {MakePod("a", "1", made(300)), MakePod("b", "2", made(100)),
                   MakePod("c", "3", made(200)), MakePod("d", "4", made(100)), MakePod("e", "5")},
                  kNow);
  EXPECT_THAT(Texts(merge), ElementsAre("ADD 5", "ADD 2", "ADD 4", "ADD 3", "ADD 1"));
}

TEST(DesiredPods, SourcesAreApart) {
  DesiredPods desired;
  EXPECT_THAT(Texts(desired.Set(kApi, {MakePod("a", "1")}, kNow)), ElementsAre("ADD 1"));
  EXPECT_THAT(Texts(desired.Set(kFile, {MakePod("a", "1")}, kNow)), ElementsAre("ADD 1"));
  EXPECT_EQ(Annotation(desired.Find(kApi, "1"), std::string(kSourceAnnotation)), "api");
  EXPECT_EQ(Annotation(desired.Find(kFile, "1"), std::string(kSourceAnnotation)), "file");
  EXPECT_EQ(desired.size(), 2u);
  EXPECT_THAT(Texts(desired.Set(kFile, {}, kNow)), ElementsAre("REMOVE 1"));
  EXPECT_TRUE(desired.Find(kApi, "1"));
}

TEST(DesiredPods, TheSameUidAgainIsANewPod) {
  DesiredPods desired;
  (void)desired.Set(kFile, {MakePod("a", "1")}, kNow);
  (void)desired.Set(kFile, {}, kNow);
  const PodMerge merge = desired.Set(kFile, {MakePod("a", "1")}, kLater);
  EXPECT_THAT(Texts(merge), ElementsAre("ADD 1"));
  EXPECT_EQ(Annotation(merge.changes[0].pod, std::string(kSeenAnnotation)),
            FormatRfc3339(kLater, 9));
}

TEST(DesiredPods, OfTwoPodsOfOneNameTheFirstCounts) {
  DesiredPods desired;
  const PodMerge merge = desired.Set(kFile, {MakePod("a", "1"), MakePod("a", "2")}, kNow);
  EXPECT_THAT(Texts(merge), ElementsAre("ADD 1"));
  ASSERT_EQ(merge.refused.size(), 1u);
  EXPECT_EQ(merge.refused[0].pod->hot().uid, "2");
  EXPECT_EQ(merge.refused[0].reason.code(), ErrorCode::kAlreadyExists);
}

TEST(DesiredPods, ANameWithAnotherUidTakesThePlaceOfTheOld) {
  DesiredPods desired;
  (void)desired.Set(kApi, {MakePod("a", "1")}, kNow);
  EXPECT_THAT(Texts(desired.Put(kApi, MakePod("a", "2"), kNow)), ElementsAre("REMOVE 1", "ADD 2"));
  // The late word of the old one is of nobody.
  EXPECT_THAT(Texts(desired.Remove(kApi, "1")), IsEmpty());
  EXPECT_THAT(Texts(desired.Remove(kApi, "2")), ElementsAre("REMOVE 2"));
  EXPECT_EQ(desired.size(), 0u);
}

TEST(DesiredPods, AFieldThatIsEmptyIsNotAChange) {
  DesiredPods desired;
  (void)desired.Set(kApi, {MakePod("a", "1")}, kNow);
  // As an API server of a newer version writes it.
  const auto more = [](kube::core::Pod& pod) { pod.mutable_spec()->set_hostname(""); };
  EXPECT_THAT(Texts(desired.Put(kApi, MakePod("a", "1", more), kNow)), IsEmpty());
}

TEST(DesiredPods, APodThatCannotBeReadLeavesTheOldOne) {
  DesiredPods desired;
  (void)desired.Set(kApi, {MakePod("a", "1")}, kNow);
  std::string wire(MakePod("a", "1")->wire());
  wire += "\x12\x02\x0a\x7f";  // a further part of the spec, whose first field is cut off
  const auto damaged = kube::PodAtRest::FromWire(wire);
  if (!damaged) return;  // found already when it was put to rest
  const PodMerge merge = desired.Put(kApi, *damaged, kNow);
  EXPECT_THAT(Texts(merge), IsEmpty());
  ASSERT_EQ(merge.refused.size(), 1u);
  EXPECT_EQ(merge.refused[0].reason.code(), ErrorCode::kCorrupt);
  EXPECT_EQ(desired.size(), 1u);
}

}  // namespace
}  // namespace denselet::sync
