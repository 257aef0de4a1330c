#include "tests/sim/sim_file_system.h"

#include <algorithm>

namespace denselet::sim {

using reactor::Done;
using reactor::FileId;

TimePoint SimFileSystem::NextEnd(TimePoint not_before) {
  const auto delay = static_cast<int64_t>(
      random_.Below(static_cast<uint64_t>(disk_.faults().delay_max.count()) + 1));
  return std::max(loop_.Now(), not_before) + Duration(delay);
}

template <class T, class Work>
void SimFileSystem::After(const Context& context, Effect effect, TimePoint end, Done<T> done,
                          Work work) {
  if (context.cancel.cancelled() || context.Expired(loop_.Now())) {
    loop_.Post(
        [done = std::move(done)]() mutable { done(Error(ErrorCode::kCancelled, "not begun")); });
    return;
  }
  const bool fails = effect == Effect::kChanges && random_.Unit() < disk_.faults().error;
  loop_.Arm(end, [this, generation = disk_.generation(), fails, done = std::move(done),
                  work = std::move(work)]() mutable {
    if (generation != disk_.generation()) return;
    if (fails) return done(Error(ErrorCode::kIo, "Input/output error"));
    done(work());
  });
}

template <class T, class Work>
void SimFileSystem::OnFile(const Context& context, Effect effect, FileId id, Done<T> done,
                           Work work) {
  File* file = files_.Find(id.key);
  if (file == nullptr) {
    loop_.Post([done = std::move(done)]() mutable {
      done(Error(ErrorCode::kNotFound, "the file is not open"));
    });
    return;
  }
  file->free_at = NextEnd(file->free_at);
  After<T>(context, effect, file->free_at, std::move(done),
           [inode = file->inode, work = std::move(work)]() mutable { return work(inode); });
}

void SimFileSystem::ReadFile(Context context, std::string path, size_t bytes_max,
                             Done<std::string> done) {
  After<std::string>(context, Effect::kReads, NextEnd({}), std::move(done),
                     [this, path, bytes_max] { return disk_.ReadFile(path, bytes_max); });
}

void SimFileSystem::ReplaceFile(Context context, std::string path, std::string content,
                                uint32_t mode, reactor::Durability durability, Done<Unit> done) {
  After<Unit>(context, Effect::kChanges, NextEnd({}), std::move(done),
              [this, path, content, mode, durability] {
                return disk_.ReplaceFile(path, content, mode, durability, loop_.WallNow());
              });
}

void SimFileSystem::WriteControl(Context context, std::string path, std::string text,
                                 Done<Unit> done) {
  After<Unit>(context, Effect::kChanges, NextEnd({}), std::move(done),
              [this, path, text] { return disk_.WriteControl(path, text, loop_.WallNow()); });
}

void SimFileSystem::Open(Context context, std::string path, reactor::OpenMode mode, uint32_t bits,
                         Done<FileId> done) {
  After<FileId>(context, Effect::kReads, NextEnd({}), std::move(done),
                [this, path, mode, bits]() -> Result<FileId> {
                  Result<Disk::InodeRef> inode = disk_.Open(path, mode, bits, loop_.WallNow());
                  if (!inode) return inode.error();
                  const std::optional<SlotKey> key = files_.Insert({*inode, loop_.Now()});
                  if (!key)
                    return Error(ErrorCode::kOverloaded, "too many open files").With("open", path);
                  return FileId{*key};
                });
}

void SimFileSystem::ReadAt(Context context, FileId id, uint64_t offset, size_t bytes_max,
                           Done<std::string> done) {
  OnFile<std::string>(context, Effect::kReads, id, std::move(done),
                      [offset, bytes_max](const Disk::InodeRef& inode) -> Result<std::string> {
                        if (offset >= inode->content.size()) return std::string();
                        return inode->content.substr(offset, bytes_max);
                      });
}

void SimFileSystem::Append(Context context, FileId id, std::string data, Done<Unit> done) {
  OnFile<Unit>(context, Effect::kChanges, id, std::move(done),
               [this, data = std::move(data)](const Disk::InodeRef& inode) -> Status {
                 inode->content += data;
                 inode->modified = loop_.WallNow();
                 return Ok();
               });
}

void SimFileSystem::Sync(Context context, FileId id, Done<Unit> done) {
  OnFile<Unit>(context, Effect::kChanges, id, std::move(done),
               [this](const Disk::InodeRef& inode) -> Status {
                 disk_.Sync(inode);
                 return Ok();
               });
}

void SimFileSystem::Close(FileId id) { files_.Remove(id.key); }

void SimFileSystem::SyncDirectory(Context context, std::string path, Done<Unit> done) {
  After<Unit>(context, Effect::kChanges, NextEnd({}), std::move(done),
              [this, path] { return disk_.SyncDirectory(path); });
}

void SimFileSystem::Rename(Context context, std::string from, std::string to, Done<Unit> done) {
  After<Unit>(context, Effect::kChanges, NextEnd({}), std::move(done),
              [this, from, to] { return disk_.Rename(from, to); });
}

void SimFileSystem::MakeDirectories(Context context, std::string path, uint32_t mode,
                                    Done<Unit> done) {
  After<Unit>(context, Effect::kChanges, NextEnd({}), std::move(done),
              [this, path, mode] { return disk_.MakeDirectories(path, mode); });
}

void SimFileSystem::Unlink(Context context, std::string path, Done<Unit> done) {
  After<Unit>(context, Effect::kChanges, NextEnd({}), std::move(done),
              [this, path] { return disk_.Unlink(path); });
}

void SimFileSystem::RemoveDirectory(Context context, std::string path, Done<Unit> done) {
  After<Unit>(context, Effect::kChanges, NextEnd({}), std::move(done),
              [this, path] { return disk_.RemoveDirectory(path); });
}

void SimFileSystem::Stat(Context context, std::string path, Done<reactor::FileInfo> done) {
  After<reactor::FileInfo>(context, Effect::kReads, NextEnd({}), std::move(done),
                           [this, path] { return disk_.Stat(path); });
}

void SimFileSystem::List(Context context, std::string path, size_t entries_max,
                         Done<std::vector<reactor::DirectoryEntry>> done) {
  After<std::vector<reactor::DirectoryEntry>>(
      context, Effect::kReads, NextEnd({}), std::move(done),
      [this, path, entries_max] { return disk_.List(path, entries_max); });
}

}  // namespace denselet::sim
