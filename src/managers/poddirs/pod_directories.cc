#include "managers/poddirs/pod_directories.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string_view>
#include <vector>

#include "base/quoted.h"
#include "kube/api/types.h"

namespace denselet::managers {
namespace {

constexpr size_t kShownMax = 256;  // bytes of a name in a message

constexpr uint32_t kDataMode = 0750;
constexpr uint32_t kLogMode = 0755;
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
        .With("", Quoted(name, kShownMax));
  }
  return Ok();
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
      it.files_.MakeDirectories(it.context_, folder.path, folder.mode,
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
  work->AddFolder(data, kDataMode);
  for (const std::string_view part : kDataParts) {
    work->AddFolder(data + "/" + std::string(part), kDataMode);
  }
  const std::string logs = options_.logs_folder + "/" + std::string(hot.ns) + "_" +
                           std::string(hot.name) + "_" + std::string(hot.uid);
  for (const std::string& name : containers) work->AddContainer(name, logs + "/" + name);
  Preparation::Next(std::move(work));
}

void PodDirectories::Mount(const Context&, const kube::PodRef& pod, reactor::Done<Unit> done) {
  const Result<std::unique_ptr<kube::core::Pod>> parsed = pod->Parse();
  Status mounted = Ok();
  if (!parsed) {
    mounted = parsed.error();
  } else if ((*parsed)->spec().volumes_size() > 0) {
    mounted = Error(ErrorCode::kUnsupported, "volumes are not supported yet")
                  .With("volume", Quoted((*parsed)->spec().volumes(0).name(), kShownMax));
  }
  loop_.Post([done = std::move(done), mounted = std::move(mounted)]() mutable {
    done(std::move(mounted));
  });
}

// Removes the parts, then the whole. What is not there is fine.
class PodDirectories::Removal {
 public:
  Removal(PodDirectories& owner, const Context& context, const PodUid& uid,
          reactor::Done<Unit> done)
      : files_(owner.files_), context_(context), done_(std::move(done)) {
    const std::string data = PodFolder(owner.options_.root_folder, uid);
    for (const std::string_view part : kDataParts) {
      folders_.push_back(data + "/" + std::string(part));
    }
    folders_.push_back(data);
  }

  static void Next(std::unique_ptr<Removal> self) {
    Removal& it = *self;
    if (it.removed_ == it.folders_.size()) return it.done_(Ok());
    it.files_.RemoveDirectory(
        it.context_, it.folders_[it.removed_], [self = std::move(self)](Status removed) mutable {
          if (!removed && removed.error().code() != ErrorCode::kNotFound) {
            return self->done_(removed.error().With("remove the pod's directories"));
          }
          ++self->removed_;
          Next(std::move(self));
        });
  }

 private:
  reactor::FileSystem& files_;
  const Context context_;
  reactor::Done<Unit> done_;
  std::vector<std::string> folders_;
  size_t removed_ = 0;
};

void PodDirectories::Release(const Context& context, const sync::PodIdentity& pod,
                             reactor::Done<Unit> done) {
  if (const Status checked = CheckName(pod.uid.value()); !checked) {
    loop_.Post([done = std::move(done), error = checked.error()]() mutable { done(error); });
    return;
  }
  Removal::Next(std::make_unique<Removal>(*this, context, pod.uid, std::move(done)));
}

}  // namespace denselet::managers
