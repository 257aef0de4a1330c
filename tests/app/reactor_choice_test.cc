#include "app/reactor_choice.h"

#include <gtest/gtest.h>

#include "reactor/real_clock.h"

namespace denselet::app {
namespace {

TEST(ReactorChoice, AForcedReactorIsTakenAndOtherwiseTheKernelIsProbed) {
  const reactor::RealClock clock;
  EXPECT_EQ(ChooseReactor("epoll", clock)->backend, reactor::Backend::kEpoll);
  for (const std::string_view best : {"", "auto"}) {
    const Result<ReactorChoice> choice = ChooseReactor(best, clock);
    const bool uring = reactor::ProbeBackend(clock) == reactor::Backend::kUring;
    EXPECT_EQ(choice->backend, reactor::ProbeBackend(clock));
    EXPECT_EQ(choice->otherwise.has_value(), uring) << "the kernel may refuse it later";
    EXPECT_EQ(choice->without_uring.has_value(), !uring);
  }
  if (const auto forced = ChooseReactor("uring", clock)) {
    EXPECT_FALSE(forced->otherwise);
  }
}

TEST(ReactorChoice, AnUnknownOneIsRefused) {
  const reactor::RealClock clock;
  EXPECT_EQ(ChooseReactor("kqueue", clock).error().message(),
            "there is no reactor \"kqueue\": expected auto, uring or epoll");
}

}  // namespace
}  // namespace denselet::app
