#include "bench/cri_sim/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace denselet::cri_sim {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string FaultOf(const std::vector<std::string>& arguments) {
  const Result<Flags> flags = ParseFlags(arguments);
  return flags ? "" : flags.error().message();
}

TEST(CriSimFlags, MistakesAreCalledByTheirNames) {
  EXPECT_EQ(FaultOf({"--socket", "/s"}), "");
  EXPECT_EQ(FaultOf({"--socket", "/s", "--bogus"}), "unknown flag --bogus");
  EXPECT_EQ(FaultOf({"--bogus=1"}), "unknown flag --bogus");
  EXPECT_EQ(FaultOf({"--socket"}), "no value for --socket");
  EXPECT_EQ(FaultOf({}), "--socket is missing");
  EXPECT_EQ(FaultOf({"--ask", "/c"}), "--ask wants a socket and a command");
  EXPECT_THAT(FaultOf({"--socket", "/s", "--scenario", "/none"}),
              HasSubstr("could not read /none"));
  EXPECT_THAT(FaultOf({"--socket", "/s", "--scenario", "/dev/null"}),
              HasSubstr("/dev/null is empty"));
  EXPECT_EQ(FaultOf({"--socket", "/s", "--scenario", "/dev"}),
            "--scenario: could not read /dev: it is a directory");
  EXPECT_THAT(FaultOf({"--socket", "/s", "--hang", "Version=x"}), HasSubstr("x"));
  EXPECT_THAT(FaultOf({"--socket", "/s", "--hang", "Version=x"}), Not(HasSubstr("JSON")));
  EXPECT_EQ(FaultOf({"--socket", "/s", "--error", "Version=UNAVAILABLE:often"}),
            "--error: not a probability: often");
}

// Nothing could be sent, not even an empty answer's few bytes, and gRPC takes 0 for no word at all.
TEST(CriSimFlags, ALimitOfMessagesIsOneByteOrMore) {
  EXPECT_EQ(FaultOf({"--socket", "/s", "--message-bytes-max", "1"}), "");
  EXPECT_EQ(FaultOf({"--socket", "/s", "--message-bytes-max", "1073741824"}), "");
  for (const char* wrong : {"0", "-1", "1073741825", "many", ""}) {
    EXPECT_EQ(FaultOf({"--socket", "/s", "--message-bytes-max", wrong}),
              std::string("--message-bytes-max: not a size from 1 to 1073741824: ") + wrong);
  }
}

TEST(CriSimFlags, AFaultInAScenarioIsToldWithFileAndLine) {
  const std::string path = testing::TempDir() + "/scenario.yaml";
  std::ofstream(path) << "randomOrder: true\nevnts: {}\n";
  EXPECT_EQ(FaultOf({"--socket", "/s", "--scenario", path}),
            "--scenario: " + path + ":2: unknown key \"evnts\"");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace denselet::cri_sim
