#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "reactor/pool_file_system.h"
#include "tests/integration/loop_fixture.h"
#include "tests/integration/resources.h"
#include "tests/integration/test_files.h"

namespace denselet::reactor {
namespace {

std::vector<std::string> Names(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

uint32_t ModeOf(const std::string& path) {
  struct stat info;
  EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
  return info.st_mode & 07777;
}

// Files of this process may not grow past `bytes` while it lives. The workers block SIGXFSZ.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit limit{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_;
};

class FileSystemTest : public ShardTest {
 protected:
  FileSystemTest() {
    std::string path = testing::TempDir() + "/file_system_test.XXXXXX";
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    root_ = path;
    MakeFileSystem({}, {});
  }
  ~FileSystemTest() override {
    StopFileSystem();
    pool_.reset();
    std::filesystem::remove_all(root_);
  }

  void MakeFileSystem(const BlockingPoolOptions& pool, const PoolFileSystemOptions& files) {
    StopFileSystem();
    pool_ = std::make_unique<BlockingPool>(clock_, pool);
    fs_ = std::make_unique<PoolFileSystem>(shard_, *pool_, files);
  }
  void StopFileSystem() {
    if (fs_ == nullptr) return;
    bool stopped = false;
    fs_->Stop([&] { stopped = true; });
    EXPECT_TRUE(RunUntil([&] { return stopped; }));
    fs_.reset();
  }

  std::string Path(const std::string& name) const { return root_ + "/" + name; }

  template <class T, class Start>
  Result<T> Await(Start start) {
    std::optional<Result<T>> result;
    start([&](Result<T> r) {
      EXPECT_FALSE(result.has_value()) << "called back twice";
      result.emplace(std::move(r));
    });
    EXPECT_FALSE(result.has_value()) << "called back inside the call";
    if (!RunUntil([&] { return result.has_value(); })) std::abort();
    return std::move(*result);
  }

  Result<std::string> Read(std::string path, size_t bytes_max) {
    return Await<std::string>(
        [&](auto done) { fs_->ReadFile({}, path, bytes_max, std::move(done)); });
  }
  Status Replace(std::string path, std::string content, uint32_t mode = 0644,
                 Durability durability = Durability::kCached) {
    return Await<Unit>(
        [&](auto done) { fs_->ReplaceFile({}, path, content, mode, durability, std::move(done)); });
  }
  Result<FileId> Open(std::string path, OpenMode open_mode, uint32_t mode = 0644) {
    return Await<FileId>([&](auto done) { fs_->Open({}, path, open_mode, mode, std::move(done)); });
  }
  Status Append(FileId file, std::string data) {
    return Await<Unit>([&](auto done) { fs_->Append({}, file, data, std::move(done)); });
  }
  Status MakeDirectories(std::string path, uint32_t mode) {
    return Await<Unit>([&](auto done) {
      fs_->MakeDirectories({}, path, mode, Durability::kSynced, std::move(done));
    });
  }
  // Everything that was started has been done, Close too.
  [[nodiscard]] bool RunUntilIdle() {
    return RunUntil([&] {
      const BlockingPoolSnapshot snapshot = pool_->Snapshot();
      return snapshot.waiting == 0 && snapshot.running.empty();
    });
  }

  std::string root_;
  std::unique_ptr<BlockingPool> pool_;
  std::unique_ptr<PoolFileSystem> fs_;
};
INSTANTIATE_LOOP_TEST(FileSystemTest);

TEST_P(FileSystemTest, FilesAreReadUpToTheBoundTheCallerCanBear) {
  const std::string content(100'000, 'x');
  Put(Path("f"), content);
  EXPECT_EQ(*Read(Path("f"), 100'000), content);
  const auto larger = Read(Path("f"), 99'999);
  EXPECT_EQ(larger.error(),
            Error(ErrorCode::kInvalid, "read \"" + Path("f") + "\": more than 99999 bytes"));
  Put(Path("empty"), "");
  EXPECT_EQ(*Read(Path("empty"), 0), "");
}

TEST_P(FileSystemTest, FilesThatSayTheyAreEmptyAreReadToTheEnd) {
  const Result<std::string> status = Read("/proc/self/status", 1 << 20);
  ASSERT_TRUE(status);
  EXPECT_NE(status->find("voluntary_ctxt_switches"), std::string::npos);
  EXPECT_EQ(Read("/proc/self/status", 10).error().code(), ErrorCode::kInvalid);
}

TEST_P(FileSystemTest, ErrorsNameTheOperationAndThePath) {
  const std::string path = Path("nowhere");
  EXPECT_EQ(Read(path, 10).error(),
            Error(ErrorCode::kNotFound, "read \"" + path + "\": No such file or directory"));
  const Status renamed =
      Await<Unit>([&](auto done) { fs_->Rename({}, path, Path("other"), std::move(done)); });
  EXPECT_EQ(renamed.error(),
            Error(ErrorCode::kNotFound, "rename \"" + path + "\" to \"" + Path("other") +
                                            "\": No such file or directory"));
  EXPECT_EQ(Read(root_, 10).error().code(), ErrorCode::kInvalid) << "a directory";
}

TEST_P(FileSystemTest, PathsWithANulByteAreRefused) {
  using std::string_literals::operator""s;
  Put(Path("f"), "secret");
  const std::string path = Path("f") + "\0.txt"s;
  EXPECT_EQ(Read(path, 10).error(),
            Error(ErrorCode::kInvalid, "read \"" + Path("f") + "\": the path has a NUL byte"));
  EXPECT_EQ(Replace(path, "x").error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(Open(path, OpenMode::kRead).error().code(), ErrorCode::kInvalid);
  const Status renamed =
      Await<Unit>([&](auto done) { fs_->Rename({}, Path("f"), path, std::move(done)); });
  EXPECT_EQ(renamed.error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(Content(Path("f")), "secret");
}

TEST_P(FileSystemTest, APipeDoesNotHoldTheReader) {
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(*Read(Path("pipe"), 10), "");
  EXPECT_FALSE(Open(Path("pipe"), OpenMode::kAppend));
}

TEST_P(FileSystemTest, ReplacedFilesHaveTheirContentAndModeWhateverTheUmask) {
  const mode_t before = ::umask(077);
  EXPECT_TRUE(Replace(Path("f"), "one", 0664));
  EXPECT_TRUE(Replace(Path("f"), "two", 0646, Durability::kSynced));
  ::umask(before);
  EXPECT_EQ(Content(Path("f")), "two");
  EXPECT_EQ(ModeOf(Path("f")), 0646u);
  EXPECT_EQ(Names(root_), std::vector<std::string>{"f"});
}

TEST_P(FileSystemTest, OnlyDirectoriesHaveNamesToSync) {
  const auto sync = [&](const std::string& path) {
    return Await<Unit>([&](auto done) { fs_->SyncDirectory({}, path, std::move(done)); });
  };
  ASSERT_TRUE(Replace(Path("f"), "content"));
  EXPECT_TRUE(sync(root_));
  EXPECT_TRUE(sync("/proc")) << "has nothing to sync, and nothing to lose";
  EXPECT_EQ(sync(Path("no")).error().message(),
            "sync directory \"" + Path("no") + "\": No such file or directory");
  EXPECT_EQ(sync(Path("f")).error().message(),
            "sync directory \"" + Path("f") + "\": Not a directory");
}

TEST_P(FileSystemTest, AReplaceThatFailsLeavesNoTrace) {
  EXPECT_EQ(Replace(Path("no/f"), "x").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(Replace(root_ + "/", "x").error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(Replace(root_ + "/..", "x").error().code(), ErrorCode::kInvalid);
  ASSERT_TRUE(MakeDirectories(Path("dir"), 0755));
  EXPECT_FALSE(Replace(Path("dir"), "x")) << "over a directory";
  EXPECT_EQ(Names(root_), std::vector<std::string>{"dir"});
}

TEST_P(FileSystemTest, ATooLargeReplaceLeavesTheOldContent) {
  Put(Path("f"), "old");
  {
    const FileSizeLimit limit(64 * 1024);
    const Status replaced = Replace(Path("f"), std::string(100'000, 'x'), 0644);
    ASSERT_FALSE(replaced);
    EXPECT_NE(replaced.error().message().find("write: File too large"), std::string::npos);
  }
  EXPECT_EQ(Content(Path("f")), "old");
  EXPECT_EQ(Names(root_), std::vector<std::string>{"f"});
}

TEST_P(FileSystemTest, AFullDiskLeavesTheOldContent) {
  // In a mount namespace of its own: threads started from here on inherit it.
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("none", root_.c_str(), "tmpfs", 0, "size=64k") != 0) {
    GTEST_SKIP() << "mounting is not allowed here";
  }
  MakeFileSystem({}, {});
  Put(Path("f"), "old");
  const Status replaced = Replace(Path("f"), std::string(100'000, 'x'), 0644);
  EXPECT_EQ(replaced.error().code(), ErrorCode::kOverloaded);
  EXPECT_EQ(Content(Path("f")), "old");
  EXPECT_EQ(Names(root_), std::vector<std::string>{"f"});
  StopFileSystem();
  pool_.reset();
  EXPECT_EQ(::umount(root_.c_str()), 0);
}

TEST_P(FileSystemTest, AReaderNeverSeesAPartOfAReplacedFile) {
  const std::string a(100'000, 'a'), b(75'000, 'b');
  ASSERT_TRUE(Replace(Path("f"), a));
  std::atomic<bool> finished = false;
  int torn = 0, reads = 0;
  std::thread reader([&] {
    for (; reads < 20'000 && !finished; ++reads) {
      const std::string seen = Content(Path("f"));
      if (seen != a && seen != b) ++torn;
    }
  });
  for (int i = 0; i < 40; ++i) EXPECT_TRUE(Replace(Path("f"), i % 2 == 0 ? b : a));
  finished = true;
  reader.join();
  EXPECT_GT(reads, 0);
  EXPECT_EQ(torn, 0);
}

TEST_P(FileSystemTest, TemporaryFilesOfADeadProcessAreInNobodysWay) {
  const std::string prefix = ".denselet-" + std::to_string(::getpid()) + "-";
  for (int i = 0; i < 500; ++i) Put(Path(prefix + std::to_string(i) + ".tmp"), "left behind");
  EXPECT_TRUE(Replace(Path("f"), "new"));
  EXPECT_EQ(Content(Path("f")), "new");
  EXPECT_EQ(Names(root_).size(), 501u);
}

TEST_P(FileSystemTest, ControlFilesAreWrittenInPlace) {
  const std::string path = "/proc/self/oom_score_adj";
  const auto write = [&](const std::string& where, const std::string& text) {
    return Await<Unit>([&](auto done) { fs_->WriteControl({}, where, text, std::move(done)); });
  };
  const std::string before = *Read(path, 100);
  EXPECT_TRUE(write(path, before));
  const Status nonsense = write(path, "nonsense");
  EXPECT_EQ(nonsense.error(),
            Error(ErrorCode::kInvalid, "write \"" + path + "\": Invalid argument"));
  EXPECT_EQ(write(Path("new"), "x").error().code(), ErrorCode::kNotFound);
  EXPECT_TRUE(Names(root_).empty()) << "nothing is made";
}

TEST_P(FileSystemTest, OpenModesDifferInWhatTheyMakeOfAFile) {
  EXPECT_EQ(Open(Path("f"), OpenMode::kRead).error().code(), ErrorCode::kNotFound);
  const mode_t before = ::umask(077);
  const Result<FileId> made = Open(Path("f"), OpenMode::kAppend, 0664);
  ::umask(before);
  ASSERT_TRUE(made);
  EXPECT_EQ(ModeOf(Path("f")), 0664u);
  EXPECT_TRUE(Append(*made, "one"));
  EXPECT_EQ(Open(Path("f"), OpenMode::kCreateNew).error().code(), ErrorCode::kAlreadyExists);
  const Result<FileId> again = Open(Path("f"), OpenMode::kAppend, 0600);
  ASSERT_TRUE(again);
  EXPECT_TRUE(Append(*again, "two"));
  EXPECT_EQ(Content(Path("f")), "onetwo");
  const Result<FileId> truncated = Open(Path("f"), OpenMode::kCreateOrTruncate, 0600);
  ASSERT_TRUE(truncated);
  EXPECT_TRUE(Append(*truncated, "three"));
  EXPECT_EQ(Content(Path("f")), "three");
  EXPECT_EQ(ModeOf(Path("f")), 0664u) << "an existing file keeps its mode";
  EXPECT_TRUE(Open(Path("g"), OpenMode::kCreateNew));
}

TEST_P(FileSystemTest, PartsAreReadWhereverTheyLie) {
  Put(Path("f"), "0123456789");
  const FileId file = *Open(Path("f"), OpenMode::kRead);
  const auto read = [&](uint64_t offset, size_t bytes_max) {
    return Await<std::string>(
        [&](auto done) { fs_->ReadAt({}, file, offset, bytes_max, std::move(done)); });
  };
  EXPECT_EQ(*read(3, 4), "3456");
  EXPECT_EQ(*read(8, 100), "89");
  EXPECT_EQ(*read(100, 1), "");
  EXPECT_EQ(*read(0, 0), "");
  EXPECT_EQ(read(UINT64_MAX, 1).error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(read(1, SIZE_MAX).error().code(), ErrorCode::kInvalid);
  fs_->Close(file);
}

TEST_P(FileSystemTest, OperationsOnOneFileDoNotOvertakeEachOther) {
  MakeFileSystem({.workers_max = 8}, {});
  const FileId file = *Open(Path("f"), OpenMode::kCreateNew);
  std::string expected;
  int started = 0, answered = 0;
  const auto count = [&](Status status) {
    EXPECT_TRUE(status);
    ++answered;
  };
  for (int i = 0; i < 50; ++i) {
    Context context;
    context.priority = static_cast<Priority>(3 - i % 4);
    const std::string line = std::to_string(i) + "\n";
    expected += line;
    fs_->Append(context, file, line, count);
    ++started;
    if (i % 10 != 0) continue;
    fs_->Sync(context, file, count);
    ++started;
  }
  fs_->Close(file);
  EXPECT_EQ(Append(file, "late").error().code(), ErrorCode::kNotFound);
  ASSERT_TRUE(RunUntil([&] { return answered == started; }));
  ASSERT_TRUE(RunUntilIdle());
  EXPECT_EQ(Content(Path("f")), expected);
}

TEST_P(FileSystemTest, AnAppendThatFailsHalfWaySaysSo) {
  const FileId file = *Open(Path("f"), OpenMode::kCreateNew);
  const FileSizeLimit limit(64 * 1024);
  const Status half = Append(file, std::string(100'000, 'x'));
  EXPECT_EQ(half.error(),
            Error(ErrorCode::kUnknownOutcome,
                  "append to \"" + Path("f") + "\": wrote 65536 of 100000 bytes: File too large"));
  EXPECT_EQ(Append(file, "x").error().code(), ErrorCode::kIo) << "not a byte of it was written";
  fs_->Close(file);
}

TEST_P(FileSystemTest, OpenFilesAndTheirOperationsAreBounded) {
  MakeFileSystem({.workers_max = 1}, {.files_max = 2, .operations_per_file_max = 3});
  const FileId first = *Open(Path("a"), OpenMode::kCreateNew);
  ASSERT_TRUE(Open(Path("b"), OpenMode::kCreateNew));
  EXPECT_EQ(Open(Path("c"), OpenMode::kCreateNew).error().code(), ErrorCode::kOverloaded);

  UniqueFd hang(::eventfd(0, EFD_CLOEXEC));
  std::optional<Result<int>> hung;
  pool_->Run<int>(
      shard_, {}, {"hang"},
      [fd = hang.get()]() -> Result<int> {
        uint64_t count;
        return static_cast<int>(::read(fd, &count, sizeof count));
      },
      [&](Result<int> result) { hung.emplace(std::move(result)); });
  int fine = 0;
  for (int i = 0; i < 3; ++i) {
    fs_->Append({}, first, "x", [&](Status status) { fine += status ? 1 : 0; });
  }
  EXPECT_EQ(Append(first, "x").error().code(), ErrorCode::kOverloaded);
  const uint64_t one = 1;
  ASSERT_EQ(::write(hang.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  ASSERT_TRUE(RunUntil([&] { return fine == 3 && hung; }));
  EXPECT_TRUE(Append(first, "x"));
  fs_->Close(first);
  EXPECT_TRUE(Open(Path("c"), OpenMode::kCreateNew));
}

TEST_P(FileSystemTest, DirectoriesAreMadeWithAllThatLeadsToThem) {
  const mode_t before = ::umask(077);
  EXPECT_TRUE(MakeDirectories(Path("a/b//c/"), 0755));
  ::umask(before);
  EXPECT_EQ(ModeOf(Path("a")), 0755u);
  EXPECT_EQ(ModeOf(Path("a/b/c")), 0755u);
  EXPECT_TRUE(MakeDirectories(Path("a/b"), 0700));
  EXPECT_EQ(ModeOf(Path("a/b")), 0755u) << "what exists keeps its mode";
  ASSERT_EQ(::symlink("a/b", Path("link").c_str()), 0);
  EXPECT_TRUE(MakeDirectories(Path("link/d"), 0700));
  EXPECT_EQ(ModeOf(Path("a/b/d")), 0700u);
  Put(Path("file"), "");
  EXPECT_EQ(MakeDirectories(Path("file"), 0755).error().code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(MakeDirectories(Path("file/x"), 0755).error().code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(MakeDirectories("", 0755).error(),
            Error(ErrorCode::kNotFound, "make directory \"\": No such file or directory"));
}

TEST_P(FileSystemTest, NamesAreMovedAndRemoved) {
  Put(Path("f"), "x");
  ASSERT_TRUE(MakeDirectories(Path("dir"), 0755));
  const auto rename = [&](auto from, auto to) {
    return Await<Unit>([&](auto done) { fs_->Rename({}, from, to, std::move(done)); });
  };
  const auto unlink = [&](auto path) {
    return Await<Unit>([&](auto done) { fs_->Unlink({}, path, std::move(done)); });
  };
  const auto remove = [&](auto path) {
    return Await<Unit>([&](auto done) { fs_->RemoveDirectory({}, path, std::move(done)); });
  };
  EXPECT_TRUE(rename(Path("f"), Path("dir/g")));
  EXPECT_EQ(remove(Path("dir")).error().code(), ErrorCode::kAlreadyExists) << "not empty";
  EXPECT_TRUE(unlink(Path("dir/g")));
  EXPECT_EQ(unlink(Path("dir/g")).error().code(), ErrorCode::kNotFound);
  EXPECT_TRUE(remove(Path("dir")));
  EXPECT_TRUE(Names(root_).empty());
}

TEST_P(FileSystemTest, StatDoesNotFollowLinks) {
  Put(Path("f"), "12345");
  ASSERT_EQ(::chmod(Path("f").c_str(), 0640), 0);
  ASSERT_EQ(::symlink("f", Path("link").c_str()), 0);
  const auto stat = [&](auto path) {
    return Await<FileInfo>([&](auto done) { fs_->Stat({}, path, std::move(done)); });
  };
  const FileInfo info = *stat(Path("f"));
  EXPECT_EQ(info.kind, FileInfo::Kind::kFile);
  EXPECT_EQ(info.mode, 0640u);
  EXPECT_EQ(info.size, 5u);
  EXPECT_LT(clock_.WallNow() - info.modified, Minutes(5));
  EXPECT_EQ(stat(Path("link"))->kind, FileInfo::Kind::kSymlink);
  EXPECT_EQ(stat(root_)->kind, FileInfo::Kind::kDirectory);
  EXPECT_EQ(stat("/dev/null")->kind, FileInfo::Kind::kOther);
  EXPECT_EQ(stat(Path("no")).error().code(), ErrorCode::kNotFound);
}

TEST_P(FileSystemTest, ListsAreSortedAndBounded) {
  for (const char* name : {"c", "a", "b"}) Put(Path(name), "");
  ASSERT_TRUE(MakeDirectories(Path("d"), 0755));
  ASSERT_EQ(::symlink("a", Path("e").c_str()), 0);
  const auto list = [&](auto path, size_t entries_max) {
    return Await<std::vector<DirectoryEntry>>(
        [&](auto done) { fs_->List({}, path, entries_max, std::move(done)); });
  };
  using Kind = FileInfo::Kind;
  const std::vector<DirectoryEntry> expected = {{"a", Kind::kFile},
                                                {"b", Kind::kFile},
                                                {"c", Kind::kFile},
                                                {"d", Kind::kDirectory},
                                                {"e", Kind::kSymlink}};
  EXPECT_EQ(*list(root_, 5), expected);
  EXPECT_EQ(list(root_, 4).error().code(), ErrorCode::kOverloaded);
  EXPECT_TRUE(list(Path("d"), 0)->empty());
  EXPECT_EQ(list(Path("no"), 5).error().code(), ErrorCode::kNotFound);
}

TEST_P(FileSystemTest, AfterStopNothingBegins) {
  bool stopped = false;
  std::string order;
  fs_->ReadFile({}, "/proc/self/status", 1 << 20, [&](Result<std::string>) { order += 'a'; });
  fs_->Stop([&] {
    order += 'b';
    stopped = true;
  });
  EXPECT_EQ(Read("/proc/self/status", 1 << 20).error().code(), ErrorCode::kCancelled);
  EXPECT_EQ(Open(Path("f"), OpenMode::kCreateNew).error().code(), ErrorCode::kCancelled);
  ASSERT_TRUE(RunUntil([&] { return stopped; }));
  EXPECT_EQ(order, "ab");
  fs_.reset();
  EXPECT_TRUE(Names(root_).empty());
}

// Each step asks for the next one when it hears of the last: the file system must not go in
// between.
TEST_P(FileSystemTest, StopWaitsForWhoAsksAgainWhenRefused) {
  bool stopped = false;
  int refusals = 0;
  std::function<void(Result<std::string>)> ask_again = [&](const Result<std::string>& answer) {
    if (answer) return;
    EXPECT_EQ(answer.error().code(), ErrorCode::kCancelled);
    EXPECT_FALSE(stopped);
    if (++refusals < 20) fs_->ReadFile({}, "/proc/self/status", 1 << 20, ask_again);
  };
  fs_->Stop([&] { stopped = true; });
  fs_->ReadFile({}, "/proc/self/status", 1 << 20, ask_again);
  ASSERT_TRUE(RunUntil([&] { return stopped; }));
  EXPECT_EQ(refusals, 20);
  fs_.reset();
}

TEST_P(FileSystemTest, RandomCancelsAnswerOnceAndLeaveNothingBehind) {
  MakeFileSystem({.workers_max = 4, .queue_max = 200}, {});
  const size_t files_before = OpenDescriptors();
  constexpr size_t kOperations = 5000, kUnderWayMax = 60, kPaths = 20;
  SeededRandom random(7);
  const auto round = [&] {
    std::vector<int> answers(kOperations, 0);
    std::vector<CancelSource> sources(kOperations);
    size_t answered = 0, fine = 0;
    for (size_t i = 0; i < kOperations; ++i) {
      Context context;
      context.cancel = sources[i].token();
      if (random.Below(8) == 0) context.deadline = After(loop().Now(), Microseconds(200));
      const std::string path = Path(std::to_string(random.Below(kPaths)));
      const auto count = [&, i](bool well) {
        ++answers[i];
        ++answered;
        fine += well;
      };
      if (random.Below(2) == 0) {
        fs_->ReplaceFile(context, path, "content", 0644, Durability::kCached,
                         [count](Status status) { count(static_cast<bool>(status)); });
      } else {
        fs_->Open(context, path, OpenMode::kAppend, 0644, [this, count](Result<FileId> file) {
          if (file) fs_->Append({}, *file, "more", [](Status) {});
          if (file) fs_->Close(*file);
          count(static_cast<bool>(file));
        });
      }
      if (random.Below(2) == 0) sources[i - random.Below(std::min(i, kUnderWayMax) + 1)].Cancel();
      if (random.Below(4) == 0) loop_->RunTurn(loop().Now());
      ASSERT_TRUE(RunUntil([&] { return i + 1 - answered < kUnderWayMax; }));
    }
    ASSERT_TRUE(RunUntil([&] { return answered == kOperations; }));
    ASSERT_TRUE(RunUntilIdle());
    for (const int count : answers) ASSERT_EQ(count, 1);
    EXPECT_GT(fine, kOperations / 10);
    EXPECT_LT(fine, kOperations);
  };
  round();
  const size_t bytes_before = BytesInUse();
  round();
  EXPECT_LE(BytesInUse(), bytes_before + kKeptBytesMax);
  EXPECT_LE(Names(root_).size(), kPaths) << "no temporary file is left";
  EXPECT_EQ(OpenDescriptors(), files_before);
}

}  // namespace
}  // namespace denselet::reactor
