// Container logs where the kubelet wants them, in the format of CRI. As in real runtimes a rotated
// file is written on until ReopenContainerLog, as long as its descriptor is kept: of the last
// kOpenMax that were written to.
//
// Owned by the Simulator, on its shard; writes there, into the page cache.
#pragma once

#include <list>
#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace denselet::cri_sim {

class LogWriter {
 public:
  static constexpr size_t kOpenMax = 256;

  ~LogWriter();

  // The file is there afterwards.
  Status Open(const std::string& path);
  Status Write(const std::string& path, WallTime at, std::string_view stream,
               std::string_view line);
  // What is written from here on goes to the file of that name, made anew where it is missing.
  Status Reopen(const std::string& path);
  void Close(const std::string& path);

  size_t open() const { return files_.size(); }

 private:
  struct File {
    int fd;
    std::list<std::string>::iterator used;
  };
  Result<int> Descriptor(const std::string& path);

  std::map<std::string, File> files_;
  std::list<std::string> used_;  // the latest first
};

}  // namespace denselet::cri_sim
