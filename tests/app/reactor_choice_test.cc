#include "app/reactor_choice.h"

#include <gtest/gtest.h>

#include "reactor/real_clock.h"

namespace denselet::app {
namespace {

TEST(ReactorChoice, AForcedReactorIsTakenAndOtherwiseTheKernelIsProbed) {
  const reactor::RealClock clock;
  EXPECT_EQ(*ChooseReactor("epoll", clock), reactor::Backend::kEpoll);
  EXPECT_EQ(*ChooseReactor("", clock), reactor::ProbeBackend(clock));
  EXPECT_EQ(*ChooseReactor("auto", clock), reactor::ProbeBackend(clock));
}

TEST(ReactorChoice, AnUnknownOneIsRefused) {
  const reactor::RealClock clock;
  EXPECT_EQ(ChooseReactor("kqueue", clock).error().message(),
            "there is no reactor \"kqueue\": expected auto, uring or epoll");
}

}  // namespace
}  // namespace denselet::app
