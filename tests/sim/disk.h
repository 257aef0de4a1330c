// A simulated disk that can lose power: what was synced survives, of the rest the seed decides, and
// appended data may be torn. Names are synced apart from what they name; a directory that was made
// is there.
//
// Answers as the kernel does, with the operations and paths in its errors that reactor/file_calls
// has. Paths are absolute; "." and ".." are not understood. Links are as safe as the names
// that they have.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "reactor/api/file_system.h"

namespace denselet::sim {

struct DiskFaults {
  Duration delay_max = Milliseconds(5);  // of every operation
  double error = 0;  // chance that a write, rename or sync fails with an I/O error
  // Of what a crash leaves of unsynced data, the end or a part of it may be zeros or noise instead.
  double garble = 0;
  uint64_t bytes_max = UINT64_MAX;  // of all files; what is beyond is written in part
  bool read_only = false;           // nothing can be changed
  double hang = 0;                  // chance that one does not end before its context does
  bool full = false;                // nothing can be made or grow
};

class Disk {
 public:
  struct Inode {
    reactor::FileInfo::Kind kind = reactor::FileInfo::Kind::kFile;
    uint32_t mode = 0;
    std::string content;  // of a link: where it leads
    std::string synced;   // what a crash cannot take
    WallTime modified;
    // Shared with who has it open for writing.
    std::shared_ptr<Unit> writers = std::make_shared<Unit>();
  };
  // Shared between the names it has and the files opened on it, as an inode is.
  using InodeRef = std::shared_ptr<Inode>;
  // While it lives, somebody has the file open for writing.
  using Writer = std::shared_ptr<Unit>;

  Disk();

  DiskFaults& faults() { return faults_; }
  // Of all files.
  uint64_t UsedBytes() const;

  Result<std::string> ReadFile(const std::string& path, size_t bytes_max) const;
  Status ReplaceFile(const std::string& path, std::string content, uint32_t mode,
                     reactor::Durability, WallTime now);
  Status WriteControl(const std::string& path, std::string text, WallTime now);
  Result<InodeRef> Open(const std::string& path, reactor::OpenMode, uint32_t mode, WallTime now);
  static Writer Write(const InodeRef& inode) { return inode->writers; }
  Status Append(const InodeRef& inode, std::string_view data, const std::string& path,
                WallTime now);
  void Sync(const InodeRef& inode);
  Status SyncDirectory(const std::string& path);
  // A directory takes along what is in it, also on what is synced: losing directories teaches
  // nothing that losing files does not.
  Status Rename(const std::string& from, const std::string& to);
  // Those of a test are there since long.
  Status MakeDirectories(const std::string& path, uint32_t mode,
                         reactor::Durability durability = reactor::Durability::kSynced);
  Status Unlink(const std::string& path);
  Status Symlink(const std::string& target, const std::string& path, WallTime now);
  Result<std::string> ReadLink(const std::string& path) const;
  Status RemoveDirectory(const std::string& path);
  Result<reactor::FileInfo> Stat(const std::string& path) const;
  Result<reactor::WriterInfo> FindWriter(const std::string& path) const;
  Result<std::vector<reactor::DirectoryEntry>> List(const std::string& path,
                                                    size_t entries_max) const;

  // The power goes: names and contents fall back to what was synced, or keep what came later, as
  // the seed has it.
  void Crash(Random& random);
  // Counted up by every crash: what was under way before it takes no effect and is answered to
  // nobody.
  uint64_t generation() const { return generation_; }

 private:
  // By path, without a slash at the end or two in a row.
  using Names = std::map<std::string, InodeRef>;

  // Where a path leads: to something, or to nothing for the reason that `error` has.
  struct Found {
    InodeRef inode;
    int error = 0;
  };

  // Is a path whose last part is a link about the link, or about what it leads to?
  enum class Last : bool { kItself, kFollowed };
  // The name of what a path leads to, links resolved. After too many of them it is a link's.
  std::string Resolve(std::string_view path, Last last) const;
  Found Find(const std::string& name) const;
  // An errno, or 0: can something be made or found under this name?
  int CheckParent(const std::string& name) const;
  int CheckRename(const std::string& from, const std::string& to) const;
  bool IsEmpty(const std::string& directory) const;
  uint64_t FreeBytes() const;
  void Garble(std::string& content, size_t from, Random& random) const;
  // The name and all that is below it.
  static void MoveAll(Names& names, const std::string& from, const std::string& to);
  static void EraseAll(Names& names, const std::string& name);

  Names names_;
  Names synced_names_;
  DiskFaults faults_;
  uint64_t generation_ = 0;
};

}  // namespace denselet::sim
