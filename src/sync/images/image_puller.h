// Brings the images that containers are made of: looked up or pulled by policy, one after the other
// or a few at a time, with a growing pause for what cannot be had.
//
//   wish -> [ look, shared by those who come at the same time ] -> there: done
//              \-> [ line ] -> [ pull, shared by all who wish the image ] -> done
//                                          \-> failed: back-off of (pod, image), 10 s to 5 min
//
// A pull is shared by those who have the same credentials, if any: who has none, or others, learns
// nothing of it. Of several credentials one after the other is tried.
//
// Node-wide: the registry's limits are the node's. Lives on one shard, owned by the composition
// root; other shards ask by message. Destroyed, it answers nobody.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/cancel.h"
#include "base/slot_map.h"
#include "reactor/api/loop.h"
#include "sync/ports/image_service.h"
#include "sync/ports/pod_services.h"

namespace denselet::sync {

struct ImagePullerOptions {
  uint32_t parallel_max = 1;  // serializeImagePulls
  double pulls_per_second = 5;
  double burst = 10;  // of pulls; 0 pulls a second: no limit
  Duration backoff_min = Seconds(10);
  Duration backoff_max = Seconds(300);
  Duration look_deadline = Minutes(2);
  // A pull has no deadline. One that takes longer than this gives its place to the next and goes on
  // beside it; at most slow_max do.
  Duration slow_after = Minutes(5);
  uint32_t slow_max = 8;
  uint32_t wishes_max = 8192;   // more are refused, to be asked again
  size_t backoffs_max = 16384;  // when full: the oldest are forgotten
};

class ImagePuller final : public PodImages {
 public:
  ImagePuller(reactor::Loop& loop, ImageService& images, const ImagePullerOptions& options);
  ~ImagePuller() override;

  // Called when a pull begins, with each wish that it is for.
  void SetListener(UniqueFunction<void(const ImageWish&)> pulling) {
    pulling_listener_ = std::move(pulling);
  }

  void Ensure(const Context&, ImageWish, UniqueFunction<void(ImageOutcome)>) override;
  void Forget(const PodUid&) override;

  size_t wishes() const { return wishes_.size(); }
  size_t pulling() const { return pulling_; }
  size_t waiting() const { return line_.size(); }
  const ImagePullerOptions& options() const { return options_; }

 private:
  struct Wish {
    Context context;
    ImageWish wish;
    std::string image;  // with its tag
    UniqueFunction<void(ImageOutcome)> done;
    TimePoint wished_at = {};
    CancelRegistration cancelled = {};
  };
  // A look under way; its callback has it, too.
  struct SharedLook {
    TimePoint began = {};
    std::vector<SlotKey> wishes = {};
  };
  struct PullKey {
    std::string image = {};
    std::vector<ImageCredentials> credentials = {};
    friend auto operator<=>(const PullKey&, const PullKey&) = default;
  };
  struct Pull {
    TimePoint began = {};
    std::vector<SlotKey> wishes = {};
    // Of the first wish, when it began.
    ImageRequest request = {};
    SandboxSpec sandbox = {};
    Priority priority = Priority::kNormal;
    std::vector<std::string> failures = {};  // one for each of the credentials that would not do
    bool started = false;
    bool slow = false;  // and holds no place any more
    reactor::TimerId timer = {};
    std::unique_ptr<CancelSource> cancel = {};
  };
  struct BackOff {
    Duration pause = {};
    TimePoint until = {};
    TimePoint used = {};
    std::string last_error = {};
  };
  using BackOffKey = std::pair<PodUid, std::string>;

  void Answer(SlotKey key, ImageOutcome outcome);
  void AnswerSoon(SlotKey key, ImageOutcome outcome);
  void Look(SlotKey key);
  void OnLookEnded(const SharedLook& look, const Result<std::optional<ObservedImage>>& answer);
  void OnLooked(SlotKey key, const Result<std::optional<ObservedImage>>& answer);
  void WantPull(SlotKey key);
  void Pump();
  void TryPull(const PullKey& key, Pull& pull);
  void OnSlow(const PullKey& key);
  void OnTried(const PullKey& key, const Result<std::string>& answer);
  void OnPulled(const PullKey& pulled, const Result<std::string>& answer);
  void OnCancelled(SlotKey key);
  bool TakeToken(TimePoint now);
  void Failed(const Wish& wish, std::string told);
  void Measure(SlotKey key, const std::string& ref, Duration took);

  reactor::Loop& loop_;
  ImageService& images_;
  const ImagePullerOptions options_;
  UniqueFunction<void(const ImageWish&)> pulling_listener_;
  SlotMap<Wish> wishes_;
  // By image, with its tag and as it was wished: what others may still join.
  std::map<std::pair<std::string, std::string>, std::shared_ptr<SharedLook>> looks_;
  std::map<PullKey, Pull> pulls_;
  std::deque<PullKey> line_;
  std::map<BackOffKey, BackOff> backoffs_;
  uint32_t pulling_ = 0;  // that hold a place
  uint32_t slow_ = 0;     // that hold none
  double tokens_;
  TimePoint tokens_at_;
  std::shared_ptr<bool> alive_;  // shared with answers that come after the end
};

}  // namespace denselet::sync
