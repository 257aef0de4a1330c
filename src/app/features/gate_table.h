// Which feature gates there are in the Kubernetes release that we stand in for, and what is fixed
// about them. The table is gates.txt, which follows docs/compat/features.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace denselet::app {

enum class GateStage : uint8_t { kAlpha, kBeta, kGa, kDeprecated };

// Whom a gate is for.
enum class GateScope : uint8_t {
  kAll,      // AllAlpha and AllBeta, which speak for the others
  kKubelet,  // the kubelet itself
  kLibrary,  // a library that the kubelet is linked with: its API client, its logging
  kOther,    // other components; a kubelet accepts it, and nothing comes of it
};

struct Gate {
  std::string_view name;
  GateStage stage = GateStage::kAlpha;
  bool on_by_default = false;
  bool locked = false;  // stays at its default
  GateScope scope = GateScope::kOther;
  std::vector<std::string_view> needs;  // gates without which this one cannot be on
};

// All of them, sorted by name.
std::span<const Gate> AllGates();

// Null where there is none of that name.
const Gate* FindGate(std::string_view name);

// As the metric kubernetes_feature_enabled and --help name it: "ALPHA", "BETA", "DEPRECATED", or
// nothing for what is generally available.
std::string_view StageLabel(GateStage stage);

// The lines of --help: "EventedPLEG=true|false (ALPHA - default=false)", of Alpha and Beta gates.
std::vector<std::string> GateHelpLines();

}  // namespace denselet::app
