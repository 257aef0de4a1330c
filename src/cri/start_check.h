// What must be true of a runtime before the agent begins: it answers, speaks our version, serves
// images, and says which cgroup driver it uses.
//
//   version --> image filesystems --> cgroup driver (three tries, two seconds apart) --> told
//
// Lives on one shard, for as long as the check takes; what it is given outlives it. Destroying it
// ends it untold.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/context.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "sync/ports/image_service.h"
#include "sync/ports/runtime.h"

namespace denselet::cri {

struct StartFacts {
  sync::RuntimeVersion version = {};
  std::optional<sync::CgroupDriver> cgroup_driver = {};  // nothing: the configuration's holds
};

class StartCheck {
 public:
  static constexpr uint32_t kTriesMax = 3;
  static constexpr Duration kPause = Seconds(2);

  StartCheck(reactor::Loop& loop, sync::Runtime& runtime, sync::ImageService& images)
      : loop_(loop), runtime_(runtime), images_(images) {}
  ~StartCheck() { loop_.Disarm(timer_); }
  StartCheck(const StartCheck&) = delete;
  StartCheck& operator=(const StartCheck&) = delete;

  // Once.
  void Run(const Context& context, reactor::Done<StartFacts> done);

 private:
  void AskForImages();
  void AskForDriver();

  reactor::Loop& loop_;
  sync::Runtime& runtime_;
  sync::ImageService& images_;
  Context context_;
  reactor::Done<StartFacts> done_;
  StartFacts facts_;
  uint32_t tries_ = 0;
  reactor::TimerId timer_;
  const std::shared_ptr<StartCheck*> self_ = std::make_shared<StartCheck*>(this);
};

}  // namespace denselet::cri
