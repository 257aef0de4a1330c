#include "app/agent/agent_locks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "tests/fakes/capturing_log_sink.h"
#include "tests/sim/world.h"

namespace denselet::app {
namespace {

class AgentLocksTest : public testing::Test {
 protected:
  AgentLocksTest() {
    std::string folder = testing::TempDir() + "/agent_locks.XXXXXX";
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  Result<AgentLocks> Take(const std::string& root, const std::string& journal) {
    AgentOptions options;
    options.root_folder = folder_ + "/" + root;
    options.pods.core.journal.directory = folder_ + "/" + journal;
    return TakeLocks(options, *end_, Logger(output_));
  }

  std::string folder_;
  sim::World world_{{.seed = 1, .shards = 1}};
  CapturingLogSink sink_;
  LogVerbosity verbosity_;
  LogOutput output_{.format = {}, .clock = world_.clock(), .verbosity = verbosity_, .sink = sink_};
  std::unique_ptr<reactor::ProgramEnd> end_ = *reactor::ProgramEnd::Make();
};

TEST_F(AgentLocksTest, TwoAgentsWithRootsOfTheirOwnDoNotShareAJournal) {
  const auto first = Take("one", "journal");
  ASSERT_TRUE(first) << first.error().message();
  const auto second = Take("two", "journal");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::kAlreadyExists);
  const std::string& why = second.error().message();
  EXPECT_NE(why.find(folder_ + "/journal"), std::string::npos) << why;
  EXPECT_NE(why.find("process " + std::to_string(::getpid())), std::string::npos) << why;
  const auto third = Take("three", "another-journal");
  EXPECT_TRUE(third);
}

TEST_F(AgentLocksTest, TheRootIsTakenFirst) {
  const auto first = Take("one", "journal");
  ASSERT_TRUE(first);
  const auto second = Take("one", "journal");
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message().find("root directory"), std::string::npos);
}

TEST_F(AgentLocksTest, AJournalThatCannotBeLockedNowIsTold) {
  ASSERT_TRUE(Take("a", "b"));
  const auto taken = Take("one", "a/denselet/lock/journal");  // a file is in the way
  EXPECT_TRUE(taken);
  EXPECT_NE(sink_.Take().find("Could not lock the journal"), std::string::npos);
}

}  // namespace
}  // namespace denselet::app
