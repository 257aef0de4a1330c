#include "reactor/pool_file_system.h"

#include <optional>
#include <utility>

#include "reactor/file_calls.h"

namespace denselet::reactor {
namespace {

Error Stopped() { return Error(ErrorCode::kCancelled, "the file system has stopped"); }
Error TooManyOpen() { return Error(ErrorCode::kOverloaded, "too many files are open"); }
Error HasNul() { return Error(ErrorCode::kInvalid, "the path has a NUL byte"); }

}  // namespace

PoolFileSystem::PoolFileSystem(Shard& home, BlockingPool& pool,
                               const PoolFileSystemOptions& options)
    : home_(home), pool_(pool), options_(options), files_(options.files_max), gate_(home.loop()) {}

PoolFileSystem::~PoolFileSystem() {
  files_.ForEach([this](SlotKey, File& file) { CloseLater(std::move(file)); });
}

template <class T>
void PoolFileSystem::Refuse(const BlockingCall& call, const Error& error, Done<T> done) {
  // The path up to its first NUL: an error is a text for people.
  home_.loop().Post(
      [done = std::move(done), told = error.With(call.doing, call.subject.c_str())]() mutable {
        done(std::move(told));
      });
}

template <class T>
void PoolFileSystem::RefuseStopped(const BlockingCall& call, Done<T> done) {
  if (stopped_told_) return Refuse(call, Stopped(), std::move(done));
  ++refusals_;
  Refuse<T>(call, Stopped(), [this, done = std::move(done)](Result<T> refused) mutable {
    done(std::move(refused));
    --refusals_;
    EndIfAllRefused();
  });
}

void PoolFileSystem::Stop(Task stopped) {
  gate_.Close([this, stopped = std::move(stopped)]() mutable {
    stopped_ = std::move(stopped);
    EndIfAllRefused();
  });
}

void PoolFileSystem::EndIfAllRefused() {
  if (refusals_ > 0 || !stopped_) return;
  stopped_told_ = true;
  std::exchange(stopped_, nullptr)();
}

template <class T>
void PoolFileSystem::Run(const Context& context, BlockingCall call,
                         UniqueFunction<Result<T>()> work, Done<T> done) {
  std::optional<Gate::Pass> pass = gate_.Enter();
  if (!pass) return RefuseStopped(call, std::move(done));
  Done<T> inside = [pass = std::move(*pass), done = std::move(done)](Result<T> result) mutable {
    done(std::move(result));
  };
  if (call.subject.find('\0') != std::string::npos) {
    return Refuse(call, HasNul(), std::move(inside));
  }
  pool_.Run<T>(home_, context, std::move(call), std::move(work), std::move(inside));
}

void PoolFileSystem::ReadFile(Context context, std::string path, size_t bytes_max,
                              Done<std::string> done) {
  Run<std::string>(
      context, {"read", path}, [path, bytes_max] { return file_calls::Read(path, bytes_max); },
      std::move(done));
}

void PoolFileSystem::ReplaceFile(Context context, std::string path, std::string content,
                                 uint32_t mode, Durability durability, Done<Unit> done) {
  Run<Unit>(
      context, {"replace", path},
      [path, content = std::move(content), mode, durability] {
        return file_calls::Replace(path, content, mode, durability);
      },
      std::move(done));
}

void PoolFileSystem::WriteControl(Context context, std::string path, std::string text,
                                  Done<Unit> done) {
  Run<Unit>(
      context, {"write", path},
      [path, text = std::move(text)] { return file_calls::WriteControl(path, text); },
      std::move(done));
}

void PoolFileSystem::Open(Context context, std::string path, OpenMode open_mode, uint32_t mode,
                          Done<FileId> done) {
  const BlockingCall call("open", path);
  if (gate_.closed()) return RefuseStopped(call, std::move(done));
  if (files_.size() + opening_ >= options_.files_max) {
    return Refuse(call, TooManyOpen(), std::move(done));
  }
  ++opening_;
  Run<UniqueFd>(
      context, call, [path, open_mode, mode] { return file_calls::Open(path, open_mode, mode); },
      [this, path, done = std::move(done)](Result<UniqueFd> fd) mutable {
        --opening_;
        if (!fd) return done(fd.error());
        const std::optional<SlotKey> key = files_.Insert({std::move(*fd), path, pool_.MakeLane()});
        if (!key) return done(TooManyOpen().With("open", path));  // slots retire, after 2^32 files
        done(FileId{*key});
      });
}

template <class T>
void PoolFileSystem::RunOnFile(const Context& context, FileId id, const char* doing,
                               UniqueFunction<Result<T>(int, const std::string&)> work,
                               Done<T> done) {
  File* const file = files_.Find(id.key);
  if (file == nullptr) {
    return Refuse(BlockingCall(doing), Error(ErrorCode::kNotFound, "the file is not open"),
                  std::move(done));
  }
  BlockingCall call(doing, file->path, file->lane);
  if (gate_.closed()) return RefuseStopped(call, std::move(done));
  if (file->unanswered == options_.operations_per_file_max) {
    return Refuse(call, Error(ErrorCode::kOverloaded, "too many operations on one file"),
                  std::move(done));
  }
  ++file->unanswered;
  // The number stays this file's until the close, which comes behind in the lane.
  Run<T>(
      context, std::move(call),
      [fd = file->fd.get(), path = file->path, work = std::move(work)]() mutable {
        return work(fd, path);
      },
      [this, id, done = std::move(done)](Result<T> result) mutable {
        if (File* const answered = files_.Find(id.key)) --answered->unanswered;
        done(std::move(result));
      });
}

void PoolFileSystem::ReadAt(Context context, FileId id, uint64_t offset, size_t bytes_max,
                            Done<std::string> done) {
  RunOnFile<std::string>(
      context, id, "read",
      [offset, bytes_max](int fd, const std::string& path) {
        return file_calls::ReadAt(fd, path, offset, bytes_max);
      },
      std::move(done));
}

void PoolFileSystem::Append(Context context, FileId id, std::string data, Done<Unit> done) {
  RunOnFile<Unit>(
      context, id, "append to",
      [data = std::move(data)](int fd, const std::string& path) {
        return file_calls::Append(fd, path, data);
      },
      std::move(done));
}

void PoolFileSystem::Sync(Context context, FileId id, Done<Unit> done) {
  RunOnFile<Unit>(context, id, "sync", file_calls::Sync, std::move(done));
}

void PoolFileSystem::Close(FileId id) {
  if (std::optional<File> file = files_.Remove(id.key)) CloseLater(std::move(*file));
}

void PoolFileSystem::CloseLater(File file) {
  pool_.Dispose(home_, {"close", std::move(file.path), file.lane},
                [fd = std::move(file.fd)]() mutable { fd.Reset(); });
}

void PoolFileSystem::SyncDirectory(Context context, std::string path, Done<Unit> done) {
  Run<Unit>(
      context, {"sync directory", path}, [path] { return file_calls::SyncDirectory(path); },
      std::move(done));
}

void PoolFileSystem::Rename(Context context, std::string from, std::string to, Done<Unit> done) {
  if (to.find('\0') != std::string::npos) {
    return Refuse(BlockingCall("rename", to), HasNul(), std::move(done));
  }
  Run<Unit>(
      context, {"rename", from}, [from, to] { return file_calls::Rename(from, to); },
      std::move(done));
}

void PoolFileSystem::MakeDirectories(Context context, std::string path, uint32_t mode,
                                     Durability durability, Done<Unit> done) {
  Run<Unit>(
      context, {"make directory", path},
      [path, mode, durability] { return file_calls::MakeDirectories(path, mode, durability); },
      std::move(done));
}

void PoolFileSystem::Unlink(Context context, std::string path, Done<Unit> done) {
  Run<Unit>(
      context, {"unlink", path}, [path] { return file_calls::Unlink(path); }, std::move(done));
}

void PoolFileSystem::Symlink(Context context, std::string target, std::string path,
                             Done<Unit> done) {
  if (target.find('\0') != std::string::npos) {
    return Refuse(BlockingCall("link", target), HasNul(), std::move(done));
  }
  Run<Unit>(
      context, {"link", path}, [target, path] { return file_calls::Symlink(target, path); },
      std::move(done));
}

void PoolFileSystem::ReadLink(Context context, std::string path, Done<std::string> done) {
  Run<std::string>(
      context, {"read link", path}, [path] { return file_calls::ReadLink(path); }, std::move(done));
}

void PoolFileSystem::RemoveDirectory(Context context, std::string path, Done<Unit> done) {
  Run<Unit>(
      context, {"remove directory", path}, [path] { return file_calls::RemoveDirectory(path); },
      std::move(done));
}

void PoolFileSystem::Stat(Context context, std::string path, Done<FileInfo> done) {
  Run<FileInfo>(
      context, {"stat", path}, [path] { return file_calls::Stat(path); }, std::move(done));
}

void PoolFileSystem::FindWriter(Context context, std::string path, Done<WriterInfo> done) {
  Run<WriterInfo>(
      context, {"find writer of", path}, [path] { return file_calls::FindWriter(path); },
      std::move(done));
}

void PoolFileSystem::List(Context context, std::string path, size_t entries_max,
                          Done<std::vector<DirectoryEntry>> done) {
  Run<std::vector<DirectoryEntry>>(
      context, {"list", path}, [path, entries_max] { return file_calls::List(path, entries_max); },
      std::move(done));
}

}  // namespace denselet::reactor
