// Reads a journal's directory into memory: lists it, reads its files one by one, and sees to it
// that what was read is on the disk, too (an agent that was killed may have left it in the cache).
//
//   kListing -> kReading (each file) -> kSyncing (each segment) -> kSyncingNames -> done
//
// Owned by its callbacks, on the shard of the file system.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "sync/journal/journal_replay.h"

namespace denselet::sync {

struct JournalLoaderOptions {
  std::string directory = {};
  size_t entries_max = 10'000;
  size_t file_bytes_max = 128 << 20;
  // Of a file that cannot be read; then it is told as trouble and passed over.
  uint32_t read_tries_max = 5;
  Duration pause = Milliseconds(50);
};

class JournalLoader : public std::enable_shared_from_this<JournalLoader> {
 public:
  // An error: the directory cannot be listed. One that does not exist is an empty journal.
  static void Start(reactor::Loop& loop, reactor::FileSystem& files,
                    const JournalLoaderOptions& options, reactor::Done<ReplayedJournal> done);

 private:
  JournalLoader(reactor::Loop& loop, reactor::FileSystem& files,
                const JournalLoaderOptions& options, reactor::Done<ReplayedJournal> done)
      : loop_(loop), files_(files), options_(options), done_(std::move(done)) {}

  std::string PathOf(const JournalFileName& name) const {
    return options_.directory + "/" + name.Text();
  }
  void OnListed(Result<std::vector<reactor::DirectoryEntry>> entries);
  void ReadNext();
  void OnRead(Result<std::string> bytes);
  void SyncNext();
  void OnOpened(Result<reactor::FileId> file);
  void OnSynced(const Status& synced);
  void SyncNames();

  reactor::Loop& loop_;
  reactor::FileSystem& files_;
  const JournalLoaderOptions options_;
  reactor::Done<ReplayedJournal> done_;
  JournalReplay replay_;
  std::vector<JournalFileName> names_;  // by number
  size_t next_ = 0;
  uint32_t tries_ = 0;
};

}  // namespace denselet::sync
