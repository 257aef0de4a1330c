// What a pod's status tells while its post-start hooks run, and when they have failed.
#include "kube/api/types.h"
#include "tests/sim/core/core_fixture.h"

namespace denselet::sim {
namespace {

TEST_F(CoreTest, AHookThatOutlivesItsContainerHoldsUpNoStatus) {
  SimPod& pod = Pod(SimPodKind::kHooks, "u1");
  Start();
  TellAll();
  for (int i = 0; i < 1000 && !StateOf(pod); ++i) Run(Milliseconds(10));
  leaves_.faults().hangs = 1;
  Run(Seconds(5));
  ASSERT_TRUE(Runs(pod));
  leaves_.faults().hangs = 0;
  model_.Exit(model_.Read(pod.uid).containers.front().id, 1);
  Run(Seconds(30));
  ASSERT_TRUE(Runs(pod));
  kube::core::PodStatus status;
  ASSERT_TRUE(status.ParseFromString(statuses_[pod.uid]));
  EXPECT_TRUE(status.containerstatuses(0).state().has_running());
}

class FailedHooksTest : public CoreTest {
 protected:
  void OnStatus(const sync::PodStatusUpdate& update) override {
    CoreTest::OnStatus(update);
    kube::core::PodStatus status;
    ASSERT_TRUE(status.ParseFromString(update.status));
    for (const auto& container : status.containerstatuses()) {
      if (container.state().waiting().reason() != "PostStartHookError") continue;
      ++told_;
      EXPECT_FALSE(Runs(pods_.begin()->second)) << "told before the container has stopped";
    }
  }
  int told_ = 0;
};

// As with the kubelet, which sees the container again only when it has ended it. Nobody may have
// looked at it by then: that it began was the word of our own calls.
TEST_F(FailedHooksTest, AreToldWhenTheContainerHasStopped) {
  SimPod& pod = Pod(SimPodKind::kHooks, "u1");
  Start();
  TellAll();
  for (int i = 0; i < 1000 && !Runs(pod); ++i) Run(Milliseconds(1));
  leaves_.faults().fails = 1;
  Run(Minutes(1));
  EXPECT_GT(told_, 0);
}

}  // namespace
}  // namespace denselet::sim
