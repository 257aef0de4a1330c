// Reads many small files of the kernel again and again (memory.current and cpu.stat of a thousand
// pods) at the price of one system call each: descriptors stay open.
//
// Lives on one shard. Its owner calls Stop() and keeps it until that has answered. Opening goes
// through the blocking pool, many files a job; reading is done on the shard's own thread, a bounded
// number a turn, because such files are made in memory by the read itself. Only for kernel file
// systems (cgroupfs, procfs, sysfs): a read elsewhere may wait, and a file that was replaced by a
// rename would be read in its old form.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "base/slot_map.h"
#include "base/unique_function.h"
#include "reactor/blocking_pool.h"
#include "reactor/gate.h"
#include "reactor/shard.h"
#include "reactor/unique_fd.h"

namespace denselet::reactor {

struct BatchReaderOptions {
  uint32_t files_max = 16384;  // kept open; the next Add: kOverloaded
  size_t bytes_max = 8192;     // a file that is longer reads as kOverloaded
  size_t reads_per_turn_max = 256;
  // memory.current costs a microsecond, memory.stat of a large cgroup fifty.
  Duration reading_per_turn_max = Milliseconds(1);
  size_t read_alls_max = 64;  // under way; all readings of the next one: kOverloaded
};

struct BatchFileId {
  SlotKey key;
  friend bool operator==(const BatchFileId&, const BatchFileId&) = default;
};

// How the kernel prints a file, which decides how its end is known.
enum class FileForm : uint8_t {
  // At once (memory.current, cpu.stat, memory.stat, /proc/<pid>/stat): one read is all of it,
  // because
  // the kernel enlarges its buffer until the one record fits.
  kOneRecord,
  // Line by line (cgroup.procs, cgroup.threads, mountinfo, maps): a read ends before the line that
  // does not fit the kernel's page, however early that is, so only an empty one is the end.
  kLines,
};

class BatchReader {
 public:
  struct Reading {
    BatchFileId file;
    Result<std::string_view> content;
  };
  // Some of the readings, in the order in which they were asked for, but for files that have to be
  // opened, the first time or again: those come last. Valid during the call.
  struct Batch {
    enum class Kind : uint8_t { kMoreFollow, kLast };
    std::span<const Reading> readings;
    Kind kind = Kind::kLast;
  };
  using OnBatch = UniqueFunction<void(const Batch&)>;

  BatchReader(Shard& home, BlockingPool& pool, const BatchReaderOptions& options = {});

  // No file is touched yet: that it does not exist is told by its reading.
  Result<BatchFileId> Add(std::string path, FileForm form);
  void Remove(BatchFileId file);

  // Calls back later, once or more, with one reading for every file asked for; the call with kLast
  // is the end. A file whose cgroup vanished is opened again by its path, once; when it is gone,
  // its reading is kNotFound. When the context ends, the readings that are left are
  // kDeadlineExceeded or kCancelled.
  void ReadAll(Context context, std::vector<BatchFileId> files, OnBatch on_batch);

  // No more ReadAll (kCancelled); `stopped` is posted after the last has ended.
  void Stop(Task stopped) { gate_.Close(std::move(stopped)); }

  size_t files() const { return files_.size(); }

 private:
  struct File {
    std::string path;
    FileForm form;
    UniqueFd fd;  // none: not opened yet, or vanished
  };
  struct ToOpen {
    BatchFileId id;
    std::string path;
  };
  struct Opened {
    BatchFileId id;
    Result<UniqueFd> fd;
  };
  struct Refused {
    BatchFileId id;
    Error error;
  };
  struct Round;

  static void FailAll(std::span<const BatchFileId> files, const Error& error, OnBatch& on_batch);
  void PostStep(std::unique_ptr<Round> round);
  void Step(std::unique_ptr<Round> round);
  std::span<const BatchFileId> NextPart(const Round& round) const;
  std::vector<ToOpen> Missing(std::span<const BatchFileId> files) const;
  void OpenThenRead(std::unique_ptr<Round> round, std::vector<ToOpen> missing);
  void HaveOpened(std::unique_ptr<Round> round, Result<std::vector<Opened>> opened);
  void ReadPart(std::unique_ptr<Round> round, std::span<const Refused> refused);
  void Read(Round& round, BatchFileId id, std::span<const Refused> refused);

  Shard& home_;
  BlockingPool& pool_;
  const BatchReaderOptions options_;
  SlotMap<File> files_;
  std::vector<Reading> readings_;          // of the present turn
  const std::unique_ptr<char[]> buffers_;  // reads_per_turn_max times bytes_max + 1
  size_t buffers_used_ = 0;
  Gate gate_;
};

}  // namespace denselet::reactor
