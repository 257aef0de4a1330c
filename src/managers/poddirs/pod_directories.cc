#include "managers/poddirs/pod_directories.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

#include "base/quoted.h"
#include "kube/api/types.h"
#include "managers/poddirs/log_links.h"
#include "managers/poddirs/message_files.h"
#include "managers/poddirs/mount_table.h"
#include "managers/poddirs/tree_removal.h"

namespace denselet::managers {
namespace {

constexpr size_t kShownMax = 256;  // bytes of a name in a message

constexpr uint32_t kDataMode = 0750;
constexpr uint32_t kLogMode = 0755;
constexpr size_t kLogDepth = 1;  // directories of containers, and files in them
// What is ours below a pod's data directory, innermost first where it matters.
constexpr std::array<std::string_view, 2> kDataParts = {"volumes", "plugins"};

std::string PodFolder(const std::string& root, const PodUid& uid) {
  return root + "/pods/" + uid.value();
}

std::vector<std::string> ContainerNames(const kube::core::Pod& pod) {
  std::vector<std::string> names;
  for (const auto& container : pod.spec().initcontainers()) names.push_back(container.name());
  for (const auto& container : pod.spec().containers()) names.push_back(container.name());
  for (const auto& ephemeral : pod.spec().ephemeralcontainers()) {
    names.push_back(ephemeral.ephemeralcontainercommon().name());
  }
  return names;
}

// A path of a name that could lead elsewhere is nobody's pod.
Status CheckName(std::string_view name) {
  if (name.empty() || name == "." || name == ".." || name.find('/') != std::string_view::npos) {
    return Error(ErrorCode::kInvalid, "a name that no directory can have")
        .With(Quoted(name, kShownMax));
  }
  return Ok();
}

Status CheckNames(const sync::PodIdentity& pod, const sync::LoggedContainer& container) {
  for (const std::string& name : {pod.ref.ns, pod.ref.name, pod.uid.value(), container.name}) {
    if (const Status checked = CheckName(name); !checked) return checked;
  }
  return CheckName(container.id.value());
}

}  // namespace

uint32_t NextLoggedAttempt(const std::vector<reactor::DirectoryEntry>& entries) {
  uint32_t next = 0;
  for (const reactor::DirectoryEntry& entry : entries) {
    uint32_t attempt = 0;
    const std::string& name = entry.name;
    const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), attempt);
    const std::string_view rest(end, static_cast<size_t>(name.data() + name.size() - end));
    if (code != std::errc() || !(rest == ".log" || rest.starts_with(".log."))) continue;
    if (attempt == UINT32_MAX) continue;
    next = std::max(next, attempt + 1);
  }
  return next;
}

bool IsLogOf(std::string_view name, uint32_t attempt) {
  const std::string log = std::to_string(attempt) + ".log";
  return name == log || name.starts_with(log + ".");
}

// Makes the directories one by one, then reads the containers' ones. Handed from callback to
// callback, each of which runs once.
class PodDirectories::Preparation {
 public:
  Preparation(PodDirectories& owner, const Context& context, reactor::Done<sync::PreparedPod> done)
      : files_(owner.files_), context_(context), done_(std::move(done)) {}

  void AddFolder(std::string path, uint32_t mode) { folders_.push_back({std::move(path), mode}); }
  void AddContainer(std::string name, std::string path) {
    AddFolder(path, kLogMode);
    containers_.push_back({std::move(name), std::move(path)});
  }

  static void Next(std::unique_ptr<Preparation> self) {
    Preparation& it = *self;
    if (it.made_ < it.folders_.size()) {
      const Folder& folder = it.folders_[it.made_];
      it.files_.MakeDirectories(it.context_, folder.path, folder.mode, reactor::Durability::kCached,
                                [self = std::move(self)](Status made) mutable {
                                  if (!made) return self->Fail(made.error());
                                  ++self->made_;
                                  Next(std::move(self));
                                });
      return;
    }
    if (it.read_ < it.containers_.size()) {
      it.files_.List(
          it.context_, it.containers_[it.read_].second, kLogsMax,
          [self = std::move(self)](Result<std::vector<reactor::DirectoryEntry>> entries) mutable {
            if (!entries) return self->Fail(entries.error());
            self->Take(*entries);
            Next(std::move(self));
          });
      return;
    }
    it.done_(std::move(it.prepared_));
  }

 private:
  struct Folder {
    std::string path;
    uint32_t mode;
  };

  void Take(const std::vector<reactor::DirectoryEntry>& entries) {
    const uint32_t next = NextLoggedAttempt(entries);
    if (next > 0) prepared_.logged_attempts.emplace_back(containers_[read_].first, next);
    ++read_;
  }
  void Fail(const Error& error) { done_(error.With("prepare the pod's directories")); }

  reactor::FileSystem& files_;
  const Context context_;
  reactor::Done<sync::PreparedPod> done_;
  std::vector<Folder> folders_;
  std::vector<std::pair<std::string, std::string>> containers_;  // name and folder
  size_t made_ = 0;
  size_t read_ = 0;
  sync::PreparedPod prepared_;
};

void PodDirectories::Prepare(const Context& context, const kube::PodRef& pod,
                             reactor::Done<sync::PreparedPod> done) {
  const auto refuse = [this, &done](const Error& error) {
    loop_.Post([done = std::move(done), error]() mutable { done(error); });
  };
  const Result<std::unique_ptr<kube::core::Pod>> parsed = pod->Parse();
  if (!parsed) return refuse(parsed.error());
  const kube::PodHotFields& hot = pod->hot();
  const std::vector<std::string> containers = ContainerNames(**parsed);
  std::vector<std::string> names = containers;
  for (const std::string_view part : {hot.ns, hot.name, hot.uid}) names.emplace_back(part);
  for (const std::string& name : names) {
    if (const Status checked = CheckName(name); !checked) return refuse(checked.error());
  }

  auto work = std::make_unique<Preparation>(*this, context, std::move(done));
  const std::string data = PodFolder(options_.root_folder, PodUid(std::string(hot.uid)));
  // With the first of them the pod's own is made, of the same mode.
  for (const std::string_view part : kDataParts) {
    work->AddFolder(data + "/" + std::string(part), kDataMode);
  }
  const std::string logs = LogFolder(
      {.ref = {std::string(hot.ns), std::string(hot.name)}, .uid = PodUid(std::string(hot.uid))});
  for (const std::string& name : containers) work->AddContainer(name, logs + "/" + name);
  Preparation::Next(std::move(work));
}

void PodDirectories::Changed(const kube::PodRef& pod) {
  if (mounts_ != nullptr) mounts_->Changed(pod);
}

void PodDirectories::Mount(const Context& context, const kube::PodRef& pod,
                           reactor::Done<sync::MountedVolumes> done) {
  if (mounts_ != nullptr) return mounts_->Mount(context, pod, std::move(done));
  const Result<std::unique_ptr<kube::core::Pod>> parsed = pod->Parse();
  Result<sync::MountedVolumes> mounted = sync::MountedVolumes();
  if (!parsed) {
    mounted = parsed.error();
  } else {
    for (const auto& volume : (*parsed)->spec().volumes()) {
      mounted->missing.push_back(
          {volume.name(), Error(ErrorCode::kUnsupported, "volumes are not supported yet")});
    }
  }
  loop_.Post([done = std::move(done), mounted = std::move(mounted)]() mutable {
    done(std::move(mounted));
  });
}

// Removes the files that its containers wrote, the parts, then the whole: that is all there is to
// it where they are empty. What is not there is fine. Where there is more, in this order: look that
// nothing is mounted below, remove the directories of volumes, then the rest with all that is in
// it.
class PodDirectories::Removal {
 public:
  Removal(PodDirectories& owner, const Context& context, const PodUid& uid,
          reactor::Done<Unit> done)
      : files_(owner.files_),
        context_(context),
        data_(PodFolder(owner.options_.root_folder, uid)),
        mount_table_(owner.options_.mount_table),
        done_(std::move(done)) {
    for (const std::string_view part : kDataParts) {
      folders_.push_back(data_ + "/" + std::string(part));
    }
    folders_.push_back(data_);
  }
  using Ptr = std::unique_ptr<Removal>;

  static void Begin(Ptr self) {
    Removal& it = *self;
    RemoveMessageFiles(it.files_, it.context_, it.data_ + "/containers",
                       [self = std::move(self)]() mutable { RemoveHosts(std::move(self)); });
  }

  void Fail(const Error& error) { done_(error.With("remove the pod's directories")); }

 private:
  // By name, so that mostly nothing is left for which the mount table would have to be read.
  static void RemoveHosts(Ptr self) {
    Removal& it = *self;
    it.files_.Unlink(it.context_, it.data_ + "/etc-hosts",
                     [self = std::move(self)](const Status&) mutable { Next(std::move(self)); });
  }

  static void Next(Ptr self) {
    Removal& it = *self;
    if (it.removed_ == it.folders_.size()) return it.done_(Ok());
    it.files_.RemoveDirectory(it.context_, it.folders_[it.removed_],
                              [self = std::move(self)](const Status& removed) mutable {
                                if (!removed && removed.error().code() != ErrorCode::kNotFound) {
                                  return LookForMounts(std::move(self));
                                }
                                ++self->removed_;
                                Next(std::move(self));
                              });
  }

  static void LookForMounts(Ptr self) {
    Removal& it = *self;
    it.files_.ReadFile(
        it.context_, it.mount_table_, kMountTableBytesMax,
        [self = std::move(self)](const Result<std::string>& table) mutable {
          if (!table) return self->Fail(table.error());
          if (const auto mounted = MountBelow(*table, self->data_)) {
            return self->Fail(
                Error(ErrorCode::kUnavailable, "still mounted").With(Quoted(*mounted, kShownMax)));
          }
          RemoveVolumes(std::move(self));
        });
  }

  static void RemoveVolumes(Ptr self) {
    Removal& it = *self;
    RemoveTree(it.files_, it.context_, it.folders_.front(), {.directories_only = true},
               [self = std::move(self)](const Status& removed) mutable {
                 if (!removed) return self->Fail(removed.error());
                 RemoveRest(std::move(self));
               });
  }

  static void RemoveRest(Ptr self) {
    Removal& it = *self;
    RemoveTree(it.files_, it.context_, it.data_, {},
               [self = std::move(self)](const Status& removed) mutable {
                 if (!removed) return self->Fail(removed.error());
                 self->done_(Ok());
               });
  }

  reactor::FileSystem& files_;
  const Context context_;
  const std::string data_;
  const std::string mount_table_;
  reactor::Done<Unit> done_;
  std::vector<std::string> folders_;
  size_t removed_ = 0;
};

// Reads the directory of a container's logs, then removes those of one instance.
class PodDirectories::LogRemoval {
 public:
  LogRemoval(PodDirectories& owner, const Context& context, std::string folder, uint32_t attempt,
             reactor::Done<Unit> done)
      : files_(owner.files_),
        context_(context),
        folder_(std::move(folder)),
        attempt_(attempt),
        done_(std::move(done)) {}
  using Ptr = std::unique_ptr<LogRemoval>;

  static void Begin(Ptr self) {
    LogRemoval& it = *self;
    it.files_.List(it.context_, it.folder_, kLogsMax,
                   [self = std::move(self)](
                       const Result<std::vector<reactor::DirectoryEntry>>& found) mutable {
                     if (!found && found.error().code() == ErrorCode::kNotFound)
                       return self->done_(Ok());
                     if (!found) return self->done_(found.error());
                     for (const reactor::DirectoryEntry& entry : *found) {
                       if (IsLogOf(entry.name, self->attempt_)) self->names_.push_back(entry.name);
                     }
                     Next(std::move(self));
                   });
  }

 private:
  static void Next(Ptr self) {
    LogRemoval& it = *self;
    if (it.names_.empty()) return it.done_(Ok());
    std::string path = it.folder_ + "/" + it.names_.back();
    it.names_.pop_back();
    it.files_.Unlink(it.context_, std::move(path),
                     [self = std::move(self)](const Status& removed) mutable {
                       if (!removed && removed.error().code() != ErrorCode::kNotFound) {
                         return self->done_(removed.error());
                       }
                       Next(std::move(self));
                     });
  }

  reactor::FileSystem& files_;
  const Context context_;
  const std::string folder_;
  const uint32_t attempt_;
  reactor::Done<Unit> done_;
  std::vector<std::string> names_;
};

void PodDirectories::Refuse(const Error& error, reactor::Done<Unit> done) {
  loop_.Post([done = std::move(done), error]() mutable { done(error); });
}

void PodDirectories::Release(const Context& context, const sync::PodIdentity& pod,
                             reactor::Done<Unit> done) {
  if (const Status checked = CheckName(pod.uid.value()); !checked) {
    return Refuse(checked.error(), std::move(done));
  }
  auto removal = std::make_unique<Removal>(*this, context, pod.uid, std::move(done));
  if (mounts_ == nullptr) return Removal::Begin(std::move(removal));
  mounts_->Unmount(context, pod.uid, [removal = std::move(removal)](const Status& gone) mutable {
    if (!gone) return removal->Fail(gone.error());
    Removal::Begin(std::move(removal));
  });
}

std::string PodDirectories::LogFolder(const sync::PodIdentity& pod) const {
  return options_.logs_folder + "/" + pod.ref.ns + "_" + pod.ref.name + "_" + pod.uid.value();
}

void PodDirectories::LinkLog(const sync::PodIdentity& pod, const sync::LoggedContainer& container) {
  if (links_ == nullptr || !CheckNames(pod, container)) return;
  links_->Make(
      pod, container,
      LogFolder(pod) + "/" + container.name + "/" + std::to_string(container.attempt) + ".log");
}

void PodDirectories::UnlinkLog(const sync::PodIdentity& pod,
                               const sync::LoggedContainer& container) {
  if (links_ == nullptr || !CheckNames(pod, container)) return;
  links_->Remove(pod, container);
}

void PodDirectories::RemoveContainerLogs(const Context& context, const sync::PodIdentity& pod,
                                         const sync::LoggedContainer& container,
                                         reactor::Done<Unit> done) {
  if (const Status checked = CheckNames(pod, container); !checked) {
    return Refuse(checked.error(), std::move(done));
  }
  UnlinkLog(pod, container);
  LogRemoval::Begin(std::make_unique<LogRemoval>(
      *this, context, LogFolder(pod) + "/" + container.name, container.attempt, std::move(done)));
}

void PodDirectories::RemoveLogs(const Context& context, const sync::PodIdentity& pod,
                                reactor::Done<Unit> done) {
  // Of a pod whose name nobody knows there are no logs that anybody could find.
  if (pod.ref.name.empty()) {
    loop_.Post([done = std::move(done)]() mutable { done(Ok()); });
    return;
  }
  for (const std::string& name : {pod.ref.ns, pod.ref.name, pod.uid.value()}) {
    if (const Status checked = CheckName(name); !checked) {
      return Refuse(checked.error(), std::move(done));
    }
  }
  RemoveTree(files_, context, LogFolder(pod), {.depth_max = kLogDepth, .entries_max = kLogsMax},
             std::move(done));
}

}  // namespace denselet::managers
