// A simulated disk that can lose power: what was synced survives, of the rest the seed decides, and
// appended data may be torn.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "reactor/api/file_system.h"

namespace denselet::sim {

struct DiskFaults {
  Duration delay_max = Milliseconds(5);  // of every operation
  double error = 0;  // chance that a write, rename or sync fails with an I/O error
};

class Disk {
 public:
  struct Inode {
    reactor::FileInfo::Kind kind = reactor::FileInfo::Kind::kFile;
    uint32_t mode = 0;
    std::string content;
    std::string synced;  // what a crash cannot take
    WallTime modified;
  };
  // Shared between the names it has and the files opened on it, as an inode is.
  using InodeRef = std::shared_ptr<Inode>;

  Disk();

  DiskFaults& faults() { return faults_; }

  Result<std::string> ReadFile(const std::string& path, size_t bytes_max) const;
  Status ReplaceFile(const std::string& path, std::string content, uint32_t mode,
                     reactor::Durability, WallTime now);
  Status WriteControl(const std::string& path, std::string text, WallTime now);
  Result<InodeRef> Open(const std::string& path, reactor::OpenMode, uint32_t mode, WallTime now);
  void Sync(const InodeRef& inode);
  Status SyncDirectory(const std::string& path);
  Status Rename(const std::string& from, const std::string& to);
  Status MakeDirectories(const std::string& path, uint32_t mode);
  Status Unlink(const std::string& path);
  Status RemoveDirectory(const std::string& path);
  Result<reactor::FileInfo> Stat(const std::string& path) const;
  Result<std::vector<reactor::DirectoryEntry>> List(const std::string& path,
                                                    size_t entries_max) const;

  // The power goes: names and contents fall back to what was synced, or keep what came later, as
  // the seed has it.
  void Crash(Random& random);
  // Counted up by every crash: what was under way before it takes no effect and is answered to
  // nobody.
  uint64_t generation() const { return generation_; }

 private:
  using Names = std::map<std::string, InodeRef>;

  InodeRef Find(const std::string& path) const;
  Status NeedParent(const std::string& path) const;

  Names names_;
  Names synced_names_;
  DiskFaults faults_;
  uint64_t generation_ = 0;
};

}  // namespace denselet::sim
