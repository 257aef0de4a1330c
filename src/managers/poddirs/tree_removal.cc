#include "managers/poddirs/tree_removal.h"

#include <memory>
#include <utility>
#include <vector>

#include "base/quoted.h"

namespace denselet::managers {
namespace {

constexpr size_t kShownMax = 256;  // bytes of a path in a message

bool IsGone(const Error& error) { return error.code() == ErrorCode::kNotFound; }

class TreeRemoval {
 public:
  TreeRemoval(reactor::FileSystem& files, const Context& context, std::string path,
              const TreeRemovalOptions& options, reactor::Done<Unit> done)
      : files_(files), context_(context), options_(options), done_(std::move(done)) {
    folders_.push_back({.path = std::move(path)});
  }
  using Ptr = std::unique_ptr<TreeRemoval>;

  static void Begin(Ptr self) {
    TreeRemoval& it = *self;
    it.files_.Stat(it.context_, it.folders_.back().path,
                   [self = std::move(self)](const Result<reactor::FileInfo>& info) mutable {
                     if (!info && IsGone(info.error())) return self->done_(Ok());
                     if (!info) return self->done_(info.error());
                     if (info->kind != reactor::FileInfo::Kind::kDirectory) {
                       return self->Refuse("not a directory", self->folders_.back().path);
                     }
                     Next(std::move(self));
                   });
  }

 private:
  struct Folder {
    std::string path;
    bool listed = false;
    std::vector<reactor::DirectoryEntry> entries = {};
  };

  static void Next(Ptr self) {
    TreeRemoval& it = *self;
    Folder& folder = it.folders_.back();
    if (!folder.listed) return List(std::move(self));
    if (folder.entries.empty()) return RemoveFolder(std::move(self));
    const reactor::DirectoryEntry entry = std::move(folder.entries.back());
    folder.entries.pop_back();
    std::string path = folder.path + "/" + entry.name;
    if (entry.kind == reactor::FileInfo::Kind::kDirectory) {
      if (it.folders_.size() > it.options_.depth_max) return it.Refuse("too deep", path);
      it.folders_.push_back({.path = std::move(path)});
      return Next(std::move(self));
    }
    if (it.options_.directories_only) return it.Refuse("a file that is not ours to remove", path);
    it.files_.Unlink(it.context_, std::move(path), Then(std::move(self)));
  }

  static void List(Ptr self) {
    TreeRemoval& it = *self;
    it.files_.List(
        it.context_, it.folders_.back().path, it.options_.entries_max,
        [self = std::move(self)](Result<std::vector<reactor::DirectoryEntry>> entries) mutable {
          if (!entries && !IsGone(entries.error())) return self->done_(entries.error());
          self->folders_.back().listed = true;
          if (entries) self->folders_.back().entries = *std::move(entries);
          Next(std::move(self));
        });
  }

  static void RemoveFolder(Ptr self) {
    TreeRemoval& it = *self;
    std::string path = std::move(it.folders_.back().path);
    it.folders_.pop_back();
    it.files_.RemoveDirectory(it.context_, std::move(path), Then(std::move(self)));
  }

  static reactor::Done<Unit> Then(Ptr self) {
    return [self = std::move(self)](const Status& removed) mutable {
      if (!removed && !IsGone(removed.error())) return self->done_(removed.error());
      if (self->folders_.empty()) return self->done_(Ok());
      Next(std::move(self));
    };
  }

  void Refuse(const char* why, const std::string& path) {
    done_(Error(ErrorCode::kInvalid, why).With("remove " + Quoted(path, kShownMax)));
  }

  reactor::FileSystem& files_;
  const Context context_;
  const TreeRemovalOptions options_;
  reactor::Done<Unit> done_;
  std::vector<Folder> folders_;  // from the path down to where it is
};

}  // namespace

void RemoveTree(reactor::FileSystem& files, const Context& context, std::string path,
                const TreeRemovalOptions& options, reactor::Done<Unit> done) {
  TreeRemoval::Begin(
      std::make_unique<TreeRemoval>(files, context, std::move(path), options, std::move(done)));
}

}  // namespace denselet::managers
