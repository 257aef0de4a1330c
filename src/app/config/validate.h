// The rules that a KubeletConfiguration must keep: those that the kubelet checks when it has read
// it, and those on which its start would fail, as far as they do not depend on the machine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/config/origins.h"
#include "app/features/feature_gates.h"
#include "kube/api/fault.h"
#include "kube/api/fwd.h"

namespace denselet::app {

// Whether there is an API server that could be asked.
enum class ApiAccess : uint8_t { kUnknown, kNone, kThere };

// All faults, each with what was found and what is allowed; with `origins`, also whether it was the
// default.
std::vector<kube::Fault> ValidateConfig(const kube::config::KubeletConfiguration& config,
                                        const FeatureGates& gates, ApiAccess api,
                                        const Origins* origins = nullptr);

// What may stay, but should be known.
std::vector<std::string> ConfigWarnings(const kube::config::KubeletConfiguration& config);

// Why no static pods can come of staticPodURL. The kubelet starts with whatever stands there, and
// reports that again and again.
std::vector<kube::Fault> UnusablePodUrls(const kube::config::KubeletConfiguration& config);

}  // namespace denselet::app
