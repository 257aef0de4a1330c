// Which images the runtime has, for the node's status: the scheduler prefers nodes that have what a
// pod needs. Listed when the runtime can be used, soon after each pull and removal of ours, and
// every five minutes for what others do. (The kubelet lists them every 30 s.)
//
//   idle --> asking --> resting --> asking ...
//
// What is known stays known while the runtime does not answer. Lives on the API shard, asks by that
// shard's port; destroying it ends it. What it is given outlives it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/cancel.h"
#include "base/log.h"
#include "base/repeated_trouble.h"
#include "base/time.h"
#include "managers/node/node_inputs.h"
#include "reactor/api/loop.h"
#include "sync/ports/image_service.h"

namespace denselet::node {

class NodeImages {
 public:
  enum class Stage : uint8_t { kIdle, kAsking, kResting };
  static constexpr Duration kPeriod = Minutes(5);
  static constexpr Duration kRetryPause = Seconds(30);
  static constexpr Duration kAnswerTimeMax = Minutes(2);
  // Pulls come in groups: so long is waited for others, and so much lies between two questions.
  static constexpr Duration kSettle = Seconds(1);
  static constexpr Duration kAskedAgain = Seconds(10);

  // `images_max`: what the status has room for, the largest; -1: no limit, 0: nobody is told, and
  // nobody asks.
  NodeImages(reactor::Loop& loop, sync::ImageService& images, Logger log, int32_t images_max);
  ~NodeImages();
  NodeImages(const NodeImages&) = delete;
  NodeImages& operator=(const NodeImages&) = delete;

  void Start();
  // There may be one more, or one less.
  void OnChanged();

  Stage stage() const { return stage_; }
  // The largest first; nothing: not known yet.
  const std::optional<std::vector<ImageInput>>& images() const { return images_; }

 private:
  void Ask();
  void OnListed(Result<std::vector<sync::ObservedImage>> list);
  void Rest(Duration pause);
  void AskSoon();

  reactor::Loop& loop_;
  sync::ImageService& service_;
  const Logger log_;
  const int32_t images_max_;

  Stage stage_ = Stage::kIdle;
  bool again_ = false;  // OnChanged came while the runtime was asked
  TimePoint asked_at_;
  TimePoint ask_at_;  // of kResting
  std::optional<std::vector<ImageInput>> images_;
  RepeatedTrouble unlisted_;
  reactor::TimerId timer_;
  CancelSource cancel_;  // of the question under way; its answer finds nobody afterwards
};

// In the order in which the status has them: by size, then by id.
void SortImages(std::vector<ImageInput>& images);

}  // namespace denselet::node
