#include "sync/core/pod_core.h"

#include <utility>

namespace denselet::sync {
namespace {

constexpr Duration kTellAgain = Milliseconds(10);

}  // namespace

// One shard's part. Tells the dispatcher when a pod has gone, whatever it takes: another pod may
// wait for the name.
class PodCore::Part final : public PodShardUser {
 public:
  Part(PodCore& core, const PodCoreShard& seams, uint32_t index, PodShardUser& user)
      : core_(core),
        seams_(seams),
        user_(user),
        images_(seams.loop, seams.router, index, *core.home_->desk, kHome),
        pods_({.loop = seams.loop,
               .random = seams.random,
               .log = seams.log,
               .runtime = seams.runtime,
               .epochs = core.epochs_,
               .resources = seams.resources,
               .images = images_,
               .hooks = seams.hooks,
               .specs = seams.specs},
              core.options_.shard, *this) {
    pods_.SetNode(core.options_.node);
  }
  ~Part() { seams_.loop.Disarm(timer_); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  PodShard& pods() { return pods_; }
  // Home answers the desk's part of a list.
  Status SendHome(UniqueFunction<void()> work) {
    return seams_.router.Send(kHome, std::move(work));
  }

  // PodShardUser
  void OnPodChanged(const PodWorker& worker) override { user_.OnPodChanged(worker); }
  void OnPodFault(const PodWorker& worker, const Error& error) override {
    user_.OnPodFault(worker, error);
  }
  void OnPodHeldBack(const PodIdentity& pod, const kube::PodRef& wish) override {
    user_.OnPodHeldBack(pod, wish);
  }
  void OnPodDecided(const PodWorker& worker, const Decision& decision) override {
    user_.OnPodDecided(worker, decision);
  }
  void OnPodGone(const PodIdentity& pod) override {
    user_.OnPodGone(pod);
    gone_.push_back(pod);
    TellGone();
  }

 private:
  void TellGone() {
    while (!gone_.empty()) {
      const Status sent = SendHome([&core = core_, pod = gone_.front()] {
        if (core.home_ != nullptr && core.home_->dispatcher != nullptr) {
          core.home_->dispatcher->OnPodGone(pod);
        }
      });
      if (!sent) break;
      gone_.pop_front();
    }
    seams_.loop.Disarm(timer_);
    timer_ = {};
    if (gone_.empty()) return;
    timer_ = seams_.loop.Arm(After(seams_.loop.Now(), kTellAgain), [this] { TellGone(); });
  }

  PodCore& core_;
  const PodCoreShard seams_;
  PodShardUser& user_;
  RemoteImages images_;
  PodShard pods_;
  std::deque<PodIdentity> gone_;  // untold; bounded by the pods there were
  reactor::TimerId timer_ = {};
};

PodCore::PodCore(uint32_t shards, PodCoreOptions options)
    : options_(std::move(options)), parts_(shards) {}

PodCore::~PodCore() = default;

void PodCore::OpenHome(const PodCoreHome& seams) {
  CHECK(home_ == nullptr);
  home_ = std::make_unique<Home>(seams);
  home_->puller = std::make_unique<ImagePuller>(seams.loop, seams.images, options_.images);
  home_->desk = std::make_unique<ImageDesk>(seams.loop, *home_->puller, seams.router);
}

void PodCore::OpenShard(uint32_t shard, const PodCoreShard& seams, PodShardUser& user) {
  CHECK(parts_[shard] == nullptr);
  parts_[shard] = std::make_unique<Part>(*this, seams, shard, user);
}

void PodCore::Begin(PlegUser& user) {
  const PodCoreHome& seams = home_->seams;
  home_->dispatcher = std::make_unique<PodDispatcher>(
      seams.loop, seams.log, static_cast<PodShards&>(*this), shards(), options_.sources);
  home_->pleg =
      std::make_unique<Pleg>(seams.loop, seams.random, seams.log, seams.runtime, epochs_,
                             static_cast<PlegShards&>(*this), shards(), options_.pleg, user);
}

void PodCore::CloseShard(uint32_t shard) { parts_[shard].reset(); }
void PodCore::CloseHome() { home_.reset(); }

PodShard* PodCore::pods(uint32_t shard) {
  return parts_[shard] == nullptr ? nullptr : &parts_[shard]->pods();
}

Status PodCore::Hint(uint32_t shard, std::vector<PodUid> pods) {
  return home_->seams.router.Send(shard, [this, shard, pods = std::move(pods)] {
    if (Part* const part = parts_[shard].get()) part->pods().Hint(pods);
  });
}

Status PodCore::Listed(uint32_t shard, Epoch epoch, std::vector<ListedPod> pods,
                       UniqueFunction<void(uint64_t)> checked) {
  return home_->seams.router.Send(
      shard, [this, shard, epoch, pods = std::move(pods), checked = std::move(checked)]() mutable {
        Part* const part = parts_[shard].get();
        if (part == nullptr) return;
        const uint64_t missed = part->pods().Listed(epoch, pods);
        const Status sent =
            part->SendHome([missed, checked = std::move(checked)]() mutable { checked(missed); });
        static_cast<void>(sent);  // PLEG does not wait for it longer than for a list
      });
}

Status PodCore::Wish(uint32_t shard, PodWish wish) {
  return home_->seams.router.Send(shard, [this, shard, wish = std::move(wish)] {
    if (Part* const part = parts_[shard].get()) part->pods().Update(wish);
  });
}

Status PodCore::SourcesReady(uint32_t shard) {
  return home_->seams.router.Send(shard, [this, shard] {
    if (Part* const part = parts_[shard].get()) part->pods().SourcesReady();
  });
}

}  // namespace denselet::sync
