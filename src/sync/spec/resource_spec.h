// Requests and limits as the runtime wants them: shares, quota, bytes, who dies first.
#pragma once

#include <cstdint>

#include "kube/api/fwd.h"
#include "sync/ports/runtime_spec.h"
#include "sync/spec/node_facts.h"

namespace denselet::sync {

enum class QosClass : uint8_t { kGuaranteed, kBurstable, kBestEffort };

// What the API server says, or what it would say.
QosClass QosOf(const kube::core::Pod& pod);

int64_t CpuShares(int64_t milli_cpu);
int64_t CpuQuota(int64_t milli_cpu, int64_t period_us);  // 0: none

int64_t OomScoreAdj(const kube::core::Pod& pod, const kube::core::Container& container,
                    int64_t memory_capacity_bytes);

LinuxResources ContainerResources(const kube::core::Pod& pod,
                                  const kube::core::Container& container, const SpecNode& node,
                                  const SpecContainer& facts);
LinuxResources SandboxResources(const kube::core::Pod& pod, const SpecNode& node,
                                const SpecPod& facts);
LinuxResources OverheadResources(const kube::core::Pod& pod, const SpecNode& node);

}  // namespace denselet::sync
