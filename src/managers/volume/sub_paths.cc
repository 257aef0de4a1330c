// What containers see of volumes that are mounted: volume_manager.h.
#include <memory>
#include <utility>

#include "base/quoted.h"
#include "kube/api/types.h"
#include "managers/volume/container_mounts.h"
#include "managers/volume/volume_manager.h"

namespace denselet::managers {
namespace {

// There is nothing, but a directory where it could be. Looks as upstream does, for the words alone
// that people read: by the time that they do, the path may lead anywhere.
bool IsMissing(reactor::DiskCalls& disk, const reactor::PathBelow& part) {
  const std::string whole = part.folder + "/" + part.relative;
  for (std::string path = whole; path.size() >= part.folder.size();) {
    const Result<reactor::PathInfo> there = disk.StatTarget(path);
    if (there) return path != whole && there->kind == reactor::PathInfo::Kind::kDirectory;
    if (there.error().code() != ErrorCode::kNotFound) return false;
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return false;
    path.resize(slash);
  }
  return false;
}

// kNotFound: it could not be made.
Error Refused(reactor::DiskCalls& disk, const reactor::PathBelow& part, const Error& error) {
  if (IsMissing(disk, part)) return {ErrorCode::kNotFound, error.message()};
  if (error.code() == ErrorCode::kNotFound) return {ErrorCode::kInvalid, error.message()};
  return error;
}

}  // namespace

// Makes the mounts that show a part of a volume, one after the other. Handed from callback to
// callback.
class VolumeManager::SubPaths {
 public:
  using Ptr = std::unique_ptr<SubPaths>;
  SubPaths(VolumeManager& owner, const Context& context, kube::PodRef pod, uint64_t lane,
           std::string container, std::vector<PlannedMount> mounts,
           reactor::Done<std::vector<sync::MountSpec>> done)
      : owner_(owner),
        context_(context),
        pod_(std::move(pod)),
        lane_(lane),
        container_(std::move(container)),
        mounts_(std::move(mounts)),
        done_(std::move(done)) {}

  static void Next(Ptr self) {
    SubPaths& it = *self;
    while (it.at_ < it.mounts_.size() && !it.mounts_[it.at_].part) ++it.at_;
    if (it.at_ == it.mounts_.size()) return it.Finish();
    const PlannedMount& mount = it.mounts_[it.at_];
    // Links in a volume may lead to a server that is gone, also in one of the pod's own.
    it.owner_.Run(
        it.context_,
        {"mount a sub-path", mount.spec.host_path, it.lane_, reactor::DiskJob::Kind::kForeignPaths},
        [part = *mount.part,
         target = mount.spec.host_path](reactor::DiskCalls& disk) -> Result<std::string> {
          // What is made on the way is as the volume itself is.
          const Result<reactor::PathInfo> volume = disk.StatTarget(part.folder);
          if (!volume) return volume.error();
          if (Status bound = disk.BindBelow(part, volume->mode, target); !bound) {
            return Refused(disk, part, bound.error());
          }
          return std::string();
        },
        [self = std::move(self)](const Result<std::string>& answer) mutable {
          if (!answer) return self->Fail(answer.error());
          self->NoteCause("");
          ++self->at_;
          Next(std::move(self));
        });
  }

 private:
  void Finish() {
    std::vector<sync::MountSpec> specs;
    for (PlannedMount& mount : mounts_) specs.push_back(std::move(mount.spec));
    done_(std::move(specs));
  }

  // Why this part cannot be had; empty: it can. True: that is new.
  bool NoteCause(const std::string& cause) {
    const auto pod = owner_.pods_.find(PodUid(std::string(pod_->hot().uid)));
    if (pod == owner_.pods_.end()) return true;
    auto& refused = pod->second.refused_parts;
    const auto part = std::make_pair(container_, at_);
    if (cause.empty()) return refused.erase(part) != 0;
    return std::exchange(refused[part], cause) != cause;
  }

  // Whoever made the pod is not told what the machine's files look like, as upstream. The log says
  // it, once: the worker asks again and again.
  void Fail(const Error& error) {
    const bool missing = error.code() == ErrorCode::kNotFound;
    const std::string doing = missing ? "create subPath directory" : "prepare subPath";
    const PlannedMount& mount = mounts_[at_];
    if (NoteCause(error.message())) {
      const kube::PodHotFields& hot = pod_->hot();
      owner_.log_.Error(error, "Could not prepare a sub-path",
                        denselet::Pod(ObjectRef{std::string(hot.ns), std::string(hot.name)}),
                        Uid(PodUid(std::string(hot.uid))), KV("containerName", container_),
                        KV("volumeMountName", mount.volume), KV("subPath", mount.part->relative));
    }
    done_(Error(error.code(), "failed to " + doing + " for volumeMount " + GoQuoted(mount.volume) +
                                  " of container " + GoQuoted(container_)));
  }

  VolumeManager& owner_;
  const Context context_;
  const kube::PodRef pod_;
  const uint64_t lane_;
  const std::string container_;
  std::vector<PlannedMount> mounts_;
  size_t at_ = 0;
  reactor::Done<std::vector<sync::MountSpec>> done_;
};

void VolumeManager::MountsOf(const Context& context, const kube::PodRef& ref,
                             const sync::ContainerWish& wish, const sync::KeyValues& env,
                             reactor::Done<std::vector<sync::MountSpec>> done) {
  const Result<std::unique_ptr<kube::core::Pod>> parsed = ref->Parse();
  if (!parsed) return Refuse(parsed.error(), std::move(done));
  Result<std::vector<PlannedMount>> mounts = PlanMounts(**parsed, wish, env, node_);
  if (!mounts) return Refuse(mounts.error(), std::move(done));
  const auto pod = pods_.find(PodUid(std::string(ref->hot().uid)));
  if (pod == pods_.end() || pod->second.stage != Stage::kMounted) {
    return Refuse(Error(ErrorCode::kUnavailable, "the pod's volumes are not mounted"),
                  std::move(done));
  }
  for (const PlannedMount& mount : *mounts) {
    if (pod->second.coming.count(mount.volume) == 0) continue;
    return Refuse(
        Error(ErrorCode::kUnavailable, "volume " + GoQuoted(mount.volume) + " is not mounted yet"),
        std::move(done));
  }
  loop_.Post([alive = alive_,
              work = std::make_unique<SubPaths>(*this, context, ref, pod->second.lane, wish.name,
                                                *std::move(mounts), std::move(done))]() mutable {
    if (*alive) SubPaths::Next(std::move(work));
  });
}

void VolumeManager::ReadFile(const Context& context, const kube::PodRef& ref,
                             const std::string& volume, const std::string& path, size_t bytes_max,
                             reactor::Done<std::string> done) {
  const Result<std::unique_ptr<kube::core::Pod>> parsed = ref->Parse();
  if (!parsed) return Refuse(parsed.error(), std::move(done));
  const auto pod = pods_.find(PodUid(std::string(ref->hot().uid)));
  if (pod == pods_.end() || pod->second.stage != Stage::kMounted) {
    return Refuse(Error(ErrorCode::kUnavailable, "the pod's volumes are not mounted"),
                  std::move(done));
  }
  for (const auto& candidate : (*parsed)->spec().volumes()) {
    if (candidate.name() != volume) continue;
    const Result<VolumePlan> plan = PlanVolume(**parsed, candidate, node_);
    if (!plan) return Refuse(plan.error(), std::move(done));
    if (plan->kind == VolumeKind::kImage) break;  // it is nowhere on the node's disk
    Run(
        context, {"read a file of a volume", plan->path, pod->second.lane},
        [file = reactor::PathBelow{plan->path, path}, bytes_max](reactor::DiskCalls& disk) {
          return disk.ReadBelow(file, bytes_max);
        },
        std::move(done));
    return;
  }
  Refuse(Error(ErrorCode::kNotFound, "cannot find volume " + GoQuoted(volume)), std::move(done));
}

}  // namespace denselet::managers
