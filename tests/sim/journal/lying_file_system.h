// A file system that leaves out one kind of call and says that it was done: the same as a journal
// that forgot to make it. A simulation that notices none of them shows nothing.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"

namespace denselet::sim {

enum class Lie : uint8_t { kNone, kSync, kSyncDirectory, kReplaceSynced, kAppend };

class LyingFileSystem final : public reactor::FileSystem {
 public:
  template <class T>
  using Done = reactor::Done<T>;

  LyingFileSystem(reactor::Loop& loop, reactor::FileSystem& files, Lie lie)
      : loop_(loop), files_(files), lie_(lie) {}

  void ReadFile(Context c, std::string path, size_t max, Done<std::string> d) override {
    files_.ReadFile(c, std::move(path), max, std::move(d));
  }
  void ReplaceFile(Context c, std::string path, std::string content, uint32_t mode,
                   reactor::Durability durability, Done<Unit> d) override {
    const auto cached = reactor::Durability::kCached;
    files_.ReplaceFile(c, std::move(path), std::move(content), mode,
                       lie_ == Lie::kReplaceSynced ? cached : durability, std::move(d));
  }
  void WriteControl(Context c, std::string path, std::string text, Done<Unit> d) override {
    files_.WriteControl(c, std::move(path), std::move(text), std::move(d));
  }
  void Open(Context c, std::string path, reactor::OpenMode m, uint32_t mode,
            Done<reactor::FileId> d) override {
    files_.Open(c, std::move(path), m, mode, std::move(d));
  }
  void ReadAt(Context c, reactor::FileId id, uint64_t at, size_t max,
              Done<std::string> d) override {
    files_.ReadAt(c, id, at, max, std::move(d));
  }
  void Append(Context c, reactor::FileId id, std::string data, Done<Unit> d) override {
    // Now and then.
    if (lie_ == Lie::kAppend && ++appends_ % 20 == 0) return Pretend(std::move(d));
    files_.Append(c, id, std::move(data), std::move(d));
  }
  void Sync(Context c, reactor::FileId id, Done<Unit> d) override {
    if (lie_ == Lie::kSync) return Pretend(std::move(d));
    files_.Sync(c, id, std::move(d));
  }
  void Close(reactor::FileId id) override { files_.Close(id); }
  void SyncDirectory(Context c, std::string path, Done<Unit> d) override {
    if (lie_ == Lie::kSyncDirectory) return Pretend(std::move(d));
    files_.SyncDirectory(c, std::move(path), std::move(d));
  }
  void Rename(Context c, std::string from, std::string to, Done<Unit> d) override {
    files_.Rename(c, std::move(from), std::move(to), std::move(d));
  }
  void MakeDirectories(Context c, std::string path, uint32_t mode, reactor::Durability durability,
                       Done<Unit> d) override {
    files_.MakeDirectories(c, std::move(path), mode, durability, std::move(d));
  }
  void Unlink(Context c, std::string path, Done<Unit> d) override {
    files_.Unlink(c, std::move(path), std::move(d));
  }
  void Symlink(Context c, std::string target, std::string path, Done<Unit> d) override {
    files_.Symlink(c, std::move(target), std::move(path), std::move(d));
  }
  void ReadLink(Context c, std::string path, Done<std::string> d) override {
    files_.ReadLink(c, std::move(path), std::move(d));
  }
  void RemoveDirectory(Context c, std::string path, Done<Unit> d) override {
    files_.RemoveDirectory(c, std::move(path), std::move(d));
  }
  void Stat(Context c, std::string path, Done<reactor::FileInfo> d) override {
    files_.Stat(c, std::move(path), std::move(d));
  }
  void FindWriter(Context c, std::string path, Done<reactor::WriterInfo> d) override {
    files_.FindWriter(c, std::move(path), std::move(d));
  }
  void List(Context c, std::string path, size_t max,
            Done<std::vector<reactor::DirectoryEntry>> d) override {
    files_.List(c, std::move(path), max, std::move(d));
  }

 private:
  void Pretend(Done<Unit> done) {
    loop_.Post([done = std::move(done)]() mutable { done(Ok()); });
  }

  reactor::Loop& loop_;
  reactor::FileSystem& files_;
  const Lie lie_;
  uint64_t appends_ = 0;
};

}  // namespace denselet::sim
