#include <functional>

#include "tests/integration/path_watcher_fixture.h"

namespace denselet::reactor {
namespace {

INSTANTIATE_LOOP_TEST(PathWatcherTest);

// Runs right after the watcher has looked at a step of a path: the moment in which a change is
// missed when watching comes after looking. Set by a test; see readlink at the end of this file.
std::function<void(const fs::path&)> after_look;

TEST_P(PathWatcherTest, AWriteIsHeardWhenTheFileIsClosed) {
  Write(dir_ / "file", "old");
  Quiesce();  // what came before
  int heard = 0;
  Watch(dir_ / "file", heard);
  std::ofstream file(dir_ / "file");
  file << "first half" << std::flush;
  Quiesce();
  EXPECT_EQ(heard, 0);
  file << "second half" << std::flush;
  Quiesce();
  EXPECT_EQ(heard, 0);
  file.close();
  Quiesce();
  EXPECT_EQ(heard, 1);
}

TEST_P(PathWatcherTest, AWriteThroughAnotherHardLinkIsHeard) {
  Write(dir_ / "file", "");
  fs::create_hard_link(dir_ / "file", dir_ / "other");
  int heard = 0;
  Watch(dir_ / "file", heard);
  ExpectHeard(heard, [&] { Write(dir_ / "other", "x"); });
}

TEST_P(PathWatcherTest, AFileReplacedByRenameIsHeardAndSoIsTheNewOne) {
  Write(dir_ / "file", "0");
  int heard = 0;
  Watch(dir_ / "file", heard);
  for (int round = 0; round < 10; ++round) {
    ExpectHeard(heard, [&] { Replace(dir_ / "file", std::to_string(round)); });
    ExpectHeard(heard, [&] { Write(dir_ / "file", "in place"); });
  }
}

TEST_P(PathWatcherTest, DeletionAndRecreationAreHeard) {
  Write(dir_ / "file", "");
  int heard = 0;
  Watch(dir_ / "file", heard);
  for (int round = 0; round < 10; ++round) {
    ExpectHeard(heard, [&] { fs::remove(dir_ / "file"); });
    ExpectHeard(heard, [&] { Write(dir_ / "file", "again"); });
    ExpectHeard(heard, [&] {
      fs::remove(dir_ / "file");
      Write(dir_ / "file", "at once");
    });
    ExpectHeard(heard, [&] { Write(dir_ / "file", "more"); });
  }
}

TEST_P(PathWatcherTest, ChangesOfNeighboursAreNotHeard) {
  fs::create_directories(dir_ / "a/b");
  Write(dir_ / "a/b/file", "");
  Quiesce();  // what came before
  int heard = 0;
  Watch(dir_ / "a/b/file", heard);
  Write(dir_ / "a/b/neighbour", "");
  fs::create_directory(dir_ / "a/c");
  fs::remove_all(dir_ / "a/c");
  fs::rename(dir_ / "a/b/neighbour", dir_ / "elsewhere");
  Quiesce();
  EXPECT_EQ(heard, 0);
}

TEST_P(PathWatcherTest, EntriesOfADirectoryAreHeardComingChangingAndGoing) {
  fs::create_directory(dir_ / "manifests");
  int heard = 0;
  Watch(dir_ / "manifests", heard);
  ExpectHeard(heard, [&] { Write(dir_ / "manifests/pod", ""); });
  ExpectHeard(heard, [&] { Write(dir_ / "manifests/pod", "changed"); });
  ExpectHeard(heard, [&] { fs::rename(dir_ / "manifests/pod", dir_ / "manifests/pod2"); });
  ExpectHeard(heard, [&] { fs::remove(dir_ / "manifests/pod2"); });
  ExpectHeard(heard, [&] { fs::remove(dir_ / "manifests"); });
  ExpectHeard(heard, [&] { fs::create_directory(dir_ / "manifests"); });
  ExpectHeard(heard, [&] { Write(dir_ / "manifests/pod", ""); });
}

TEST_P(PathWatcherTest, AParentRenamedAwayAndBackIsHeard) {
  fs::create_directories(dir_ / "a/b/c");
  Write(dir_ / "a/b/c/file", "");
  int heard = 0;
  Watch(dir_ / "a/b/c/file", heard);
  for (const char* parent : {"a", "a/b", "a/b/c"}) {
    ExpectHeard(heard, [&] { fs::rename(dir_ / parent, dir_ / "away"); });
    const int before = heard;
    for (const auto& entry : fs::recursive_directory_iterator(dir_ / "away")) {
      if (entry.is_regular_file()) Write(entry.path(), "not at the watched path");
    }
    Quiesce();
    EXPECT_EQ(heard, before);
    ExpectHeard(heard, [&] { fs::rename(dir_ / "away", dir_ / parent); });
    ExpectHeard(heard, [&] { Write(dir_ / "a/b/c/file", "here again"); });
  }
}

TEST_P(PathWatcherTest, AParentReplacedByAnotherTreeIsHeard) {
  for (const char* tree : {"a/b", "spare/b"}) {
    fs::create_directories(dir_ / tree);
    Write(dir_ / tree / "file", tree);
  }
  int heard = 0;
  Watch(dir_ / "a/b/file", heard);
  ExpectHeard(heard, [&] {
    fs::rename(dir_ / "a", dir_ / "old");
    fs::rename(dir_ / "spare", dir_ / "a");
  });
  ExpectHeard(heard, [&] { Write(dir_ / "a/b/file", "new"); });
  ExpectHeard(heard, [&] {
    fs::remove_all(dir_ / "a");
    Write(dir_ / "a", "a file where a directory was");
  });
  ExpectHeard(heard, [&] {
    fs::remove(dir_ / "a");
    fs::rename(dir_ / "old", dir_ / "a");
  });
}

TEST_P(PathWatcherTest, WhatChangesRightAfterALookAtItIsHeard) {
  // In places that nobody has watched before.
  for (const char* path : {"new", "moved/a", "moved_in", "swapped/old", "swapped/new"}) {
    fs::create_directories(dir_ / path);
  }
  fs::create_symlink("old", dir_ / "swapped/a");
  const std::map<fs::path, std::function<void(const fs::path&)>> changes = {
      {dir_ / "new/a", [](const fs::path& path) { fs::create_directory(path); }},
      {dir_ / "moved/a",
       [&](const fs::path& path) {
         fs::rename(path, dir_ / "moved_out");
         fs::rename(dir_ / "moved_in", path);
       }},
      {dir_ / "swapped/a", [](const fs::path& path) { SwapLink(path, "new"); }},
  };
  for (const auto& [step, change] : changes) {
    after_look = [&](const fs::path& looked_at) {
      if (looked_at != step) return;
      after_look = nullptr;
      change(step);
    };
    int heard = 0;
    const WatchId watch = Watch(step / "file", heard);
    Write(step / "file", "");
    Quiesce();
    EXPECT_GE(heard, 1) << step;
    ExpectHeard(heard, [&] { Write(step / "file", "more"); });
    watcher_->Unwatch(watch);
  }
}

TEST_P(PathWatcherTest, WhatChangesAfterTheOwnerHasLookedIsHeard) {
  int heard = 0;
  watcher_->Watch(dir_ / "a/file", [&] {
    // Called because of the directory, the owner sees no file; now it comes.
    if (++heard == 1) Write(dir_ / "a/file", "");
  });
  fs::create_directory(dir_ / "a");
  ASSERT_TRUE(RunUntil([&] { return heard >= 1; }));
  Quiesce();
  EXPECT_GE(heard, 2);
}

TEST_P(PathWatcherTest, APathThatDoesNotExistYetIsHeardWhenItComes) {
  int at_once = 0, by_steps = 0;
  Watch(dir_ / "at/once/c/d/file", at_once);
  Watch(dir_ / "by/steps/c/d/file", by_steps);
  ExpectHeard(at_once, [&] {
    fs::create_directories(dir_ / "at/once/c/d");
    Write(dir_ / "at/once/c/d/file", "");
  });
  ExpectHeard(at_once, [&] { Write(dir_ / "at/once/c/d/file", "more"); });
  for (const char* step : {"by", "by/steps", "by/steps/c", "by/steps/c/d"}) {
    fs::create_directory(dir_ / step);
    Quiesce();
  }
  ExpectHeard(by_steps, [&] { Write(dir_ / "by/steps/c/d/file", ""); });
}

TEST_P(PathWatcherTest, EveryLinkOnTheWayIsHeard) {
  for (const char* tree : {"real/x/y", "real/z/y"}) {
    fs::create_directories(dir_ / tree);
    Write(dir_ / tree / "file", tree);
  }
  fs::create_directories(dir_ / "links");
  fs::create_symlink(dir_ / "real", dir_ / "absolute");
  fs::create_symlink("../absolute/./x", dir_ / "links/relative");
  fs::create_symlink("links/relative/y/../y/file", dir_ / "file");
  int heard = 0;
  Watch(dir_ / "file", heard);
  ExpectHeard(heard, [&] { Write(dir_ / "real/x/y/file", "at the end"); });
  ExpectHeard(heard, [&] { SwapLink(dir_ / "links/relative", "../absolute/z"); });
  ExpectHeard(heard, [&] { Write(dir_ / "real/z/y/file", "at the other end"); });
  ExpectHeard(heard, [&] { SwapLink(dir_ / "absolute", "links"); });  // leads nowhere
  ExpectHeard(heard, [&] { SwapLink(dir_ / "absolute", "real"); });
  ExpectHeard(heard, [&] { SwapLink(dir_ / "file", "absolute/x/y/file"); });
  ExpectHeard(heard, [&] { Write(dir_ / "real/x/y/file", "at the first end"); });
  const int before = heard;
  SwapLink(dir_ / "links/relative", "../absolute/x");  // not on the way any more
  Quiesce();
  EXPECT_EQ(heard, before);
}

TEST_P(PathWatcherTest, LinksInACircleAreHeardWhenTheCircleIsBroken) {
  fs::create_symlink("b", dir_ / "a");
  fs::create_symlink("a", dir_ / "b");
  int heard = 0;
  Watch(dir_ / "a", heard);
  ExpectHeard(heard, [&] { Replace(dir_ / "b", "no link"); });
  ExpectHeard(heard, [&] { Write(dir_ / "b", "content"); });
  EXPECT_EQ(watcher_->stats().watches_blind, 0u);
}

// As the kubelet writes the volume of a config map: files are links through ..data, which is a link
// to the present version and is replaced by a rename.
TEST_P(PathWatcherTest, EverySwapOfAConfigMapIsHeard) {
  const fs::path volume = dir_ / "volume";
  fs::create_directory(volume);
  fs::create_symlink("..data/config", volume / "config");
  Quiesce();  // what came before
  int of_directory = 0, of_file = 0;
  std::string seen;
  Watch(volume, of_directory);
  watcher_->Watch(volume / "config", [&] {
    ++of_file;
    seen = Read(volume / "config");
  });
  for (int round = 0; round < 50; ++round) {
    const std::string version = "..2024_" + std::to_string(round);
    const int before = of_file;
    ExpectHeard(of_directory, [&] {
      fs::create_directory(volume / version);
      Write(volume / version / "config", version);
      fs::create_symlink(version, volume / "..data_tmp");
      fs::rename(volume / "..data_tmp", volume / "..data");
      if (round > 0) fs::remove_all(volume / ("..2024_" + std::to_string(round - 1)));
    });
    EXPECT_EQ(of_file, before + 1);
    EXPECT_EQ(seen, version);
  }
}

TEST_P(PathWatcherTest, EventsOfAWatchAreCoalescedIntoOneCallbackATurn) {
  Write(dir_ / "file", "");
  int heard = 0;
  Watch(dir_ / "file", heard);
  for (int i = 0; i < 100; ++i) Replace(dir_ / "file", "x");
  const uint64_t before = loop_->stats().turns;
  Quiesce();
  EXPECT_GE(heard, 1);
  EXPECT_LE(static_cast<uint64_t>(heard), loop_->stats().turns - before);
  EXPECT_LE(heard, 2) << "a batch is one turn, and a batch is hundreds of events";
}

TEST_P(PathWatcherTest, WatchesOfOneInodeShareAKernelWatchAndTheLastOneEndsIt) {
  const size_t before = KernelWatches();
  fs::create_directories(dir_ / "a");
  Write(dir_ / "a/file", "");
  std::vector<int> heard(4);
  std::vector<WatchId> watches;
  for (size_t i = 0; i < 2; ++i) {
    watches.push_back(Watch(dir_ / "a", heard[i]));
    watches.push_back(Watch(dir_ / "a/file", heard[i + 2]));
  }
  EXPECT_EQ(KernelWatches(), before + 2);  // what is above is watched for the sentinel
  // Ending the watches of the directory leaves those of the file their step in it.
  watcher_->Unwatch(watches[0]);
  watcher_->Unwatch(watches[2]);
  EXPECT_EQ(KernelWatches(), before + 2);
  Replace(dir_ / "a/file", "new");
  Quiesce();
  EXPECT_EQ(heard, (std::vector{0, 0, 1, 1}));
  watcher_->Unwatch(watches[1]);
  watcher_->Unwatch(watches[3]);
  watcher_->Unwatch(watches[3]);  // names nothing any more
  EXPECT_EQ(KernelWatches(), before);
  watcher_.reset();
  ASSERT_TRUE(RunUntil([] { return KernelWatches() == 0; }));
}

TEST_P(PathWatcherTest, ACallbackMayEndItsOwnWatchAndOthersAndBeginNewOnes) {
  Write(dir_ / "file", "");
  int own = 0, other = 0, late = 0;
  std::vector<WatchId> watches;
  const WatchId self = watcher_->Watch(dir_ / "file", [&, alive = std::string(100, 'x')] {
    ++own;
    for (const WatchId watch : watches) watcher_->Unwatch(watch);
    for (int i = 0; i < 100; ++i) Watch(dir_ / "file", late);
    EXPECT_EQ(alive, std::string(100, 'x')) << "destroyed while it runs";
  });
  watches = {self, Watch(dir_ / "file", other)};
  Write(dir_ / "file", "x");
  Quiesce();
  EXPECT_EQ(own, 1);
  EXPECT_EQ(other, 0);
  EXPECT_EQ(late, 0);
  Write(dir_ / "file", "y");
  Quiesce();
  EXPECT_EQ(own, 1);
  EXPECT_EQ(late, 100);
}

TEST_P(PathWatcherTest, AnEndedWatchDoesNotHearWhatHappenedBefore) {
  Write(dir_ / "file", "");
  int heard = 0;
  const WatchId watch = Watch(dir_ / "file", heard);
  Write(dir_ / "file", "x");
  watcher_->Unwatch(watch);
  Quiesce();
  EXPECT_EQ(heard, 0);
}

TEST_P(PathWatcherTest, WatchesBeyondTheBoundAndPathsThatAreNoneAreRefused) {
  Make({.watches_max = 3});
  int heard = 0;
  EXPECT_EQ(Watch(std::string(dir_ / "a") + '\0' + "b", heard), WatchId{});
  EXPECT_EQ(Watch("relative", heard), WatchId{});
  EXPECT_EQ(Watch("", heard), WatchId{});
  const WatchId first = Watch(dir_ / "a", heard);
  EXPECT_NE(Watch(dir_ / "b", heard), WatchId{});
  EXPECT_EQ(Watch(dir_ / "c", heard), WatchId{});
  watcher_->Unwatch(first);
  EXPECT_NE(Watch(dir_ / "c", heard), WatchId{});
}

TEST_P(PathWatcherTest, TheRootCanBeWatched) {
  int heard = 0;
  EXPECT_NE(Watch("/", heard), WatchId{});
  EXPECT_NE(Watch("//../.", heard), WatchId{});
  EXPECT_EQ(watcher_->stats().watches_blind, 0u);
}

TEST_P(PathWatcherTest, AThousandWatchesHearEachItsOwn) {
  constexpr size_t kWatches = 1000;
  std::vector<int> heard(kWatches);
  const auto path = [&](size_t i) { return dir_ / std::to_string(i % 10) / std::to_string(i); };
  for (size_t i = 0; i < kWatches; ++i) {
    fs::create_directories(path(i).parent_path());
    ASSERT_NE(Watch(path(i), heard[i]), WatchId{});
  }
  for (size_t i = 0; i < kWatches; ++i) Write(path(i), "created");
  Quiesce();
  for (size_t i = 0; i < kWatches; ++i) EXPECT_GE(heard[i], 1) << i;
  std::fill(heard.begin(), heard.end(), 0);
  for (size_t i = 0; i < kWatches; i += 2) Write(path(i), "written");
  Quiesce();
  for (size_t i = 0; i < kWatches; ++i) EXPECT_EQ(heard[i], i % 2 == 0 ? 1 : 0) << i;
}

TEST_P(PathWatcherTest, WhenTheQueueOverflowsAllWatchesHear) {
  for (const char* file : {"quiet", "odd", "even"}) Write(dir_ / file, "");
  Quiesce();  // what came before
  int quiet = 0, moved = 0, odd = 0, even = 0;
  Watch(dir_ / "quiet", quiet);
  Watch(dir_ / "moved/file", moved);
  Watch(dir_ / "odd", odd);
  Watch(dir_ / "even", even);
  // In turns: the kernel drops an event that equals the one before it.
  const int flood = std::stoi(Read("/proc/sys/fs/inotify/max_queued_events")) + 10;
  for (int i = 0; i < flood; ++i) {
    const UniqueFd written(::open((dir_ / (i % 2 == 0 ? "even" : "odd")).c_str(), O_WRONLY));
    ASSERT_TRUE(written);
  }
  // Its event is among the lost ones.
  fs::create_directory(dir_ / "moved");
  const int before = sentinels_;
  ASSERT_TRUE(RunUntil([&] { return sentinels_ == before + 1; }));  // it is one of the watches
  EXPECT_EQ(watcher_->stats().overflows, 1u);
  EXPECT_EQ(quiet, 1);
  EXPECT_EQ(moved, 1);
  ExpectHeard(moved, [&] { Write(dir_ / "moved/file", ""); });
  ExpectHeard(quiet, [&] { Write(dir_ / "quiet", ""); });
}

TEST_P(PathWatcherTest, ItMayGoWithWatchesAliveAndCallbacksDue) {
  Write(dir_ / "file", "");
  watcher_->Watch(dir_ / "file", [] { FAIL() << "the watcher is gone"; });
  Write(dir_ / "file", "x");
  // Read, but not yet told: the callback is due in the turn after.
  ASSERT_TRUE(RunUntil([&] { return watcher_->stats().events > 0; }));
  watcher_.reset();
  for (int turn = 0; turn < 5; ++turn) loop_->RunTurn(loop().Now());
  Make({});
  watcher_->Watch(dir_ / "file", [] { FAIL() << "the loop is gone"; });
  watcher_.reset();
}

TEST_P(PathWatcherTest, ARefusedReadIsTriedAgain) {
  watcher_.reset();
  loop_ = *MakeEventLoop(GetParam(), clock_, {.operations_max = 1});
  int pipe[2];
  ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
  const UniqueFd reader(pipe[0]), writer(pipe[1]);
  io().Adopt(reader.get());
  std::byte byte;
  bool ended = false;
  const OpId in_the_way = io().Read(reader.get(), {&byte, 1}, [&](int32_t) { ended = true; });
  Make({});
  loop_->RunTurn(loop().Now());
  io().Cancel(in_the_way);
  ASSERT_TRUE(RunUntil([&] { return ended; }));
  Quiesce();
}

// The kernel's limit is per user namespace: in one of its own, in a process of its own, it can be
// set without disturbing others.
TEST_P(PathWatcherTest, WithoutKernelWatchesTheTimerTellsUntilThereAreSome) {
  Write(dir_ / "file", "");
  const auto in_child = [this] {
    (void)loop_.release();  // the parent's: its ring is shared with it
    (void)watcher_.release();
    const fs::path limit = "/proc/sys/user/max_inotify_watches";
    Write(limit, "2");
    ASSERT_EQ(Read(limit), "2\n") << "the test needs to set the limit of its user namespace";
    loop_ = *MakeEventLoop(GetParam(), clock_);
    watcher_ = *InotifyWatcher::Make(loop(), {.recheck_period = Milliseconds(2)});
    int heard = 0;
    const WatchId first = Watch(dir_ / "file", heard);
    const WatchId second = Watch(dir_ / "file", heard);
    EXPECT_NE(first, WatchId{});
    EXPECT_EQ(watcher_->stats().watches_blind, 2u);
    EXPECT_EQ(heard, 0);
    ASSERT_TRUE(RunUntil([&] { return heard >= 10; }));
    watcher_->Unwatch(second);
    EXPECT_EQ(watcher_->stats().watches_blind, 1u);
    Write(limit, "100");
    ASSERT_TRUE(RunUntil([&] { return watcher_->stats().watches_blind == 0; }));
    int sentinel = 0;
    Watch(dir_ / "sentinel", sentinel);
    heard = 0;
    Write(dir_ / "file", "seen");
    fs::create_directory(dir_ / "sentinel/blind");
    ASSERT_TRUE(RunUntil([&] { return sentinel == 1; }));
    EXPECT_EQ(heard, 1);
  };
  // Not fork() and unshare(): where a sanitizer adds a thread to the child, the latter fails.
  const long child = ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, 0);
  ASSERT_GE(child, 0) << "the test must be allowed to make user namespaces: " << strerror(errno);
  if (child == 0) {
    in_child();
    std::_Exit(HasFailure() ? 1 : 0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(static_cast<pid_t>(child), &status, 0), child);
  EXPECT_EQ(status, 0) << "the child has said why";
}

}  // namespace

// In the place of libc's.
extern "C" ssize_t readlink(const char* path, char* into, size_t size) noexcept {
  const long result = ::syscall(SYS_readlinkat, AT_FDCWD, path, into, size);
  const int error = errno;
  if (const auto act = after_look) act(path);
  errno = error;
  return result;
}

}  // namespace denselet::reactor
