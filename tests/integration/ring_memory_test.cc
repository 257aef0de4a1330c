// Rings where the limit of locked memory is low. In a process of its own, as a user of its own:
// what all processes of a user lock is counted together, and others have rings, too.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "reactor/event_loop.h"
#include "reactor/real_clock.h"
#include "reactor/shards.h"

namespace denselet::reactor {
namespace {

// Enough for one ring, and not for two.
constexpr rlim_t kOneRingBytes = 300 * 1024;

enum Verdict : int { kGood = 0, kBad = 1 };

[[noreturn]] void End(bool good, const std::string& text) {
  if (!good) std::fputs((text + "\n").c_str(), stderr);
  ::_exit(good ? kGood : kBad);
}

// A user whom nobody else is; the right to go past the limit goes with root.
void LimitLockedMemory(rlim_t bytes) {
  const auto user = static_cast<uid_t>(0x60000000 + ::getpid());
  if (::setresuid(user, user, user) != 0) End(false, "cannot be another user");
  const rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
  ::setrlimit(RLIMIT_MEMLOCK, &limit);
}

class RingMemory : public testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (!CheckUring(clock_)) GTEST_SKIP() << "this kernel has no io_uring or forbids it";
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be a user of its own";
  }
  const RealClock clock_;
};

TEST_F(RingMemory, ShardsThatFindNoneRunOnTheOtherLoopIfTheyMay) {
  EXPECT_EXIT(
      {
        LimitLockedMemory(kOneRingBytes);
        const auto forced = Shards::Start({.count = 2, .backend = Backend::kUring}, clock_);
        if (forced) End(true, "");  // a kernel that does not count the memory of rings
        if (forced.error().code() != ErrorCode::kOverloaded ||
            forced.error().message().find("RLIMIT_MEMLOCK") == std::string::npos) {
          End(false, forced.error().message());
        }
        const auto shards = Shards::Start(
            {.count = 2, .backend = Backend::kUring, .otherwise = Backend::kEpoll}, clock_);
        if (!shards) End(false, shards.error().message());
        int ran = 0;
        for (uint32_t i = 0; i < 2; ++i) (*shards)->RunAndWait(i, [&](Shard&) { ++ran; });
        End((*shards)->backend() == Backend::kEpoll && (*shards)->denied() && ran == 2,
            "they do not run");
      },
      testing::ExitedWithCode(kGood), "");
}

// The kernel gives the memory of a ring back some time after its end.
TEST_F(RingMemory, ARingWaitsForTheMemoryOfThoseThatHaveEnded) {
  EXPECT_EXIT(
      {
        LimitLockedMemory(kOneRingBytes);
        for (int i = 0; i < 20; ++i) {
          const auto loop = MakeEventLoop(Backend::kUring, clock_);
          if (!loop) End(false, std::to_string(i) + ": " + loop.error().message());
        }
        End(true, "");
      },
      testing::ExitedWithCode(kGood), "");
}

}  // namespace
}  // namespace denselet::reactor
