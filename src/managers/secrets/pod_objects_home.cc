#include "managers/secrets/pod_objects_home.h"

#include "managers/secrets/pod_objects_front.h"

namespace denselet::managers {

PodObjectsHome::PodObjectsHome(reactor::Shard& shard, Random& random,
                               const PodObjectsOptions& options)
    : shard_(shard),
      handle_(std::make_shared<PodObjectsHome*>(this)),
      fronts_(shard.shards()),
      changed_(shard.shards()),
      objects_(shard.loop(), random, static_cast<ObjectCacheUser&>(*this), options.objects),
      services_(shard.loop(), options.services),
      tokens_(shard.loop(), random, options.tokens),
      trust_bundles_(shard.loop(), random, static_cast<TrustBundleListUser&>(*this),
                     options.trust_bundles) {}

PodObjectsHome::~PodObjectsHome() {
  Stop();
  *handle_ = nullptr;
}

void PodObjectsHome::Join(sync::ApiServer& api) {
  objects_.Join(api);
  services_.Join(api);
  tokens_.Join(api);
  trust_bundles_.Join(api);
}

void PodObjectsHome::Stop() {
  objects_.Leave();
  services_.Leave();
  tokens_.Leave();
  trust_bundles_.Leave();
  for (auto& keys : changed_) keys.clear();
  if (std::exchange(telling_, false)) shard_.loop().Disarm(timer_);
}

void PodObjectsHome::Take(uint32_t shard, const FrontHandle& front, const HoldChanges& changes) {
  fronts_[shard] = front;
  for (const auto& [key, use, news] : changes.objects) {
    if (!use) changed_[shard].erase(key);
    const bool bundles = key.kind == sync::ObjectKind::kTrustBundles;
    if (bundles && use) trust_bundles_.Hold(shard);
    if (bundles && !use) trust_bundles_.Drop(shard);
    if (!bundles && use) objects_.Hold(key, shard, *use, news);
    if (!bundles && !use) objects_.Drop(key, shard);
  }
  for (const PodUid& pod : changes.gone) tokens_.Forget(pod);
}

void PodObjectsHome::OnObjectChanged(const sync::ObjectKey& key,
                                     const std::vector<uint32_t>& holders) {
  for (const uint32_t holder : holders) changed_[holder].insert(key);
  TellSoon();
}

void PodObjectsHome::OnTrustBundlesChanged(const std::set<uint32_t>& holders) {
  for (const uint32_t holder : holders) {
    changed_[holder].insert(sync::ObjectKey{.kind = sync::ObjectKind::kTrustBundles});
  }
  TellSoon();
}

void PodObjectsHome::TellSoon() {
  if (std::exchange(telling_, true)) return;
  timer_ = shard_.loop().Arm(shard_.loop().Now(), [this] { Tell(); });
}

void PodObjectsHome::Tell() {
  telling_ = false;
  for (uint32_t to = 0; to < changed_.size(); ++to) {
    if (changed_[to].empty() || fronts_[to] == nullptr) continue;
    std::vector<sync::ObjectKey> keys(changed_[to].begin(), changed_[to].end());
    const Status sent =
        shard_.Send(to, {}, [front = fronts_[to], keys = std::move(keys)](const QueuedContext&) {
          if (*front != nullptr) (*front)->OnChanged(keys);
        });
    if (sent) {
      changed_[to].clear();
    } else {
      telling_ = true;  // its mailbox is full
    }
  }
  if (!telling_) return;
  timer_ = shard_.loop().Arm(After(shard_.loop().Now(), kSendAgain), [this] { Tell(); });
}

}  // namespace denselet::managers
