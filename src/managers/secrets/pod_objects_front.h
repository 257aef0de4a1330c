// The port to what pods refer to, for the pods of one shard: counts who refers to what, and asks
// PodObjectsHome.
//
// One a shard, owned by the composition root. Bounded by the pods and by the questions that may be
// under way between two shards. Destroyed, those who asked hear nothing.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "base/cancel.h"
#include "managers/secrets/pod_objects_home.h"
#include "managers/secrets/referred_objects.h"
#include "reactor/shard.h"
#include "sync/ports/pod_objects.h"

namespace denselet::managers {

class PodObjectsFront final : public sync::PodObjects {
 public:
  PodObjectsFront(reactor::Shard& shard, PodObjectsHome::Handle home, uint32_t home_shard);
  ~PodObjectsFront() override;
  PodObjectsFront(const PodObjectsFront&) = delete;
  PodObjectsFront& operator=(const PodObjectsFront&) = delete;

  // Who hears of changes; before the first pod.
  void AddUser(sync::PodObjectsUser& user) { users_.push_back(&user); }

  // sync::PodObjects
  void Follow(const kube::PodRef& pod) override;
  void Unfollow(const PodUid& pod) override;
  void Fetch(const Context& context, const sync::ObjectKey& key,
             reactor::Done<sync::ObjectBytes> done) override;
  void Services(const Context& context, const std::string& ns, sync::WhenUnlisted when_unlisted,
                reactor::Done<sync::ServiceSet> done) override;
  void Token(const Context& context, const sync::TokenWish& wish,
             reactor::Done<sync::ServiceToken> done) override;
  void TrustAnchors(const Context& context, const sync::TrustWish& wish,
                    reactor::Done<sync::ObjectBytes> done) override;

  // From home.
  void OnChanged(const std::vector<sync::ObjectKey>& keys);

  size_t pods() const { return pods_.size(); }

 private:
  static constexpr Duration kSendAgain = Milliseconds(100);
  using Uses = std::map<sync::ObjectKey, ObjectUse>;

  // Asks home, and gives up when nobody wants the answer any more.
  template <class T, class Work>
  void AskHome(const Context& context, Work work, reactor::Done<T> done);
  void Refer(const PodUid& pod, const Uses& before, const Uses& after);
  void TellHome();

  reactor::Shard& shard_;
  const PodObjectsHome::Handle home_;
  const uint32_t home_shard_;
  const PodObjectsHome::FrontHandle handle_;
  std::vector<sync::PodObjectsUser*> users_;
  std::map<PodUid, Uses> pods_;
  std::map<sync::ObjectKey, std::map<PodUid, ObjectUse>> referred_;
  // What home does not know yet.
  std::map<sync::ObjectKey, ObjectNews> untold_;
  std::set<PodUid> gone_;
  reactor::TimerId timer_ = {};
  bool waits_ = false;
};

}  // namespace denselet::managers
