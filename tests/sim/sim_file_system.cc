#include "tests/sim/sim_file_system.h"

#include <algorithm>
#include <cerrno>
#include <optional>

namespace denselet::sim {

using reactor::DirectoryEntry;
using reactor::Done;
using reactor::FileId;
using reactor::OpenMode;

namespace {

// What is late takes effect this many times later than it could have taken.
constexpr int kLateDelays = 10;

}  // namespace

TimePoint SimFileSystem::NextEnd(TimePoint not_before) {
  const auto delay = static_cast<int64_t>(
      random_.Below(static_cast<uint64_t>(disk_.faults().delay_max.count()) + 1));
  return std::max(loop_.Now(), not_before) + Duration(delay);
}

template <class T>
void SimFileSystem::Refuse(const Call& call, const Error& error, Done<T> done) {
  // The path up to its first NUL: an error is a text for people.
  loop_.Post([alive = alive_, done = std::move(done),
              told = error.With(call.doing, call.path.c_str())]() mutable {
    if (*alive) done(std::move(told));
  });
}

template <class T>
void SimFileSystem::Run(const Context& context, Call call, TimePoint end,
                        UniqueFunction<Result<T>()> work, Done<T> done) {
  if (call.path.find('\0') != std::string::npos) {
    return Refuse(call, Error(ErrorCode::kInvalid, "the path has a NUL byte"), std::move(done));
  }
  if (context.cancel.cancelled()) {
    return Refuse(call, Error(ErrorCode::kCancelled, "cancelled before it began"), std::move(done));
  }
  if (context.Expired(loop_.Now())) {
    return Refuse(call, Error(ErrorCode::kDeadlineExceeded, "the deadline passed before it began"),
                  std::move(done));
  }
  const bool hangs =
      disk_.faults().hang > 0 && context.deadline != kNever && random_.Unit() < disk_.faults().hang;
  if (hangs) end = std::max(end, After(context.deadline, disk_.faults().delay_max));
  const bool fails = call.effect == Call::Effect::kChanges && random_.Unit() < disk_.faults().error;
  auto operation = std::make_shared<Operation<T>>(Operation<T>{.call = std::move(call),
                                                               .work = std::move(work),
                                                               .done = std::move(done),
                                                               .generation = disk_.generation(),
                                                               .fails = fails,
                                                               .end = {},
                                                               .deadline = {},
                                                               .cancelled = {}});
  operation->end = loop_.Arm(end, [this, alive = alive_, operation] {
    if (*alive) Finish(*operation);
  });
  if (context.deadline != kNever) {
    operation->deadline = loop_.Arm(context.deadline, [this, alive = alive_, operation] {
      if (*alive) Abandon(operation, "still under way when the deadline passed");
    });
  }
  operation->cancelled = context.cancel.OnCancel([this, alive = alive_, operation] {
    if (*alive) Abandon(operation, "still under way when it was cancelled");
  });
}

template <class T>
void SimFileSystem::Finish(Operation<T>& operation) {
  loop_.Disarm(operation.deadline);
  operation.cancelled.Forget();
  if (operation.generation != disk_.generation()) return;
  const bool refused = disk_.faults().read_only && operation.call.effect == Call::Effect::kChanges;
  Result<T> result =
      operation.fails || refused
          ? Error::FromErrno(refused ? EROFS : EIO,
                             operation.call.doing + (" \"" + operation.call.path) + "\"")
          : operation.work();
  if (operation.done) operation.done(std::move(result));
}

template <class T>
void SimFileSystem::Abandon(const std::shared_ptr<Operation<T>>& operation, const char* why) {
  loop_.Disarm(operation->deadline);
  operation->cancelled.Forget();
  if (operation->generation != disk_.generation()) return;
  Error error =
      Error(ErrorCode::kUnknownOutcome, why).With(operation->call.doing, operation->call.path);
  loop_.Post([this, alive = alive_, generation = operation->generation, error = std::move(error),
              done = std::exchange(operation->done, nullptr)]() mutable {
    if (*alive && generation == disk_.generation()) done(std::move(error));
  });
  enum class Fate : uint8_t { kInTime, kNotAtAll, kLate };
  const auto fate = static_cast<Fate>(random_.Below(3));
  if (fate == Fate::kInTime) return;
  if (fate == Fate::kLate && operation->call.order == Call::Order::kOfItsFile) return;
  loop_.Disarm(operation->end);
  if (fate == Fate::kNotAtAll) return;
  const auto delay =
      disk_.faults().delay_max * static_cast<int64_t>(1 + random_.Below(kLateDelays));
  operation->end = loop_.Arm(loop_.Now() + delay, [this, alive = alive_, operation] {
    if (*alive) Finish(*operation);
  });
}

template <class T>
void SimFileSystem::RunOnFile(const Context& context, FileId id, Call call,
                              UniqueFunction<Result<T>(const File&)> work, Done<T> done) {
  File* const file = files_.Find(id.key);
  if (file == nullptr) {
    return Refuse(call, Error(ErrorCode::kNotFound, "the file is not open"), std::move(done));
  }
  call.path = file->path;
  call.order = Call::Order::kOfItsFile;
  file->free_at = NextEnd(file->free_at);
  Run<T>(
      context, std::move(call), file->free_at,
      [opened = *file, work = std::move(work)]() mutable { return work(opened); }, std::move(done));
}

void SimFileSystem::ReadFile(Context context, std::string path, size_t bytes_max,
                             Done<std::string> done) {
  RunOnPath<std::string>(
      context, {"read", path, Call::Effect::kReads},
      [this, path, bytes_max] { return disk_.ReadFile(path, bytes_max); }, std::move(done));
}

void SimFileSystem::ReplaceFile(Context context, std::string path, std::string content,
                                uint32_t mode, reactor::Durability durability, Done<Unit> done) {
  RunOnPath<Unit>(
      context, {"replace", path, Call::Effect::kChanges},
      [this, path, content, mode, durability] {
        return disk_.ReplaceFile(path, content, mode, durability, loop_.WallNow());
      },
      std::move(done));
}

void SimFileSystem::WriteControl(Context context, std::string path, std::string text,
                                 Done<Unit> done) {
  RunOnPath<Unit>(
      context, {"write", path, Call::Effect::kChanges},
      [this, path, text] { return disk_.WriteControl(path, text, loop_.WallNow()); },
      std::move(done));
}

void SimFileSystem::Open(Context context, std::string path, OpenMode mode, uint32_t bits,
                         Done<FileId> done) {
  RunOnPath<Disk::InodeRef>(
      context, {"open", path, Call::Effect::kReads},
      [this, path, mode, bits] { return disk_.Open(path, mode, bits, loop_.WallNow()); },
      // Here and not above: what was opened for nobody takes no place.
      [this, path, mode, done = std::move(done)](Result<Disk::InodeRef> inode) mutable {
        if (!inode) return done(inode.error());
        const std::optional<SlotKey> key =
            files_.Insert({*inode, mode == OpenMode::kRead ? nullptr : disk_.Write(*inode), path,
                           mode, loop_.Now()});
        if (key) return done(FileId{*key});
        done(Error(ErrorCode::kOverloaded, "too many files are open").With("open", path));
      });
}

void SimFileSystem::ReadAt(Context context, FileId id, uint64_t offset, size_t bytes_max,
                           Done<std::string> done) {
  RunOnFile<std::string>(
      context, id, {"read", {}, Call::Effect::kReads},
      [offset, bytes_max](const File& file) -> Result<std::string> {
        const bool directory = file.inode->kind == reactor::FileInfo::Kind::kDirectory;
        if (directory || file.mode != OpenMode::kRead) {
          return Error::FromErrno(directory ? EISDIR : EBADF, "read \"" + file.path + "\"");
        }
        if (offset >= file.inode->content.size()) return std::string();
        return file.inode->content.substr(offset, bytes_max);
      },
      std::move(done));
}

void SimFileSystem::Append(Context context, FileId id, std::string data, Done<Unit> done) {
  RunOnFile<Unit>(
      context, id, {"append to", {}, Call::Effect::kChanges},
      [this, data = std::move(data)](const File& file) -> Status {
        if (file.mode == OpenMode::kRead) {
          return Error::FromErrno(EBADF, "append to \"" + file.path + "\"");
        }
        if (disk_.faults().full) {
          return Error::FromErrno(ENOSPC, "append to \"" + file.path + "\"");
        }
        return disk_.Append(file.inode, data, file.path, loop_.WallNow());
      },
      std::move(done));
}

void SimFileSystem::Sync(Context context, FileId id, Done<Unit> done) {
  RunOnFile<Unit>(
      context, id, {"sync", {}, Call::Effect::kChanges},
      [this](const File& file) -> Status {
        disk_.Sync(file.inode);
        return Ok();
      },
      std::move(done));
}

void SimFileSystem::Close(FileId id) { files_.Remove(id.key); }

void SimFileSystem::SyncDirectory(Context context, std::string path, Done<Unit> done) {
  RunOnPath<Unit>(
      context, {"sync directory", path, Call::Effect::kChanges},
      [this, path] { return disk_.SyncDirectory(path); }, std::move(done));
}

void SimFileSystem::Rename(Context context, std::string from, std::string to, Done<Unit> done) {
  const bool to_has_nul = to.find('\0') != std::string::npos;
  RunOnPath<Unit>(
      context, {"rename", to_has_nul ? to : from, Call::Effect::kChanges},
      [this, from, to] { return disk_.Rename(from, to); }, std::move(done));
}

void SimFileSystem::MakeDirectories(Context context, std::string path, uint32_t mode,
                                    reactor::Durability durability, Done<Unit> done) {
  RunOnPath<Unit>(
      context, {"make directory", path, Call::Effect::kChanges},
      [this, path, mode, durability] { return disk_.MakeDirectories(path, mode, durability); },
      std::move(done));
}

void SimFileSystem::Unlink(Context context, std::string path, Done<Unit> done) {
  RunOnPath<Unit>(
      context, {"unlink", path, Call::Effect::kChanges},
      [this, path] { return disk_.Unlink(path); }, std::move(done));
}

void SimFileSystem::Symlink(Context context, std::string target, std::string path,
                            Done<Unit> done) {
  const bool target_has_nul = target.find('\0') != std::string::npos;
  RunOnPath<Unit>(
      context, {"link", target_has_nul ? target : path, Call::Effect::kChanges},
      [this, target, path] { return disk_.Symlink(target, path, loop_.WallNow()); },
      std::move(done));
}

void SimFileSystem::ReadLink(Context context, std::string path, Done<std::string> done) {
  RunOnPath<std::string>(
      context, {"read link", path, Call::Effect::kReads},
      [this, path] { return disk_.ReadLink(path); }, std::move(done));
}

void SimFileSystem::RemoveDirectory(Context context, std::string path, Done<Unit> done) {
  RunOnPath<Unit>(
      context, {"remove directory", path, Call::Effect::kChanges},
      [this, path] { return disk_.RemoveDirectory(path); }, std::move(done));
}

void SimFileSystem::Stat(Context context, std::string path, Done<reactor::FileInfo> done) {
  RunOnPath<reactor::FileInfo>(
      context, {"stat", path, Call::Effect::kReads}, [this, path] { return disk_.Stat(path); },
      std::move(done));
}

void SimFileSystem::FindWriter(Context context, std::string path, Done<reactor::WriterInfo> done) {
  RunOnPath<reactor::WriterInfo>(
      context, {"find writer of", path, Call::Effect::kReads},
      [this, path] { return disk_.FindWriter(path); }, std::move(done));
}

void SimFileSystem::List(Context context, std::string path, size_t entries_max,
                         Done<std::vector<DirectoryEntry>> done) {
  RunOnPath<std::vector<DirectoryEntry>>(
      context, {"list", path, Call::Effect::kReads},
      [this, path, entries_max] { return disk_.List(path, entries_max); }, std::move(done));
}

}  // namespace denselet::sim
