#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <thread>

#include "reactor/inotify_watcher.h"
#include "reactor/mount_watcher.h"
#include "tests/integration/loop_fixture.h"

namespace denselet::reactor {
namespace {

namespace fs = std::filesystem;

std::string MountTable() {
  std::ostringstream table;
  table << std::ifstream("/proc/thread-self/mountinfo").rdbuf();
  return table.str();
}

class MountWatcherTest : public LoopTest {
 protected:
  MountWatcherTest() {
    std::string name = testing::TempDir() + "mount_watcher.XXXXXX";
    dir_ = ::mkdtemp(name.data());
  }
  ~MountWatcherTest() override { fs::remove_all(dir_); }

  // Runs `body` on a thread with a mount namespace of its own, which goes with the thread: nobody
  // else sees what it mounts.
  void InOwnNamespace(const std::function<void()>& body) {
    std::thread([&] {
      ASSERT_EQ(::unshare(CLONE_NEWNS), 0)
          << "the test must be run as root, allowed to make mount namespaces: " << strerror(errno);
      ASSERT_EQ(::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0) << strerror(errno);
      loop_ = *MakeEventLoop(GetParam(), clock_);  // a ring belongs to its thread
      body();
      loop_.reset();
    }).join();
  }

  void Mount(const fs::path& at) {
    ASSERT_EQ(::mount("test", at.c_str(), "tmpfs", 0, nullptr), 0) << strerror(errno);
  }
  void Unmount(const fs::path& at) { ASSERT_EQ(::umount(at.c_str()), 0) << strerror(errno); }

  std::unique_ptr<MountWatcher> Watch(int& heard) {
    return *MountWatcher::Make(loop(), [&heard] { ++heard; });
  }

  fs::path dir_;
};
INSTANTIATE_LOOP_TEST(MountWatcherTest);

TEST_P(MountWatcherTest, EveryChangeIsHeardOnce) {
  InOwnNamespace([&] {
    int heard = 0;
    const auto watcher = Watch(heard);
    for (int round = 1; round <= 50; ++round) {
      Mount(dir_);
      ASSERT_TRUE(RunUntil([&] { return heard == 2 * round - 1; }));
      Unmount(dir_);
      ASSERT_TRUE(RunUntil([&] { return heard == 2 * round; }));
    }
  });
}

TEST_P(MountWatcherTest, ARemountIsHeard) {
  InOwnNamespace([&] {
    Mount(dir_);
    int heard = 0;
    const auto watcher = Watch(heard);
    ASSERT_EQ(::mount("", dir_.c_str(), "", MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr), 0);
    ASSERT_TRUE(RunUntil([&] { return heard == 1; }));
  });
}

TEST_P(MountWatcherTest, ManyChangesBetweenTurnsAreHeardOnce) {
  InOwnNamespace([&] {
    int heard = 0;
    const auto watcher = Watch(heard);
    for (int i = 0; i < 10; ++i) {
      Mount(dir_);
      Unmount(dir_);
    }
    ASSERT_TRUE(RunUntil([&] { return heard == 1; }));
    Mount(dir_);
    ASSERT_TRUE(RunUntil([&] { return heard == 2; }));
  });
}

TEST_P(MountWatcherTest, AChangeBeforeTheWatchIsNotHeardAndOneRightAfterIs) {
  InOwnNamespace([&] {
    Mount(dir_);
    int early = 0, late = 0;
    const auto first = Watch(early);
    Unmount(dir_);
    const auto second = Watch(late);
    ASSERT_TRUE(RunUntil([&] { return early == 1; }));
    EXPECT_EQ(late, 0);
    Mount(dir_);
    ASSERT_TRUE(RunUntil([&] { return early == 2 && late == 1; }));
  });
}

TEST_P(MountWatcherTest, AChangeDuringTheCallbackIsHeard) {
  InOwnNamespace([&] {
    int heard = 0;
    const auto watcher = *MountWatcher::Make(loop(), [&] {
      if (++heard < 20) heard % 2 == 1 ? Unmount(dir_) : Mount(dir_);
    });
    Mount(dir_);
    ASSERT_TRUE(RunUntil([&] { return heard == 20; }));
  });
}

TEST_P(MountWatcherTest, NoChangeOfAnotherThreadIsMissed) {
  InOwnNamespace([&] {
    std::string seen = MountTable();
    const auto watcher = *MountWatcher::Make(loop(), [&] { seen = MountTable(); });
    for (int round = 0; round < 20; ++round) {
      std::atomic<bool> done = false;
      std::thread mounter([&] {
        for (int i = 0; i < 5; ++i) {
          Mount(dir_);
          Unmount(dir_);
        }
        if (round % 2 == 0) Mount(dir_);
        if (round % 2 == 1) Unmount(dir_);
        done = true;
      });
      EXPECT_TRUE(RunUntil([&] { return done.load(); }));
      mounter.join();
      const std::string table = MountTable();
      ASSERT_TRUE(RunUntil([&] { return seen == table; }));
    }
  });
}

TEST_P(MountWatcherTest, ItMayGoWhileItWaits) {
  InOwnNamespace([&] {
    const auto fail = [] { FAIL() << "the watcher is gone"; };
    { const auto at_once = *MountWatcher::Make(loop(), fail); }
    auto later = *MountWatcher::Make(loop(), fail);
    loop_->RunTurn(loop().Now());
    Mount(dir_);
    later.reset();
    for (int turn = 0; turn < 5; ++turn) loop_->RunTurn(loop().Now());
  });
}

// What inotify does not tell: a mount hides what was at the path, and makes no event.
TEST_P(MountWatcherTest, APathWatcherThatLooksAgainHearsOfAMountOverItsPath) {
  InOwnNamespace([&] {
    fs::create_directories(dir_ / "volume");
    std::ofstream(dir_ / "volume/file") << "below";
    const auto paths = *InotifyWatcher::Make(loop());
    int heard = 0, elsewhere = 0;
    paths->Watch(dir_ / "volume/file", [&] { ++heard; });
    paths->Watch(dir_ / "elsewhere", [&] { ++elsewhere; });
    const auto mounts = *MountWatcher::Make(loop(), [&] { paths->LookAgain(); });

    Mount(dir_ / "volume");
    ASSERT_TRUE(RunUntil([&] { return heard == 1; }));
    std::ofstream(dir_ / "volume/file") << "above";
    ASSERT_TRUE(RunUntil([&] { return heard >= 2; }));
    const int before = heard;
    Unmount(dir_ / "volume");
    ASSERT_TRUE(RunUntil([&] { return heard > before; }));
    std::ofstream(dir_ / "elsewhere") << "the first it hears";
    ASSERT_TRUE(RunUntil([&] { return elsewhere > 0; }));
    EXPECT_EQ(elsewhere, 1);
  });
}

// The kernel ends the watches of a file system that goes, and says so.
TEST_P(MountWatcherTest, APathWatcherHearsOfAnUnmountByItself) {
  InOwnNamespace([&] {
    Mount(dir_);
    std::ofstream(dir_ / "file") << "mounted";
    const auto paths = *InotifyWatcher::Make(loop());
    int heard = 0;
    paths->Watch(dir_ / "file", [&] { ++heard; });
    Unmount(dir_);
    ASSERT_TRUE(RunUntil([&] { return heard >= 1; }));
    const int before = heard;
    std::ofstream(dir_ / "file") << "below";
    ASSERT_TRUE(RunUntil([&] { return heard > before; }));
  });
}

}  // namespace
}  // namespace denselet::reactor
