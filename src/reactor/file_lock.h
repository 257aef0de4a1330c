// A file that one process at a time holds: taken with flock(2), given back when this object or the
// process dies, however it dies. Children do not inherit it.
//
// Owned by main, which takes it before there are shards: nothing here waits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "reactor/unique_fd.h"

namespace denselet::reactor {

class FileLock {
 public:
  // Makes the file where there is none, readable by its owner. Nothing: another process has it.
  static Result<std::optional<FileLock>> Try(const std::string& path);

  // Says in the file who has it.
  Status WriteHolder();
  // What the last WriteHolder said; nothing: nobody did.
  static std::optional<int64_t> ReadHolder(const std::string& path);

 private:
  FileLock(UniqueFd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  UniqueFd file_;
  std::string path_;
};

}  // namespace denselet::reactor
