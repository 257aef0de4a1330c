// /etc/hosts of containers: docs/compat/state.md section 7.
//
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/api/fwd.h"
#include "sync/spec/sandbox_spec.h"

namespace denselet::sync {

// Of a pod with a network of its own.
std::string HostsFile(const kube::core::Pod& pod, const PodHostname& hostname,
                      const std::vector<std::string>& pod_ips);
// Of one in the node's network: the node's file, and the pod's aliases.
std::string NodeHostsFile(const kube::core::Pod& pod, std::string_view of_node);

// Whether this container gets the file: not if it mounts something there, nor before the pod has an
// address.
bool WantsHostsFile(const kube::core::Pod& pod, const kube::core::Container& container,
                    const std::vector<std::string>& pod_ips);

}  // namespace denselet::sync
