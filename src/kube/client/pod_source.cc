#include "kube/client/pod_source.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/quoted.h"
#include "kube/api/codec/meta_view.h"
#include "kube/api/objects/resource.h"

namespace denselet::kube {
namespace {

constexpr sync::SourceKind kApi = sync::SourceKind::kApi;

// Trouble of the list-watch itself is told under this name; those of pods under theirs.
const std::string& Everything() {
  static const std::string kName = "pods";
  return kName;
}

// Never the name above: that of a pod has a slash in it.
std::string PlaceOf(const ObjectRefView& object) {
  return std::string(object.ns) + "/" + std::string(object.name);
}

}  // namespace

ApiPodSource::ApiPodSource(sync::ApiServer& api, const NodeName& node, sync::PodSourceUser& user)
    : node_(node.value()), user_(user) {
  // Without it nothing is known of what to run, and what to stop.
  watch_ = api.Follow({.resource = kPods,
                       .field_selector = "spec.nodeName=" + node_,
                       .priority = Priority::kCritical},
                      *this);
}

ApiPodSource::~ApiPodSource() = default;

Status ApiPodSource::Check(const PodAtRest& pod) const {
  constexpr size_t kNameBytesMax = 300;
  if (pod.hot().uid.empty()) return Error(ErrorCode::kCorrupt, "has no uid");
  if (pod.hot().node_name != node_) {
    return Error(ErrorCode::kConflict,
                 "is of node " + Quoted(pod.hot().node_name, kNameBytesMax) + ", not of this one");
  }
  return Ok();
}

void ApiPodSource::OnGoingOn() {
  if (std::exchange(broken_, false)) user_.OnTroubleOver(kApi, Everything());
}

void ApiPodSource::OnObject(std::string_view wire) {
  auto pod = PodAtRest::FromWire(wire);
  if (!pod) {
    const auto meta = ReadMeta(wire);
    return Refuse(meta ? ObjectRefView(meta->ns, meta->name) : ObjectRefView("", ""), pod.error());
  }
  const ObjectRefView name((*pod)->hot().ns, (*pod)->hot().name);
  if (const Status fine = Check(**pod); !fine) return Refuse(name, fine.error());
  Accept(name);
  if (!listing_) return user_.OnPod(kApi, *std::move(pod));
  std::string uid((*pod)->hot().uid);
  held_.insert_or_assign(std::move(uid), *std::move(pod));
}

void ApiPodSource::OnGone(const ObjectRef& object, std::string_view uid) {
  Accept(object);
  if (const auto found = held_.find(uid); found != held_.end()) held_.erase(found);
  if (told_) user_.OnPodGone(kApi, uid);
}

void ApiPodSource::OnSynced() {
  listing_ = false;
  std::vector<PodRef> pods;
  pods.reserve(held_.size());
  for (auto& [uid, pod] : held_) pods.push_back(std::move(pod));
  held_.clear();
  if (!std::exchange(told_, true)) return user_.OnPods(kApi, std::move(pods));
  for (PodRef& pod : pods) user_.OnPod(kApi, std::move(pod));
}

void ApiPodSource::OnTrouble(const Error& reason) {
  broken_ = true;
  user_.OnTrouble(kApi, Everything(), reason);
}

void ApiPodSource::Refuse(const ObjectRefView& pod, const Error& reason) {
  const std::string where = PlaceOf(pod);
  const auto [place, is_new] = refused_.try_emplace(where, reason);
  if (!is_new && place->second == reason) return;
  place->second = reason;
  user_.OnTrouble(kApi, where, reason);
}

void ApiPodSource::Accept(const ObjectRefView& pod) {
  if (refused_.empty()) return;
  const std::string where = PlaceOf(pod);
  if (refused_.erase(where) != 0) user_.OnTroubleOver(kApi, where);
}

}  // namespace denselet::kube
