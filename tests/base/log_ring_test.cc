#include "base/log_ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/fakes/capturing_log_sink.h"

namespace denselet {
namespace {

constexpr size_t kAll = SIZE_MAX;

// Lines as they are, and "-N" where N are missing.
std::vector<std::string> Drain(LogRing& ring, size_t bytes_max = kAll) {
  std::vector<std::string> out;
  ring.Drain(
      bytes_max, [&](std::string_view line, Severity) { out.emplace_back(line); },
      [&](uint64_t dropped) { out.push_back("-" + std::to_string(dropped)); });
  return out;
}

using Lines = std::vector<std::string>;

TEST(LogRing, GivesLinesBackInOrder) {
  LogRing ring;
  EXPECT_TRUE(ring.TryAppend("one\n", Severity::kInfo));
  ring.Write("two\n", Severity::kError);
  EXPECT_EQ(Drain(ring), (Lines{"one\n", "two\n"}));
  EXPECT_EQ(Drain(ring), Lines{});
  EXPECT_EQ(ring.appended_total(), 2u);
}

TEST(LogRing, KeepsTheSeverity) {
  LogRing ring;
  for (const Severity s : {Severity::kInfo, Severity::kWarning, Severity::kError}) {
    ring.Write("line\n", s);
  }
  std::vector<Severity> seen;
  ring.Drain(
      kAll, [&](std::string_view, Severity s) { seen.push_back(s); }, [](uint64_t) {});
  EXPECT_EQ(seen, (std::vector{Severity::kInfo, Severity::kWarning, Severity::kError}));
}

TEST(LogRing, FullRingDropsTheNewestAndTellsInPlaceHowMany) {
  LogRing ring({.capacity_bytes = 128, .reserve_bytes = 0});
  Lines expected;
  for (int i = 0; i < 10; ++i) {  // each line takes 16 bytes and a header of 16
    const std::string line = "line " + std::to_string(i) + "\n";
    EXPECT_EQ(ring.TryAppend(line, Severity::kInfo), i < 4);
    if (i < 4) expected.push_back(line);
  }
  EXPECT_EQ(ring.dropped_total(), 6u);
  expected.push_back("-6");
  EXPECT_EQ(Drain(ring), expected);
  EXPECT_EQ(Drain(ring), Lines{}) << "told once";
  EXPECT_EQ(ring.appended_total(), 4u);
}

TEST(LogRing, GapIsToldBetweenTheLinesAroundIt) {
  LogRing ring({.capacity_bytes = 64, .reserve_bytes = 0});
  const auto append = [&](const char* line) { return ring.TryAppend(line, Severity::kInfo); };
  EXPECT_TRUE(append("a"));
  EXPECT_TRUE(append("b"));
  EXPECT_FALSE(append("lost"));
  EXPECT_FALSE(append("lost"));
  EXPECT_EQ(Drain(ring, 1), (Lines{"a"}));
  EXPECT_TRUE(append("c"));
  EXPECT_FALSE(append("lost"));
  EXPECT_EQ(Drain(ring), (Lines{"b", "-2", "c", "-1"}));
  EXPECT_TRUE(append("d"));
  EXPECT_EQ(Drain(ring), (Lines{"d"}));
  EXPECT_EQ(ring.dropped_total(), 3u);
}

TEST(LogRing, ReserveIsForErrors) {
  LogRing ring({.capacity_bytes = 256, .reserve_bytes = 64});
  int info = 0;
  while (ring.TryAppend("info\n", Severity::kInfo)) ++info;
  EXPECT_EQ(info, 6);
  EXPECT_FALSE(ring.TryAppend("warning\n", Severity::kWarning));
  EXPECT_TRUE(ring.TryAppend("error 1\n", Severity::kError));
  EXPECT_FALSE(ring.TryAppend("info\n", Severity::kInfo));
  EXPECT_TRUE(ring.TryAppend("error 2\n", Severity::kError));
  EXPECT_FALSE(ring.TryAppend("error 3\n", Severity::kError));
  Lines expected(6, "info\n");
  for (const char* line : {"-2", "error 1\n", "-1", "error 2\n", "-1"}) expected.push_back(line);
  EXPECT_EQ(Drain(ring), expected);
}

TEST(LogRing, LineThatNeverFitsIsDropped) {
  LogRing ring({.capacity_bytes = 128, .reserve_bytes = 64});
  EXPECT_FALSE(ring.TryAppend(std::string(64, 'x'), Severity::kInfo));
  EXPECT_FALSE(ring.TryAppend(std::string(1 << 20, 'x'), Severity::kError));
  EXPECT_TRUE(ring.TryAppend(std::string(64, 'x'), Severity::kError));
  EXPECT_EQ(Drain(ring), (Lines{"-2", std::string(64, 'x')}));
}

TEST(LogRing, DrainStopsBeforeMoreBytesThanAskedFor) {
  LogRing ring;
  for (const char* line : {"aaaa", "bbbb", "cccc"}) ring.Write(line, Severity::kInfo);
  EXPECT_EQ(Drain(ring, 9), (Lines{"aaaa", "bbbb"}));
  EXPECT_EQ(Drain(ring, 1), (Lines{"cccc"})) << "one line always goes";
}

TEST(LogRing, LinesOfAllSizesSurviveTheEndOfTheRing) {
  LogRing ring({.capacity_bytes = 512, .reserve_bytes = 0});
  for (size_t i = 0; i < 5000; ++i) {
    const std::string line(i * 7 % 241, static_cast<char>('a' + i % 26));
    ASSERT_TRUE(ring.TryAppend(line, Severity::kInfo)) << i;
    ASSERT_EQ(Drain(ring), Lines{line}) << i;
  }
}

TEST(LogRing, NoticeOfAGapIsALineOfTheWritersOwnLogger) {
  LogRing ring({.capacity_bytes = 64, .reserve_bytes = 0});
  for (int i = 0; i < 5; ++i) ring.Write("a\n", Severity::kInfo);
  ManualClock clock;
  LogVerbosity verbosity;
  CapturingLogSink out;
  const LogOutput output{.format = {.style = LogStyle::kJson, .utc_offset = {}, .thread_id = 1},
                         .clock = clock,
                         .verbosity = verbosity,
                         .sink = out};
  const Logger log(output);
  ring.Drain(
      kAll, [&](std::string_view line, Severity s) { out.Write(line, s); },
      [&](uint64_t dropped) { log.Warning("Dropped log lines", KV("lines", dropped)); });
  const std::string all = out.Take();
  EXPECT_TRUE(all.starts_with("a\na\n{\"ts\":")) << all;
  EXPECT_TRUE(all.ends_with(R"("msg":"Dropped log lines","v":0,"lines":3})"
                            "\n"))
      << all;
}

// The line with number i: the number, and as many letters as its number says, so that a torn or
// mixed line cannot pass.
std::string NumberedLine(uint64_t i) {
  return std::to_string(i) + ":" + std::string(i * 13 % 97, static_cast<char>('a' + i % 26)) + "\n";
}

TEST(LogRing, OverflowUnderTwoThreadsLosesNothingUncounted) {
  constexpr uint64_t kAttempts = 20'000;
  LogRing ring({.capacity_bytes = 2048, .reserve_bytes = 256});
  std::atomic<bool> done = false;
  std::thread producer([&] {
    for (uint64_t i = 0; i < kAttempts; ++i) {
      ring.Write(NumberedLine(i), i % 10 == 0 ? Severity::kError : Severity::kInfo);
      if (i % 64 == 0) std::this_thread::yield();
    }
    done.store(true);
  });
  // Every line and every gap moves this on by what it stands for, so order and place are checked
  // with the count.
  uint64_t next = 0, lines = 0, dropped = 0, torn = 0;
  const auto drain = [&] {
    ring.Drain(
        1024,
        [&](std::string_view line, Severity) {
          if (line != NumberedLine(next)) ++torn;
          ++next, ++lines;
        },
        [&](uint64_t n) { next += n, dropped += n; });
  };
  while (ring.dropped_total() == 0) std::this_thread::yield();
  while (!done.load()) {
    drain();
    std::this_thread::yield();
  }
  producer.join();
  while (lines + dropped < ring.appended_total() + ring.dropped_total()) drain();
  EXPECT_EQ(torn, 0u);
  EXPECT_EQ(next, kAttempts);
  EXPECT_EQ(lines, ring.appended_total());
  EXPECT_EQ(dropped, ring.dropped_total());
  EXPECT_EQ(lines + dropped, kAttempts);
  EXPECT_GT(dropped, 0u);
}

}  // namespace
}  // namespace denselet
