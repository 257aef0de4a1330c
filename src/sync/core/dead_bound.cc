#include "sync/core/dead_bound.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace denselet::sync {
namespace {

uint64_t Count(const DeadOfPod& pod) {
  return std::accumulate(pod.by_name.begin(), pod.by_name.end(), uint64_t{0});
}

uint64_t CountKept(const DeadOfPod& pod, uint32_t per_name_max) {
  uint64_t count = 0;
  for (const uint32_t dead : pod.by_name) count += std::min(dead, per_name_max);
  return count;
}

}  // namespace

// They come sorted by name.
DeadOfPod CountDead(const ObservedPod& pod, bool may_go) {
  DeadOfPod dead{.may_go = may_go};
  const std::string* name = nullptr;
  for (const ObservedContainer& container : pod.containers) {
    if (container.state != ContainerState::kExited) continue;
    if (name == nullptr || *name != container.name) dead.by_name.push_back(0);
    ++dead.by_name.back();
    name = &container.name;
    dead.newest = std::max(dead.newest, container.created);
  }
  return dead;
}

DeadVerdict JudgeDead(const std::map<PodUid, DeadOfPod>& pods, uint32_t containers_max) {
  DeadVerdict verdict;
  uint64_t total = 0;
  uint64_t names = 0;
  for (const auto& [uid, pod] : pods) {
    total += Count(pod);
    names += pod.by_name.size();
  }
  if (total <= containers_max) return verdict;
  verdict.per_name_max =
      static_cast<uint32_t>(std::max<uint64_t>(containers_max / std::max<uint64_t>(names, 1), 1));
  uint64_t kept = 0;
  std::vector<std::pair<WallTime, PodUid>> ended;
  for (const auto& [uid, pod] : pods) {
    const uint64_t left = CountKept(pod, verdict.per_name_max);
    if (left < Count(pod)) verdict.trimmed.push_back(uid);
    if (pod.may_go) ended.emplace_back(pod.newest, uid);
    kept += left;
  }
  std::ranges::sort(ended);
  for (const auto& [newest, uid] : ended) {
    if (kept <= containers_max) break;
    kept -= CountKept(pods.at(uid), verdict.per_name_max);
    verdict.dropped.push_back(uid);
  }
  return verdict;
}

void DeadBound::Set(const PodUid& pod, DeadOfPod dead) {
  const auto found = pods_.find(pod);
  if (found != pods_.end()) total_ -= Count(found->second);
  total_ += Count(dead);
  if (!dead.by_name.empty()) {
    pods_[pod] = std::move(dead);
  } else if (found != pods_.end()) {
    pods_.erase(found);
  }
  if (total_ <= containers_max_ || timer_ != reactor::TimerId{}) return;
  timer_ = loop_.Arm(After(loop_.Now(), kPause), [this] { Judge(); });
}

void DeadBound::Judge() {
  timer_ = {};
  const DeadVerdict verdict = JudgeDead(pods_, containers_max_);
  for (const PodUid& pod : verdict.trimmed) orders_[pod] = {.per_name_max = verdict.per_name_max};
  for (const PodUid& pod : verdict.dropped) {
    orders_[pod] = {.per_name_max = verdict.per_name_max, .nothing = true};
  }
  orders_.Flush();
}

}  // namespace denselet::sync
