// The defaults of KubeletConfiguration (docs/compat/config.md): what a field is when nobody said.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "app/features/feature_gates.h"
#include "kube/api/fwd.h"

namespace denselet::app {

// A list that is there and has nothing in it differs from one that is not there, which the message
// does not tell.
enum class Enforcement : uint8_t { kAbsent, kGiven };

// Fills in what is absent, or zero where zero means absent. `gates` are those that hold while the
// configuration is read: some defaults depend on them.
void SetDefaults(const FeatureGates& gates, Enforcement enforce_node_allocatable,
                 kube::config::KubeletConfiguration& config);

// What the kubelet adds when it reads --config, and then only: thresholds if the file has none, or
// those that it lacks if it asks for the defaults too.
enum class EvictionHard : uint8_t { kAbsent, kGiven };
void SetEvictionDefaults(EvictionHard in_file, kube::config::KubeletConfiguration& config);
std::span<const std::pair<std::string_view, std::string_view>> DefaultEvictionHard();

// Quantities finer than a thousandth are rounded up, as the kubelet does in --config, and then
// only.
void RoundReservedMemory(kube::config::KubeletConfiguration& config);

// The fields that the kubelet shows although they are empty are there, so that they are shown where
// they stand in its own order.
void FillShownFields(kube::config::KubeletConfiguration& config);

}  // namespace denselet::app
