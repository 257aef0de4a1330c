#include "managers/volume/job_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/fakes/fake_disk.h"
#include "tests/sim/sim_disk_jobs.h"
#include "tests/sim/world.h"

namespace denselet::managers {
namespace {

using Kind = reactor::DiskJob::Kind;
using testing::ElementsAre;
using testing::IsEmpty;

class JobLineTest : public testing::Test {
 protected:
  JobLineTest() { jobs_.faults().hangs_with = "hangs"; }

  Context For(Duration d) {
    return Context{.deadline = After(world_.clock().Now(), d),
                   .priority = Priority::kNormal,
                   .cancel = {},
                   .trace = {}};
  }
  // Its name is told when it ends, with why if that is no success.
  void Run(const std::string& name, uint64_t lane, Kind kind, const Context& context) {
    line_.Run(
        context, {"do", name, lane, kind},
        [](reactor::DiskCalls&) { return Result<std::string>(std::string()); },
        [this, name](const Result<std::string>& answer) {
          ended_.push_back(answer ? name : name + " " + answer.error().message());
        });
  }
  void RunFor(Duration d) { world_.RunUntil(After(world_.clock().Now(), d)); }
  std::vector<std::string> Ended() { return std::exchange(ended_, {}); }

  sim::World world_{{.seed = 1, .shards = 1}};
  fakes::FakeDisk disk_;
  sim::SimDiskJobs jobs_{world_.loop(0), world_.random(), disk_};
  JobLine line_{world_.loop(0), jobs_, 4};
  std::vector<std::string> ended_;
};

TEST_F(JobLineTest, JobsOfALaneKeepTheirOrderWhateverTheirKindsAndUrgency) {
  Context urgent;
  urgent.priority = Priority::kCritical;
  Run("a", 1, Kind::kOrdinary, {});
  Run("b", 1, Kind::kRemoval, {});
  Run("c", 1, Kind::kOrdinary, urgent);
  RunFor(Seconds(1));
  EXPECT_THAT(Ended(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(line_.waiting(), 0u);
}

TEST_F(JobLineTest, TheMostUrgentLaneIsNext) {
  Context urgent;
  urgent.priority = Priority::kCritical;
  Run("hangs", 1, Kind::kRemoval, For(Seconds(10)));
  Run("b", 2, Kind::kRemoval, {});
  Run("c", 3, Kind::kRemoval, urgent);
  Run("after b", 2, Kind::kRemoval, urgent);
  RunFor(Seconds(11));
  EXPECT_THAT(Ended(), ElementsAre(R"(hangs it took too long)", "c", "b", "after b"));
}

TEST_F(JobLineTest, OneBehindAnotherOfItsLaneIsAnsweredWhenItsContextEnds) {
  CancelSource source;
  Context unwanted;
  unwanted.cancel = source.token();
  Run("hangs", 1, Kind::kRemoval, {});
  Run("first", 2, Kind::kRemoval, {});  // there is no place for it
  Run("late", 2, Kind::kOrdinary, For(Seconds(5)));
  Run("unwanted", 2, Kind::kOrdinary, unwanted);
  Run("last", 2, Kind::kOrdinary, {});
  RunFor(Seconds(4));
  EXPECT_THAT(Ended(), IsEmpty());
  source.Cancel();
  EXPECT_THAT(Ended(), IsEmpty()) << "not inside of the cancel";
  RunFor(Seconds(2));
  EXPECT_THAT(Ended(), ElementsAre(R"(unwanted do "unwanted": it had no turn)",
                                   R"(late do "late": it had no turn)"));
  jobs_.LetGo();
  RunFor(Seconds(1));
  EXPECT_THAT(Ended(), ElementsAre("hangs", "first", "last"));
  EXPECT_EQ(line_.waiting(), 0u);
}

// Else eight pods of a dead server that ask again would keep all others from theirs.
TEST_F(JobLineTest, BehindACallThatWasGivenUpNobodyHoldsAPlace) {
  Run("hangs", 1, Kind::kRemoval, For(Seconds(5)));
  RunFor(Seconds(6));
  EXPECT_THAT(Ended(), ElementsAre("hangs it took too long"));
  Run("again", 1, Kind::kRemoval, {});
  Run("late", 1, Kind::kOrdinary, For(Seconds(5)));
  Run("other", 2, Kind::kRemoval, {});
  RunFor(Seconds(6));
  EXPECT_THAT(Ended(), ElementsAre("other", R"(late do "late": it had no turn)"));
  jobs_.LetGo();
  RunFor(Seconds(1));
  EXPECT_THAT(Ended(), ElementsAre("again"));
  Run("next", 1, Kind::kRemoval, {});
  RunFor(Seconds(1));
  EXPECT_THAT(Ended(), ElementsAre("next"));
}

TEST_F(JobLineTest, OnesWithPathsOfOthersThatHangMakeWayUpToABound) {
  for (uint64_t lane = 1; lane <= 2; ++lane) {
    Run("hangs", lane, Kind::kForeignPaths, {});
  }
  Run("hurries", 3, Kind::kForeignPaths, {});
  RunFor(Milliseconds(900));
  EXPECT_EQ(jobs_.under_way(), 1u);
  RunFor(Milliseconds(1500));
  EXPECT_THAT(Ended(), ElementsAre("hurries"));
  EXPECT_EQ(jobs_.under_way(), 2u);
  Run("hangs", 4, Kind::kForeignPaths, {});
  Run("waits", 5, Kind::kForeignPaths, For(Minutes(1)));
  RunFor(Minutes(2));
  EXPECT_THAT(Ended(), ElementsAre(R"(waits do "waits": it had no turn)"));
  EXPECT_EQ(jobs_.under_way(), 3u);
  // The bound counts those that hang now.
  Run("hurries", 6, Kind::kForeignPaths, {});
  jobs_.LetGo();
  RunFor(Seconds(1));
  EXPECT_THAT(Ended(), ElementsAre("hangs", "hangs", "hangs", "hurries"));
  EXPECT_EQ(line_.waiting(), 0u);
}

TEST_F(JobLineTest, OthersThatHangKeepTheirPlace) {
  Run("hangs", 1, Kind::kRemoval, {});
  Run("waits", 2, Kind::kRemoval, For(Minutes(1)));
  RunFor(Minutes(2));
  EXPECT_THAT(Ended(), ElementsAre(R"(waits do "waits": it had no turn)"));
}

}  // namespace
}  // namespace denselet::managers
