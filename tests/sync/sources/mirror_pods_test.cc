#include "sync/sources/mirror_pods.h"

#include <gtest/gtest.h>

#include "sync/sources/pod_difference.h"
#include "tests/sync/sources/pods.h"

namespace denselet::sync {
namespace {

kube::PodRef StaticPod(const std::string& name, const std::string& uid) {
  return MakePod(name, uid, [uid](kube::core::Pod& pod) {
    auto& annotations = *pod.mutable_metadata()->mutable_annotations();
    annotations["kubernetes.io/config.source"] = "file";
    annotations["kubernetes.io/config.hash"] = uid;
  });
}

enum class Going : bool { kNo, kYes };

kube::PodRef Mirror(const std::string& name, const std::string& uid, const std::string& hash,
                    Going going = Going::kNo) {
  return MakePod(name, uid, [&](kube::core::Pod& pod) {
    auto& annotations = *pod.mutable_metadata()->mutable_annotations();
    annotations["kubernetes.io/config.source"] = "api";
    annotations["kubernetes.io/config.hash"] = hash;
    annotations["kubernetes.io/config.mirror"] = hash;
    if (going == Going::kYes) pod.mutable_metadata()->mutable_deletiontimestamp()->set_seconds(1);
  });
}

MirrorState StateOf(const MirrorPods& pods, const std::string& name) {
  const auto pair = pods.PairOf({"default", name});
  EXPECT_TRUE(pair);
  return pair ? pair->state : MirrorState::kMissing;
}

TEST(MirrorPods, AMirrorIsFoundByNameAndJudgedByHash) {
  MirrorPods pods;
  pods.Put(StaticPod("a", "s1"));
  EXPECT_EQ(StateOf(pods, "a"), MirrorState::kMissing);
  pods.Put(Mirror("a", "m1", "s1"));
  EXPECT_EQ(StateOf(pods, "a"), MirrorState::kCurrent);
  EXPECT_EQ(pods.RunsAs("m1"), "s1");
  EXPECT_EQ(pods.ShownAs("s1"), "m1");
  EXPECT_EQ(pods.RunsAs("other"), "other");
  EXPECT_EQ(pods.ShownAs("other"), "");
  EXPECT_TRUE(pods.Orphans().empty());
}

TEST(MirrorPods, ANewVersionOfTheManifestMakesTheMirrorStale) {
  MirrorPods pods;
  pods.Put(StaticPod("a", "s1"));
  pods.Put(Mirror("a", "m1", "s1"));
  pods.Remove(StaticPod("a", "s1"));
  EXPECT_EQ(pods.Orphans().size(), 1u);
  pods.Put(StaticPod("a", "s2"));
  EXPECT_EQ(StateOf(pods, "a"), MirrorState::kStale);
  EXPECT_TRUE(pods.Orphans().empty());
  EXPECT_EQ(pods.RunsAs("m1"), "s2");
}

TEST(MirrorPods, TheOldVersionMayGoAfterTheNewOneCame) {
  MirrorPods pods;
  pods.Put(StaticPod("a", "s1"));
  pods.Put(StaticPod("a", "s2"));
  pods.Remove(StaticPod("a", "s1"));
  ASSERT_EQ(pods.Pairs().size(), 1u);
  EXPECT_EQ(pods.Pairs()[0].static_pod->hot().uid, "s2");
}

TEST(MirrorPods, AMirrorThatIsBeingDeletedIsNotOneToKeep) {
  MirrorPods pods;
  pods.Put(StaticPod("a", "s1"));
  pods.Put(Mirror("a", "m1", "s1", Going::kYes));
  EXPECT_EQ(StateOf(pods, "a"), MirrorState::kGoing);
}

TEST(MirrorPods, AMirrorWithoutAStaticPodIsAnOrphan) {
  MirrorPods pods;
  pods.Put(Mirror("b", "m2", "s2"));
  pods.Put(Mirror("a", "m1", "s1"));
  pods.Put(StaticPod("a", "s1"));
  const auto orphans = pods.Orphans();
  ASSERT_EQ(orphans.size(), 1u);
  EXPECT_EQ(orphans[0]->hot().name, "b");
  EXPECT_EQ(pods.RunsAs("m2"), "m2");
  pods.Remove(orphans[0]);
  EXPECT_TRUE(pods.Orphans().empty());
  EXPECT_EQ(pods.mirrors(), 1u);
}

TEST(MirrorPods, OrdinaryPodsAreNotKept) {
  MirrorPods pods;
  pods.Put(MakePod("a", "1", Annotated("kubernetes.io/config.source", "api")));
  EXPECT_TRUE(pods.Pairs().empty());
  EXPECT_EQ(pods.mirrors(), 0u);
}

}  // namespace
}  // namespace denselet::sync
