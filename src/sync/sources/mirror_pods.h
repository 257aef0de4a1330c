// Which pod of the API server is the mirror of which static pod. A static pod runs without the API
// server; there it is shown by a mirror of the same name, which carries the static pod's hash in
// its annotation kubernetes.io/config.mirror and has a uid of its own. Who makes and deletes
// mirrors asks here.
//
// A pure class: fed with the changes of the desired pods, on their shard.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "kube/api/pod/pod_at_rest.h"

namespace denselet::sync {

enum class MirrorState : uint8_t {
  kMissing,  // to be made
  kCurrent,
  kStale,  // of another version of the static pod: to be deleted and made anew
  kGoing,  // somebody deletes it: the same
};

class MirrorPods {
 public:
  // A pod is desired, or changed. Pods that are neither static nor mirrors are not kept.
  void Put(const kube::PodRef& pod);
  // It is not any more. Another pod of that name, which came meanwhile, stays.
  void Remove(const kube::PodRef& pod);

  struct Pair {
    kube::PodRef static_pod;
    kube::PodRef mirror;  // empty: kMissing
    MirrorState state;
  };
  // All static pods, by name.
  std::vector<Pair> Pairs() const;
  std::optional<Pair> PairOf(const ObjectRef& static_pod) const;

  // Mirrors of static pods that are no more, by name: to be deleted. Meaningful only when the
  // sources of static pods are ready.
  std::vector<kube::PodRef> Orphans() const;
  // The same of one name; empty: there is none.
  kube::PodRef OrphanOf(const ObjectRef& name) const;

  // The uid under which the pod runs: of a mirror that of its static pod, of others their own.
  std::string_view RunsAs(std::string_view uid) const;
  // Under which the API server knows a static pod; empty: it does not.
  std::string_view ShownAs(std::string_view static_uid) const;

  size_t mirrors() const { return mirrors_.size(); }

 private:
  using ByName = std::map<ObjectRef, kube::PodRef>;

  static Pair MakePair(const kube::PodRef& static_pod, const ByName& mirrors);
  ByName& KindOf(const kube::PodAtRest& pod) { return pod.hot().IsMirror() ? mirrors_ : statics_; }

  ByName statics_;
  ByName mirrors_;
  // Only names that stand in the maps above.
  std::map<std::string, ObjectRef, std::less<>> static_names_, mirror_names_;  // by uid
};

}  // namespace denselet::sync
