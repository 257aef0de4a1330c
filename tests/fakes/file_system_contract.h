// What reactor/api/file_system.h promises, as tests for every FileSystem: the real one on each loop
// and the simulated one. A program includes this once and says what it has:
//   INSTANTIATE_TEST_SUITE_P(Mine, FileSystemContract, testing::Values(FileSystemMaker{...}),
//                            NameOfFileSystem);
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"

namespace denselet::reactor {

// A file system and what drives it.
class FileSystemUnderTest {
 public:
  virtual ~FileSystemUnderTest() = default;
  virtual FileSystem& files() = 0;
  virtual Loop& loop() = 0;
  virtual std::string root() const = 0;  // a directory that is the test's own, empty
  // False: it does not come true.
  [[nodiscard]] virtual bool RunUntil(const std::function<bool()>& done) = 0;
  virtual void RunOneTurn() = 0;
  // Until everything that was started has ended, also what nobody waits for.
  virtual void Settle() = 0;
};

struct FileSystemMaker {
  std::string name;
  std::function<std::unique_ptr<FileSystemUnderTest>()> make;
};

inline std::string NameOfFileSystem(const testing::TestParamInfo<FileSystemMaker>& info) {
  return info.param.name;
}

class FileSystemContract : public testing::TestWithParam<FileSystemMaker> {
 protected:
  using Kind = FileInfo::Kind;
  using Entries = std::vector<DirectoryEntry>;

  FileSystem& files() { return made_->files(); }
  Loop& loop() { return made_->loop(); }
  std::string Path(const std::string& name) const { return made_->root() + "/" + name; }

  template <class T, class Start>
  Result<T> Await(Start start) {
    std::optional<Result<T>> result;
    start([&](Result<T> r) {
      EXPECT_FALSE(result.has_value()) << "called back twice";
      result.emplace(std::move(r));
    });
    EXPECT_FALSE(result.has_value()) << "called back inside the call";
    if (!made_->RunUntil([&] { return result.has_value(); })) std::abort();
    return std::move(*result);
  }

  Result<std::string> Read(const std::string& path, size_t bytes_max = 1 << 20) {
    return Await<std::string>(
        [&](auto done) { files().ReadFile(context_, path, bytes_max, std::move(done)); });
  }
  Status Replace(const std::string& path, const std::string& content) {
    return Await<Unit>([&](auto done) {
      files().ReplaceFile(context_, path, content, 0644, Durability::kCached, std::move(done));
    });
  }
  Status WriteControl(const std::string& path, const std::string& text) {
    return Await<Unit>(
        [&](auto done) { files().WriteControl(context_, path, text, std::move(done)); });
  }
  Result<FileId> Open(const std::string& path, OpenMode mode) {
    return Await<FileId>(
        [&](auto done) { files().Open(context_, path, mode, 0644, std::move(done)); });
  }
  Result<std::string> ReadAt(FileId file, uint64_t offset, size_t bytes_max) {
    return Await<std::string>(
        [&](auto done) { files().ReadAt(context_, file, offset, bytes_max, std::move(done)); });
  }
  Status Append(FileId file, const std::string& data) {
    return Await<Unit>([&](auto done) { files().Append(context_, file, data, std::move(done)); });
  }
  Status Sync(FileId file) {
    return Await<Unit>([&](auto done) { files().Sync(context_, file, std::move(done)); });
  }
  Status SyncDirectory(const std::string& path) {
    return Await<Unit>([&](auto done) { files().SyncDirectory(context_, path, std::move(done)); });
  }
  Status Rename(const std::string& from, const std::string& to) {
    return Await<Unit>([&](auto done) { files().Rename(context_, from, to, std::move(done)); });
  }
  Status MakeDirectories(const std::string& path) {
    return Await<Unit>([&](auto done) {
      files().MakeDirectories(context_, path, 0755, reactor::Durability::kSynced, std::move(done));
    });
  }
  Status Unlink(const std::string& path) {
    return Await<Unit>([&](auto done) { files().Unlink(context_, path, std::move(done)); });
  }
  Status Symlink(const std::string& target, const std::string& path) {
    return Await<Unit>(
        [&](auto done) { files().Symlink(context_, target, path, std::move(done)); });
  }
  Result<std::string> ReadLink(const std::string& path) {
    return Await<std::string>(
        [&](auto done) { files().ReadLink(context_, path, std::move(done)); });
  }
  Status RemoveDirectory(const std::string& path) {
    return Await<Unit>(
        [&](auto done) { files().RemoveDirectory(context_, path, std::move(done)); });
  }
  Result<FileInfo> Stat(const std::string& path) {
    return Await<FileInfo>([&](auto done) { files().Stat(context_, path, std::move(done)); });
  }
  Result<Entries> List(const std::string& path, size_t entries_max = 100) {
    return Await<Entries>(
        [&](auto done) { files().List(context_, path, entries_max, std::move(done)); });
  }

  // Every operation on paths, at one path, with what it is called in errors.
  struct Attempt {
    std::string doing;
    std::optional<Error> error;
  };
  std::vector<Attempt> TryAll(const std::string& path) {
    std::vector<Attempt> attempts;
    const auto add = [&](const char* doing, const auto& result) {
      attempts.push_back({doing, result ? std::nullopt : std::optional(result.error())});
    };
    add("read", Read(path));
    add("replace", Replace(path, "x"));
    add("write", WriteControl(path, "x"));
    add("open", Open(path, OpenMode::kAppend));
    add("sync directory", SyncDirectory(path));
    add("rename", Rename(path, Path("renamed")));
    add("make directory", MakeDirectories(path));
    add("link", Symlink("target", path));
    add("read link", ReadLink(path));
    add("unlink", Unlink(path));
    add("remove directory", RemoveDirectory(path));
    add("stat", Stat(path));
    add("list", List(path));
    return attempts;
  }
  void ExpectAllFail(const std::string& path, ErrorCode code, const std::string& message) {
    for (const Attempt& attempt : TryAll(path)) {
      ASSERT_TRUE(attempt.error.has_value()) << attempt.doing;
      EXPECT_EQ(*attempt.error,
                Error(code, attempt.doing + " \"" + path.c_str() + "\": " + message));
    }
  }

  std::unique_ptr<FileSystemUnderTest> made_ = GetParam().make();
  Context context_;  // of the operations above
};

TEST_P(FileSystemContract, ErrorsNameTheOperationAndThePath) {
  const std::string missing = "\": No such file or directory";
  EXPECT_EQ(Read(Path("no")).error(),
            Error(ErrorCode::kNotFound, "read \"" + Path("no") + missing));
  EXPECT_EQ(WriteControl(Path("no"), "x").error(),
            Error(ErrorCode::kNotFound, "write \"" + Path("no") + missing));
  EXPECT_EQ(Open(Path("no"), OpenMode::kRead).error(),
            Error(ErrorCode::kNotFound, "open \"" + Path("no") + missing));
  EXPECT_EQ(Open(Path("no/f"), OpenMode::kCreateNew).error(),
            Error(ErrorCode::kNotFound, "open \"" + Path("no/f") + missing));
  EXPECT_EQ(Replace(Path("no/f"), "x").error(),
            Error(ErrorCode::kNotFound,
                  "replace \"" + Path("no/f") + "\": open directory: No such file or directory"));
  EXPECT_EQ(SyncDirectory(Path("no")).error(),
            Error(ErrorCode::kNotFound, "sync directory \"" + Path("no") + missing));
  EXPECT_EQ(
      Rename(Path("no"), Path("x")).error(),
      Error(ErrorCode::kNotFound, "rename \"" + Path("no") + "\" to \"" + Path("x") + missing));
  EXPECT_EQ(Unlink(Path("no")).error(),
            Error(ErrorCode::kNotFound, "unlink \"" + Path("no") + missing));
  EXPECT_EQ(RemoveDirectory(Path("no")).error(),
            Error(ErrorCode::kNotFound, "remove directory \"" + Path("no") + missing));
  EXPECT_EQ(Stat(Path("no")).error(),
            Error(ErrorCode::kNotFound, "stat \"" + Path("no") + missing));
  EXPECT_EQ(List(Path("no")).error(),
            Error(ErrorCode::kNotFound, "list \"" + Path("no") + missing));
  EXPECT_EQ(MakeDirectories("").error(),
            Error(ErrorCode::kNotFound, "make directory \"" + missing));
}

TEST_P(FileSystemContract, WhatHasEndedBeforeTheStartIsNotBegun) {
  ASSERT_TRUE(Replace(Path("f"), "old"));
  CancelSource source;
  source.Cancel();
  context_.cancel = source.token();
  ExpectAllFail(Path("f"), ErrorCode::kCancelled, "cancelled before it began");
  context_ = {};
  context_.deadline = loop().Now();
  ExpectAllFail(Path("f"), ErrorCode::kDeadlineExceeded, "the deadline passed before it began");
  context_ = {};
  made_->Settle();
  EXPECT_EQ(*Read(Path("f")), "old");
  EXPECT_EQ(*List(made_->root()), (Entries{{"f", Kind::kFile}}));
}

TEST_P(FileSystemContract, PathsWithANulByteAreInvalid) {
  using std::string_literals::operator""s;
  ASSERT_TRUE(Replace(Path("f"), "old"));
  ExpectAllFail(Path("f") + "\0.txt"s, ErrorCode::kInvalid, "the path has a NUL byte");
  EXPECT_EQ(Rename(Path("f"), Path("g\0"s)).error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(*Read(Path("f")), "old");
}

TEST_P(FileSystemContract, DirectoriesAreNotFilesAndFilesNotDirectories) {
  ASSERT_TRUE(MakeDirectories(Path("dir")));
  ASSERT_TRUE(Replace(Path("f"), "x"));
  EXPECT_EQ(Unlink(Path("dir")).error(),
            Error(ErrorCode::kInvalid, "unlink \"" + Path("dir") + "\": Is a directory"));
  EXPECT_EQ(Read(Path("dir")).error(),
            Error(ErrorCode::kInvalid, "read \"" + Path("dir") + "\": Is a directory"));
  EXPECT_EQ(WriteControl(Path("dir"), "x").error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(Replace(Path("dir"), "x").error(),
            Error(ErrorCode::kInvalid, "replace \"" + Path("dir") + "\": rename: Is a directory"));
  EXPECT_EQ(Replace(Path("dir/"), "x").error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(Open(Path("dir"), OpenMode::kAppend).error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(Open(Path("dir"), OpenMode::kCreateNew).error().code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(RemoveDirectory(Path("f")).error(),
            Error(ErrorCode::kNotFound, "remove directory \"" + Path("f") + "\": Not a directory"));
  EXPECT_EQ(SyncDirectory(Path("f")).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(List(Path("f")).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(Stat(Path("f/x")).error(),
            Error(ErrorCode::kNotFound, "stat \"" + Path("f/x") + "\": Not a directory"));
  EXPECT_EQ(MakeDirectories(Path("f/x")).error().code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(*List(made_->root()), (Entries{{"dir", Kind::kDirectory}, {"f", Kind::kFile}}));
}

TEST_P(FileSystemContract, ARenamedDirectoryTakesAlongWhatIsInIt) {
  ASSERT_TRUE(MakeDirectories(Path("a/b")));
  ASSERT_TRUE(Replace(Path("a/b/f"), "content"));
  ASSERT_TRUE(Replace(Path("ab"), "a name that begins alike"));
  ASSERT_TRUE(MakeDirectories(Path("empty")));
  EXPECT_TRUE(Rename(Path("a"), Path("empty"))) << "over an empty directory";
  EXPECT_FALSE(Stat(Path("a")));
  EXPECT_FALSE(Stat(Path("a/b/f")));
  EXPECT_EQ(*Read(Path("empty/b/f")), "content");
  EXPECT_EQ(*List(Path("empty")), (Entries{{"b", Kind::kDirectory}}));
  EXPECT_EQ(*List(made_->root()), (Entries{{"ab", Kind::kFile}, {"empty", Kind::kDirectory}}));
}

TEST_P(FileSystemContract, RenamesThatWouldLoseSomethingAreRefused) {
  ASSERT_TRUE(MakeDirectories(Path("a/b")));
  ASSERT_TRUE(MakeDirectories(Path("full/x")));
  ASSERT_TRUE(Replace(Path("f"), "x"));
  EXPECT_EQ(Rename(Path("a"), Path("full")).error().code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(Rename(Path("a"), Path("a/b/c")).error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(Rename(Path("a"), Path("f")).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(Rename(Path("f"), Path("a")).error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(Rename(Path("f"), Path("no/f")).error().code(), ErrorCode::kNotFound);
  EXPECT_TRUE(Rename(Path("f"), Path("f")));
  EXPECT_TRUE(Rename(Path("a"), Path("a")));
  EXPECT_EQ(RemoveDirectory(Path("full")).error().code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(*Read(Path("f")), "x");
  EXPECT_TRUE(Stat(Path("a/b")));
}

TEST_P(FileSystemContract, ALinkLeadsToWhatItNames) {
  ASSERT_TRUE(MakeDirectories(Path("dir")));
  ASSERT_TRUE(Replace(Path("dir/f"), "content"));
  ASSERT_TRUE(Symlink(Path("dir/f"), Path("absolute")));
  ASSERT_TRUE(Symlink("dir", Path("relative")));
  EXPECT_EQ(*Read(Path("absolute")), "content");
  EXPECT_EQ(*Read(Path("relative/f")), "content") << "a link on the way";
  EXPECT_EQ(*List(Path("relative")), (Entries{{"f", Kind::kFile}}));
  EXPECT_EQ(*ReadLink(Path("absolute")), Path("dir/f"));
  EXPECT_EQ(*ReadLink(Path("relative")), "dir");
  EXPECT_EQ(Stat(Path("absolute"))->kind, Kind::kSymlink);
  EXPECT_EQ(Stat(Path("relative/f"))->kind, Kind::kFile);
  EXPECT_TRUE(MakeDirectories(Path("relative/more")));
  EXPECT_TRUE(WriteControl(Path("absolute"), "CONTENT"));
  EXPECT_EQ(*Read(Path("dir/f")), "CONTENT");
  EXPECT_EQ(*List(made_->root()), (Entries{{"absolute", Kind::kSymlink},
                                           {"dir", Kind::kDirectory},
                                           {"relative", Kind::kSymlink}}));
  EXPECT_TRUE(Unlink(Path("absolute")));
  EXPECT_EQ(*Read(Path("dir/f")), "CONTENT") << "a link is removed alone";
}

TEST_P(FileSystemContract, ALinkIsReplacedByRenamingAnotherOverIt) {
  ASSERT_TRUE(Replace(Path("old"), "old"));
  ASSERT_TRUE(Replace(Path("new"), "new"));
  ASSERT_TRUE(Symlink(Path("old"), Path("current")));
  EXPECT_EQ(Symlink(Path("new"), Path("current")).error(),
            Error(ErrorCode::kAlreadyExists, "link \"" + Path("current") + "\": File exists"));
  ASSERT_TRUE(Symlink(Path("new"), Path("updated")));
  EXPECT_TRUE(Rename(Path("updated"), Path("current")));
  EXPECT_EQ(*ReadLink(Path("current")), Path("new"));
  EXPECT_EQ(*Read(Path("old")), "old") << "what the old link led to is untouched";
  EXPECT_FALSE(Stat(Path("updated")));
  EXPECT_TRUE(Replace(Path("current"), "a file")) << "in the place of the link";
  EXPECT_EQ(Stat(Path("current"))->kind, Kind::kFile);
  EXPECT_EQ(*Read(Path("new")), "new");
}

TEST_P(FileSystemContract, LinksThatLeadNowhereSaySo) {
  using std::string_literals::operator""s;
  ASSERT_TRUE(Symlink(Path("no"), Path("dangling")));
  ASSERT_TRUE(Symlink("loop", Path("loop")));
  ASSERT_TRUE(Replace(Path("f"), "x"));
  EXPECT_EQ(Read(Path("dangling")).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(Open(Path("dangling"), OpenMode::kRead).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(Open(Path("dangling"), OpenMode::kCreateNew).error().code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(Open(Path("dangling"), OpenMode::kAppend).error().code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(Stat(Path("dangling"))->kind, Kind::kSymlink);
  EXPECT_EQ(Read(Path("loop")).error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(Stat(Path("loop/x")).error().code(), ErrorCode::kInvalid);
  EXPECT_EQ(ReadLink(Path("f")).error(),
            Error(ErrorCode::kInvalid, "read link \"" + Path("f") + "\": Invalid argument"));
  EXPECT_EQ(ReadLink(Path("no")).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(Symlink("", Path("x")).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(Symlink("x", Path("no/x")).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(Symlink("x\0"s, Path("x")).error().code(), ErrorCode::kInvalid);
}

TEST_P(FileSystemContract, DirectoriesAreMadeWithAllThatLeadsToThem) {
  EXPECT_TRUE(MakeDirectories(Path("a/b//c/")));
  EXPECT_TRUE(MakeDirectories(Path("a/b")));
  EXPECT_EQ(Stat(Path("a/b/c"))->kind, Kind::kDirectory);
  EXPECT_EQ(Stat(Path("a//b/"))->mode, 0755u);
  EXPECT_EQ(*List(Path("a/")), (Entries{{"b", Kind::kDirectory}}));
  EXPECT_TRUE(RemoveDirectory(Path("a/b/c")));
  EXPECT_TRUE(List(Path("a/b"))->empty());
}

TEST_P(FileSystemContract, BoundsOfTheCallerHold) {
  ASSERT_TRUE(Replace(Path("f"), "12345"));
  EXPECT_EQ(*Read(Path("f"), 5), "12345");
  EXPECT_EQ(Read(Path("f"), 4).error(),
            Error(ErrorCode::kInvalid, "read \"" + Path("f") + "\": more than 4 bytes"));
  EXPECT_EQ(List(made_->root(), 0).error(),
            Error(ErrorCode::kOverloaded, "list \"" + made_->root() + "\": more than 0 entries"));
}

TEST_P(FileSystemContract, OpenFilesDoWhatTheyWereOpenedFor) {
  EXPECT_EQ(Open(Path("f"), OpenMode::kRead).error().code(), ErrorCode::kNotFound);
  const FileId appended = *Open(Path("f"), OpenMode::kAppend);
  EXPECT_TRUE(Append(appended, "one"));
  EXPECT_EQ(Open(Path("f"), OpenMode::kCreateNew).error().code(), ErrorCode::kAlreadyExists);
  const FileId read = *Open(Path("f"), OpenMode::kRead);
  EXPECT_EQ(*ReadAt(read, 1, 10), "ne");
  EXPECT_EQ(*ReadAt(read, 10, 10), "");
  EXPECT_EQ(ReadAt(appended, 0, 10).error(),
            Error(ErrorCode::kIo, "read \"" + Path("f") + "\": Bad file descriptor"));
  EXPECT_EQ(Append(read, "x").error(),
            Error(ErrorCode::kIo, "append to \"" + Path("f") + "\": Bad file descriptor"));
  const FileId truncated = *Open(Path("f"), OpenMode::kCreateOrTruncate);
  EXPECT_TRUE(Append(truncated, "two"));
  EXPECT_TRUE(Sync(truncated));
  EXPECT_TRUE(Unlink(Path("f")));
  EXPECT_EQ(*ReadAt(read, 0, 10), "two") << "an open file has no need of a name";
  for (const FileId file : {appended, read, truncated}) files().Close(file);
  EXPECT_EQ(Append(truncated, "x").error(),
            Error(ErrorCode::kNotFound, "append to \"\": the file is not open"));
  EXPECT_EQ(ReadAt(read, 0, 1).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(Sync(FileId{}).error().code(), ErrorCode::kNotFound);
}

TEST_P(FileSystemContract, TellsWhetherSomebodyHasAFileOpenForWriting) {
  const auto find_writer = [this](const std::string& name) {
    return Await<WriterInfo>(
        [&](auto done) { files().FindWriter(context_, Path(name), std::move(done)); });
  };
  ASSERT_TRUE(Replace(Path("a"), "content"));
  ASSERT_TRUE(Await<Unit>(
      [&](auto done) { files().Symlink(context_, "a", Path("link"), std::move(done)); }));
  EXPECT_FALSE(find_writer("a")->open_for_writing);
  const Result<FileId> reader = Open(Path("a"), OpenMode::kRead);
  EXPECT_FALSE(find_writer("a")->open_for_writing);
  for (const OpenMode mode : {OpenMode::kAppend, OpenMode::kCreateOrTruncate}) {
    const Result<FileId> writer = Open(Path("a"), mode);
    EXPECT_TRUE(find_writer("a")->open_for_writing);
    EXPECT_TRUE(find_writer("link")->open_for_writing);
    files().Close(*writer);
    made_->Settle();
    EXPECT_FALSE(find_writer("a")->open_for_writing);
  }
  const Result<FileInfo> info =
      Await<FileInfo>([&](auto done) { files().Stat(context_, Path("a"), std::move(done)); });
  EXPECT_EQ(find_writer("link")->modified, info->modified);
  EXPECT_FALSE(find_writer("")->open_for_writing) << "a folder has no writer";
  EXPECT_EQ(find_writer("none").error().code(), ErrorCode::kNotFound);
  files().Close(*reader);
}

TEST_P(FileSystemContract, ACancelAnswersLaterAndOnce) {
  CancelSource source;
  context_.cancel = source.token();
  int answers = 0;
  files().ReadFile(context_, Path("f"), 10, [&](Result<std::string>) { ++answers; });
  source.Cancel();
  EXPECT_EQ(answers, 0) << "called back inside Cancel";
  ASSERT_TRUE(made_->RunUntil([&] { return answers > 0; }));
  made_->Settle();
  EXPECT_EQ(answers, 1);
}

// What the answer says of the effect is true, whenever the context ended.
TEST_P(FileSystemContract, AnswersTellTheEffectWheneverTheContextEnds) {
  constexpr size_t kOperations = 300;
  SeededRandom random(5);
  std::vector<CancelSource> sources(kOperations);
  std::vector<std::optional<Status>> answers(kOperations);
  size_t answered = 0;
  for (size_t i = 0; i < kOperations; ++i) {
    Context context;
    context.cancel = sources[i].token();
    if (random.Below(2) == 0) {
      context.deadline =
          After(loop().Now(), Microseconds(static_cast<int64_t>(random.Below(6000))));
    }
    files().ReplaceFile(context, Path(std::to_string(i)), "x", 0644, Durability::kCached,
                        [&, i](Status status) {
                          EXPECT_FALSE(answers[i]) << "answered twice";
                          answers[i].emplace(std::move(status));
                          ++answered;
                        });
    if (random.Below(3) == 0) made_->RunOneTurn();
    if (random.Below(2) == 0) sources[random.Below(i + 1)].Cancel();
  }
  ASSERT_TRUE(made_->RunUntil([&] { return answered == kOperations; }));
  made_->Settle();
  for (size_t i = 0; i < kOperations; ++i) {
    const std::string path = Path(std::to_string(i));
    const bool there = static_cast<bool>(Stat(path));
    if (*answers[i]) {
      EXPECT_TRUE(there);
      continue;
    }
    const Error& error = answers[i]->error();
    EXPECT_TRUE(error.message().starts_with("replace \"" + path + "\": ")) << error.message();
    if (error.code() == ErrorCode::kUnknownOutcome) continue;
    EXPECT_TRUE(error.code() == ErrorCode::kCancelled ||
                error.code() == ErrorCode::kDeadlineExceeded)
        << error.message();
    EXPECT_FALSE(there) << error.message();
  }
}

TEST_P(FileSystemContract, OperationsOnOneFileKeepTheirOrderWheneverContextsEnd) {
  constexpr int kAppends = 50;  // below any bound of operations on one file
  const FileId file = *Open(Path("f"), OpenMode::kCreateNew);
  SeededRandom random(6);
  std::vector<std::optional<Status>> answers(kAppends);
  int answered = 0;
  for (size_t i = 0; i < kAppends; ++i) {
    Context context;
    if (random.Below(2) == 0) {
      context.deadline =
          After(loop().Now(), Microseconds(static_cast<int64_t>(random.Below(60000))));
    }
    files().Append(context, file, std::to_string(i) + "\n", [&, i](Status status) {
      answers[i].emplace(std::move(status));
      ++answered;
    });
  }
  files().Close(file);
  ASSERT_TRUE(made_->RunUntil([&] { return answered == kAppends; }));
  made_->Settle();
  const std::string content = *Read(Path("f"));
  size_t read = 0;
  for (size_t i = 0; i < kAppends; ++i) {
    const std::string line = std::to_string(i) + "\n";
    const bool there = content.compare(read, line.size(), line) == 0;
    if (there) read += line.size();
    if (*answers[i]) {
      EXPECT_TRUE(there) << i;
    } else if (answers[i]->error().code() != ErrorCode::kUnknownOutcome) {
      EXPECT_FALSE(there) << i;
    }
  }
  EXPECT_EQ(read, content.size()) << "something came twice, or out of its order";
}

}  // namespace denselet::reactor
