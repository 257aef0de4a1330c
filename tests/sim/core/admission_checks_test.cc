// The checks of who may run, in stories that are told step by step.
#include "tests/sim/core/admission_checks.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/sim/core/mutations.h"

namespace denselet::sim {
namespace {

using Problems = std::vector<std::string>;

// A pod that does not stop by itself, and a critical one that drives it out: each needs most of the
// node.
class AdmissionChecksTest : public testing::Test {
 protected:
  void Begin(const Mutation* mutation = nullptr) {
    core_.emplace(CoreRun{.seed = 1, .mutation = mutation});
    checks_.emplace(*core_);
    core_->set_watchers({&*checks_});
    core_->StartAgent({});
    Wish(Victim());
    Run(Seconds(10));
    ASSERT_TRUE(Runs("u1"));
  }
  void Run(Duration time) {
    const TimePoint end = core_->Now() + time;
    while (core_->Now() < end && core_->Step()) checks_->CheckTurn();
  }
  SimPod& Contested(const std::string& uid, const std::string& name) {
    SimPod& pod = core_->pods()[PodUid(uid)];
    pod.uid = PodUid(uid);
    pod.name = name;
    pod.contested = true;
    pod.milli_cpus = 2000;
    pod.grace_seconds = 1;
    return pod;
  }
  SimPod& Victim() { return Contested("u1", "12345"); }
  void Wish(SimPod& pod) {
    pod.wished = true;
    core_->Tell(pod);
  }
  void WishCritical() {
    SimPod& pod = Contested("u2", "critical");
    pod.is_static = true;
    Wish(pod);
  }
  bool Runs(const std::string& uid) {
    const sync::ObservedPod there = core_->model().Read(PodUid(uid));
    return !there.containers.empty() &&
           there.containers.front().state == sync::ContainerState::kRunning;
  }
  const Problems& problems() { return core_->result().problems; }

  std::optional<CoreWorld> core_;
  std::optional<AdmissionChecks> checks_;
};

TEST_F(AdmissionChecksTest, APodThatIsDeletedSlowlyMayBePreemptedAndNotGoInTime) {
  Begin();
  Victim().deleting = true;
  Victim().deletion_grace = 60;
  core_->Tell(Victim());
  Run(Seconds(3));
  WishCritical();
  Run(Seconds(20));
  EXPECT_TRUE(Runs("u1"));
  EXPECT_TRUE(Runs("u2"));
  EXPECT_EQ(problems(), Problems());
}

TEST_F(AdmissionChecksTest, OneThatIsHeldBackMayBePreemptedAndNotGoInTime) {
  Begin();
  core_->agent_options().shard.held_back = {PodUid("u1")};
  core_->KillAgent({});
  Run(Seconds(10));
  WishCritical();
  Run(Seconds(20));
  EXPECT_TRUE(Runs("u1"));
  EXPECT_TRUE(Runs("u2"));
  EXPECT_EQ(problems(), Problems());
}

TEST_F(AdmissionChecksTest, OneThatIsPreemptedHasItsTime) {
  Begin(FindMutation("preempt-early"));
  Victim().deleting = true;
  Victim().deletion_grace = 60;
  core_->Tell(Victim());
  Run(Seconds(3));
  WishCritical();
  Run(Seconds(20));
  EXPECT_EQ(problems(), Problems{"StartContainer u2 app: 4000 thousandths of processors are used"});
}

}  // namespace
}  // namespace denselet::sim
