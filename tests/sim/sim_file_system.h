// The FileSystem of one simulated loop on a Disk: every operation takes virtual time, some fail,
// and what becomes of one whose context ends meanwhile is the seed's to say.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/random.h"
#include "base/slot_map.h"
#include "base/unique_function.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "tests/sim/disk.h"

namespace denselet::sim {

class SimFileSystem final : public reactor::FileSystem {
 public:
  static constexpr uint32_t kOpenFilesMax = 1024;

  SimFileSystem(reactor::Loop& loop, Random& random, Disk& disk)
      : loop_(loop),
        random_(random),
        disk_(disk),
        files_(kOpenFilesMax),
        alive_(std::make_shared<bool>(true)) {}
  // As when the process dies: what is under way takes no effect and is answered to nobody.
  ~SimFileSystem() override { *alive_ = false; }
  SimFileSystem(const SimFileSystem&) = delete;
  SimFileSystem& operator=(const SimFileSystem&) = delete;

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
  void MakeDirectories(Context, std::string path, uint32_t mode, reactor::Durability,
                       reactor::Done<Unit>) override;
  void Unlink(Context, std::string path, reactor::Done<Unit>) override;
  void Symlink(Context, std::string target, std::string path, reactor::Done<Unit>) override;
  void ReadLink(Context, std::string path, reactor::Done<std::string>) override;
  void RemoveDirectory(Context, std::string path, reactor::Done<Unit>) override;
  void Stat(Context, std::string path, reactor::Done<reactor::FileInfo>) override;
  void FindWriter(Context, std::string path, reactor::Done<reactor::WriterInfo>) override;
  void List(Context, std::string path, size_t entries_max,
            reactor::Done<std::vector<reactor::DirectoryEntry>>) override;

 private:
  struct File {
    Disk::InodeRef inode;
    Disk::Writer writer;  // none: open for reading
    std::string path;
    reactor::OpenMode mode;
    TimePoint free_at;  // operations on one file do not overtake each other
  };
  // What an operation does, as errors and faults see it.
  struct Call {
    enum class Effect : uint8_t { kReads, kChanges };
    // When its context has ended: on an open file, others wait behind it.
    enum class Order : uint8_t { kAny, kOfItsFile };

    const char* doing;
    std::string path;
    Effect effect;
    Order order = Order::kAny;
  };
  // One under way: owned by the timers and the cancel callback that may end it.
  template <class T>
  struct Operation {
    Call call;
    UniqueFunction<Result<T>()> work;
    reactor::Done<T> done;  // none: answered
    uint64_t generation;    // of the disk
    bool fails;
    reactor::TimerId end, deadline;
    CancelRegistration cancelled;
  };

  // Calls `work` at `end` and hands its answer to `done`; a change may fail instead of taking
  // place.
  template <class T>
  void Run(const Context& context, Call call, TimePoint end, UniqueFunction<Result<T>()> work,
           reactor::Done<T> done);
  template <class T>
  void RunOnPath(const Context& context, Call call, UniqueFunction<Result<T>()> work,
                 reactor::Done<T> done) {
    Run<T>(context, std::move(call), NextEnd({}), std::move(work), std::move(done));
  }
  template <class T>
  void RunOnFile(const Context& context, reactor::FileId id, Call call,
                 UniqueFunction<Result<T>(const File&)> work, reactor::Done<T> done);
  template <class T>
  void Finish(Operation<T>& operation);
  // The context has ended: the answer is given, and the seed decides what becomes of the effect.
  template <class T>
  void Abandon(const std::shared_ptr<Operation<T>>& operation, const char* why);
  template <class T>
  void Refuse(const Call& call, const Error& error, reactor::Done<T> done);
  TimePoint NextEnd(TimePoint not_before);

  reactor::Loop& loop_;
  Random& random_;
  Disk& disk_;
  SlotMap<File> files_;
  std::shared_ptr<bool> alive_;  // shared with timers that go off after the end
};

}  // namespace denselet::sim
