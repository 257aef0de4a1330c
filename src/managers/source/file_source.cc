#include "managers/source/file_source.h"

#include <algorithm>
#include <utility>

#include "reactor/api/activity.h"

namespace denselet::managers {
namespace {

using reactor::FileInfo;

constexpr sync::SourceKind kFile = sync::SourceKind::kFile;

// Upstream trims it too, and the path is part of a pod's uid.
FileSourceOptions Trimmed(FileSourceOptions options) {
  while (options.path.size() > 1 && options.path.ends_with('/')) options.path.pop_back();
  return options;
}

Error NotAFile(FileInfo::Kind kind) {
  return Error(ErrorCode::kInvalid, kind == FileInfo::Kind::kDirectory
                                        ? "is a folder, which is not looked into"
                                        : "is neither a file nor a folder");
}

Error StillOpen() {
  return Error(ErrorCode::kUnavailable,
               "somebody has it open for writing; it counts when it is closed");
}

}  // namespace

FileSource::FileSource(reactor::Loop& loop, reactor::FileSystem& files,
                       reactor::PathWatcher& watcher, FileSourceOptions options,
                       sync::PodSourceUser& user)
    : loop_(loop),
      file_system_(files),
      watcher_(watcher),
      options_(Trimmed(std::move(options))),
      user_(user),
      self_(std::make_shared<FileSource*>(this)),
      files_({.quiet_time = options_.quiet_time, .bad_time_max = options_.check_period},
             [this](const std::string& path, std::string_view content) {
               return Decode(path, content);
             }),
      all_due_at_(loop.Now()),
      not_before_(loop.Now()),
      started_at_(loop.Now()) {
  LookAt(loop_.Now());
}

FileSource::~FileSource() {
  *self_ = nullptr;
  loop_.Disarm(timer_);
  watcher_.Unwatch(watch_);
}

void FileSource::OnHint() {
  hinted_ = true;
  if (stage_ == Stage::kIdle) LookAt(std::max(loop_.Now(), not_before_));
}

void FileSource::LookAt(TimePoint when) {
  if (when >= timer_at_) return;
  loop_.Disarm(timer_);
  timer_at_ = when;
  timer_ = loop_.Arm(when, [this] {
    timer_at_ = kNever;
    Begin();
  });
}

Context FileSource::Limited() const {
  return Context().WithTimeout(loop_.Now(), options_.read_time_max);
}

template <class Answer>
auto FileSource::Alive(void (FileSource::*method)(Result<Answer>)) {
  return [self = self_, method](Result<Answer> answer) {
    if (*self != nullptr) ((**self).*method)(std::move(answer));
  };
}

void FileSource::Begin() {
  // Before looking. A watcher that was full is asked again; until then the slow looks must do.
  if (watch_ == reactor::WatchId{}) {
    watch_ = watcher_.Watch(options_.path, [this] { OnHint(); });
  }
  stage_ = Stage::kListing;
  began_at_ = loop_.Now();
  hinted_ = false;
  all_ = began_at_ >= all_due_at_;
  if (all_) all_due_at_ = After(began_at_, options_.check_period);
  ++stats_.scans;
  files_.BeginScan();
  file_system_.List(Limited(), options_.path, options_.files_max, Alive(&FileSource::OnListed));
}

void FileSource::OnListed(Result<Entries> entries) {
  if (!entries && entries.error().code() == ErrorCode::kNotFound) {
    stage_ = Stage::kReadingOne;
    return ReadSettled(options_.path, Alive(&FileSource::OnOneRead));
  }
  if (!entries) return EndBroken(entries.error());
  stage_ = Stage::kReading;
  SetPathTrouble(std::nullopt);
  for (const reactor::DirectoryEntry& entry : *entries) {
    if (entry.name.starts_with('.')) continue;
    std::string path = options_.path + "/" + entry.name;
    files_.Note(path);
    if (entry.kind == FileInfo::Kind::kFile || entry.kind == FileInfo::Kind::kSymlink) {
      todo_.push_back({std::move(path), entry.kind});
    } else {
      files_.OnBad(path, NotAFile(entry.kind), loop_.Now());
    }
  }
  Pump();
}

void FileSource::OnOneRead(Result<std::string> content) {
  // Neither a folder nor a file: there is nothing, and so no pod.
  if (!content && content.error().code() == ErrorCode::kNotFound) {
    End();
    return SetPathTrouble(content.error());  // after what End says of the file that was there
  }
  SetPathTrouble(std::nullopt);
  files_.Note(options_.path);
  under_way_ = 1;
  OnRead({options_.path, FileInfo::Kind::kFile}, std::nullopt, std::move(content));
}

void FileSource::Pump() {
  while (under_way_ < options_.reads_max && !todo_.empty()) {
    Candidate next = std::move(todo_.front());
    todo_.pop_front();
    ++under_way_;
    // The times of a link say nothing about what it leads to.
    const bool is_link = next.kind == FileInfo::Kind::kSymlink;
    if (is_link || files_.IsNew(next.path) || (all_ && files_.HasTimes(next.path))) {
      Read(std::move(next), std::nullopt);
    } else {
      Stat(std::move(next));
    }
  }
  if (under_way_ == 0) End();
}

void FileSource::Stat(Candidate file) {
  file_system_.Stat(Limited(), file.path, [self = self_, file](Result<FileInfo> info) {
    FileSource* source = *self;
    if (source == nullptr) return;
    if (!info) return source->OnRead(file, std::nullopt, info.error());
    if (!source->files_.MustRead(file.path, *info)) return source->OneDone();
    source->Read(file, *info);
  });
}

void FileSource::Read(Candidate file, std::optional<FileInfo> info) {
  ++stats_.reads;
  ReadSettled(file.path, [self = self_, file, info](Result<std::string> content) {
    if (*self != nullptr) (*self)->OnRead(file, info, std::move(content));
  });
}

void FileSource::ReadSettled(const std::string& path, reactor::Done<std::string> done) {
  if (!files_.IsAboutToCount(path, loop_.Now())) {
    return file_system_.ReadFile(Limited(), path, options_.file_bytes_max, std::move(done));
  }
  // Before reading: who begins to write after this has changed the content, or will.
  file_system_.FindWriter(
      Limited(), path,
      [self = self_, path, done = std::move(done)](Result<reactor::WriterInfo> writer) mutable {
        FileSource* source = *self;
        if (source == nullptr) return;
        if (writer && source->IsBeingWritten(*writer)) return done(StillOpen());
        // What is wrong with the path, reading it says as well.
        source->file_system_.ReadFile(source->Limited(), path, source->options_.file_bytes_max,
                                      std::move(done));
      });
}

bool FileSource::IsBeingWritten(const reactor::WriterInfo& writer) const {
  return writer.open_for_writing && loop_.WallNow() - writer.modified < options_.writer_time_max;
}

void FileSource::OnRead(const Candidate& file, const std::optional<FileInfo>& info,
                        Result<std::string> content) {
  if (content) {
    const reactor::ActivityScope scope(loop_.activity(), "read manifest");
    files_.OnContent(file.path, *content, info, loop_.WallNow(), loop_.Now());
  } else if (content.error().code() == ErrorCode::kInvalid) {
    // Too large, or a link to a folder: that does not pass by itself.
    files_.OnBad(file.path, content.error(), loop_.Now());
  } else if (content.error().code() != ErrorCode::kNotFound) {
    files_.OnUnreadable(file.path, content.error(), loop_.Now());
  } else if (file.kind == FileInfo::Kind::kSymlink) {
    files_.OnBad(file.path, Error(ErrorCode::kInvalid, "is a link that leads to nothing"),
                 loop_.Now());
  } else {
    files_.OnGone(file.path);
  }
  OneDone();
}

void FileSource::OneDone() {
  --under_way_;
  if (std::exchange(pump_posted_, true)) return;
  // In the next turn: answers to what is started here may come while this one still hands out its
  // mail, and a thousand files would be decoded in a single turn.
  loop_.Post([self = self_] {
    if (*self == nullptr) return;
    (*self)->pump_posted_ = false;
    (*self)->Pump();
  });
}

Result<ManifestFiles::Decoded> FileSource::Decode(const std::string& path,
                                                  std::string_view content) {
  ++stats_.decodes;
  Result<Manifest> manifest =
      DecodeManifest(content, ManifestForm::kPod, options_.node_name,
                     {.kind = kube::StaticPodOrigin::Kind::kFile, .location = path});
  if (!manifest) return manifest.error();
  return ManifestFiles::Decoded{manifest->pods.front(), std::move(manifest->ignored)};
}

void FileSource::End() {
  const ManifestFiles::Outcome outcome = files_.EndScan(loop_.Now());
  Tell(outcome);
  Rest(outcome.unreadable, outcome.look_again_at);
}

void FileSource::EndBroken(const Error& reason) {
  SetPathTrouble(reason);
  Rest(true, kNever);
}

void FileSource::Tell(const ManifestFiles::Outcome& outcome) {
  for (const ManifestFiles::Trouble& trouble : outcome.troubles) {
    if (trouble.reason && trouble.pod_counts) {
      user_.OnPartIgnored(kFile, trouble.path, *trouble.reason);
    } else if (trouble.reason) {
      user_.OnTrouble(kFile, trouble.path, *trouble.reason);
    } else {
      user_.OnTroubleOver(kFile, trouble.path);
    }
  }
  for (const ManifestFiles::LeftOut& pod : outcome.left_out) {
    user_.OnPodLeftOut(kFile, pod.pod, pod.reason);
  }
  if (told_) {
    for (const std::string& uid : outcome.gone) user_.OnPodGone(kFile, uid);
    for (const kube::PodRef& pod : outcome.changed) user_.OnPod(kFile, pod);
    return;
  }
  // Whoever hears the first set takes it for all that there is: what cannot be judged yet is waited
  // for, but not for ever.
  const TimePoint patience = After(started_at_, options_.first_set_patience);
  if (outcome.undecided && loop_.Now() < patience) return LookAt(patience);
  told_ = true;
  user_.OnPods(kFile, files_.Pods());
}

void FileSource::SetPathTrouble(std::optional<Error> trouble) {
  if (path_trouble_ == trouble) return;
  path_trouble_ = std::move(trouble);
  if (path_trouble_) return user_.OnTrouble(kFile, options_.path, *path_trouble_);
  user_.OnTroubleOver(kFile, options_.path);
}

void FileSource::Rest(bool retry, TimePoint look_again_at) {
  stage_ = Stage::kIdle;
  const TimePoint now = loop_.Now();
  const Duration pause = std::clamp<Duration>((now - began_at_) * options_.pause_factor,
                                              options_.pause_min, options_.pause_max);
  not_before_ = After(now, pause);
  LookAt(all_due_at_);
  LookAt(std::max(look_again_at, After(now, options_.pause_min)));
  if (hinted_) LookAt(not_before_);
  retry_pause_ =
      retry ? std::clamp<Duration>(retry_pause_ * 2, options_.retry_pause_min,
                                   std::max(options_.check_period, options_.retry_pause_min))
            : Duration::zero();
  if (retry) LookAt(After(now, retry_pause_));
}

}  // namespace denselet::managers
