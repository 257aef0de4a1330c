// The ClusterTrustBundles of the cluster, watched once for the node, from the first question on and
// as long as a pod mounts some.
//
//   idle -> v1beta1 --(the server has no such API)--> v1alpha1 --(nor that)--> absent
//     ^                                                                          |
//     +-----------------------------(asked again, later)--------------------------+
//
// Lives on the API shard, owned by PodObjectsHome; destroying it answers those who wait.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "base/context.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "managers/secrets/trust_anchors.h"
#include "managers/secrets/waiting_line.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"
#include "sync/ports/pod_objects.h"

namespace denselet::managers {

struct TrustBundleListOptions {
  bool enabled = false;  // gate ClusterTrustBundleProjection
  bool has_api_server = true;
  Duration first_wait_max = Seconds(5);
  Duration look_again = Minutes(1);  // for an API that was not there
  uint32_t waiting_max = 16384;
  uint32_t made_max = 4096;  // texts that are kept; when full all are made again
};

class TrustBundleListUser {
 public:
  // Some of them are others now; not told before the first list.
  virtual void OnTrustBundlesChanged(const std::set<uint32_t>& holders) = 0;

 protected:
  ~TrustBundleListUser() = default;
};

class TrustBundleList final : private sync::ListWatchUser {
 public:
  enum class Stage : uint8_t { kIdle, kBeta, kAlpha, kAbsent };

  TrustBundleList(reactor::Loop& loop, Random& random, TrustBundleListUser& user,
                  const TrustBundleListOptions& options);
  ~TrustBundleList();
  TrustBundleList(const TrustBundleList&) = delete;
  TrustBundleList& operator=(const TrustBundleList&) = delete;

  void Join(sync::ApiServer& api);
  void Leave();

  // Shards whose pods mount some. Without any nothing is watched.
  void Hold(uint32_t holder) { holders_.insert(holder); }
  void Drop(uint32_t holder);

  // See sync::PodObjects.
  void Fetch(const Context& context, const sync::TrustWish& wish,
             reactor::Done<sync::ObjectBytes> done);

  Stage stage() const { return stage_; }
  bool watches() const { return watch_ != nullptr; }

 private:
  // sync::ListWatchUser
  void OnObject(std::string_view wire) override;
  void OnGone(const ObjectRef& object, std::string_view uid) override;
  void OnSynced() override;
  void OnTrouble(const Error& reason) override;

  void Follow(Stage stage);
  void StopFollowing();
  void Changed();
  Result<sync::ObjectBytes> Answer(const sync::TrustWish& wish);
  Result<sync::ObjectBytes> Make(const sync::TrustWish& wish) const;

  reactor::Loop& loop_;
  TrustBundleListUser& user_;
  const TrustBundleListOptions options_;
  const uint64_t seed_;
  sync::ApiServer* api_ = nullptr;
  Stage stage_ = Stage::kIdle;
  TimePoint absent_since_ = {};
  bool wanted_ = false;
  bool listed_ = false;
  std::set<uint32_t> holders_;
  std::map<std::string, TrustBundle> bundles_;  // by name
  std::map<sync::TrustWish, sync::ObjectBytes> made_;
  std::unique_ptr<sync::ListWatch> watch_;
  WaitingLine<Unit> waiting_;
};

}  // namespace denselet::managers
