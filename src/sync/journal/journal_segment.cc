#include "sync/journal/journal_segment.h"

#include <utility>

#include "base/check.h"

namespace denselet::sync {
namespace {

constexpr uint32_t kDirectoryMode = 0700;
constexpr uint32_t kFileMode = 0600;

}  // namespace

std::shared_ptr<JournalSegment> JournalSegment::Make(reactor::FileSystem& files,
                                                     std::string directory, std::string path) {
  return std::shared_ptr<JournalSegment>(
      new JournalSegment(files, std::move(directory), std::move(path)));
}

// With a call under way it dies because the loop does, and the file system may be gone already.
JournalSegment::~JournalSegment() {
  if (file_ && !done_) files_.Close(*file_);
}

void JournalSegment::Write(std::string data, reactor::Done<Unit> done) {
  CHECK(!done_);
  data_ = std::move(data);
  done_ = std::move(done);
  Run(file_ ? Step::kAppend : Step::kMakeDirectory);
}

void JournalSegment::Run(Step step) {
  step_ = step;
  const auto next = [self = shared_from_this()](const Status& status) { self->OnDone(status); };
  switch (step) {
    case Step::kMakeDirectory:
      return files_.MakeDirectories({}, directory_, kDirectoryMode, reactor::Durability::kSynced,
                                    next);
    case Step::kOpen:
      return files_.Open({}, path_, reactor::OpenMode::kCreateNew, kFileMode,
                         [self = shared_from_this()](Result<reactor::FileId> file) {
                           if (!file) return self->Finish(file.error());
                           self->file_ = *file;
                           self->Run(Step::kAppend);
                         });
    case Step::kAppend:
      return files_.Append({}, *file_, std::move(data_), next);
    case Step::kSync:
      return files_.Sync({}, *file_, next);
    case Step::kSyncName:
      return files_.SyncDirectory({}, directory_, next);
  }
}

void JournalSegment::OnDone(const Status& status) {
  if (!status) return Finish(status.error());
  switch (step_) {
    case Step::kMakeDirectory:
      return Run(Step::kOpen);
    case Step::kAppend:
      return Run(Step::kSync);
    case Step::kSync:
      return named_ ? Finish(Ok()) : Run(Step::kSyncName);
    case Step::kSyncName:
      named_ = true;
      return Finish(Ok());
    case Step::kOpen:
      break;  // answers by itself
  }
}

void JournalSegment::Finish(Status status) { std::exchange(done_, nullptr)(std::move(status)); }

}  // namespace denselet::sync
