#include "bench/cri_sim/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace denselet::cri_sim {
namespace {

using testing::HasSubstr;

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
}

}  // namespace
}  // namespace denselet::cri_sim
