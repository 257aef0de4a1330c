#include "reactor/batch_reader.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/integration/loop_fixture.h"
#include "tests/integration/resources.h"
#include "tests/integration/test_files.h"

namespace denselet::reactor {
namespace {

// A process that lives until told, for files of procfs that vanish.
class Child {
 public:
  Child() : pid_(::fork()) {
    if (pid_ == 0) {
      while (true) ::pause();
    }
  }
  ~Child() { End(); }
  void End() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  std::string Stat() const { return "/proc/" + std::to_string(pid_) + "/stat"; }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

// A page of a file with a path of about `path_bytes`, mapped at an address of the test's choice:
// the lowest one is the first line of /proc/self/maps.
class MappedFile {
 public:
  MappedFile(const std::string& folder, size_t path_bytes, uintptr_t address) : path_(folder) {
    while (path_.size() + 100 < path_bytes) path_ += '/' + std::string(99, 'x');
    std::filesystem::create_directories(path_);
    path_ = std::filesystem::canonical(path_);
    path_ += '/' + std::string(path_bytes - path_.size() - 1, 'y');
    Put(path_, "content");
    const UniqueFd fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    at_ = ::mmap(reinterpret_cast<void*>(address), kBytes, PROT_READ,
                 MAP_PRIVATE | MAP_FIXED_NOREPLACE, fd.get(), 0);
  }
  ~MappedFile() {
    if (mapped()) ::munmap(at_, kBytes);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  bool mapped() const { return at_ != MAP_FAILED; }
  const std::string& path() const { return path_; }

 private:
  static constexpr size_t kBytes = 4096;
  std::string path_;
  void* at_;
};

// A file of procfs about a descriptor: when that is closed, the file has vanished, also for who has
// it open.
class VanishingFile {
 public:
  VanishingFile() : null_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {
    // Far above what is opened meanwhile, so that nobody else gets the number.
    about_ = UniqueFd(::fcntl(null_.get(), F_DUPFD_CLOEXEC, kLowest));
    number_ = about_.get();
  }

  std::string path() const { return "/proc/self/fdinfo/" + std::to_string(number_); }
  void Toggle() {
    if (about_) return about_.Reset();
    EXPECT_EQ(::dup3(null_.get(), number_, O_CLOEXEC), number_);
    about_ = UniqueFd(number_);
  }

 private:
  static constexpr int kLowest = 500;
  UniqueFd null_, about_;
  int number_;
};

class BatchReaderTest : public ShardTest {
 protected:
  struct Read {
    std::vector<BatchFileId> order;
    std::map<SlotKey, Result<std::string>> content;
    std::vector<size_t> batches;  // their sizes
    bool ended = false;
  };

  BatchReaderTest() {
    std::string path = testing::TempDir() + "/batch_reader_test.XXXXXX";
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    root_ = path;
    MakeReader({});
  }
  ~BatchReaderTest() override {
    StopReader();
    pool_.reset();
    std::filesystem::remove_all(root_);
  }

  void MakeReader(const BatchReaderOptions& options) {
    StopReader();
    reader_ = std::make_unique<BatchReader>(shard_, *pool_, options);
  }
  void StopReader() {
    if (reader_ == nullptr) return;
    bool stopped = false;
    reader_->Stop([&] { stopped = true; });
    EXPECT_TRUE(RunUntil([&] { return stopped; }));
    reader_.reset();
  }

  std::string Path(const std::string& name) const { return root_ + "/" + name; }
  // `count` files, each with its own number in it.
  std::vector<BatchFileId> AddNumbered(int count) {
    std::vector<BatchFileId> files;
    for (int i = 0; i < count; ++i) {
      Put(Path(std::to_string(i)), std::to_string(i));
      files.push_back(*reader_->Add(Path(std::to_string(i)), FileForm::kOneRecord));
    }
    return files;
  }

  BatchReader::OnBatch Keep(Read& read) {
    return [&read](const BatchReader::Batch& batch) {
      EXPECT_FALSE(read.ended) << "called back after the last batch";
      read.ended = batch.kind == BatchReader::Batch::Kind::kLast;
      read.batches.push_back(batch.readings.size());
      for (const BatchReader::Reading& reading : batch.readings) {
        read.order.push_back(reading.file);
        Result<std::string> content = reading.content
                                          ? Result<std::string>(std::string(*reading.content))
                                          : Result<std::string>(reading.content.error());
        EXPECT_TRUE(read.content.emplace(reading.file.key, std::move(content)).second)
            << "read twice";
      }
    };
  }
  Read ReadAll(std::vector<BatchFileId> files) {
    Read read;
    reader_->ReadAll({}, std::move(files), Keep(read));
    EXPECT_FALSE(read.ended) << "called back inside ReadAll";
    EXPECT_TRUE(RunUntil([&] { return read.ended; }));
    return read;
  }

  std::string root_;
  std::unique_ptr<BlockingPool> pool_ = std::make_unique<BlockingPool>(clock_);
  std::unique_ptr<BatchReader> reader_;
};
INSTANTIATE_LOOP_TEST(BatchReaderTest);

TEST_P(BatchReaderTest, FilesAreReadInBoundedBatchesAndInOrder) {
  MakeReader({.reads_per_turn_max = 10, .reading_per_turn_max = Hours(1)});
  const std::vector<BatchFileId> files = AddNumbered(35);
  const Read read = ReadAll(files);
  EXPECT_EQ(read.batches, (std::vector<size_t>{10, 10, 10, 5}));
  EXPECT_EQ(read.order, files);
  for (size_t i = 0; i < files.size(); ++i) {
    EXPECT_EQ(*read.content.at(files[i].key), std::to_string(i));
  }
}

TEST_P(BatchReaderTest, DescriptorsStayOpenAndShowWhatIsNew) {
  const std::vector<BatchFileId> files = AddNumbered(3);
  ReadAll(files);
  const uint64_t jobs = pool_->Snapshot().finished_total;
  const size_t open = OpenDescriptors();
  Put(Path("1"), "something longer");
  const Read read = ReadAll(files);
  EXPECT_EQ(*read.content.at(files[1].key), "something longer");
  EXPECT_EQ(pool_->Snapshot().finished_total, jobs) << "nothing was opened again";
  EXPECT_EQ(OpenDescriptors(), open);
  StopReader();
  EXPECT_EQ(OpenDescriptors(), open - 3);
}

TEST_P(BatchReaderTest, OtherWorkOfTheShardRunsBetweenBatches) {
  MakeReader({.reads_per_turn_max = 1});
  const std::vector<BatchFileId> files = AddNumbered(10);
  ReadAll(files);
  int turns = 0;
  Read read;
  UniqueFunction<void()> again;
  again = [&] {
    ++turns;
    if (!read.ended) loop().Post([&] { again(); });
  };
  loop().Post([&] { again(); });
  reader_->ReadAll({}, files, Keep(read));
  ASSERT_TRUE(RunUntil([&] { return read.ended; }));
  EXPECT_GE(turns, 9);
  loop_->RunTurn(loop().Now());
}

TEST_P(BatchReaderTest, AnEmptyBatchEndsToo) {
  const Read read = ReadAll({});
  EXPECT_EQ(read.batches, std::vector<size_t>{0});
}

TEST_P(BatchReaderTest, AMissingFileIsAReadingLikeOthers) {
  std::vector<BatchFileId> files = AddNumbered(2);
  files.insert(files.begin(), *reader_->Add(Path("missing"), FileForm::kOneRecord));
  const Read read = ReadAll(files);
  EXPECT_EQ(
      read.content.at(files[0].key).error(),
      Error(ErrorCode::kNotFound, "read \"" + Path("missing") + "\": No such file or directory"));
  EXPECT_EQ(*read.content.at(files[2].key), "1");
  Put(Path("missing"), "here now");
  EXPECT_EQ(*ReadAll(files).content.at(files[0].key), "here now");
}

TEST_P(BatchReaderTest, AVanishedFileIsOpenedAgainByItsPath) {
  Child first, second;
  ASSERT_EQ(::symlink(first.Stat().c_str(), Path("link").c_str()), 0);
  std::vector<BatchFileId> files = AddNumbered(2);
  files.insert(files.begin(), *reader_->Add(Path("link"), FileForm::kOneRecord));
  const std::string before = *ReadAll(files).content.at(files[0].key);
  EXPECT_TRUE(before.starts_with(std::to_string(first.pid()) + " "));

  first.End();
  std::filesystem::remove(Path("link"));
  ASSERT_EQ(::symlink(second.Stat().c_str(), Path("link").c_str()), 0);
  const Read read = ReadAll(files);
  EXPECT_TRUE(read.content.at(files[0].key)->starts_with(std::to_string(second.pid()) + " "));
  EXPECT_EQ(read.order, (std::vector<BatchFileId>{files[1], files[2], files[0]}));

  second.End();
  EXPECT_EQ(ReadAll(files).content.at(files[0].key).error().code(), ErrorCode::kNotFound);
  Read alone = ReadAll({files[0]});
  EXPECT_EQ(alone.content.at(files[0].key).error().code(), ErrorCode::kNotFound);
}

TEST_P(BatchReaderTest, ARemovedAndMadeAgainCgroupIsReadAgain) {
  std::string root;
  std::ifstream mounts("/proc/mounts");
  for (std::string what, where, type, rest; mounts >> what >> where >> type;) {
    std::getline(mounts, rest);
    if (type == "cgroup2") root = where;
  }
  const std::string cgroup = root + "/denselet-test-" + std::to_string(::getpid());
  if (root.empty() || ::mkdir(cgroup.c_str(), 0755) != 0) GTEST_SKIP() << "no cgroup may be made";
  const BatchFileId file = *reader_->Add(cgroup + "/cgroup.max.descendants", FileForm::kOneRecord);
  EXPECT_EQ(*ReadAll({file}).content.at(file.key), "max\n");
  ASSERT_EQ(::rmdir(cgroup.c_str()), 0);
  ASSERT_EQ(::mkdir(cgroup.c_str(), 0755), 0);
  Put(cgroup + "/cgroup.max.descendants", "5");
  EXPECT_EQ(*ReadAll({file}).content.at(file.key), "5\n");
  ASSERT_EQ(::rmdir(cgroup.c_str()), 0);
  EXPECT_EQ(ReadAll({file}).content.at(file.key).error().code(), ErrorCode::kNotFound);
}

// /proc/self/maps has the paths of mapped files: here one line of 1.5 kB and then one of 3 kB,
// before all others. They do not fit a page together, so the first read ends early.
TEST_P(BatchReaderTest, AFileOfLinesIsReadToItsEndHoweverEarlyTheFirstReadEnds) {
  const MappedFile first(Path("first"), 1500, 0x1000000), second(Path("second"), 3000, 0x2000000);
  ASSERT_TRUE(first.mapped() && second.mapped());
  MakeReader({.bytes_max = 1 << 20, .reads_per_turn_max = 1});
  const BatchFileId file = *reader_->Add("/proc/self/maps", FileForm::kLines);
  const std::string content = *ReadAll({file}).content.at(file.key);
  EXPECT_NE(content.find(first.path() + "\n"), std::string::npos);
  EXPECT_NE(content.find(second.path() + "\n"), std::string::npos);
  EXPECT_NE(content.find("[stack]"), std::string::npos);

  MakeReader({.bytes_max = 4096, .reads_per_turn_max = 1});
  const BatchFileId longer = *reader_->Add("/proc/self/maps", FileForm::kLines);
  EXPECT_EQ(ReadAll({longer}).content.at(longer.key).error().code(), ErrorCode::kOverloaded);
}

TEST_P(BatchReaderTest, OneRecordIsReadByOneCallAndStillWhole) {
  const std::string path = "/proc/self/status";
  MakeReader({.bytes_max = 1 << 16, .reads_per_turn_max = 1});
  const BatchFileId file = *reader_->Add(path, FileForm::kOneRecord);
  const std::string content = *ReadAll({file}).content.at(file.key);
  EXPECT_NE(content.find("nonvoluntary_ctxt_switches"), std::string::npos) << "its last line";
  MakeReader({.bytes_max = 100, .reads_per_turn_max = 1});
  const BatchFileId longer = *reader_->Add(path, FileForm::kOneRecord);
  EXPECT_EQ(ReadAll({longer}).content.at(longer.key).error().code(), ErrorCode::kOverloaded);
}

TEST_P(BatchReaderTest, KeptFilesAreBoundedAndRemovedOnesMakeRoom) {
  MakeReader({.files_max = 2});
  const std::vector<BatchFileId> files = AddNumbered(2);
  ReadAll(files);
  const size_t open = OpenDescriptors();
  EXPECT_EQ(reader_->Add(Path("x"), FileForm::kOneRecord).error().code(), ErrorCode::kOverloaded);
  reader_->Remove(files[0]);
  EXPECT_EQ(OpenDescriptors(), open - 1);
  const Read read = ReadAll(files);
  EXPECT_EQ(read.content.at(files[0].key).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(*read.content.at(files[1].key), "1");
  EXPECT_TRUE(reader_->Add(Path("x"), FileForm::kOneRecord));
  EXPECT_EQ(reader_->files(), 2u);
}

TEST_P(BatchReaderTest, PathsWithANulByteAreRefused) {
  using std::string_literals::operator""s;
  EXPECT_EQ(reader_->Add("/proc/stat\0x"s, FileForm::kOneRecord).error().code(),
            ErrorCode::kInvalid);
}

TEST_P(BatchReaderTest, WhatIsLeftWhenTheContextEndsIsToldSo) {
  MakeReader({.reads_per_turn_max = 2});
  const std::vector<BatchFileId> files = AddNumbered(6);
  ReadAll(files);
  CancelSource source;
  Context context;
  context.cancel = source.token();
  Read read;
  reader_->ReadAll(context, files, [&, keep = Keep(read)](const BatchReader::Batch& b) mutable {
    source.Cancel();
    keep(b);
  });
  ASSERT_TRUE(RunUntil([&] { return read.ended; }));
  EXPECT_EQ(read.batches, (std::vector<size_t>{2, 4}));
  EXPECT_TRUE(read.content.at(files[1].key));
  EXPECT_EQ(read.content.at(files[5].key).error().code(), ErrorCode::kCancelled);

  Read late;
  context = {};
  context.deadline = loop().Now();
  reader_->ReadAll(context, files, Keep(late));
  ASSERT_TRUE(RunUntil([&] { return late.ended; }));
  EXPECT_EQ(late.content.at(files[0].key).error().code(), ErrorCode::kDeadlineExceeded);
}

TEST_P(BatchReaderTest, ACancelWhileFilesAreOpenedIsToldForAll) {
  const std::vector<BatchFileId> files = AddNumbered(3);
  CancelSource source;
  Context context;
  context.cancel = source.token();
  Read read;
  reader_->ReadAll(context, files, Keep(read));
  loop_->RunTurn(loop().Now());  // the job that opens them has begun, or waits
  source.Cancel();
  ASSERT_TRUE(RunUntil([&] { return read.ended; }));
  for (const BatchFileId file : files) {
    EXPECT_EQ(read.content.at(file.key).error().code(), ErrorCode::kCancelled);
  }
  EXPECT_EQ(*ReadAll(files).content.at(files[2].key), "2");
}

TEST_P(BatchReaderTest, BatchesUnderWayAreBounded) {
  MakeReader({.read_alls_max = 1});
  const std::vector<BatchFileId> files = AddNumbered(1);
  Read first, second;
  reader_->ReadAll({}, files, Keep(first));
  reader_->ReadAll({}, files, Keep(second));
  ASSERT_TRUE(RunUntil([&] { return first.ended && second.ended; }));
  EXPECT_EQ(*first.content.at(files[0].key), "0");
  EXPECT_EQ(second.content.at(files[0].key).error().code(), ErrorCode::kOverloaded);
}

TEST_P(BatchReaderTest, StopWaitsForWhatIsUnderWay) {
  const std::vector<BatchFileId> files = AddNumbered(5);
  Read read, late;
  bool stopped = false;
  reader_->ReadAll({}, files, Keep(read));
  reader_->Stop([&] { stopped = true; });
  reader_->ReadAll({}, files, Keep(late));
  ASSERT_TRUE(RunUntil([&] { return stopped && late.ended; }));
  EXPECT_TRUE(read.ended);
  EXPECT_EQ(*read.content.at(files[4].key), "4");
  EXPECT_EQ(late.content.at(files[4].key).error().code(), ErrorCode::kCancelled);
  reader_.reset();
}

// Whatever the test runs into, every ReadAll has one reading for each file and one end.
TEST_P(BatchReaderTest, RandomCancelsOnFilesThatVanishEndOnceAndLeakNoDescriptor) {
  constexpr int kRounds = 20'000;
  constexpr size_t kFiles = 64, kBatchMax = 16;
  MakeReader({.files_max = kFiles, .reads_per_turn_max = 4, .read_alls_max = 32});
  const size_t open_before = OpenDescriptors();
  SeededRandom random(9);
  std::vector<VanishingFile> vanishing(kFiles);
  std::vector<BatchFileId> files;
  for (const VanishingFile& file : vanishing) {
    files.push_back(*reader_->Add(file.path(), FileForm::kOneRecord));
  }
  struct Asked {
    CancelSource cancel;
    size_t readings_due;
    bool ended = false;
  };
  std::vector<std::unique_ptr<Asked>> asked;
  std::map<ErrorCode, int> errors;
  int ended = 0, readings = 0;
  for (int i = 0; i < kRounds; ++i) {
    const size_t first = random.Below(kFiles), count = random.Below(kBatchMax);
    std::vector<BatchFileId> batch;
    for (size_t j = 0; j < count; ++j) batch.push_back(files[(first + j) % kFiles]);
    asked.push_back(std::make_unique<Asked>());
    Asked& ask = *asked.back();
    ask.readings_due = batch.size();
    Context context;
    context.cancel = ask.cancel.token();
    if (random.Below(4) == 0) context.deadline = After(loop().Now(), Microseconds(500));
    reader_->ReadAll(context, std::move(batch), [&](const BatchReader::Batch& b) {
      ASSERT_FALSE(ask.ended) << "called back after the last batch";
      ASSERT_LE(b.readings.size(), ask.readings_due);
      ask.readings_due -= b.readings.size();
      for (const BatchReader::Reading& reading : b.readings) {
        if (reading.content) ++readings;
        if (!reading.content) ++errors[reading.content.error().code()];
      }
      if (random.Below(8) == 0) ask.cancel.Cancel();
      if (b.kind != BatchReader::Batch::Kind::kLast) return;
      EXPECT_EQ(ask.readings_due, 0u) << "files without a reading";
      ask.ended = true;
      ++ended;
    });
    vanishing[random.Below(kFiles)].Toggle();
    if (random.Below(4) == 0) asked[random.Below(asked.size())]->cancel.Cancel();
    if (random.Below(16) == 0) {
      const size_t again = random.Below(kFiles);
      reader_->Remove(files[again]);
      files[again] = *reader_->Add(vanishing[again].path(), FileForm::kOneRecord);
    }
    for (size_t turns = random.Below(4); turns > 0; --turns) loop_->RunTurn(loop().Now());
  }
  ASSERT_TRUE(RunUntil([&] { return ended == kRounds; }));
  EXPECT_GT(readings, 0);
  EXPECT_GT(errors[ErrorCode::kNotFound], 0) << "vanished, or removed";
  EXPECT_GT(errors[ErrorCode::kCancelled], 0);
  vanishing.clear();
  StopReader();
  ASSERT_TRUE(RunUntil([&] { return pool_->Snapshot().running.empty(); }));
  EXPECT_EQ(OpenDescriptors(), open_before);
}

}  // namespace
}  // namespace denselet::reactor
