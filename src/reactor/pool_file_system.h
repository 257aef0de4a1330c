// Files through the blocking pool: each operation is one job (reactor/file_calls).
//
// One per shard, on which it lives and whose operations it serves. Its owner calls Stop() and keeps
// it until that has answered. An open file is a lane of the pool, so that its operations do not
// overtake each other, and Close does not overtake a call that was abandoned and still uses the
// descriptor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/slot_map.h"
#include "reactor/api/file_system.h"
#include "reactor/blocking_pool.h"
#include "reactor/gate.h"
#include "reactor/shard.h"
#include "reactor/unique_fd.h"

namespace denselet::reactor {

struct PoolFileSystemOptions {
  uint32_t files_max = 1024;              // open at once; the next Open: kOverloaded
  uint32_t operations_per_file_max = 64;  // unanswered; the next: kOverloaded, so that one file
                                          // whose server hangs does not fill the pool's queue
};

class PoolFileSystem final : public FileSystem {
 public:
  PoolFileSystem(Shard& home, BlockingPool& pool, const PoolFileSystemOptions& options = {});
  ~PoolFileSystem() override;

  // No more operations (kCancelled); `stopped` is called, in a later turn, when the last has
  // answered, refused ones included: who hears a refusal may ask for something else at once. Files
  // that are still open are closed when this object dies.
  void Stop(Task stopped);

  void ReadFile(Context, std::string path, size_t bytes_max, Done<std::string>) override;
  void ReplaceFile(Context, std::string path, std::string content, uint32_t mode, Durability,
                   Done<Unit>) override;
  void WriteControl(Context, std::string path, std::string text, Done<Unit>) override;

  void Open(Context, std::string path, OpenMode, uint32_t mode, Done<FileId>) override;
  void ReadAt(Context, FileId, uint64_t offset, size_t bytes_max, Done<std::string>) override;
  void Append(Context, FileId, std::string data, Done<Unit>) override;
  void Sync(Context, FileId, Done<Unit>) override;
  void SyncDirectory(Context, std::string path, Done<Unit>) override;
  void Close(FileId) override;

  void Rename(Context, std::string from, std::string to, Done<Unit>) override;
  void MakeDirectories(Context, std::string path, uint32_t mode, Durability, Done<Unit>) override;
  void Unlink(Context, std::string path, Done<Unit>) override;
  void Symlink(Context, std::string target, std::string path, Done<Unit>) override;
  void ReadLink(Context, std::string path, Done<std::string>) override;
  void RemoveDirectory(Context, std::string path, Done<Unit>) override;
  void Stat(Context, std::string path, Done<FileInfo>) override;
  void FindWriter(Context, std::string path, Done<WriterInfo>) override;
  void List(Context, std::string path, size_t entries_max,
            Done<std::vector<DirectoryEntry>>) override;

 private:
  struct File {
    UniqueFd fd;
    std::string path;
    Lane lane;
    uint32_t unanswered = 0;
  };

  template <class T>
  void Run(const Context& context, BlockingCall call, UniqueFunction<Result<T>()> work,
           Done<T> done);
  template <class T>
  void RunOnFile(const Context& context, FileId file, const char* doing,
                 UniqueFunction<Result<T>(int fd, const std::string& path)> work, Done<T> done);
  template <class T>
  void Refuse(const BlockingCall& call, const Error& error, Done<T> done);
  template <class T>
  void RefuseStopped(const BlockingCall& call, Done<T> done);
  void EndIfAllRefused();
  void CloseLater(File file);

  Shard& home_;
  BlockingPool& pool_;
  const PoolFileSystemOptions options_;
  SlotMap<File> files_;
  uint32_t opening_ = 0;  // places in files_ that are spoken for
  Gate gate_;
  // After Stop: refusals that are not told yet, and whom to tell when there are none.
  uint64_t refusals_ = 0;
  Task stopped_;
  bool stopped_told_ = false;
};

}  // namespace denselet::reactor
