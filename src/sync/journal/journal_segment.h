// One segment of the journal on its way to the disk: made when it is first written to, and given up
// with the first failure. After a failed sync nobody knows what the kernel still has of a file, so
// nothing more is written to it; what was not safe goes into the next one.
//
//   kMakeDirectory -> kOpen -> kAppend -> kSync -> kSyncName     the first write
//                              kAppend -> kSync                  each further one
//
// Owned by the journal and by its callbacks, on the shard of the file system, which outlives it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "reactor/api/file_system.h"

namespace denselet::sync {

class JournalSegment : public std::enable_shared_from_this<JournalSegment> {
 public:
  static std::shared_ptr<JournalSegment> Make(reactor::FileSystem& files, std::string directory,
                                              std::string path);
  ~JournalSegment();
  JournalSegment(const JournalSegment&) = delete;
  JournalSegment& operator=(const JournalSegment&) = delete;

  // One at a time. Done: the data and the file's name are safe.
  void Write(std::string data, reactor::Done<Unit> done);

 private:
  enum class Step : uint8_t { kMakeDirectory, kOpen, kAppend, kSync, kSyncName };

  JournalSegment(reactor::FileSystem& files, std::string directory, std::string path)
      : files_(files), directory_(std::move(directory)), path_(std::move(path)) {}

  void Run(Step step);
  void OnDone(const Status& status);
  void Finish(Status status);

  reactor::FileSystem& files_;
  const std::string directory_;
  const std::string path_;
  Step step_ = Step::kMakeDirectory;
  std::optional<reactor::FileId> file_;
  bool named_ = false;  // its name is safe
  std::string data_;
  reactor::Done<Unit> done_;  // set: one is under way
};

}  // namespace denselet::sync
