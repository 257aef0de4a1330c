// A pod's resources, with what it refers to on the API server followed from before its volumes are
// mounted until all of it was given back.
//
// One a shard, owned by PodSide; what it is given outlives it.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "sync/ports/pod_objects.h"
#include "sync/ports/pod_services.h"

namespace denselet::app {

class FollowedResources final : public sync::PodResources {
 public:
  FollowedResources(sync::PodResources& resources, sync::PodObjects& objects)
      : resources_(resources), objects_(objects), alive_(std::make_shared<bool>(true)) {}
  ~FollowedResources() override { *alive_ = false; }

  void Prepare(const Context& context, const kube::PodRef& pod,
               reactor::Done<sync::PreparedPod> done) override {
    resources_.Prepare(context, pod, std::move(done));
  }
  void Mount(const Context& context, const kube::PodRef& pod, reactor::Done<Unit> done) override {
    objects_.Follow(pod);
    resources_.Mount(context, pod, std::move(done));
  }
  void Release(const Context& context, const sync::PodIdentity& pod,
               reactor::Done<Unit> done) override {
    resources_.Release(
        context, pod,
        [this, alive = alive_, uid = pod.uid, done = std::move(done)](Status released) mutable {
          if (*alive && released) objects_.Unfollow(uid);
          done(std::move(released));
        });
  }
  void RemoveContainerLogs(const Context& context, const sync::PodIdentity& pod,
                           const std::string& container, uint32_t attempt,
                           reactor::Done<Unit> done) override {
    resources_.RemoveContainerLogs(context, pod, container, attempt, std::move(done));
  }
  void RemoveLogs(const Context& context, const sync::PodIdentity& pod,
                  reactor::Done<Unit> done) override {
    resources_.RemoveLogs(context, pod, std::move(done));
  }

 private:
  sync::PodResources& resources_;
  sync::PodObjects& objects_;
  std::shared_ptr<bool> alive_;  // shared with answers that come after the end
};

}  // namespace denselet::app
