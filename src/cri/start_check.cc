#include "cri/start_check.h"

#include <utility>

namespace denselet::cri {

void StartCheck::Run(const Context& context, reactor::Done<StartFacts> done) {
  context_ = context;
  done_ = std::move(done);
  runtime_.Version(context_, [weak = std::weak_ptr(self_)](Result<sync::RuntimeVersion> version) {
    const auto self = weak.lock();
    if (self == nullptr) return;
    StartCheck& check = **self;
    if (!version) return check.done_(version.error().With("container runtime"));
    check.facts_.version = *std::move(version);
    check.AskForImages();
  });
}

void StartCheck::AskForImages() {
  images_.Filesystems(context_,
                      [weak = std::weak_ptr(self_)](Result<sync::ImageFilesystems> filesystems) {
                        const auto self = weak.lock();
                        if (self == nullptr) return;
                        StartCheck& check = **self;
                        if (filesystems) return check.AskForDriver();
                        check.done_(filesystems.error().With("image service"));
                      });
}

void StartCheck::AskForDriver() {
  ++tries_;
  runtime_.CgroupDriverInUse(
      context_, [weak = std::weak_ptr(self_)](Result<std::optional<sync::CgroupDriver>> driver) {
        const auto self = weak.lock();
        if (self == nullptr) return;
        StartCheck& check = **self;
        if (driver) {
          check.facts_.cgroup_driver = *driver;
          return check.done_(std::move(check.facts_));
        }
        if (check.tries_ == kTriesMax) {
          return check.done_(driver.error().With("cgroup driver of the container runtime"));
        }
        check.timer_ =
            check.loop_.Arm(After(check.loop_.Now(), kPause), [&check] { check.AskForDriver(); });
      });
}

}  // namespace denselet::cri
