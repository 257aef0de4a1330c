#include "sync/sources/mirror_pods.h"

namespace denselet::sync {
namespace {

ObjectRef NameOf(const kube::PodAtRest& pod) {
  return {std::string(pod.hot().ns), std::string(pod.hot().name)};
}

}  // namespace

void MirrorPods::Put(const kube::PodRef& pod) {
  const bool is_mirror = pod->hot().IsMirror();
  if (!is_mirror && !pod->hot().IsStatic()) return;
  ByName& pods = KindOf(*pod);
  auto& names = is_mirror ? mirror_names_ : static_names_;
  const ObjectRef name = NameOf(*pod);
  kube::PodRef& place = pods[name];
  if (place) names.erase(std::string(place->hot().uid));
  place = pod;
  names.insert_or_assign(std::string(pod->hot().uid), name);
}

void MirrorPods::Remove(const kube::PodRef& pod) {
  ByName& pods = KindOf(*pod);
  const auto found = pods.find(NameOf(*pod));
  if (found == pods.end() || found->second->hot().uid != pod->hot().uid) return;
  auto& names = pod->hot().IsMirror() ? mirror_names_ : static_names_;
  names.erase(std::string(pod->hot().uid));
  pods.erase(found);
}

MirrorPods::Pair MirrorPods::MakePair(const kube::PodRef& static_pod, const ByName& mirrors) {
  const auto found = mirrors.find(NameOf(*static_pod));
  if (found == mirrors.end()) return {static_pod, {}, MirrorState::kMissing};
  const kube::PodHotFields& mirror = found->second->hot();
  if (mirror.deletion_time) return {static_pod, found->second, MirrorState::kGoing};
  const bool current = mirror.config_mirror == static_pod->hot().config_hash;
  return {static_pod, found->second, current ? MirrorState::kCurrent : MirrorState::kStale};
}

std::vector<MirrorPods::Pair> MirrorPods::Pairs() const {
  std::vector<Pair> pairs;
  pairs.reserve(statics_.size());
  for (const auto& [name, pod] : statics_) pairs.push_back(MakePair(pod, mirrors_));
  return pairs;
}

std::optional<MirrorPods::Pair> MirrorPods::PairOf(const ObjectRef& static_pod) const {
  const auto found = statics_.find(static_pod);
  if (found == statics_.end()) return std::nullopt;
  return MakePair(found->second, mirrors_);
}

std::vector<kube::PodRef> MirrorPods::Orphans() const {
  std::vector<kube::PodRef> orphans;
  for (const auto& [name, pod] : mirrors_) {
    if (!statics_.contains(name)) orphans.push_back(pod);
  }
  return orphans;
}

kube::PodRef MirrorPods::OrphanOf(const ObjectRef& name) const {
  const auto found = mirrors_.find(name);
  return found == mirrors_.end() || statics_.contains(name) ? kube::PodRef() : found->second;
}

std::string_view MirrorPods::RunsAs(std::string_view uid) const {
  const auto mirror = mirror_names_.find(uid);
  if (mirror == mirror_names_.end()) return uid;
  const auto found = statics_.find(mirror->second);
  return found == statics_.end() ? uid : found->second->hot().uid;
}

std::string_view MirrorPods::ShownAs(std::string_view static_uid) const {
  const auto name = static_names_.find(static_uid);
  if (name == static_names_.end()) return {};
  const auto found = mirrors_.find(name->second);
  return found == mirrors_.end() ? std::string_view() : found->second->hot().uid;
}

}  // namespace denselet::sync
