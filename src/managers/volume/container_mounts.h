// What a container sees of its pod's volumes: its mounts, and which of them have to be made first
// because they show a part of a volume.
//
// Pure functions, on any thread. Errors are in upstream's words: people read them as they are.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/api/fwd.h"
#include "managers/volume/volume_plan.h"
#include "reactor/api/disk_jobs.h"
#include "sync/ports/pod_services.h"
#include "sync/ports/runtime_spec.h"

namespace denselet::managers {

struct PlannedMount {
  std::string volume = {};
  sync::MountSpec spec = {};
  // What is mounted at spec.host_path before anybody sees it.
  std::optional<reactor::PathBelow> part = {};
};

// By the container's name and the references of the image volumes that it mounts.
Result<std::vector<PlannedMount>> PlanMounts(const kube::core::Pod& pod,
                                             const sync::ContainerWish& container,
                                             const sync::KeyValues& env, const VolumeNode& node);

// $(NAME) is the variable's value, $$ is $. All names must have a value.
Result<std::string> ExpandSubPath(std::string_view text, const sync::KeyValues& env);

}  // namespace denselet::managers
