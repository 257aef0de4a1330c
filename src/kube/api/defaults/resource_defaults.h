// Lists of resources ("cpu" → "500m") and the arithmetic over a pod's containers that defaults and
// validation need.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <google/protobuf/map.h>

#include "kube/api/fwd.h"

namespace k8s::io::apimachinery::pkg::api::resource {
class Quantity;
}

namespace denselet::kube {

using ResourceMap =
    google::protobuf::Map<std::string, k8s::io::apimachinery::pkg::api::resource::Quantity>;

// Finer values than a thousandth are rounded up.
void RoundToMilli(ResourceMap& list);

// Requests that are not given are the limits.
void SetRequestsFromLimits(ResourceMap& requests, const ResourceMap& limits);

// What the pod takes at its largest moment: all containers and sidecars together, or an init
// container beside the sidecars that started before it. A text that was only copied is kept as it
// was written; a sum is in its canonical form.
using ResourceTexts = std::map<std::string, std::string>;
ResourceTexts AggregateContainerRequests(const core::PodSpec& spec);
ResourceTexts AggregateContainerLimits(const core::PodSpec& spec);

// spec.resources, from the containers' and within itself.
void SetPodLevelDefaults(core::PodSpec& spec);

}  // namespace denselet::kube
