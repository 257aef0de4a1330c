// The way of the other shards to the one ImagePuller: asks and cancels go there by message,
// outcomes come back by message.
//
// RemoteImages is what a shard's workers see; ImageDesk stands beside the puller. Both are owned by
// the composition root. When the desk's mailbox is full, the answer is a failure to be asked again;
// an answer that finds the asker's mailbox full is sent again until it fits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "base/cancel.h"
#include "reactor/api/loop.h"
#include "sync/ports/pod_services.h"
#include "sync/ports/shard_router.h"

namespace denselet::sync {

class RemoteImages;

// Lives on the puller's shard.
class ImageDesk {
 public:
  ImageDesk(reactor::Loop& loop, PodImages& puller, ShardRouter& router);
  ~ImageDesk();

  // `asker` is looked at on its own shard only; it may be gone by then, and `asker_alive` knows.
  void Ask(uint32_t shard, uint64_t number, Priority priority, ImageWish wish, RemoteImages& asker,
           std::shared_ptr<bool> asker_alive);
  void Cancel(uint32_t shard, uint64_t number);
  void Forget(const PodUid& pod) { puller_.Forget(pod); }

  // What messages to the desk hold: null, looked at on its shard, when it is gone.
  const std::shared_ptr<ImageDesk*>& self() const { return self_; }

 private:
  void Answer(uint32_t shard, uint64_t number, RemoteImages& asker,
              std::shared_ptr<bool> asker_alive, ImageOutcome outcome);

  reactor::Loop& loop_;
  PodImages& puller_;
  ShardRouter& router_;
  std::map<std::pair<uint32_t, uint64_t>, std::unique_ptr<CancelSource>> asked_;
  const std::shared_ptr<ImageDesk*> self_;
};

// Lives on an asking shard.
class RemoteImages final : public PodImages {
 public:
  RemoteImages(reactor::Loop& loop, ShardRouter& router, uint32_t here, ImageDesk& desk,
               uint32_t desk_shard);
  ~RemoteImages() override;

  void Ensure(const Context&, ImageWish, UniqueFunction<void(ImageOutcome)>) override;
  void Forget(const PodUid&) override;

  void Answer(uint64_t number, ImageOutcome outcome);

 private:
  struct Asked {
    UniqueFunction<void(ImageOutcome)> done;
    CancelRegistration cancelled = {};
  };

  void AnswerSoon(uint64_t number, ImageOutcome outcome);

  reactor::Loop& loop_;
  ShardRouter& router_;
  const uint32_t here_;
  const std::shared_ptr<ImageDesk*> desk_;  // of its shard: never looked into here
  const uint32_t desk_shard_;
  uint64_t next_ = 1;
  std::map<uint64_t, Asked> asked_;  // bounded by the shard's calls under way
  // Answers of the desk may come after the end; they hold this, and look at it on this shard only.
  const std::shared_ptr<bool> alive_;
};

}  // namespace denselet::sync
