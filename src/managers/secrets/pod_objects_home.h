// What pods of this node refer to on the API server, once for all shards: the objects, the
// services, the tokens and the trust bundles, and the way of changes to the shards whose pods want
// to know.
//
//   PodObjectsFront (each shard) --- Ask ---> PodObjectsHome (API shard) ---> ApiServer
//                    <--- Send: "these changed" ---/
//
// That an object changed is kept for its shard until the message got through, once for each object
// however often it changes: nothing is lost when a shard is behind, and nothing piles up.
//
// Lives on the API shard, owned by the composition root. Fronts find it by its handle, or nobody
// when it has gone: what they asked is then answered with kCancelled.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "managers/secrets/object_cache.h"
#include "managers/secrets/service_list.h"
#include "managers/secrets/token_cache.h"
#include "managers/secrets/trust_bundle_list.h"
#include "reactor/shard.h"

namespace denselet::managers {

class PodObjectsFront;

struct PodObjectsOptions {
  ObjectCacheOptions objects = {};
  ServiceListOptions services = {};
  TokenCacheOptions tokens = {};
  TrustBundleListOptions trust_bundles = {};

  void SetServer(bool there) {
    objects.has_api_server = there;
    services.has_api_server = there;
    tokens.has_api_server = there;
    trust_bundles.has_api_server = there;
  }
};

// What the pods of one shard want from now on.
struct HoldChanges {
  struct Change {
    sync::ObjectKey object = {};
    std::optional<ObjectUse> use = {};  // nothing: no pod of that shard refers to it any more
    ObjectNews news = ObjectNews::kAsBefore;
  };
  std::vector<Change> objects = {};
  std::vector<PodUid> gone = {};
};

class PodObjectsHome final : private ObjectCacheUser, private TrustBundleListUser {
 public:
  // Shared with messages; what is within is for the owner's shard only, and null when it has gone.
  using Handle = std::shared_ptr<PodObjectsHome*>;
  using FrontHandle = std::shared_ptr<PodObjectsFront*>;

  PodObjectsHome(reactor::Shard& shard, Random& random, const PodObjectsOptions& options);
  ~PodObjectsHome();
  PodObjectsHome(const PodObjectsHome&) = delete;
  PodObjectsHome& operator=(const PodObjectsHome&) = delete;

  const Handle& handle() const { return handle_; }
  uint32_t shard() const { return shard_.index(); }

  // The API server can be asked from now on. Once.
  void Join(sync::ApiServer& api);
  // It cannot, and nobody hears of changes any more.
  void Stop();

  // On this shard, from the front of another.
  void Take(uint32_t shard, const FrontHandle& front, const HoldChanges& changes);
  ObjectCache& objects() { return objects_; }
  ServiceList& services() { return services_; }
  TokenCache& tokens() { return tokens_; }
  TrustBundleList& trust_bundles() { return trust_bundles_; }

 private:
  static constexpr Duration kSendAgain = Milliseconds(100);

  // ObjectCacheUser
  void OnObjectChanged(const sync::ObjectKey& key, const std::vector<uint32_t>& holders) override;
  // TrustBundleListUser
  void OnTrustBundlesChanged(const std::set<uint32_t>& holders) override;
  void TellSoon();
  void Tell();

  reactor::Shard& shard_;
  const Handle handle_;
  std::vector<FrontHandle> fronts_;                 // by shard
  std::vector<std::set<sync::ObjectKey>> changed_;  // by shard
  bool telling_ = false;
  reactor::TimerId timer_ = {};
  ObjectCache objects_;
  ServiceList services_;
  TokenCache tokens_;
  TrustBundleList trust_bundles_;
};

}  // namespace denselet::managers
