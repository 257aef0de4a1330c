#include "bench/cri_sim/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace denselet::cri_sim {
namespace {

using testing::ElementsAre;
using Kind = ScriptStep::Kind;

TEST(Script, ReadsWhatAShellWould) {
  EXPECT_THAT(ParseScript("echo 'hello you'; sleep 1.5 && exit 3"),
              ElementsAre(ScriptStep{Kind::kEcho, {}, 0, "hello you"},
                          ScriptStep{Kind::kSleep, Milliseconds(1500), 0, {}},
                          ScriptStep{Kind::kExit, {}, 3, {}}));
  EXPECT_THAT(ParseScript("/bin/true"), ElementsAre(ScriptStep{Kind::kExit, {}, 0, {}}));
  EXPECT_THAT(ParseScript("sleep inf"),
              ElementsAre(ScriptStep{Kind::kSleep, Duration::max(), 0, {}}));
  EXPECT_THAT(ParseScript(" ;; \n"), ElementsAre());
}

TEST(Script, ReadsWordsOfItsOwn) {
  EXPECT_THAT(ParseScript("on-term 2s 7\nlog 100ms still here\noom"),
              ElementsAre(ScriptStep{Kind::kOnTerm, Seconds(2), 7, {}},
                          ScriptStep{Kind::kLog, Milliseconds(100), 0, "still here"},
                          ScriptStep{Kind::kOom, {}, 137, {}}));
}

TEST(Script, LeavesOtherWordsAlone) {
  EXPECT_THAT(ParseScript("nginx -g daemon"),
              ElementsAre(ScriptStep{Kind::kOther, {}, 0, "nginx -g daemon"}));
}

TEST(Script, OfACommandIsWhatTheShellIsGiven) {
  EXPECT_EQ(ScriptOfCommand({"/bin/sh", "-c", "exit 1"}), "exit 1");
  EXPECT_EQ(ScriptOfCommand({"sleep", "5"}), "sleep 5");
  EXPECT_EQ(ScriptOfCommand({}), "");
}

}  // namespace
}  // namespace denselet::cri_sim
