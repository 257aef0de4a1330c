// The seam for work on directories, owners and mounts that is a sequence of calls: one job for all
// of it, on a thread that may block, instead of a hop for each call. Real jobs run on the blocking
// pool; tests have a disk and a mount table of their own, with faults in every call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "base/unique_function.h"
#include "reactor/api/file_system.h"

namespace denselet::reactor {

struct PathInfo {
  enum class Kind : uint8_t { kFile, kDirectory, kSymlink, kSocket, kChar, kBlock, kPipe };
  Kind kind = Kind::kFile;
  uint32_t mode = 0;  // with the bits of set-uid, set-gid and sticky
  uint32_t uid = 0;
  uint32_t gid = 0;
  bool mount_point = false;

  friend bool operator==(const PathInfo&, const PathInfo&) = default;
};

enum class MountKind : uint8_t { kTmpfs, kHugetlbfs };

// Of what is handed to a group: bits that are added, never taken away.
struct GroupAccess {
  uint32_t gid = 0;
  uint32_t file_bits = 0;
  uint32_t directory_bits = 0;
};

// Something below a folder that others may write to while we look: no step of the way leaves the
// folder, whatever they do.
struct PathBelow {
  std::string folder = {};    // ours: its own path is trusted, and links in it are followed
  std::string relative = {};  // theirs: links are followed as long as they stay below the folder
};

// Blocking calls, any thread. Errors name the operation and the path. `mode` is the mode of what is
// made, whatever the process's umask.
class DiskCalls {
 public:
  virtual ~DiskCalls() = default;

  // A link itself is told of; with StatTarget what it leads to.
  virtual Result<PathInfo> Stat(const std::string& path) = 0;
  virtual Result<PathInfo> StatTarget(const std::string& path) = 0;
  virtual Result<std::string> Read(const std::string& path, size_t bytes_max) = 0;
  virtual Result<std::string> ReadLink(const std::string& path) = 0;
  virtual Result<std::vector<DirectoryEntry>> List(const std::string& path, size_t entries_max) = 0;

  virtual Status MakeDirectory(const std::string& path, uint32_t mode) = 0;
  // Like mkdir -p; those that exist keep their mode.
  virtual Status MakeDirectories(const std::string& path, uint32_t mode) = 0;
  // A new file; kAlreadyExists when there is something.
  virtual Status WriteNew(const std::string& path, const std::string& content, uint32_t mode) = 0;
  virtual Status Symlink(const std::string& target, const std::string& path) = 0;
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  virtual Status Unlink(const std::string& path) = 0;
  virtual Status RemoveDirectory(const std::string& path) = 0;
  virtual Status ChangeMode(const std::string& path, uint32_t mode) = 0;
  // Of the path itself, not of what a link leads to.
  virtual Status ChangeUser(const std::string& path, uint32_t uid) = 0;

  // The directory and all below it; what is in a link stays. Nothing is removed beyond a mount
  // point: kUnavailable, and what was removed before that stays removed. Not there is fine.
  virtual Status RemoveTree(const std::string& path) = 0;
  // The directory and all below it on the same mount, children first: their group, and more bits.
  // Links get the group only.
  virtual Status ShareTree(const std::string& path, const GroupAccess& access) = 0;

  // `options` as mount(8) takes them, "size=4096,noswap".
  virtual Status Mount(MountKind kind, const std::string& path, const std::string& options) = 0;
  virtual Status Unmount(const std::string& path) = 0;

  // Makes what `target` shows the same as what is below the folder, as a mount. Directories that
  // are missing on the way are made with `mode`. The target is made as a file or directory, after
  // its parents; where the same is mounted already nothing is done, and another mount is replaced.
  // kPermission: the way leads out of the folder.
  virtual Status BindBelow(const PathBelow& from, uint32_t mode, const std::string& target) = 0;
  // Links are followed as if the folder were the root. kNotFound: no such file. Larger than
  // bytes_max is kOverloaded.
  virtual Result<std::string> ReadBelow(const PathBelow& file, size_t bytes_max) = 0;
};

// The answer of most jobs is empty.
using DiskWork = UniqueFunction<Result<std::string>(DiskCalls&)>;

// What a job is for, for its errors and for who looks at a hung one.
struct DiskJob {
  // What may take long, however many there are, has a part of the threads and never all.
  enum class Kind : uint8_t {
    kOrdinary,
    kRemoval,       // of trees of any size
    kForeignPaths,  // paths of others: they may be on a server that is gone
  };
  const char* doing = "";       // a string literal
  std::string subject = {};     // a path
  uint64_t lane = 0;            // jobs of one lane run one after the other, as they came
  Kind kind = Kind::kOrdinary;  // others have a lane
};

// One a shard. `done` comes once, on that shard, never inside Run; kUnknownOutcome when the context
// ended while the job was under way, which then goes on: the next of its lane waits for that. What
// a job holds may be destroyed on any thread.
class DiskJobs {
 public:
  virtual ~DiskJobs() = default;
  virtual uint64_t MakeLane() = 0;  // a lane without jobs costs nothing
  virtual void Run(const Context&, DiskJob, DiskWork, Done<std::string>) = 0;
};

}  // namespace denselet::reactor
