// The model as messages of CRI, on the wire.
#pragma once

#include <cstdint>
#include <string>

#include "bench/cri_sim/model.h"

namespace denselet::cri_sim {

std::string EncodeSandbox(const Sandbox& sandbox);       // runtime.v1.PodSandbox
std::string EncodeSandboxStatus(const Sandbox& sandbox,  // runtime.v1.PodSandboxStatus
                                const std::string& node_ip);
std::string EncodeContainer(const Container& container);        // runtime.v1.Container
std::string EncodeContainerStatus(const Container& container);  // runtime.v1.ContainerStatus
// runtime.v1.ContainerEventResponse, with the statuses of now.
std::string EncodeEvent(EventKind kind, const Sandbox& sandbox, const std::string& id,
                        const std::string& node_ip, WallTime now);

// Numbers that grow with the time a container has run, and differ between containers.
std::string EncodeContainerStats(const Container& container, const std::string& mountpoint,
                                 WallTime now);  // runtime.v1.ContainerStats
std::string EncodeSandboxStats(const Sandbox& sandbox, const std::string& mountpoint,
                               WallTime now);  // runtime.v1.PodSandboxStats
// runtime.v1.PodSandboxMetrics, with the two metrics of EncodeMetricDescriptors.
std::string EncodeSandboxMetrics(const Sandbox& sandbox, WallTime now);
std::string EncodeMetricDescriptors();  // runtime.v1.ListMetricDescriptorsResponse

}  // namespace denselet::cri_sim
