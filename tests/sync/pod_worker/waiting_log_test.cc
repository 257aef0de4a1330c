#include "sync/pod_worker/waiting_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sync/ports/observed_pod.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/sim/world.h"

namespace denselet::sync {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class WaitingLogTest : public testing::Test {
 protected:
  static PodIdentity PodNumber(int i) {
    return {.ref = {"ns", "pod-" + std::to_string(i)}, .uid = PodUid("u-" + std::to_string(i))};
  }
  void Lacks(int pod, const std::string& cause, const std::string& volume = "v") {
    waiting_.Lacks(PodNumber(pod), Lack::kVolume, volume, cause, now_);
  }
  void Has(int pod) { waiting_.Has(PodNumber(pod), Lack::kVolume, "v", now_); }
  std::vector<std::string> Lines() {
    std::vector<std::string> texts;
    for (const auto& line : sink_.lines()) {
      texts.push_back((line.severity == Severity::kWarning ? "W " : "I ") + line.text);
    }
    sink_.Take();
    return texts;
  }

  sim::World world_{{.seed = 1, .shards = 1}};
  CapturingLogSink sink_;
  LogVerbosity verbosity_;
  LogOutput output_{.format = {}, .clock = world_.clock(), .verbosity = verbosity_, .sink = sink_};
  WaitingLog waiting_{Logger(output_)};
  TimePoint now_ = After(TimePoint(), Hours(1));
};

TEST_F(WaitingLogTest, OneLineWhenItBeginsOneForAnotherCauseAndOneAtTheEnd) {
  for (int i = 0; i < 100; ++i, now_ += Seconds(30)) Lacks(1, "secret \"s\" not found");
  EXPECT_THAT(Lines(),
              ElementsAre(AllOf(HasSubstr("W "), HasSubstr("Pod waits for a volume"),
                                HasSubstr("pod=\"ns/pod-1\""), HasSubstr("podUID=\"u-1\""),
                                HasSubstr("volumeName=\"v\""), HasSubstr("s\\\" not found"))));
  for (int i = 0; i < 100; ++i, now_ += Seconds(30)) Lacks(1, "references non-existent secret key");
  EXPECT_THAT(Lines(), ElementsAre(HasSubstr("references non-existent secret key")));
  Has(1);
  EXPECT_THAT(Lines(), ElementsAre(AllOf(HasSubstr("I "), HasSubstr("pod=\"ns/pod-1\""),
                                         HasSubstr("has the volume that it waited for"),
                                         HasSubstr("waited=\"1h40m"))));
  Has(1);
  EXPECT_THAT(Lines(), IsEmpty());
}

TEST_F(WaitingLogTest, AThousandPodsThatLackTheSameAreAFewLines) {
  for (int pod = 0; pod < 1000; ++pod) Lacks(pod, "configmap \"m\" not found");
  now_ += Seconds(30);
  for (int pod = 0; pod < 1000; ++pod) Lacks(pod, "configmap \"m\" not found");
  EXPECT_THAT(Lines(),
              ElementsAre(HasSubstr("pod-0"), HasSubstr("pod-1"), HasSubstr("pod-2"),
                          HasSubstr("pods=10 "), HasSubstr("pods=100 "), HasSubstr("pods=1000 ")));
  for (int pod = 0; pod < 1000; ++pod) Has(pod);
  EXPECT_THAT(Lines(), ElementsAre(HasSubstr("pod-0"), HasSubstr("pod-1"), HasSubstr("pod-2"),
                                   HasSubstr("No pod waits for it any more")));
  Lacks(7, "configmap \"m\" not found");
  EXPECT_THAT(Lines(), ElementsAre(HasSubstr("pod-7")));
}

TEST_F(WaitingLogTest, PodsThatCannotBeReadWhileTheRuntimeIsAwayAreAFewLines) {
  for (int i = 0; i < 60; ++i, now_ += Seconds(60)) {
    for (int pod = 0; pod < 200; ++pod) {
      waiting_.Lacks(PodNumber(pod), Lack::kRead, "", "connection refused", now_);
    }
  }
  EXPECT_THAT(Lines(),
              ElementsAre(HasSubstr("Could not read a pod"), HasSubstr("pod-1"), HasSubstr("pod-2"),
                          HasSubstr("pods=10 "), HasSubstr("pods=100 ")));
  for (int pod = 0; pod < 200; ++pod) waiting_.Has(PodNumber(pod), Lack::kRead, "", now_);
  EXPECT_THAT(Lines(), ElementsAre(HasSubstr("Pod can be read"), HasSubstr("pod-1"),
                                   HasSubstr("pod-2"), HasSubstr("No pod waits for it any more")));
}

TEST_F(WaitingLogTest, AThousandCausesAreBoundedAndAllAreToldInTheEnd) {
  const auto all = [&] {
    for (int pod = 0; pod < 1000; ++pod) Lacks(pod, "cause " + std::to_string(pod));
  };
  all();
  all();
  EXPECT_THAT(Lines(), SizeIs(WaitingLog::kLinesMax));
  for (int i = 0; i < 9; ++i) {
    now_ += Minutes(1);
    all();
    EXPECT_THAT(Lines(), SizeIs(WaitingLog::kLinesMax));
  }
  now_ += Minutes(1);
  all();
  EXPECT_THAT(Lines(), IsEmpty());
}

TEST_F(WaitingLogTest, CausesThatTakeTurnsAreNotToldEachTime) {
  for (int i = 0; i < 600; ++i, now_ += Seconds(1)) Lacks(1, i % 2 == 0 ? "a" : "b");
  EXPECT_LE(Lines().size(), 12u);
}

TEST_F(WaitingLogTest, EachOfAPodsVolumesIsToldAndEndsByItself) {
  Lacks(1, "a", "v");
  Lacks(1, "b", "w");
  EXPECT_THAT(Lines(), SizeIs(2));
  waiting_.HasAllBut(PodNumber(1), Lack::kVolume, {"w"}, now_);
  EXPECT_THAT(Lines(), ElementsAre(HasSubstr("volumeName=\"v\"")));
  waiting_.HasAllBut(PodNumber(1), Lack::kVolume, {}, now_);
  EXPECT_THAT(Lines(), ElementsAre(HasSubstr("volumeName=\"w\"")));
}

TEST_F(WaitingLogTest, OfAPodThatIsGoneNothingIsLeft) {
  Lacks(1, "a");
  waiting_.Lacks(PodNumber(1), Lack::kReference, "c", "b", now_);
  EXPECT_THAT(Lines(), SizeIs(2));
  waiting_.Forget(PodUid("u-1"));
  Has(1);
  EXPECT_THAT(Lines(), IsEmpty());
  Lacks(1, "a");
  EXPECT_THAT(Lines(), SizeIs(1));
}

}  // namespace
}  // namespace denselet::sync
