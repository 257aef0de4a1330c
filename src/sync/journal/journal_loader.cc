#include "sync/journal/journal_loader.h"

#include <algorithm>
#include <utility>

namespace denselet::sync {

void JournalLoader::Start(reactor::Loop& loop, reactor::FileSystem& files,
                          const JournalLoaderOptions& options,
                          reactor::Done<ReplayedJournal> done) {
  const std::shared_ptr<JournalLoader> loader(
      new JournalLoader(loop, files, options, std::move(done)));
  files.List({}, options.directory, options.entries_max,
             [loader](Result<std::vector<reactor::DirectoryEntry>> entries) {
               loader->OnListed(std::move(entries));
             });
}

void JournalLoader::OnListed(Result<std::vector<reactor::DirectoryEntry>> entries) {
  if (!entries && entries.error().code() == ErrorCode::kNotFound) return done_(replay_.Take());
  if (!entries) return done_(entries.error());
  for (const reactor::DirectoryEntry& entry : *entries) {
    const auto name = JournalFileName::Parse(entry.name);
    if (name && entry.kind == reactor::FileInfo::Kind::kFile) {
      names_.push_back(*name);
    } else if (!entry.name.starts_with('.')) {  // those are temporary files
      replay_.AddTrouble(entry.name, Error(ErrorCode::kInvalid, "not a file of the journal"));
    }
  }
  std::sort(names_.begin(), names_.end(), [](const JournalFileName& a, const JournalFileName& b) {
    return a.number != b.number ? a.number < b.number : a.kind < b.kind;
  });
  ReadNext();
}

void JournalLoader::ReadNext() {
  if (next_ == names_.size()) {
    next_ = 0;
    return SyncNext();
  }
  files_.ReadFile(
      {}, PathOf(names_[next_]), options_.file_bytes_max,
      [self = shared_from_this()](Result<std::string> bytes) { self->OnRead(std::move(bytes)); });
}

void JournalLoader::OnRead(Result<std::string> bytes) {
  const bool gone = !bytes && bytes.error().code() == ErrorCode::kNotFound;
  if (!bytes && !gone && ++tries_ < options_.read_tries_max) {
    loop_.Arm(After(loop_.Now(), options_.pause * tries_),
              [self = shared_from_this()] { self->ReadNext(); });
    return;
  }
  tries_ = 0;
  if (!gone) replay_.Add(names_[next_], bytes);
  ++next_;
  ReadNext();
}

// A snapshot's content reached the disk before its name was there to be read.
void JournalLoader::SyncNext() {
  while (next_ < names_.size() && names_[next_].kind == JournalFileKind::kSnapshot) ++next_;
  if (next_ == names_.size()) return SyncNames();
  files_.Open({}, PathOf(names_[next_]), reactor::OpenMode::kAppend, 0600,
              [self = shared_from_this()](Result<reactor::FileId> file) {
                self->OnOpened(std::move(file));
              });
}

void JournalLoader::OnOpened(Result<reactor::FileId> file) {
  if (!file) return OnSynced(file.error());
  files_.Sync({}, *file, [self = shared_from_this(), file = *file](const Status& synced) {
    self->files_.Close(file);
    self->OnSynced(synced);
  });
}

void JournalLoader::OnSynced(const Status& synced) {
  if (!synced) replay_.AddTrouble(names_[next_].Text(), synced.error());
  ++next_;
  SyncNext();
}

void JournalLoader::SyncNames() {
  if (names_.empty()) return done_(replay_.Take());
  files_.SyncDirectory({}, options_.directory, [self = shared_from_this()](const Status& synced) {
    if (!synced) self->replay_.AddTrouble(".", synced.error());
    self->done_(self->replay_.Take());
  });
}

}  // namespace denselet::sync
