#include "tests/sim/disk.h"

#include <gtest/gtest.h>

namespace denselet::sim {
namespace {

using reactor::Durability;
using reactor::OpenMode;

TEST(Disk, SyncedFilesSurviveACrash) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Disk disk;
    SeededRandom random(seed);
    ASSERT_TRUE(disk.ReplaceFile("/f", "synced", 0600, Durability::kSynced, {}));
    disk.Crash(random);
    EXPECT_EQ(*disk.ReadFile("/f", 100), "synced");
  }
}

TEST(Disk, UnsyncedChangesMayBeLostOrKept) {
  bool lost = false, kept = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Disk disk;
    SeededRandom random(seed);
    ASSERT_TRUE(disk.ReplaceFile("/f", "old", 0600, Durability::kSynced, {}));
    ASSERT_TRUE(disk.ReplaceFile("/f", "newer", 0600, Durability::kCached, {}));
    disk.Crash(random);
    const std::string content = *disk.ReadFile("/f", 100);
    lost |= content == "old";
    kept |= content == "newer";
  }
  EXPECT_TRUE(lost);
  EXPECT_TRUE(kept);
}

TEST(Disk, AppendedDataMayBeTornBehindTheLastSync) {
  bool torn = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Disk disk;
    SeededRandom random(seed);
    const auto file = disk.Open("/f", OpenMode::kCreateNew, 0600, {});
    ASSERT_TRUE(file);
    (*file)->content = "kept";
    disk.Sync(*file);
    ASSERT_TRUE(disk.SyncDirectory("/"));
    (*file)->content += "tail";
    disk.Crash(random);
    const std::string content = *disk.ReadFile("/f", 100);
    EXPECT_TRUE(std::string_view("kepttail").starts_with(content) && content.size() >= 4)
        << content;
    torn |= content.size() > 4 && content.size() < 8;
  }
  EXPECT_TRUE(torn);
}

TEST(Disk, NamesAreSafeOnceTheirDirectoryIsSynced) {
  bool lost = false, back = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Disk disk;
    SeededRandom random(seed);
    ASSERT_TRUE(disk.ReplaceFile("/removed", "", 0600, Durability::kSynced, {}));
    ASSERT_TRUE(disk.ReplaceFile("/removed_synced", "", 0600, Durability::kSynced, {}));
    ASSERT_TRUE(disk.Unlink("/removed_synced"));
    ASSERT_TRUE(disk.Open("/synced", OpenMode::kCreateNew, 0600, {}));
    ASSERT_TRUE(disk.SyncDirectory("/"));
    const auto file = disk.Open("/new", OpenMode::kCreateNew, 0600, {});
    disk.Sync(*file);
    ASSERT_TRUE(disk.Unlink("/removed"));
    disk.Crash(random);
    EXPECT_TRUE(disk.Stat("/synced"));
    EXPECT_FALSE(disk.Stat("/removed_synced"));
    lost |= !disk.Stat("/new");
    back |= static_cast<bool>(disk.Stat("/removed"));
  }
  EXPECT_TRUE(lost);
  EXPECT_TRUE(back);
}

TEST(Disk, ALinkIsTheOldOneOrTheNewOneAfterACrash) {
  bool old_one = false, new_one = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Disk disk;
    SeededRandom random(seed);
    ASSERT_TRUE(disk.Symlink("/old", "/current", {}));
    ASSERT_TRUE(disk.SyncDirectory("/"));
    ASSERT_TRUE(disk.Symlink("/new", "/updated", {}));
    ASSERT_TRUE(disk.Rename("/updated", "/current"));
    disk.Crash(random);
    const std::string target = *disk.ReadLink("/current");
    old_one |= target == "/old";
    new_one |= target == "/new";
    EXPECT_TRUE(target == "/old" || target == "/new") << target;
  }
  EXPECT_TRUE(old_one);
  EXPECT_TRUE(new_one);
}

TEST(Disk, WhatWasReplacedWithoutSyncMayBeTorn) {
  bool torn = false;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Disk disk;
    SeededRandom random(seed);
    ASSERT_TRUE(disk.ReplaceFile("/f", "content", 0600, Durability::kCached, {}));
    ASSERT_TRUE(disk.SyncDirectory("/"));
    disk.Crash(random);
    torn |= disk.ReadFile("/f", 100)->size() < 7;
  }
  EXPECT_TRUE(torn);
}

TEST(Disk, ErrorsNameTheOperationAndThePath) {
  Disk disk;
  EXPECT_EQ(disk.ReadFile("/no", 1).error().message(), "read \"/no\": No such file or directory");
  EXPECT_EQ(disk.Open("/no/f", OpenMode::kCreateNew, 0, {}).error().code(), ErrorCode::kNotFound);
  ASSERT_TRUE(disk.MakeDirectories("/a/b", 0700));
  EXPECT_EQ(disk.RemoveDirectory("/a").error().code(), ErrorCode::kAlreadyExists);
  ASSERT_TRUE(disk.ReplaceFile("/a/b/f", "12345", 0600, Durability::kCached, {}));
  EXPECT_EQ(disk.ReadFile("/a/b/f", 4).error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(disk.List("/a/b", 10)->at(0).name, "f");
  EXPECT_EQ(disk.List("/a/b", 0).error().code(), ErrorCode::kOverloaded);
}

TEST(Disk, AFullOneTakesAPartOfAnAppend) {
  Disk disk;
  const Disk::InodeRef file = *disk.Open("/f", OpenMode::kCreateNew, 0600, {});
  disk.faults().bytes_max = 5;
  const Status part = disk.Append(file, "12345678", "/f", {});
  ASSERT_FALSE(part);
  EXPECT_EQ(part.error().code(), ErrorCode::kUnknownOutcome);
  EXPECT_EQ(*disk.ReadFile("/f", 100), "12345");
  const Status none = disk.Append(file, "x", "/f", {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code(), ErrorCode::kOverloaded);
  EXPECT_FALSE(disk.ReplaceFile("/g", "x", 0600, Durability::kSynced, {}));
}

TEST(Disk, AReadOnlyOneOpensForReadingOnly) {
  Disk disk;
  ASSERT_TRUE(disk.Open("/f", OpenMode::kCreateNew, 0600, {}));
  disk.faults().read_only = true;
  EXPECT_TRUE(disk.Open("/f", OpenMode::kRead, 0, {}));
  EXPECT_EQ(disk.Open("/f", OpenMode::kAppend, 0, {}).error().code(), ErrorCode::kPermission);
  EXPECT_EQ(disk.Open("/g", OpenMode::kCreateNew, 0, {}).error().code(), ErrorCode::kPermission);
}

TEST(Disk, NothingChangesWhileItIsReadOnly) {
  Disk disk;
  ASSERT_TRUE(disk.MakeDirectories("/d", 0700));
  const auto file = disk.Open("/f", OpenMode::kCreateNew, 0600, {});
  ASSERT_TRUE(file);
  disk.faults().read_only = true;
  EXPECT_FALSE(disk.Append(*file, "a", "/f", {}));
  EXPECT_FALSE(disk.ReplaceFile("/g", "", 0600, Durability::kSynced, {}));
  EXPECT_FALSE(disk.MakeDirectories("/d/e", 0700));
  EXPECT_FALSE(disk.Rename("/f", "/g"));
  EXPECT_FALSE(disk.Symlink("/f", "/g", {}));
  EXPECT_FALSE(disk.Unlink("/f"));
  EXPECT_FALSE(disk.RemoveDirectory("/d"));
  EXPECT_TRUE(disk.MakeDirectories("/d", 0700));
}

TEST(Disk, ACrashGarblesUnsyncedDataOnly) {
  SeededRandom random(4);
  bool garbled = false;
  for (int round = 0; round < 50; ++round) {
    Disk disk;
    disk.faults().garble = 1;
    const Disk::InodeRef file = *disk.Open("/f", OpenMode::kCreateNew, 0600, {});
    ASSERT_TRUE(disk.Append(file, "safe", "/f", {}));
    disk.Sync(file);
    ASSERT_TRUE(disk.SyncDirectory("/"));
    ASSERT_TRUE(disk.Append(file, "unsafe", "/f", {}));
    disk.Crash(random);
    const std::string left = *disk.ReadFile("/f", 100);
    EXPECT_TRUE(left.starts_with("safe"));
    garbled |= !std::string("safeunsafe").starts_with(left);
  }
  EXPECT_TRUE(garbled);
}

TEST(Disk, AFullOneKeepsWhatItHasAndTakesNothingMore) {
  Disk disk;
  ASSERT_TRUE(disk.MakeDirectories("/d", 0755));
  ASSERT_TRUE(disk.ReplaceFile("/d/f", "old", 0600, reactor::Durability::kCached, {}));
  disk.faults().full = true;
  EXPECT_TRUE(disk.MakeDirectories("/d", 0755)) << "it is there";
  EXPECT_FALSE(disk.MakeDirectories("/d/e", 0755));
  EXPECT_FALSE(disk.ReplaceFile("/d/f", "new", 0600, reactor::Durability::kCached, {}));
  EXPECT_FALSE(disk.Open("/d/g", reactor::OpenMode::kAppend, 0600, {}));
  EXPECT_FALSE(disk.Symlink("/d/f", "/d/l", {}));
  EXPECT_EQ(*disk.ReadFile("/d/f", 100), "old");
  EXPECT_TRUE(disk.Unlink("/d/f"));
  EXPECT_TRUE(disk.RemoveDirectory("/d"));
}

}  // namespace
}  // namespace denselet::sim
