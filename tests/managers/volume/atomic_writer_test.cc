#include "managers/volume/atomic_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/fake_disk.h"

namespace denselet::managers {
namespace {

using testing::ElementsAre;
using testing::Pair;

constexpr const char* kVolume = "/v";

ContentWrite Write(Payload payload, uint32_t number) {
  return {.folder = kVolume,
          .payload = std::move(payload),
          .stamp = "..2026_01_02_15_04_05.",
          .number = number};
}

class AtomicWriterTest : public testing::Test {
 protected:
  AtomicWriterTest() { disk_.PutFolder(kVolume); }
  std::string Seen(const std::string& name) {
    return disk_.Content(std::string(kVolume) + "/" + name).value_or("-");
  }

  fakes::FakeDisk disk_;
};

TEST(StampOf, IsTheTimeInUtcAsUpstreamWritesIt) {
  EXPECT_EQ(StampOf(WallTime(Seconds(1'767'366'245))), "..2026_01_02_15_04_05.");
}

TEST_F(AtomicWriterTest, TheLayoutIsUpstreams) {
  ASSERT_TRUE(WriteContent(
      disk_,
      Write({{"a", {"1", 0400, {}}}, {"d/e/f", {"2", 0644, {}}}, {"t", {"3", 0600, 7}}}, 5)));
  EXPECT_THAT(
      disk_.Tree(kVolume),
      ElementsAre(Pair("/v", "0755 0:0 dir"), Pair("/v/..2026_01_02_15_04_05.5", "0755 0:0 dir"),
                  Pair("/v/..2026_01_02_15_04_05.5/a", "0400 0:0 1"),
                  Pair("/v/..2026_01_02_15_04_05.5/d", "0755 0:0 dir"),
                  Pair("/v/..2026_01_02_15_04_05.5/d/e", "0755 0:0 dir"),
                  Pair("/v/..2026_01_02_15_04_05.5/d/e/f", "0644 0:0 2"),
                  Pair("/v/..2026_01_02_15_04_05.5/t", "0600 7:0 3"),
                  Pair("/v/..data", "-> ..2026_01_02_15_04_05.5"), Pair("/v/a", "-> ..data/a"),
                  Pair("/v/d", "-> ..data/d"), Pair("/v/t", "-> ..data/t")));
}

TEST_F(AtomicWriterTest, TheGroupGetsToReadBeforeAnybodySeesIt) {
  ContentWrite write = Write({{"a", {"1", 0600, {}}}}, 5);
  write.fs_group = 9;
  ASSERT_TRUE(WriteContent(disk_, write));
  const auto tree = disk_.Tree(kVolume);
  EXPECT_EQ(tree.at("/v"), "2755 0:9 dir");
  EXPECT_EQ(tree.at("/v/..2026_01_02_15_04_05.5"), "2755 0:9 dir");
  EXPECT_EQ(tree.at("/v/..2026_01_02_15_04_05.5/a"), "0640 0:9 1");
}

TEST_F(AtomicWriterTest, TheSameAgainChangesNothing) {
  ASSERT_TRUE(WriteContent(disk_, Write({{"a", {"1"}}, {"d/e", {"2"}}}, 5)));
  const auto before = disk_.Tree(kVolume);
  ASSERT_TRUE(WriteContent(disk_, Write({{"a", {"1"}}, {"d/e", {"2"}}}, 6)));
  EXPECT_EQ(disk_.Tree(kVolume), before);
}

TEST_F(AtomicWriterTest, AnUpdateReplacesAddsAndTakesAway) {
  ASSERT_TRUE(WriteContent(disk_, Write({{"a", {"1"}}, {"b", {"2"}}, {"d/e", {"3"}}}, 5)));
  ASSERT_TRUE(WriteContent(disk_, Write({{"a", {"10"}}, {"c", {"4"}}, {"d/f", {"5"}}}, 6)));
  EXPECT_EQ(Seen("a"), "10");
  EXPECT_EQ(Seen("c"), "4");
  EXPECT_EQ(Seen("d/f"), "5");
  const auto tree = disk_.Tree(kVolume);
  EXPECT_EQ(tree.count("/v/b"), 0u);
  EXPECT_EQ(tree.count("/v/..2026_01_02_15_04_05.5"), 0u);
  // What only goes is an update, too.
  ASSERT_TRUE(WriteContent(disk_, Write({{"a", {"10"}}}, 7)));
  EXPECT_EQ(disk_.Tree(kVolume).size(), 5u);
  ASSERT_TRUE(WriteContent(disk_, Write({}, 8)));
  EXPECT_EQ(disk_.Tree(kVolume).size(), 3u);
}

TEST_F(AtomicWriterTest, ADirectoryOfTheSameNameIsNotTaken) {
  ASSERT_TRUE(WriteContent(disk_, Write({{"a", {"1"}}}, 5)));
  ASSERT_TRUE(WriteContent(disk_, Write({{"a", {"2"}}}, 5)));
  EXPECT_EQ(disk_.Tree(kVolume).at("/v/..data"), "-> ..2026_01_02_15_04_05.6");
  EXPECT_EQ(disk_.Tree(kVolume).size(), 5u);
}

TEST_F(AtomicWriterTest, ALinkThatCannotBeLookedAtIsNotTakenForOneThatIsThere) {
  disk_.set_fault([](const std::string& call, const std::string& path) -> std::optional<Error> {
    if (call == "read link" && path == "/v/a") return Error(ErrorCode::kIo, "a bad disk");
    return std::nullopt;
  });
  EXPECT_FALSE(WriteContent(disk_, Write({{"a", {"1"}}}, 5)));
  disk_.set_fault({});
  ASSERT_TRUE(WriteContent(disk_, Write({{"a", {"1"}}}, 6)));
  EXPECT_EQ(Seen("a"), "1");
}

TEST_F(AtomicWriterTest, PlacesForMountsInItStay) {
  disk_.PutFolder("/v/nested/deep");
  ASSERT_TRUE(WriteContent(disk_, Write({{"a", {"1"}}}, 5)));
  ASSERT_TRUE(WriteContent(disk_, Write({{"b", {"1"}}}, 6)));
  EXPECT_EQ(disk_.Tree(kVolume).count("/v/nested/deep"), 1u);
}

// Killed before each of its calls: readers see all of the old or all of the new, and the next write
// leaves nothing of it.
TEST_F(AtomicWriterTest, KilledAtAnyCallNobodySeesAHalf) {
  const Payload old = {{"a", {"1"}}, {"b", {"1"}}, {"gone", {"1"}}};
  const Payload next = {{"a", {"2"}}, {"b", {"2"}}, {"c/d", {"2"}}};
  bool finished = false;
  for (uint64_t calls = 0; !finished; ++calls) {
    fakes::FakeDisk disk;
    disk.PutFolder(kVolume);
    ASSERT_TRUE(WriteContent(disk, Write(old, 1)));
    disk.Live(calls);
    finished = static_cast<bool>(WriteContent(disk, Write(next, 2)));
    disk.Live();
    const auto a = disk.Content("/v/a");
    EXPECT_EQ(a, disk.Content("/v/b")) << "killed after " << calls;
    EXPECT_TRUE(a == "1" || a == "2") << "killed after " << calls;
    ASSERT_TRUE(WriteContent(disk, Write(next, 3)));
    EXPECT_EQ(disk.Content("/v/c/d"), "2");
    // /v, ..data, one directory with a, b, c, c/d, and three links.
    EXPECT_EQ(disk.Tree(kVolume).size(), 10u) << "killed after " << calls;
    ASSERT_LT(calls, 1000u);
  }
}

// One of its calls fails, and it is tried again and again with directories of other names:
// what was there is seen on, and the tries leave nothing.
TEST_F(AtomicWriterTest, AWriteThatFailsTakesItsOwnAway) {
  const Payload old = {{"a", {"1"}}, {"b", {"1"}}};
  const Payload next = {{"a", {"2"}}, {"c/d", {"2", 0600, 7}}};
  for (const char* call :
       {"write", "make directories", "change user", "link", "rename", "share tree"}) {
    fakes::FakeDisk disk;
    disk.PutFolder(kVolume);
    ASSERT_TRUE(WriteContent(disk, Write(old, 1)));
    const auto before = disk.Tree(kVolume);
    bool failed = false;
    disk.set_fault([&](const std::string& name, const std::string&) -> std::optional<Error> {
      if (name != call) return std::nullopt;
      failed = true;
      return Error(ErrorCode::kIo, "no space left");
    });
    for (uint32_t i = 2; i < 20; ++i) {
      ContentWrite write = Write(next, i);
      if (std::string(call) == "share tree") write.fs_group = 9;
      EXPECT_FALSE(WriteContent(disk, write));
    }
    EXPECT_TRUE(failed) << call;
    EXPECT_EQ(disk.Tree(kVolume), before) << call;
  }
}

TEST_F(AtomicWriterTest, WhatOthersLeftMakesPlaceFirst) {
  disk_.Put("/v/..2026_01_02_15_04_04.7/a", "of a writer that was killed");
  bool full = true;
  disk_.set_fault([&](const std::string& call, const std::string& path) -> std::optional<Error> {
    if (call == "remove tree" && path == "/v/..2026_01_02_15_04_04.7") full = false;
    if (call == "write" && full) return Error(ErrorCode::kIo, "no space left");
    return std::nullopt;
  });
  ASSERT_TRUE(WriteContent(disk_, Write({{"a", {"1"}}}, 5)));
  EXPECT_EQ(Seen("a"), "1");
  EXPECT_EQ(disk_.Tree(kVolume).size(), 5u);
}

TEST_F(AtomicWriterTest, OneThatCannotBeRemovedIsNotJoinedByOthers) {
  ASSERT_TRUE(WriteContent(disk_, Write({{"a", {"1"}}}, 1)));
  disk_.set_fault([](const std::string& call, const std::string&) -> std::optional<Error> {
    if (call == "remove tree") return Error(ErrorCode::kUnavailable, "something is mounted there");
    return std::nullopt;
  });
  for (uint32_t i = 2; i < 20; ++i) {
    EXPECT_FALSE(WriteContent(disk_, Write({{"a", {std::to_string(i)}}}, i)));
  }
  EXPECT_LE(disk_.Tree(kVolume).size(), 7u);
}

}  // namespace
}  // namespace denselet::managers
