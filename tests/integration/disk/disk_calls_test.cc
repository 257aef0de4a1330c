#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "reactor/kernel_disk_calls.h"
#include "reactor/shared_mount.h"
#include "tests/integration/test_files.h"

namespace denselet::reactor {
namespace {

namespace fs = std::filesystem;

// Each test runs on a thread with a mount namespace of its own, which goes with the thread.
class DiskCallsTest : public testing::Test {
 protected:
  DiskCallsTest() {
    std::string name = testing::TempDir() + "disk_calls.XXXXXX";
    dir_ = ::mkdtemp(name.data());
  }
  ~DiskCallsTest() override { fs::remove_all(dir_); }

  void InOwnNamespace(const std::function<void()>& body) {
    bool allowed = true;
    std::thread([&] {
      allowed = ::unshare(CLONE_NEWNS) == 0 &&
                ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
      if (allowed) body();
    }).join();
    if (!allowed) GTEST_SKIP() << "mount namespaces are not allowed here";
  }

  std::string At(const std::string& path) const { return dir_ + "/" + path; }
  void Folder(const std::string& path) { fs::create_directories(At(path)); }
  uint32_t ModeOf(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(::lstat(At(path).c_str(), &info), 0) << path;
    return info.st_mode & 07777;
  }
  uint32_t GroupOf(const std::string& path) {
    struct stat info {};
    EXPECT_EQ(::lstat(At(path).c_str(), &info), 0) << path;
    return info.st_gid;
  }
  std::string Fault(const Status& status) { return status ? "" : status.error().message(); }

  std::string dir_;
  KernelDiskCalls disk_;
};

TEST_F(DiskCallsTest, ATmpfsIsMountedSeenAndUnmounted) {
  InOwnNamespace([&] {
    Folder("v");
    EXPECT_FALSE(disk_.Stat(At("v"))->mount_point);
    ASSERT_EQ(Fault(disk_.Mount(MountKind::kTmpfs, At("v"), "size=65536")), "");
    const Result<PathInfo> info = disk_.Stat(At("v"));
    EXPECT_TRUE(info->mount_point);
    EXPECT_EQ(info->mode, 01777u);
    EXPECT_EQ(disk_.RemoveTree(At("v")).error().code(), ErrorCode::kUnavailable);
    ASSERT_EQ(Fault(disk_.Unmount(At("v"))), "");
    EXPECT_FALSE(disk_.Stat(At("v"))->mount_point);
    EXPECT_EQ(disk_.Unmount(At("v")).error().code(), ErrorCode::kInvalid);
    EXPECT_EQ(disk_.Mount(MountKind::kTmpfs, At("v"), "nosuchoption").error().code(),
              ErrorCode::kInvalid);
  });
}

TEST_F(DiskCallsTest, ModesAreThoseThatWereAskedForWhateverTheUmask) {
  InOwnNamespace([&] {
    ::umask(077);
    ASSERT_EQ(Fault(disk_.MakeDirectory(At("d"), 0777)), "");
    ASSERT_EQ(Fault(disk_.WriteNew(At("d/f"), "text", 0644)), "");
    EXPECT_EQ(ModeOf("d"), 0777u);
    EXPECT_EQ(ModeOf("d/f"), 0644u);
    EXPECT_EQ(Content(At("d/f")), "text");
    EXPECT_EQ(disk_.WriteNew(At("d/f"), "", 0644).error().code(), ErrorCode::kAlreadyExists);
    ASSERT_EQ(Fault(disk_.BindBelow({At("d"), "new/deep"}, 02775, At("t/x/0"))), "");
    EXPECT_EQ(ModeOf("d/new"), 02775u);
    EXPECT_EQ(ModeOf("d/new/deep"), 02775u);
  });
}

TEST_F(DiskCallsTest, ATreeGoesWithItsLinksAndWithoutWhatTheyLeadTo) {
  InOwnNamespace([&] {
    Folder("t/a/b");
    Folder("outside");
    Put(At("outside/keep"), "x");
    Put(At("t/a/f"), "x");
    fs::create_directory_symlink(At("outside"), At("t/a/link"));
    fs::create_symlink("/nowhere", At("t/dangling"));
    ASSERT_EQ(Fault(disk_.RemoveTree(At("t"))), "");
    EXPECT_FALSE(fs::exists(At("t")));
    EXPECT_TRUE(fs::exists(At("outside/keep")));
    EXPECT_EQ(Fault(disk_.RemoveTree(At("t"))), "") << "not there is fine";
    Put(At("file"), "x");
    EXPECT_EQ(Fault(disk_.RemoveTree(At("file"))), "");
    EXPECT_FALSE(fs::exists(At("file")));
  });
}

TEST_F(DiskCallsTest, ATreeOfAnyDepthGoes) {
  InOwnNamespace([&] {
    Folder("t");
    // Deeper than descriptors may be open, and longer than a path can be said.
    const int start = ::open(At("t").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int at = start;
    for (int i = 0; i < 3000; ++i) {
      ASSERT_EQ(::mkdirat(at, "a-directory", 0755), 0);
      const int next = ::openat(at, "a-directory", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
      ASSERT_GE(next, 0);
      ::close(at);
      at = next;
    }
    ::close(at);
    ASSERT_EQ(Fault(disk_.RemoveTree(At("t"))), "");
    EXPECT_FALSE(fs::exists(At("t")));
  });
}

TEST_F(DiskCallsTest, NothingIsRemovedBeyondAMountEvenOfTheSameFileSystem) {
  InOwnNamespace([&] {
    Folder("t/a/mounted");
    Folder("elsewhere");
    Put(At("elsewhere/keep"), "x");
    ASSERT_EQ(
        ::mount(At("elsewhere").c_str(), At("t/a/mounted").c_str(), nullptr, MS_BIND, nullptr), 0);
    const Status removed = disk_.RemoveTree(At("t"));
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().code(), ErrorCode::kUnavailable) << removed.error().message();
    EXPECT_TRUE(fs::exists(At("elsewhere/keep")));
    ASSERT_EQ(::umount(At("t/a/mounted").c_str()), 0);
    EXPECT_EQ(Fault(disk_.RemoveTree(At("t"))), "");
  });
}

TEST_F(DiskCallsTest, AGroupGetsATreeAndNotWhatLinksLeadTo) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  InOwnNamespace([&] {
    Folder("t/d");
    Put(At("t/d/f"), "x");
    Put(At("outside"), "x");
    ::chmod(At("t").c_str(), 0700);
    ::chmod(At("t/d/f").c_str(), 0600);
    ::chmod(At("outside").c_str(), 0600);
    fs::create_symlink(At("outside"), At("t/link"));
    ASSERT_EQ(
        Fault(disk_.ShareTree(At("t"), {.gid = 4711, .file_bits = 0660, .directory_bits = 02770})),
        "");
    EXPECT_EQ(ModeOf("t"), 02770u);
    EXPECT_EQ(ModeOf("t/d/f"), 0660u);
    EXPECT_EQ(GroupOf("t/d"), 4711u);
    EXPECT_EQ(GroupOf("t/link"), 4711u);
    EXPECT_EQ(ModeOf("outside"), 0600u);
    EXPECT_NE(GroupOf("outside"), 4711u);
  });
}

TEST_F(DiskCallsTest, APartIsShownOnceAndAnotherReplacesIt) {
  InOwnNamespace([&] {
    Folder("v/a");
    Put(At("v/file"), "1");
    ASSERT_EQ(Fault(disk_.BindBelow({At("v"), "a"}, 0755, At("s/v/c/0"))), "");
    ASSERT_EQ(Fault(disk_.BindBelow({At("v"), "a"}, 0755, At("s/v/c/0"))), "");
    EXPECT_EQ(ModeOf("s/v/c"), 0750u);
    Put(At("s/v/c/0/seen"), "x");
    EXPECT_EQ(Content(At("v/a/seen")), "x");
    ASSERT_EQ(Fault(disk_.Unmount(At("s/v/c/0"))), "");
    EXPECT_FALSE(disk_.Stat(At("s/v/c/0"))->mount_point) << "it was mounted twice";
    // A file in the place of a directory, and another file in the place of that.
    ASSERT_EQ(Fault(disk_.BindBelow({At("v"), "file"}, 0755, At("s/v/c/0"))), "");
    EXPECT_EQ(Content(At("s/v/c/0")), "1");
    Put(At("v/next"), "2");
    fs::rename(At("v/next"), At("v/file"));
    ASSERT_EQ(Fault(disk_.BindBelow({At("v"), "file"}, 0755, At("s/v/c/0"))), "");
    EXPECT_EQ(Content(At("s/v/c/0")), "2");
    ASSERT_EQ(Fault(disk_.Unmount(At("s/v/c/0"))), "");
    EXPECT_FALSE(disk_.Stat(At("s/v/c/0"))->mount_point);
  });
}

TEST_F(DiskCallsTest, LinksInTheVolumeAreFollowedAndThoseOutOfItAreNot) {
  InOwnNamespace([&] {
    Folder("v/..ts");
    Folder("secret");
    Put(At("v/..ts/key"), "value");
    fs::create_symlink("..ts", At("v/..data"));
    fs::create_symlink("..data/key", At("v/key"));
    fs::create_symlink("../secret", At("v/relative"));
    fs::create_symlink(At("secret"), At("v/absolute"));
    fs::create_symlink("/proc/self/root", At("v/magic"));
    fs::create_symlink("missing/deeper", At("v/dangling"));
    ASSERT_EQ(Fault(disk_.BindBelow({At("v"), "key"}, 0755, At("s/0"))), "");
    EXPECT_EQ(Content(At("s/0")), "value");
    for (const char* way : {"relative", "absolute", "magic", "relative/new", "absolute/x/y",
                            "magic/etc", "../secret", "dangling"}) {
      const Status bound = disk_.BindBelow({At("v"), way}, 0755, At("s/1"));
      EXPECT_FALSE(bound) << way;
      EXPECT_FALSE(fs::exists(At("s/1"))) << way;
    }
    EXPECT_TRUE(fs::is_empty(At("secret")));
    EXPECT_FALSE(disk_.ReadBelow({At("v"), "absolute"}, 10));
    EXPECT_EQ(*disk_.ReadBelow({At("v"), "key"}, 5), "value");
    EXPECT_EQ(disk_.ReadBelow({At("v"), "key"}, 4).error().code(), ErrorCode::kOverloaded);
    EXPECT_EQ(disk_.ReadBelow({At("v"), "none"}, 4).error().code(), ErrorCode::kNotFound);
  });
}

// As deployments have them: current -> /opt/app/releases/42.
TEST_F(DiskCallsTest, AnAbsoluteLinkIsFollowedThatStaysInTheVolume) {
  InOwnNamespace([&] {
    Folder("real/releases/42/etc");
    Folder("real2");
    Put(At("real/releases/42/etc/conf"), "42");
    fs::create_directory_symlink(At("real"), At("v"));
    fs::create_symlink(At("v/releases/42"), At("v/current"));
    fs::create_symlink(At("v"), At("v/self"));
    fs::create_symlink(At("v/releases/43"), At("v/dangling"));
    fs::create_symlink(At("real2"), At("v/beside"));
    ASSERT_EQ(Fault(disk_.BindBelow({At("v"), "current"}, 0755, At("s/0"))), "");
    EXPECT_EQ(Content(At("s/0/etc/conf")), "42");
    ASSERT_EQ(Fault(disk_.BindBelow({At("v"), "self/current/etc/conf"}, 0755, At("s/1"))), "");
    EXPECT_EQ(Content(At("s/1")), "42");
    ASSERT_EQ(Fault(disk_.BindBelow({At("v"), "self"}, 0755, At("s/2"))), "");
    EXPECT_EQ(Content(At("s/2/releases/42/etc/conf")), "42");
    ASSERT_EQ(Fault(disk_.BindBelow({At("v"), "current/new/deep"}, 0755, At("s/3"))), "");
    EXPECT_TRUE(fs::exists(At("real/releases/42/new/deep")));
    for (const char* way : {"dangling", "dangling/x", "beside", "beside/x", "self/beside"}) {
      EXPECT_FALSE(disk_.BindBelow({At("v"), way}, 0755, At("s/4"))) << way;
    }
    EXPECT_TRUE(fs::is_empty(At("real2")));
    EXPECT_FALSE(fs::exists(At("real/releases/43")));
  });
}

// Upstream reads files of keys as a process would whose root the volume is.
TEST_F(DiskCallsTest, AFileIsReadAsIfItsVolumeWereTheRoot) {
  Folder("v/dir");
  Put(At("v/file"), "inside");
  Put(At("file"), "outside");
  fs::create_symlink("/file", At("v/dir/absolute"));
  fs::create_symlink("../../../../../file", At("v/dir/up"));
  fs::create_symlink(At("file"), At("v/dir/out"));
  EXPECT_EQ(*disk_.ReadBelow({At("v"), "dir/absolute"}, 10), "inside");
  EXPECT_EQ(*disk_.ReadBelow({At("v"), "dir/up"}, 10), "inside");
  EXPECT_EQ(*disk_.ReadBelow({At("v"), "../file"}, 10), "inside");
  EXPECT_EQ(disk_.ReadBelow({At("v"), "dir/out"}, 10).error().code(), ErrorCode::kNotFound);
}

// A container that swaps a directory of its volume for a link out of it, as fast as it can, while
// we mount a part of it: we show the part, or refuse, and never show or make anything outside.
TEST_F(DiskCallsTest, ARacingContainerNeverGetsOutOfItsVolume) {
  InOwnNamespace([&] {
    Folder("v/dir/inner");
    Folder("secret/inner");
    Put(At("secret/inner/marker"), "x");
    fs::create_symlink(At("secret"), At("v/link"));
    std::atomic<bool> over = false;
    std::thread attacker([&] {
      while (!over) {
        ::renameat2(AT_FDCWD, At("v/dir").c_str(), AT_FDCWD, At("v/link").c_str(), RENAME_EXCHANGE);
      }
    });
    constexpr int kRounds = 3000;
    int shown = 0;
    int refused = 0;
    for (int i = 0; i < kRounds; ++i) {
      const bool make = i % 3 == 0;
      const std::string way = make ? "dir/new-" + std::to_string(i) : "dir/inner";
      const Status bound = disk_.BindBelow({At("v"), way}, 0755, At("s/0"));
      if (!bound) {
        ++refused;
        continue;
      }
      ++shown;
      ASSERT_FALSE(fs::exists(At("s/0/marker"))) << "round " << i;
      ASSERT_EQ(Fault(disk_.Unmount(At("s/0"))), "");
    }
    over = true;
    attacker.join();
    EXPECT_GT(shown, 0);
    int made_outside = 0;
    for (const auto& entry : fs::directory_iterator(At("secret"))) {
      if (entry.path().filename() != "inner") ++made_outside;
    }
    EXPECT_EQ(made_outside, 0);
    RecordProperty("shown", shown);
    RecordProperty("refused", refused);
  });
}

// The same with a link that stays in the volume and another one that leads out of it: between the
// look at where it leads and the opening there is time.
TEST_F(DiskCallsTest, ARacingContainerNeverGetsOutThroughAnAbsoluteLink) {
  InOwnNamespace([&] {
    Folder("v/releases/1/inner");
    Folder("secret/inner");
    Put(At("secret/inner/marker"), "x");
    fs::create_symlink(At("v/releases/1"), At("v/current"));
    fs::create_symlink(At("secret"), At("v/out"));
    std::atomic<bool> over = false;
    std::thread attacker([&] {
      while (!over) {
        ::renameat2(AT_FDCWD, At("v/current").c_str(), AT_FDCWD, At("v/out").c_str(),
                    RENAME_EXCHANGE);
        ::renameat2(AT_FDCWD, At("v/releases/1").c_str(), AT_FDCWD, At("v/out").c_str(),
                    RENAME_EXCHANGE);
      }
    });
    constexpr int kRounds = 3000;
    for (int i = 0; i < kRounds; ++i) {
      const std::string way = i % 3 == 0 ? "current/new-" + std::to_string(i) : "current/inner";
      if (!disk_.BindBelow({At("v"), way}, 0755, At("s/0"))) continue;
      ASSERT_FALSE(fs::exists(At("s/0/marker"))) << "round " << i;
      ASSERT_EQ(Fault(disk_.Unmount(At("s/0"))), "");
    }
    over = true;
    attacker.join();
    for (const auto& entry : fs::directory_iterator(At("secret"))) {
      EXPECT_EQ(entry.path().filename(), "inner");
    }
  });
}

TEST_F(DiskCallsTest, ADirectoryIsMadeASharedMountOnce) {
  InOwnNamespace([&] {
    Folder("root/pods/a");
    Folder("copy");
    fs::create_directory_symlink(At("root"), At("link"));
    const Result<bool> made = MakeSharedMount(At("link"));
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_TRUE(*made);
    EXPECT_FALSE(*MakeSharedMount(At("root")));
    // What is mounted in there is seen where it is mounted, too.
    ASSERT_EQ(::mount(At("root").c_str(), At("copy").c_str(), nullptr, MS_BIND, nullptr), 0);
    ASSERT_EQ(::mount("tmpfs", At("root/pods/a").c_str(), "tmpfs", 0, nullptr), 0);
    Folder("root/pods/a/b");
    EXPECT_TRUE(fs::exists(At("copy/pods/a/b")));
  });
}

TEST_F(DiskCallsTest, OneThatIsNotThereIsNoSharedMount) {
  EXPECT_EQ(MakeSharedMount(At("none")).error().code(), ErrorCode::kNotFound);
}

TEST(IsOnSharedMount, TheLastMountThatAPathIsOnCounts) {
  const std::string root = "27 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n";
  const std::string own =
      "30 27 8:1 /k /var/lib/kubelet rw master:3 propagate_from:2 - ext4 x rw\n";
  EXPECT_TRUE(IsOnSharedMount(root, "/var/lib/kubelet"));
  EXPECT_FALSE(IsOnSharedMount(root + own, "/var/lib/kubelet"));
  EXPECT_FALSE(IsOnSharedMount(root + own, "/var/lib/kubelet/pods"));
  EXPECT_TRUE(IsOnSharedMount(root + own, "/var/lib/kubelet2"));
  EXPECT_TRUE(IsOnSharedMount(own + "31 27 8:1 /k /var/lib/kubelet rw master:3 shared:9 - e x rw",
                              "/var/lib/kubelet"));
  EXPECT_TRUE(IsOnSharedMount("30 27 8:1 / /a\\040b rw shared:2 - ext4 x rw\n", "/a b/c"));
  EXPECT_FALSE(IsOnSharedMount("", "/a"));
  EXPECT_FALSE(IsOnSharedMount("nonsense\n", "/a"));
  EXPECT_FALSE(IsOnSharedMount("30 27 8:1 / / rw - ext4 shared:1 rw\n", "/a"));
}

}  // namespace
}  // namespace denselet::reactor
