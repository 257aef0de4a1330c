#include "tests/sim/core/comparison.h"

#include <gtest/gtest.h>

namespace denselet::sim {
namespace {

using Lines = std::vector<std::string>;

CoreResult With(Lines history) {
  CoreResult result;
  result.history["u1"] = std::move(history);
  return result;
}

bool Same(Lines one, Lines other) {
  return DifferentWays(With(std::move(one)), With(std::move(other))).empty();
}

TEST(Comparison, ContainersSideBySideHaveNoOrder) {
  EXPECT_TRUE(Same({"sandbox 0", "create app 0", "start app 0", "create web 0", "start web 0"},
                   {"sandbox 0", "create web 0", "create app 0", "start app 0", "start web 0"}));
  EXPECT_TRUE(Same({"stop app 0", "stop web 0", "stop sandbox 0"},
                   {"stop web 0", "stop app 0", "stop sandbox 0"}));
}

TEST(Comparison, AContainersOwnStepsHaveAnOrder) {
  EXPECT_FALSE(Same({"create app 0", "start app 0", "stop app 0", "create app 1"},
                    {"create app 0", "start app 0", "create app 1", "stop app 0"}));
  EXPECT_FALSE(Same({"create app 0", "start app 0"}, {"create app 0"}));
  EXPECT_FALSE(Same({"create app 1"}, {"create app 0"}));
}

TEST(Comparison, InitContainersAndSidecarsHaveAnOrder) {
  EXPECT_FALSE(Same({"create init-a 0", "create app 0"}, {"create app 0", "create init-a 0"}));
  EXPECT_FALSE(
      Same({"create init-a 0", "create init-b 0"}, {"create init-b 0", "create init-a 0"}));
  EXPECT_FALSE(Same({"stop app 0", "stop proxy 0"}, {"stop proxy 0", "stop app 0"}));
}

TEST(Comparison, WithoutGraceStopsHaveNoOrderButWithTheRest) {
  const auto abrupt = [](Lines history) {
    CoreResult result = With(std::move(history));
    result.without_grace = {"u1"};
    return result;
  };
  EXPECT_TRUE(DifferentWays(abrupt({"stop app 0", "stop proxy 0", "sandbox 1"}),
                            abrupt({"stop proxy 0", "stop app 0", "sandbox 1"}))
                  .empty());
  EXPECT_FALSE(DifferentWays(abrupt({"stop app 0", "stop proxy 0", "sandbox 1"}),
                             abrupt({"stop proxy 0", "sandbox 1", "stop app 0"}))
                   .empty());
}

TEST(Comparison, EverythingHasAnOrderWithTheSandbox) {
  EXPECT_FALSE(Same({"sandbox 0", "create debug 0", "stop sandbox 0"},
                    {"sandbox 0", "stop sandbox 0", "create debug 0"}));
  EXPECT_FALSE(Same({"stop app 0", "stop sandbox 0"}, {"stop sandbox 0", "stop app 0"}));
  EXPECT_FALSE(Same({"sandbox 0"}, {"sandbox 1"}));
}

TEST(Comparison, AnEphemeralContainerHasNoOrderWithOthers) {
  EXPECT_TRUE(Same({"sandbox 0", "create debug 0", "create init-a 0", "create app 0"},
                   {"sandbox 0", "create init-a 0", "create app 0", "create debug 0"}));
}

TEST(Comparison, APodThatOnlyOneRunTreatedIsDifferent) {
  EXPECT_FALSE(DifferentWays(With({"sandbox 0"}), {}).empty());
  EXPECT_FALSE(DifferentWays({}, With({"sandbox 0"})).empty());
}

TEST(Comparison, TerminalStatesCount) {
  CoreResult one;
  one.endings["u1"] = {"killed, failed"};
  CoreResult other;
  other.endings["u1"] = {"completed"};
  EXPECT_FALSE(DifferentWays(one, other).empty());
  EXPECT_TRUE(DifferentWays(one, one).empty());
}

TEST(Comparison, PodsThatOnlyOneRunHasMustBeGone) {
  CoreResult one;
  one.end_state["u1"] = "";
  EXPECT_TRUE(DifferentEnds(one, {}).empty());
  one.end_state["u1"] = " app of image:1";
  EXPECT_FALSE(DifferentEnds(one, {}).empty());
}

}  // namespace
}  // namespace denselet::sim
