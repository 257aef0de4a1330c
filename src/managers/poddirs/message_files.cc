#include "managers/poddirs/message_files.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

namespace denselet::managers {
namespace {

constexpr size_t kEntriesMax = 10'000;  // of one directory; of more than that nothing is removed

// Finds what is there, then removes files before the directories that they are in. Handed from
// callback to callback, each of which runs once.
class Removal {
 public:
  Removal(reactor::FileSystem& files, const Context& context, std::string folder,
          UniqueFunction<void()> done)
      : files_(files), context_(context), folder_(std::move(folder)), done_(std::move(done)) {}
  using Ptr = std::unique_ptr<Removal>;
  using Entries = Result<std::vector<reactor::DirectoryEntry>>;

  static void Begin(Ptr self) {
    Removal& it = *self;
    it.files_.List(it.context_, it.folder_, kEntriesMax,
                   [self = std::move(self)](const Entries& found) mutable {
                     if (!found) return self->done_();
                     for (const reactor::DirectoryEntry& entry : *found) {
                       if (entry.kind != reactor::FileInfo::Kind::kDirectory) continue;
                       self->containers_.push_back(self->folder_ + "/" + entry.name);
                     }
                     NextContainer(std::move(self));
                   });
  }

 private:
  static void NextContainer(Ptr self) {
    Removal& it = *self;
    if (it.containers_.empty()) return RemoveDirectory(std::move(self), it.folder_, Last::kYes);
    it.files_.List(it.context_, it.containers_.back(), kEntriesMax,
                   [self = std::move(self)](const Entries& found) mutable {
                     if (found) self->Take(*found);
                     NextFile(std::move(self));
                   });
  }

  void Take(const std::vector<reactor::DirectoryEntry>& found) {
    for (const reactor::DirectoryEntry& entry : found) {
      if (IsMessageFile(entry)) names_.push_back(entry.name);
    }
  }

  static void NextFile(Ptr self) {
    Removal& it = *self;
    if (it.names_.empty()) {
      std::string container = std::move(it.containers_.back());
      it.containers_.pop_back();
      return RemoveDirectory(std::move(self), std::move(container), Last::kNo);
    }
    std::string path = it.containers_.back() + "/" + it.names_.back();
    it.names_.pop_back();
    it.files_.Unlink(it.context_, std::move(path), [self = std::move(self)](const Status&) mutable {
      NextFile(std::move(self));
    });
  }

  enum class Last : bool { kNo, kYes };
  static void RemoveDirectory(Ptr self, std::string path, Last last) {
    Removal& it = *self;
    it.files_.RemoveDirectory(it.context_, std::move(path),
                              [self = std::move(self), last](const Status&) mutable {
                                if (last == Last::kYes) return self->done_();
                                NextContainer(std::move(self));
                              });
  }

  reactor::FileSystem& files_;
  const Context context_;
  const std::string folder_;
  UniqueFunction<void()> done_;
  std::vector<std::string> containers_;  // their directories
  std::vector<std::string> names_;       // of files in the last one
};

}  // namespace

bool IsMessageFile(const reactor::DirectoryEntry& entry) {
  return entry.kind == reactor::FileInfo::Kind::kFile && entry.name.size() == 8 &&
         entry.name.find_first_not_of("0123456789abcdef") == entry.name.npos;
}

void RemoveMessageFiles(reactor::FileSystem& files, const Context& context, std::string folder,
                        UniqueFunction<void()> done) {
  Removal::Begin(std::make_unique<Removal>(files, context, std::move(folder), std::move(done)));
}

}  // namespace denselet::managers
