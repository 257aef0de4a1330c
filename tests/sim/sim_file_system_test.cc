#include "tests/sim/sim_file_system.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/sim/world.h"

namespace denselet::sim {
namespace {

using reactor::Durability;
using reactor::OpenMode;

TEST(SimFileSystem, OperationsOnOneFileDoNotOvertakeEachOther) {
  World world({.seed = 3, .shards = 1});
  Disk disk;
  SimFileSystem files(world.loop(0), world.random(), disk);
  std::string order;
  files.Open({}, "/f", OpenMode::kCreateNew, 0600, [&](Result<reactor::FileId> file) {
    ASSERT_TRUE(file);
    for (const char c : {'a', 'b', 'c', 'd'}) {
      files.Append({}, *file, std::string(1, c), [&order, c](Result<Unit>) { order += c; });
    }
    files.Close(*file);
  });
  world.RunUntil(world.clock().Now() + Seconds(1));
  EXPECT_EQ(order, "abcd");
  EXPECT_EQ(*disk.ReadFile("/f", 100), "abcd");
}

TEST(SimFileSystem, WhatWasUnderWayAtACrashTakesNoEffect) {
  World world({.seed = 3, .shards = 1});
  Disk disk;
  SimFileSystem files(world.loop(0), world.random(), disk);
  bool answered = false;
  files.ReplaceFile({}, "/f", "late", 0600, Durability::kSynced,
                    [&](Result<Unit>) { answered = true; });
  disk.Crash(world.random());
  world.RunUntil(world.clock().Now() + Seconds(1));
  EXPECT_FALSE(answered);
  EXPECT_FALSE(disk.ReadFile("/f", 100));
}

TEST(SimFileSystem, WhatWasUnderWayWhenItsProcessDiedIsAnsweredToNobody) {
  World world({.seed = 3, .shards = 1});
  Disk disk;
  bool answered = false;
  CancelSource source;
  Context context;
  context.cancel = source.token();
  {
    SimFileSystem files(world.loop(0), world.random(), disk);
    files.ReplaceFile(context.WithTimeout(world.clock().Now(), Seconds(1)), "/f", "late", 0600,
                      Durability::kSynced, [&](Result<Unit>) { answered = true; });
    files.ReadFile({}, std::string("a\0b", 3), 1, [&](Result<std::string>) { answered = true; });
  }
  source.Cancel();
  world.RunUntil(world.clock().Now() + Seconds(2));
  EXPECT_FALSE(answered);
  EXPECT_FALSE(disk.ReadFile("/f", 100));
}

TEST(SimFileSystem, OneThatHangsIsAnsweredAtItsDeadline) {
  World world({.seed = 3, .shards = 1});
  Disk disk;
  disk.faults().hang = 1;
  SimFileSystem files(world.loop(0), world.random(), disk);
  std::optional<Result<std::string>> answer;
  files.ReadFile(Context().WithTimeout(world.clock().Now(), Seconds(10)), "/f", 1,
                 [&](Result<std::string> result) { answer = std::move(result); });
  world.RunUntil(world.clock().Now() + Seconds(9));
  EXPECT_FALSE(answer);
  world.RunUntil(world.clock().Now() + Seconds(2));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->error().code(), ErrorCode::kUnknownOutcome);
}

// A replace whose context ends while it is under way, under one seed.
struct Ended {
  std::optional<Status> answer;
  bool done_at_answer = false;
  bool done_in_the_end = false;
};

Ended EndUnderWay(uint64_t seed, bool by_cancel) {
  World world({.seed = seed, .shards = 1});
  Disk disk;
  disk.faults().delay_max = Seconds(10);
  SimFileSystem files(world.loop(0), world.random(), disk);
  CancelSource source;
  Context context;
  context.cancel = source.token();
  const TimePoint end = world.clock().Now() + Milliseconds(1);
  if (!by_cancel) context.deadline = end;
  if (by_cancel) world.Later(Milliseconds(1), [&] { source.Cancel(); });
  Ended ended;
  files.ReplaceFile(context, "/f", "late", 0600, Durability::kSynced, [&](Status status) {
    EXPECT_FALSE(ended.answer) << "answered twice";
    ended.answer.emplace(std::move(status));
    ended.done_at_answer = static_cast<bool>(disk.Stat("/f"));
  });
  world.RunUntil(end + Milliseconds(2));
  EXPECT_TRUE(ended.answer) << "the answer comes when the context ends";
  world.RunUntil(end + Hours(1));
  ended.done_in_the_end = static_cast<bool>(disk.Stat("/f"));
  return ended;
}

TEST(SimFileSystem, WhatEndsUnderWayHasAnUnknownOutcomeWhichTheSeedDecides) {
  for (const bool by_cancel : {false, true}) {
    int never = 0, later = 0;
    for (uint64_t seed = 1; seed <= 50; ++seed) {
      const Ended ended = EndUnderWay(seed, by_cancel);
      ASSERT_TRUE(ended.answer);
      if (*ended.answer) continue;  // it was quicker
      EXPECT_EQ(ended.answer->error(),
                Error(ErrorCode::kUnknownOutcome,
                      by_cancel ? "replace \"/f\": still under way when it was cancelled"
                                : "replace \"/f\": still under way when the deadline passed"));
      EXPECT_FALSE(ended.done_at_answer);
      ++(ended.done_in_the_end ? later : never);
    }
    EXPECT_GT(never, 5);
    EXPECT_GT(later, 5);
  }
}

TEST(SimFileSystem, WhatIsLateMayComeAfterWhatWasStartedLater) {
  bool overtaken = false;
  for (uint64_t seed = 1; seed <= 100 && !overtaken; ++seed) {
    World world({.seed = seed, .shards = 1});
    Disk disk;
    SimFileSystem files(world.loop(0), world.random(), disk);
    Context context;
    context.deadline = world.clock().Now() + Microseconds(10);
    bool second_done = false;
    files.ReplaceFile(context, "/f", "first", 0600, Durability::kSynced, [&](Status first) {
      if (first) return;
      files.ReplaceFile({}, "/f", "second", 0600, Durability::kSynced,
                        [&](Status second) { second_done = static_cast<bool>(second); });
    });
    world.RunUntil(world.clock().Now() + Hours(1));
    overtaken = second_done && *disk.ReadFile("/f", 100) == "first";
  }
  EXPECT_TRUE(overtaken);
}

TEST(SimFileSystem, AFileOpenedForNobodyIsNotKeptOpen) {
  World world({.seed = 3, .shards = 1});
  Disk disk;
  SimFileSystem files(world.loop(0), world.random(), disk);
  for (uint32_t i = 0; i < 2 * SimFileSystem::kOpenFilesMax; ++i) {
    Context context;
    context.deadline = world.clock().Now() + Microseconds(10);
    files.Open(context, "/f", OpenMode::kAppend, 0600, [&](Result<reactor::FileId> file) {
      if (file) files.Close(*file);
    });
    world.RunUntil(world.clock().Now() + Seconds(1));
  }
  bool opened = false;
  files.Open({}, "/f", OpenMode::kAppend, 0600,
             [&](Result<reactor::FileId> file) { opened = static_cast<bool>(file); });
  world.RunUntil(world.clock().Now() + Seconds(1));
  EXPECT_TRUE(opened);
}

TEST(SimFileSystem, AnInjectedFaultNamesTheOperationAndThePath) {
  World world({.seed = 3, .shards = 1});
  Disk disk;
  disk.faults().error = 1;
  SimFileSystem files(world.loop(0), world.random(), disk);
  std::optional<Status> answer;
  files.Unlink({}, "/f", [&](Status status) { answer.emplace(std::move(status)); });
  world.RunUntil(world.clock().Now() + Seconds(1));
  EXPECT_EQ(answer->error(), Error(ErrorCode::kIo, "unlink \"/f\": Input/output error"));
}

TEST(SimFileSystem, WhatWasUnderWayAtACrashIsAnsweredToNobodyAlsoAtItsDeadline) {
  World world({.seed = 3, .shards = 1});
  Disk disk;
  disk.faults().delay_max = Seconds(10);
  SimFileSystem files(world.loop(0), world.random(), disk);
  Context context;
  context.deadline = world.clock().Now() + Milliseconds(1);
  bool answered = false;
  files.ReplaceFile(context, "/f", "late", 0600, Durability::kSynced,
                    [&](Result<Unit>) { answered = true; });
  disk.Crash(world.random());
  world.RunUntil(world.clock().Now() + Hours(1));
  EXPECT_FALSE(answered);
  EXPECT_FALSE(disk.ReadFile("/f", 100));
}

}  // namespace
}  // namespace denselet::sim
