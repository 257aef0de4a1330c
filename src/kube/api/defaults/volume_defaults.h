// Defaults of one volume of a pod. For pod_defaults.cc.
#pragma once

#include <string>

namespace k8s::io::api::core::v1 {
class ObjectFieldSelector;
class Volume;
}  // namespace k8s::io::api::core::v1

namespace denselet::kube {

void SetVolumeDefaults(k8s::io::api::core::v1::Volume& volume);

// Shared with the containers' environment.
void SetFieldRefDefaults(k8s::io::api::core::v1::ObjectFieldSelector& field_ref);

// Always for the tag "latest", else IfNotPresent.
std::string PullPolicyFor(const std::string& image);

}  // namespace denselet::kube
