#include "managers/poddirs/log_links.h"

#include <utility>
#include <vector>

namespace denselet::managers {
namespace {

constexpr uint32_t kFolderMode = 0755;
constexpr std::string_view kSuffix = ".log";
constexpr size_t kNameBytesMax = 255;
constexpr size_t kIdBytesMin = 6;        // of an id in a name; shorter ones name nobody
constexpr size_t kLinksMax = 1'000'000;  // in the folder; of more none is looked at

bool IsGone(const Error& error) { return error.code() == ErrorCode::kNotFound; }

// Looks at one link after the other. Handed from callback to callback, each of which runs once.
class Sweep {
 public:
  Sweep(reactor::FileSystem& files, sync::Runtime& runtime, const Context& context,
        std::string folder, reactor::Done<size_t> done)
      : files_(files),
        runtime_(runtime),
        context_(context),
        folder_(std::move(folder)),
        done_(std::move(done)) {}
  using Ptr = std::unique_ptr<Sweep>;

  static void Begin(Ptr self) {
    Sweep& it = *self;
    it.files_.List(it.context_, it.folder_, kLinksMax,
                   [self = std::move(self)](
                       const Result<std::vector<reactor::DirectoryEntry>>& found) mutable {
                     if (!found && IsGone(found.error())) return self->done_(size_t{0});
                     if (!found) return self->done_(found.error());
                     for (const reactor::DirectoryEntry& entry : *found) {
                       if (entry.kind != reactor::FileInfo::Kind::kSymlink) continue;
                       if (entry.name.ends_with(kSuffix)) self->names_.push_back(entry.name);
                     }
                     Next(std::move(self));
                   });
  }

 private:
  std::string Path() const { return folder_ + "/" + names_.back(); }

  static void Done(Ptr self) {
    self->names_.pop_back();
    Next(std::move(self));
  }

  // What cannot be read now is looked at the next time.
  static void Next(Ptr self) {
    Sweep& it = *self;
    if (it.names_.empty()) return it.done_(it.removed_);
    it.files_.ReadLink(it.context_, it.Path(),
                       [self = std::move(self)](const Result<std::string>& target) mutable {
                         if (!target) return Done(std::move(self));
                         std::string path = *target;
                         if (!path.starts_with('/')) path = self->folder_ + "/" + path;
                         LookAt(std::move(self), std::move(path));
                       });
  }

  static void LookAt(Ptr self, std::string target) {
    Sweep& it = *self;
    it.files_.Stat(it.context_, std::move(target),
                   [self = std::move(self)](const Result<reactor::FileInfo>& info) mutable {
                     if (info || !IsGone(info.error())) return Done(std::move(self));
                     AskForContainer(std::move(self));
                   });
  }

  static void AskForContainer(Ptr self) {
    Sweep& it = *self;
    const std::optional<ContainerId> id = ContainerOfLogLink(it.names_.back());
    if (!id) return Unlink(std::move(self));
    it.runtime_.ReadContainer(
        it.context_, *id, {},
        [self = std::move(self)](const Result<sync::ObservedContainer>& container) mutable {
          const bool ended = container ? container->state == sync::ContainerState::kExited
                                       : IsGone(container.error());
          if (!ended) return Done(std::move(self));
          Unlink(std::move(self));
        });
  }

  static void Unlink(Ptr self) {
    Sweep& it = *self;
    it.files_.Unlink(it.context_, it.Path(), [self = std::move(self)](const Status& gone) mutable {
      if (gone) ++self->removed_;
      Done(std::move(self));
    });
  }

  reactor::FileSystem& files_;
  sync::Runtime& runtime_;
  const Context context_;
  const std::string folder_;
  reactor::Done<size_t> done_;
  std::vector<std::string> names_;
  size_t removed_ = 0;
};

}  // namespace

std::string LogLinkName(const sync::PodIdentity& pod, const sync::LoggedContainer& container) {
  std::string name = pod.ref.name + "_" + pod.ref.ns + "_" + container.name + "-";
  name += container.id.value();
  if (name.size() > kNameBytesMax - kSuffix.size()) name.resize(kNameBytesMax - kSuffix.size());
  return name + std::string(kSuffix);
}

std::optional<ContainerId> ContainerOfLogLink(std::string_view name) {
  if (!name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  const size_t dash = name.rfind('-');
  const std::string_view id = dash == name.npos ? name : name.substr(dash + 1);
  if (id.size() < kIdBytesMin) return std::nullopt;
  return ContainerId(std::string(id));
}

void RemoveDeadLinks(reactor::FileSystem& files, sync::Runtime& runtime, const Context& context,
                     std::string folder, reactor::Done<size_t> done) {
  Sweep::Begin(
      std::make_unique<Sweep>(files, runtime, context, std::move(folder), std::move(done)));
}

// Looks for the log, then makes the link, then, if there is no folder for it, that and the link
// again. Handed from callback to callback, each of which runs once.
class LogLinks::Making {
 public:
  Making(LogLinks& owner, std::string log_file, std::string path)
      : owner_(owner),
        alive_(owner.alive_),
        context_(owner.OwnContext()),
        log_file_(std::move(log_file)),
        path_(std::move(path)) {}
  using Ptr = std::unique_ptr<Making>;

  static void Begin(Ptr self) {
    Making& it = *self;
    it.owner_.files_.Stat(it.context_, it.log_file_,
                          [self = std::move(self)](const Result<reactor::FileInfo>& log) mutable {
                            if (!*self->alive_) return;
                            // The runtime writes none.
                            if (!log && IsGone(log.error())) return self->End();
                            Link(std::move(self), Folder::kPerhaps);
                          });
  }

 private:
  enum class Folder : bool { kPerhaps, kMade };

  static void Link(Ptr self, Folder folder) {
    Making& it = *self;
    it.owner_.files_.Symlink(it.context_, it.log_file_, it.path_,
                             [self = std::move(self), folder](const Status& made) mutable {
                               if (!*self->alive_) return;
                               const ErrorCode code = made ? ErrorCode::kBug : made.error().code();
                               if (made || code == ErrorCode::kAlreadyExists) return self->End();
                               if (code == ErrorCode::kNotFound && folder == Folder::kPerhaps) {
                                 return MakeFolder(std::move(self));
                               }
                               self->Fail(made.error());
                             });
  }

  static void MakeFolder(Ptr self) {
    Making& it = *self;
    it.owner_.files_.MakeDirectories(it.context_, it.owner_.folder_, kFolderMode,
                                     reactor::Durability::kCached,
                                     [self = std::move(self)](const Status& made) mutable {
                                       if (!*self->alive_) return;
                                       if (!made) return self->Fail(made.error());
                                       Link(std::move(self), Folder::kMade);
                                     });
  }

  void Fail(const Error& error) {
    owner_.Told(error, "Could not make the link to a container's log", path_);
    End();
  }
  void End() { --owner_.under_way_; }

  LogLinks& owner_;
  const std::shared_ptr<bool> alive_;
  const Context context_;
  const std::string log_file_;
  const std::string path_;
};

LogLinks::LogLinks(reactor::Loop& loop, reactor::FileSystem& files, const Logger& log,
                   std::string folder)
    : loop_(loop),
      files_(files),
      log_(log),
      folder_(std::move(folder)),
      alive_(std::make_shared<bool>(true)) {}

LogLinks::~LogLinks() { *alive_ = false; }

Context LogLinks::OwnContext() const {
  const Context context;
  return context.WithTimeout(loop_.Now(), kWaitMax);
}

void LogLinks::Told(const Error& error, const LogMessage& what, const std::string& path) const {
  log_.Error(error, what, KV("path", path));
}

void LogLinks::Prepare() {
  files_.MakeDirectories(OwnContext(), folder_, kFolderMode, reactor::Durability::kCached,
                         [this, alive = alive_](const Status& made) {
                           if (!*alive || made) return;
                           Told(made.error(), "Could not make the folder of links to logs",
                                folder_);
                         });
}

void LogLinks::Make(const sync::PodIdentity& pod, const sync::LoggedContainer& container,
                    std::string log_file) {
  std::string path = folder_ + "/" + LogLinkName(pod, container);
  if (under_way_ >= kUnderWayMax) {
    return Told(Error(ErrorCode::kOverloaded, "too many are being made"),
                "Could not make the link to a container's log", path);
  }
  ++under_way_;
  Making::Begin(std::make_unique<Making>(*this, std::move(log_file), std::move(path)));
}

void LogLinks::Remove(const sync::PodIdentity& pod, const sync::LoggedContainer& container) {
  std::string path = folder_ + "/" + LogLinkName(pod, container);
  files_.Unlink(OwnContext(), path, [this, alive = alive_, path](const Status& gone) {
    if (!*alive || gone || IsGone(gone.error())) return;
    Told(gone.error(), "Could not remove the link to a container's log", path);
  });
}

}  // namespace denselet::managers
