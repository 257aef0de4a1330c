// The FileSystem of one simulated loop on a Disk: every operation takes virtual time, some fail.
#pragma once

#include <memory>

#include "base/random.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "tests/sim/disk.h"

namespace denselet::sim {

class SimFileSystem final : public reactor::FileSystem {
 public:
  static constexpr uint32_t kOpenFilesMax = 1024;

  SimFileSystem(reactor::Loop& loop, Random& random, Disk& disk)
      : loop_(loop), random_(random), disk_(disk), files_(kOpenFilesMax) {}

  void ReadFile(Context, std::string path, size_t bytes_max, reactor::Done<std::string>) override;
  void ReplaceFile(Context, std::string path, std::string content, uint32_t mode,
                   reactor::Durability, reactor::Done<Unit>) override;
  void WriteControl(Context, std::string path, std::string text, reactor::Done<Unit>) override;
  void Open(Context, std::string path, reactor::OpenMode, uint32_t mode,
            reactor::Done<reactor::FileId>) override;
  void ReadAt(Context, reactor::FileId, uint64_t offset, size_t bytes_max,
              reactor::Done<std::string>) override;
  void Append(Context, reactor::FileId, std::string data, reactor::Done<Unit>) override;
  void Sync(Context, reactor::FileId, reactor::Done<Unit>) override;
  void SyncDirectory(Context, std::string path, reactor::Done<Unit>) override;
  void Close(reactor::FileId) override;
  void Rename(Context, std::string from, std::string to, reactor::Done<Unit>) override;
  void MakeDirectories(Context, std::string path, uint32_t mode, reactor::Done<Unit>) override;
  void Unlink(Context, std::string path, reactor::Done<Unit>) override;
  void RemoveDirectory(Context, std::string path, reactor::Done<Unit>) override;
  void Stat(Context, std::string path, reactor::Done<reactor::FileInfo>) override;
  void List(Context, std::string path, size_t entries_max,
            reactor::Done<std::vector<reactor::DirectoryEntry>>) override;

 private:
  struct File {
    Disk::InodeRef inode;
    TimePoint free_at;  // operations on one file do not overtake each other
  };
  enum class Effect : uint8_t { kReads, kChanges };

  // Calls `work` after a random delay and hands its answer to `done`; a change may fail instead of
  // taking place.
  template <class T, class Work>
  void After(const Context& context, Effect effect, TimePoint not_before, reactor::Done<T> done,
             Work work);
  template <class T, class Work>
  void OnFile(const Context& context, Effect effect, reactor::FileId id, reactor::Done<T> done,
              Work work);
  TimePoint NextEnd(TimePoint not_before);

  reactor::Loop& loop_;
  Random& random_;
  Disk& disk_;
  SlotMap<File> files_;
};

}  // namespace denselet::sim
