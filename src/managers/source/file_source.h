// Static pods from a file or a folder of files (staticPodPath). Looks when the watcher hints, and
// every check_period at all of it, because a watcher does not hear everything.
//
//   kIdle -> kListing -> kReading -> kIdle ...      a hint meanwhile: once more, after a pause
//               \-> kReadingOne (it is no folder) --^
//
// Files whose names begin with a dot are not looked at, nor are folders within. Links are followed.
// Errors of one file are its own; when the folder itself cannot be read, what was known stays.
// Lives on the shard of its loop; destroying it ends it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/context.h"
#include "managers/source/manifest.h"
#include "managers/source/manifest_files.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "reactor/api/path_watcher.h"
#include "sync/ports/pod_source.h"

namespace denselet::managers {

struct FileSourceOptions {
  std::string path = {};  // absolute
  std::string node_name = {};
  Duration check_period = Seconds(20);  // fileCheckFrequency

  // A larger file is no manifest, and is reported.
  size_t file_bytes_max = kManifestBytesMax;
  // In the folder, with those that are not looked at. With more the whole folder stays as it was,
  // and is reported.
  size_t files_max = 10'000;
  size_t reads_max = 8;  // at once, and so decoded in one turn
  Duration read_time_max = Seconds(10);
  Duration retry_pause_min = Seconds(1);  // doubled up to check_period
  // Between two looks, as a multiple of how long the last one took: who changes files all the time
  // costs a fifth of the shard at most.
  int pause_factor = 4;
  Duration pause_min = Milliseconds(10);
  Duration pause_max = Seconds(1);
  Duration quiet_time = ManifestFilesOptions().quiet_time;
  // New content does not count while somebody has the file open for writing, however long the
  // pause: half a manifest may be a pod, too. But what has not been written for so long does, so
  // that who forgets to close a file does not keep a pod from running, or end one that runs when
  // the agent starts anew.
  Duration writer_time_max = Minutes(10);
  // The first set waits for so long for files that cannot be read, or that are being written.
  Duration first_set_patience = Seconds(2);
};

struct FileSourceStats {
  uint64_t scans = 0;
  uint64_t reads = 0;
  uint64_t decodes = 0;
};

class FileSource final : public sync::PodSource {
 public:
  FileSource(reactor::Loop& loop, reactor::FileSystem& files, reactor::PathWatcher& watcher,
             FileSourceOptions options, sync::PodSourceUser& user);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  sync::SourceKind kind() const override { return sync::SourceKind::kFile; }
  const FileSourceStats& stats() const { return stats_; }

 private:
  enum class Stage : uint8_t { kIdle, kListing, kReadingOne, kReading };
  using Entries = std::vector<reactor::DirectoryEntry>;
  struct Candidate {
    std::string path;
    reactor::FileInfo::Kind kind;
  };

  void OnHint();
  void LookAt(TimePoint when);

  void Begin();
  void OnListed(Result<Entries> entries);
  void OnOneRead(Result<std::string> content);
  void Pump();
  void Stat(Candidate file);
  void Read(Candidate file, std::optional<reactor::FileInfo> info);
  // kUnavailable while somebody writes what is about to count.
  void ReadSettled(const std::string& path, reactor::Done<std::string> done);
  bool IsBeingWritten(const reactor::WriterInfo& writer) const;
  void OnRead(const Candidate& file, const std::optional<reactor::FileInfo>& info,
              Result<std::string> content);
  void OneDone();
  void End();
  void EndBroken(const Error& reason);
  void Rest(bool retry, TimePoint look_again_at);

  void Tell(const ManifestFiles::Outcome& outcome);
  void SetPathTrouble(std::optional<Error> trouble);
  Result<ManifestFiles::Decoded> Decode(const std::string& path, std::string_view content);
  Context Limited() const;
  // A callback that does nothing once the source is gone.
  template <class Answer>
  auto Alive(void (FileSource::*method)(Result<Answer>));

  reactor::Loop& loop_;
  reactor::FileSystem& file_system_;
  reactor::PathWatcher& watcher_;
  const FileSourceOptions options_;
  sync::PodSourceUser& user_;
  const std::shared_ptr<FileSource*> self_;  // shared with operations under way

  Stage stage_ = Stage::kIdle;
  ManifestFiles files_;
  std::deque<Candidate> todo_;
  size_t under_way_ = 0;
  bool pump_posted_ = false;
  bool all_ = false;      // this look reads every file
  bool hinted_ = false;   // while looking
  bool told_ = false;     // the first set
  TimePoint began_at_;    // this look
  TimePoint all_due_at_;  // the next look at everything
  TimePoint not_before_;  // the next look at all
  TimePoint started_at_;
  Duration retry_pause_{};
  std::optional<Error> path_trouble_;
  FileSourceStats stats_;

  reactor::WatchId watch_;
  reactor::TimerId timer_;
  TimePoint timer_at_ = kNever;
};

}  // namespace denselet::managers
