// The node-wide bound on dead containers (--maximum-dead-containers): what each pod keeps is its
// own affair (decide/tidy.h) until all together keep too many.
//
//   PodShard --(what a pod has, when that changed)--> mail --> DeadBound
//   DeadBound --(too many, every 10 s)--> mail --> pods that keep less, or may keep nothing
//
// As the kubelet: first all names keep the same number, one at least; then those that have ended go
// altogether, the oldest first. It goes on with living pods; here the last dead container of a
// living pod stays, because its status is made from it. So the bound can be missed by one for each
// of their names.
//
// Lives on the home shard; only there if there is a bound. Bounded by the number of pods.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "reactor/api/loop.h"
#include "sync/core/newest_per_pod.h"
#include "sync/ports/observed_pod.h"

namespace denselet::sync {

struct DeadOfPod {
  std::vector<uint32_t> by_name = {};  // how many, of each name that has some
  WallTime newest = {};                // when the youngest was made
  bool may_go = false;                 // it has ended, and its last status has arrived
  friend bool operator==(const DeadOfPod&, const DeadOfPod&) = default;
};
DeadOfPod CountDead(const ObservedPod& pod, bool may_go);

struct DeadVerdict {
  uint32_t per_name_max = 0;
  std::vector<PodUid> trimmed = {};  // keep that many of each name
  std::vector<PodUid> dropped = {};  // keep nothing
  friend bool operator==(const DeadVerdict&, const DeadVerdict&) = default;
};
// Sorted by uid, and by age. Nothing of either: they are not too many, or none can go.
DeadVerdict JudgeDead(const std::map<PodUid, DeadOfPod>& pods, uint32_t containers_max);

struct KeepLess {
  uint32_t per_name_max = 0;
  bool nothing = false;
};

class DeadBound {
 public:
  static constexpr Duration kPause = Seconds(10);

  DeadBound(reactor::Loop& loop, uint32_t containers_max, NewestPerPod<KeepLess>::Send send)
      : loop_(loop), containers_max_(containers_max), orders_(loop, std::move(send)) {}
  ~DeadBound() { loop_.Disarm(timer_); }
  DeadBound(const DeadBound&) = delete;
  DeadBound& operator=(const DeadBound&) = delete;

  // Nothing of it: the pod has none, or is gone.
  void Set(const PodUid& pod, DeadOfPod dead);
  uint64_t total() const { return total_; }

 private:
  void Judge();

  reactor::Loop& loop_;
  const uint32_t containers_max_;
  NewestPerPod<KeepLess> orders_;
  std::map<PodUid, DeadOfPod> pods_;  // that have some
  uint64_t total_ = 0;
  reactor::TimerId timer_ = {};
};

}  // namespace denselet::sync
