#include "app/crash_record.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "reactor/alternate_stack.h"

namespace denselet::app {
namespace {

class CrashRecordTest : public testing::Test {
 protected:
  CrashRecordTest() : path_(testing::TempDir() + "crash-record-" + std::to_string(::getpid())) {
    // "fast": the child of a threadsafe death test would write to a path of its own.
    testing::FLAGS_gtest_death_test_style = "fast";
    std::filesystem::remove(path_);
  }
  ~CrashRecordTest() override { std::filesystem::remove(path_); }

  void Crash(std::string_view pod) {
    CHECK(InstallCrashRecorder(path_, clock_));
    const WorkScope work(pod, "uid-1");
    CHECK(1 + 1 == 3);
  }

  void DieOf(int signal) {
    CHECK(InstallCrashRecorder(path_, clock_));
    const WorkScope work("default/web", "uid-1");
    ::raise(signal);
  }
  static int RunOver(volatile char* before, int depth) {
    volatile char room[4096];
    room[0] = before[0];
    return depth == INT_MAX ? 0 : RunOver(room, depth + 1) + room[0];
  }
  // On a thread as shards are.
  void RunOverTheStack() {
    CHECK(InstallCrashRecorder(path_, clock_));
    std::thread([] {
      const reactor::AlternateStack for_signals;
      const WorkScope work("default/deep", "uid-2");
      volatile char begin = 0;
      (void)RunOver(&begin, 0);
    }).join();
  }

  std::string Content() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  ManualClock clock_{TimePoint(Seconds(1)), WallTime(Milliseconds(1'700'000'000'123))};
  const std::string path_;
};

TEST_F(CrashRecordTest, FailedCheckLeavesOneLineThatNamesThePod) {
  EXPECT_DEATH(Crash("default/web"),
               "CHECK failed at crash_record_test.cc:[0-9]+: 1 \\+ 1 == 3 .*uid-1");
  const std::string record = Content();
  EXPECT_TRUE(
      record.starts_with("{\"unixMillis\":1700000000123,\"file\":\"crash_record_test.cc\","))
      << record;
  EXPECT_TRUE(record.ends_with(
      ",\"pod\":\"default/web\",\"podUID\":\"uid-1\",\"condition\":\"1 + 1 == 3\"}\n"))
      << record;
}

TEST_F(CrashRecordTest, EveryCrashAddsALine) {
  EXPECT_DEATH(Crash("default/one"), "CHECK failed");
  EXPECT_DEATH(Crash("default/two"), "CHECK failed");
  const std::string record = Content();
  EXPECT_NE(record.find("default/one"), std::string::npos);
  EXPECT_NE(record.find("default/two"), std::string::npos);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

TEST_F(CrashRecordTest, EachDeadlySignalLeavesALineAndEndsTheProcessAsItWould) {
  const std::pair<int, std::string> deadly[] = {{SIGSEGV, "SIGSEGV"},
                                                {SIGBUS, "SIGBUS"},
                                                {SIGFPE, "SIGFPE"},
                                                {SIGILL, "SIGILL"},
                                                {SIGABRT, "SIGABRT"}};
  for (const auto& [number, name] : deadly) {
    std::filesystem::remove(path_);
    EXPECT_EXIT(DieOf(number), testing::KilledBySignal(number),
                "Died of " + name + " .while working on pod default/web, uid uid-1");
    EXPECT_EQ(
        Content(),
        "{\"unixMillis\":1700000000123,\"file\":\"signal\",\"line\":" + std::to_string(number) +
            ",\"pod\":\"default/web\",\"podUID\":\"uid-1\",\"condition\":\"" + name + "\"}\n");
  }
}

TEST_F(CrashRecordTest, AFailedCheckLeavesNoSecondLineForItsAbort) {
  EXPECT_EXIT(Crash("default/web"), testing::KilledBySignal(SIGABRT), "CHECK failed");
  const std::string record = Content();
  EXPECT_EQ(std::ranges::count(record, '\n'), 1);
}

TEST_F(CrashRecordTest, AStackThatRunsOverIsRecordedOnAnother) {
  EXPECT_EXIT(RunOverTheStack(), testing::KilledBySignal(SIGSEGV), "default/deep");
  EXPECT_NE(Content().find("\"podUID\":\"uid-2\""), std::string::npos);
}

TEST_F(CrashRecordTest, APodIsHeldBackHoweverTheProcessDiedUnderItsWork) {
  EXPECT_DEATH(DieOf(SIGSEGV), "SIGSEGV");
  EXPECT_DEATH(Crash("default/web"), "CHECK failed");
  EXPECT_TRUE(PodsToHoldBack(ReadCrashRecord(path_)).empty());
  EXPECT_DEATH(DieOf(SIGFPE), "SIGFPE");
  EXPECT_EQ(PodsToHoldBack(ReadCrashRecord(path_)), std::set{PodUid("uid-1")});
}

#endif

TEST_F(CrashRecordTest, HostileNamesStayOneValidLine) {
  EXPECT_DEATH(Crash("a\"b\\c\nd"), "CHECK failed");
  EXPECT_NE(Content().find("\"pod\":\"a?b?c?d\""), std::string::npos);
}

TEST_F(CrashRecordTest, OverlongNamesAreCutAndTheLineIsClosed) {
  EXPECT_DEATH(Crash(std::string(5000, 'x')), "CHECK failed");
  const std::string record = Content();
  EXPECT_LT(record.size(), 1100u);
  EXPECT_TRUE(record.ends_with("\"}\n"));
}

TEST_F(CrashRecordTest, AGrownFileStartsAnew) {
  std::ofstream(path_) << std::string(kCrashRecordBytesMax + 1, 'x');
  EXPECT_DEATH(Crash("default/web"), "CHECK failed");
  EXPECT_LT(Content().size(), 1100u);
}

TEST_F(CrashRecordTest, AnOverlongPathIsRefused) {
  EXPECT_EQ(InstallCrashRecorder(std::string(5000, 'p'), clock_).error().code(),
            ErrorCode::kInvalid);
}

std::string Death(const std::string& uid) {
  return "{\"unixMillis\":1,\"pod\":\"ns/p\",\"podUID\":\"" + uid + "\",\"condition\":\"x\"}\n";
}

TEST(PodsToHoldBack, ThreeDeathsRunningAreEnough) {
  EXPECT_TRUE(PodsToHoldBack("").empty());
  EXPECT_TRUE(PodsToHoldBack(Death("a") + Death("a")).empty());
  EXPECT_EQ(PodsToHoldBack(Death("a") + Death("a") + Death("a")), std::set{PodUid("a")});
  EXPECT_TRUE(PodsToHoldBack(Death("a") + Death("a") + Death("b") + Death("a")).empty());
}

TEST(PodsToHoldBack, OneThatIsHeldBackStaysSoWhenAnotherShows) {
  std::string record;
  for (const char* uid : {"a", "a", "a", "b", "b", "b"}) record += Death(uid);
  EXPECT_EQ(PodsToHoldBack(record), (std::set{PodUid("a"), PodUid("b")}));
}

TEST(PodsToHoldBack, ADeathUnderNobodysWorkInBetweenChangesNothing) {
  EXPECT_EQ(PodsToHoldBack(Death("a") + Death("") + Death("a") + Death("") + Death("a")),
            std::set{PodUid("a")});
  EXPECT_TRUE(PodsToHoldBack(Death("a") + Death("") + Death("a") + Death("")).empty());
}

TEST(PodsToHoldBack, DeathsUnderNobodysWorkAndTornLinesHoldBackNobody) {
  EXPECT_TRUE(PodsToHoldBack(Death("") + Death("") + Death("")).empty());
  EXPECT_TRUE(PodsToHoldBack("x\ny\nz\n").empty());
  const std::string torn = Death("a");
  EXPECT_TRUE(PodsToHoldBack(torn + torn + torn.substr(0, torn.size() - 1)).empty());
}

TEST_F(CrashRecordTest, TheRecordOfThreeDeathsNamesThePodUntilAnOrderlyEnd) {
  for (int i = 0; i < 3; ++i) EXPECT_DEATH(Crash("default/web"), "CHECK failed");
  EXPECT_EQ(PodsToHoldBack(ReadCrashRecord(path_)), std::set{PodUid("uid-1")});
  ForgetCrashes(path_);
  EXPECT_EQ(ReadCrashRecord(path_), "");
}

}  // namespace
}  // namespace denselet::app
