// The seam for files: nothing here blocks the shard that asks. Real ones go through the ring or the
// blocking pool; tests and the simulator have their own, with faults.
//
// Every operation answers once, later, on the shard that asked; errors name the operation and the
// path. One whose context ends while the call is under way answers kUnknownOutcome, and the call
// may still take effect, even after later ones. Operations on paths run in no order: who wants one,
// waits for the answer. Paths with a NUL byte are kInvalid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "base/slot_map.h"
#include "base/time.h"
#include "base/unique_function.h"

namespace denselet::reactor {

template <class T>
using Done = UniqueFunction<void(Result<T>)>;

struct FileInfo {
  enum class Kind : uint8_t { kFile, kDirectory, kSymlink, kOther };
  Kind kind = Kind::kOther;
  uint32_t mode = 0;  // permission bits
  uint64_t size = 0;
  WallTime modified;
};

// Of the file that a path leads to.
struct WriterInfo {
  bool open_for_writing = false;  // by whomever; where nobody can tell: false
  WallTime modified;
};

struct DirectoryEntry {
  std::string name;
  FileInfo::Kind kind = FileInfo::Kind::kOther;

  friend bool operator==(const DirectoryEntry&, const DirectoryEntry&) = default;
};

// How far a write has to have come before it counts.
enum class Durability : uint8_t {
  kCached,  // visible to other processes; a power cut may lose it, or leave a part
  kSynced,  // file and directory reached the disk
};

// An open file. Lives on the shard that opened it. Close it with FileSystem::Close; what is under
// way ends first.
struct FileId {
  SlotKey key;
  friend bool operator==(const FileId&, const FileId&) = default;
};

enum class OpenMode : uint8_t {
  kRead,              // for ReadAt; the other modes are for Append and Sync
  kAppend,            // made when it does not exist
  kCreateNew,         // kAlreadyExists when it does
  kCreateOrTruncate,  // an existing file keeps its mode
};

// `mode` is the mode of what is made, whatever the process's umask.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // Whole files. Larger than bytes_max is kInvalid, as is a folder: asked again, it is the same.
  virtual void ReadFile(Context, std::string path, size_t bytes_max, Done<std::string>) = 0;
  // Readers see the old content or the new, never a part: a temporary file beside it, then a
  // rename. What fails leaves the old content and no temporary file; but kUnknownOutcome: the new
  // content is there and may not have reached the disk.
  virtual void ReplaceFile(Context, std::string path, std::string content, uint32_t mode,
                           Durability, Done<Unit>) = 0;
  // For files that take commands (cgroupfs, sysfs, /proc/<pid>/oom_score_adj), where nothing can be
  // made or renamed: one write of the whole text into the file that is there.
  virtual void WriteControl(Context, std::string path, std::string text, Done<Unit>) = 0;

  // Operations on one open file run one after the other in the order in which they were started.
  // On a file that is not open they are kNotFound.
  virtual void Open(Context, std::string path, OpenMode, uint32_t mode, Done<FileId>) = 0;
  // From `offset`, up to `bytes_max`; shorter at the end of the file.
  virtual void ReadAt(Context, FileId, uint64_t offset, size_t bytes_max, Done<std::string>) = 0;
  // kUnknownOutcome also when only a part could be written.
  virtual void Append(Context, FileId, std::string data, Done<Unit>) = 0;
  // The file's content. Its name, when it is new, is safe after SyncDirectory.
  virtual void Sync(Context, FileId, Done<Unit>) = 0;
  virtual void Close(FileId) = 0;

  // The names in a directory: what was made, renamed or removed there reached the disk.
  virtual void SyncDirectory(Context, std::string path, Done<Unit>) = 0;
  virtual void Rename(Context, std::string from, std::string to, Done<Unit>) = 0;
  // Like mkdir -p: directories that exist are fine, and keep their mode. kSynced: all of the path.
  virtual void MakeDirectories(Context, std::string path, uint32_t mode, Durability,
                               Done<Unit>) = 0;
  // A file or a link; what a link leads to stays.
  virtual void Unlink(Context, std::string path, Done<Unit>) = 0;
  // Makes `path` a symbolic link to `target`, which need not exist. kAlreadyExists when there is
  // something: to replace a link, rename a new one over it. Reading, writing, opening and listing
  // follow links; Rename, Unlink and Stat are about the link.
  virtual void Symlink(Context, std::string target, std::string path, Done<Unit>) = 0;
  // Where it leads, as it was made. kInvalid when it is no link.
  virtual void ReadLink(Context, std::string path, Done<std::string>) = 0;
  virtual void RemoveDirectory(Context, std::string path, Done<Unit>) = 0;
  // Of the path itself: a link is not followed.
  virtual void Stat(Context, std::string path, Done<FileInfo>) = 0;
  // Is somebody in the middle of writing it? Links are followed. What is no regular file has no
  // writer. True also of files that are open here for anything but reading.
  virtual void FindWriter(Context, std::string path, Done<WriterInfo>) = 0;
  // Sorted by name. More than entries_max is kOverloaded.
  virtual void List(Context, std::string path, size_t entries_max,
                    Done<std::vector<DirectoryEntry>>) = 0;
};

}  // namespace denselet::reactor
