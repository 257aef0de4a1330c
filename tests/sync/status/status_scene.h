// A pod and what is seen of it in two texts, for tests of its status.
//
//   pod     JSON of a Pod; its status is what the API server has
//   given   sb0=ready:10.0.0.1 sb0=ready:host sb0=notready       sandboxes
//           app/0=created|running|running:cpu=500:user|exited:3|unknown   containers, of the newest
//             sandbox; each starts a minute after the one before and runs for half a minute
//           wait(app)=ErrImagePull                               Decide's reason
//           ready(app/0)=ok startup(app/0)=fail                  probes
//           ends finished                                        where the pod is in its life
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/api/types.h"
#include "sync/status/pod_status.h"

namespace denselet::sync::tests {

struct StatusScene {
  kube::core::Pod pod = {};
  PodPlan plan = {};
  std::optional<kube::core::PodStatus> before = {};
  ObservedPod seen = {};
  std::vector<ContainerWaiting> waiting = {};
  std::vector<ProbedContainer> probes = {};
  StatusNode node = {.runtime_name = "containerd"};
  std::optional<Ending> ending = {};
  std::string disruption = {};
  bool ends = false;
  Finished finished = Finished::kNo;
  WallTime now = WallTime(Hours(490'000));

  // The pod as it is now, and what is seen, instead of what was.
  void See(std::string_view given);
  void SetPod(std::string_view json);
  Result<kube::core::PodStatus> Build() const;
};

StatusScene MakeStatusScene(std::string_view pod_json, std::string_view given);

// When the first instance of a container starts.
WallTime SceneStart();

}  // namespace denselet::sync::tests
