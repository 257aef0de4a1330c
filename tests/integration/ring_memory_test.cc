// Rings where the limit of locked memory is low. In a process of its own, which gives up the right
// to go past the limit.
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
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

void LimitLockedMemory(rlim_t bytes) {
  __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
  ::syscall(SYS_capget, &head, data);
  data[0].effective &= ~(1u << CAP_IPC_LOCK);
  ::syscall(SYS_capset, &head, data);
  const rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
  ::setrlimit(RLIMIT_MEMLOCK, &limit);
}

[[noreturn]] void End(bool good, const std::string& text) {
  if (!good) std::fputs((text + "\n").c_str(), stderr);
  ::_exit(good ? kGood : kBad);
}

class RingMemory : public testing::Test {
 protected:
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (!CheckUring(clock_)) GTEST_SKIP() << "this kernel has no io_uring or forbids it";
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
