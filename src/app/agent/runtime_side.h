// The container runtime as the node sees it: whether it can be used, how it is, and what of that
// stands in the node's status. Sees ports only, so that simulations run it as it is.
//
//   checking (version, image service, cgroup driver) --(failed)--> pausing --> checking ...
//      |
//      +--(passed)--> watched by RuntimeHealth, its images listed by NodeImages, for ever
//
// The agent begins without a runtime, too: the node is not ready then, says why, and becomes ready
// when there is one.
//
// Lives on the API shard; destroying it ends it. What it is given outlives it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "base/time.h"
#include "cri/start_check.h"
#include "managers/node/node_images.h"
#include "managers/node/node_inputs.h"
#include "managers/node/runtime_health.h"
#include "reactor/api/loop.h"
#include "sync/ports/image_service.h"
#include "sync/ports/runtime.h"

namespace denselet::app {

struct RuntimeSideSeams {
  reactor::Loop& loop;
  Logger log;
  sync::Runtime& runtime;
  sync::ImageService& images;
};

struct RuntimeSideOptions {
  std::string endpoint = {};  // in what is told
  int32_t images_max = 0;     // in the node's status; -1: no limit, 0: none are listed
};

class RuntimeSide final : public node::NodeInputsSource {
 public:
  enum class Stage : uint8_t { kIdle, kChecking, kPausing, kWatching };
  static constexpr Duration kPauseMin = Milliseconds(100);
  static constexpr Duration kPauseMax = Seconds(2);
  static constexpr Duration kCheckTimeMax = Seconds(30);

  RuntimeSide(RuntimeSideSeams seams, RuntimeSideOptions options);
  ~RuntimeSide();
  RuntimeSide(const RuntimeSide&) = delete;
  RuntimeSide& operator=(const RuntimeSide&) = delete;

  void Start();
  // Called when the runtime has said who it is, and when it is ready for the first time.
  void WhenKnown(UniqueFunction<void()> known) { known_ = std::move(known); }

  // Called when pods have to wait for the runtime or its network, and when no longer.
  void WhenTroubled(node::RuntimeHealth::OnTrouble tell) { health_.WhenTroubled(std::move(tell)); }
  void WhenAnswersAgain(UniqueFunction<void()> tell) { health_.WhenAnswersAgain(std::move(tell)); }

  // There may be one more in the runtime, or one less.
  void OnImagesChanged() { images_.OnChanged(); }

  // Asked with every Collect: why what pods do is not seen; empty: it is. Of one who outlives this.
  void AskOfPleg(UniqueFunction<std::string()> why_unhealthy) { pleg_ = std::move(why_unhealthy); }

  // node::NodeInputsSource
  node::NodeInputs Collect() override;

  Stage stage() const { return stage_; }
  // What the check found; nothing before it has passed.
  const std::optional<cri::StartFacts>& facts() const { return facts_; }

 private:
  void Check();
  void OnChecked(Result<cri::StartFacts> facts);
  std::string WhyNot(const Error& error) const;

  RuntimeSideSeams seams_;
  const RuntimeSideOptions options_;
  Stage stage_ = Stage::kIdle;
  Duration pause_ = kPauseMin;
  std::optional<Error> failed_;  // the last check
  std::optional<cri::StartFacts> facts_;
  UniqueFunction<void()> known_;
  UniqueFunction<std::string()> pleg_;
  std::unique_ptr<cri::StartCheck> check_;
  node::RuntimeHealth health_;
  node::NodeImages images_;
  reactor::TimerId timer_;
};

}  // namespace denselet::app
