// The pods that the API server has bound to this node, as a source of pods: a list-watch with a
// selector on the node's name.
//
// The first set is told when the first list has come through; after that each change by itself.
// What a later list brings is held until it has come through, too: it tells last what is gone, and
// who came in the place of those must not be judged beside them.
//
// Lives on the API shard; destroying it ends it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "kube/api/pod/pod_at_rest.h"
#include "sync/ports/api_server.h"
#include "sync/ports/pod_source.h"

namespace denselet::kube {

class ApiPodSource final : public sync::PodSource, private sync::ListWatchUser {
 public:
  // Begins at once: whoever must not see pods before the node is known makes it later. `api` and
  // `user` outlive it.
  ApiPodSource(sync::ApiServer& api, const NodeName& node, sync::PodSourceUser& user);
  ~ApiPodSource() override;
  ApiPodSource(const ApiPodSource&) = delete;
  ApiPodSource& operator=(const ApiPodSource&) = delete;

  sync::SourceKind kind() const override { return sync::SourceKind::kApi; }

 private:
  // ListWatchUser
  void OnObject(std::string_view wire) override;
  void OnGone(const ObjectRef& object, std::string_view uid) override;
  void OnListing() override { listing_ = true; }
  void OnSynced() override;
  void OnTrouble(const Error& reason) override;
  void OnGoingOn() override;

  // Why a pod cannot be taken; Ok: it can.
  Status Check(const PodAtRest& pod) const;
  void Refuse(const ObjectRefView& pod, const Error& reason);
  void Accept(const ObjectRefView& pod);

  const std::string node_;
  sync::PodSourceUser& user_;
  bool told_ = false;
  bool broken_ = false;  // the list-watch, as told
  bool listing_ = true;
  std::map<std::string, PodRef, std::less<>> held_;  // by uid, while a list comes
  // Pods that were refused, as told; with one for each object it is as bounded as the collection.
  std::map<std::string, Error> refused_;
  std::unique_ptr<sync::ListWatch> watch_;  // last: it calls the above
};

}  // namespace denselet::kube
