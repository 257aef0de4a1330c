#include "app/features/feature_gates.h"

#include <algorithm>
#include <optional>
#include <set>

#include "base/check.h"

namespace denselet::app {
namespace {

std::string_view TextOf(bool value) { return value ? "true" : "false"; }

size_t IndexOf(const Gate& gate) { return static_cast<size_t>(&gate - AllGates().data()); }

kube::Fault FaultOf(std::string_view gate, std::string message) {
  return {.path = "featureGates." + std::string(gate), .message = std::move(message)};
}

std::optional<kube::Fault> Refusal(const std::string& name, bool value) {
  const Gate* gate = FindGate(name);
  if (gate == nullptr) return FaultOf(name, "unrecognized feature gate: " + name);
  if (!gate->locked || gate->on_by_default == value) return std::nullopt;
  return FaultOf(name, "cannot set feature gate " + name + " to " + std::string(TextOf(value)) +
                           ", feature is locked to " + std::string(TextOf(gate->on_by_default)));
}

std::optional<std::string> Warning(const Gate& gate, bool value) {
  const bool passing = gate.stage == GateStage::kGa || gate.stage == GateStage::kDeprecated;
  if (!passing) return std::nullopt;
  const std::string_view stage = gate.stage == GateStage::kGa ? "GA" : "deprecated";
  return "feature gate " + std::string(gate.name) + "=" + std::string(TextOf(value)) + " is " +
         std::string(stage) + " and will not be accepted for ever; a later release removes it";
}

std::vector<bool> Defaults() {
  std::vector<bool> enabled;
  for (const Gate& gate : AllGates()) enabled.push_back(gate.on_by_default);
  return enabled;
}

void SetAllOfStage(GateStage stage, bool value, std::vector<bool>& enabled) {
  for (const Gate& gate : AllGates()) {
    if (gate.stage == stage && gate.scope != GateScope::kAll) enabled[IndexOf(gate)] = value;
  }
}

void CheckDependencies(const std::vector<bool>& enabled, std::vector<kube::Fault>& faults) {
  for (const Gate& gate : AllGates()) {
    if (!enabled[IndexOf(gate)]) continue;
    std::set<std::string_view> missing;
    for (const std::string_view need : gate.needs) {
      const Gate* needed = FindGate(need);
      CHECK(needed != nullptr);
      if (!enabled[IndexOf(*needed)]) missing.insert(need);
    }
    if (missing.empty()) continue;
    std::string names;
    for (const std::string_view name : missing) {
      names += (names.empty() ? "" : " ") + std::string(name);
    }
    faults.push_back(FaultOf(
        gate.name, std::string(gate.name) +
                       " is enabled, but depends on features that are disabled: [" + names + "]"));
  }
}

constexpr std::string_view kTheRuntimeDecides[] = {"CRIListStreaming", "EventedPLEG"};

bool TheRuntimeDecides(std::string_view gate) {
  return std::ranges::find(kTheRuntimeDecides, gate) != std::end(kTheRuntimeDecides);
}

// Changed from its default, and nothing comes of it.
bool IsLost(const Gate& gate, bool value) {
  return gate.scope != GateScope::kOther && value != gate.on_by_default &&
         !IsImplemented(gate.name) && !TheRuntimeDecides(gate.name);
}

// Whether any of those is lost for which AllAlpha or AllBeta speaks.
bool AllIsLost(const Gate& all, bool value, const GateSettings& settings) {
  return std::ranges::any_of(AllGates(), [&](const Gate& gate) {
    return gate.stage == all.stage && gate.scope != GateScope::kAll &&
           !settings.contains(gate.name) && IsLost(gate, value);
  });
}

// The setting that makes the gate what it is; empty: it is at its default.
std::string_view SettingOf(const Gate& gate, const GateSettings& settings) {
  if (settings.contains(gate.name)) return gate.name;
  const std::string_view all = gate.stage == GateStage::kAlpha  ? "AllAlpha"
                               : gate.stage == GateStage::kBeta ? "AllBeta"
                                                                : "";
  return settings.contains(all) ? all : "";
}

}  // namespace

FeatureGates::FeatureGates() : enabled_(Defaults()) {}

FeatureGates::Report FeatureGates::Set(const GateSettings& settings) {
  Report report;
  std::vector<bool> enabled = Defaults();
  if (const auto all = settings.find("AllAlpha"); all != settings.end()) {
    SetAllOfStage(GateStage::kAlpha, all->second, enabled);
  }
  if (const auto all = settings.find("AllBeta"); all != settings.end()) {
    SetAllOfStage(GateStage::kBeta, all->second, enabled);
  }
  for (const auto& [name, value] : settings) {
    if (auto refusal = Refusal(name, value)) {
      report.faults.push_back(std::move(*refusal));
      continue;
    }
    const Gate& gate = *FindGate(name);
    enabled[IndexOf(gate)] = value;
    if (auto warning = Warning(gate, value)) report.warnings.push_back(std::move(*warning));
  }
  CheckDependencies(enabled, report.faults);
  if (report.faults.empty()) enabled_ = std::move(enabled);
  return report;
}

bool FeatureGates::Enabled(std::string_view name) const {
  const Gate* gate = FindGate(name);
  CHECK(gate != nullptr);
  return enabled_[IndexOf(*gate)];
}

std::vector<GateState> FeatureGates::All() const {
  std::vector<GateState> states;
  for (const Gate& gate : AllGates()) {
    states.push_back({.name = gate.name, .stage = gate.stage, .enabled = enabled_[IndexOf(gate)]});
  }
  return states;
}

std::vector<std::string> SettingsBehind(std::string_view name, const GateSettings& settings) {
  std::vector<std::string> behind;
  const Gate* gate = FindGate(name);
  if (gate == nullptr) return {std::string(name)};
  if (const std::string_view own = SettingOf(*gate, settings); !own.empty()) {
    behind.emplace_back(own);
  }
  for (const std::string_view need : gate->needs) {
    const std::string_view setting = SettingOf(*FindGate(need), settings);
    if (!setting.empty() && !settings.find(setting)->second) behind.emplace_back(setting);
  }
  return behind;
}

std::vector<std::string> GatesWithoutEffect(const GateSettings& settings) {
  std::vector<std::string> names;
  for (const auto& [name, value] : settings) {
    const Gate* gate = FindGate(name);
    if (gate == nullptr) continue;
    const bool lost =
        gate->scope == GateScope::kAll ? AllIsLost(*gate, value, settings) : IsLost(*gate, value);
    if (lost) names.push_back(name);
  }
  return names;
}

std::vector<std::string> GatesThatTheRuntimeDecides(const GateSettings& settings) {
  std::vector<std::string> names;
  for (const auto& [name, value] : settings) {
    if (TheRuntimeDecides(name)) names.push_back(name);
  }
  return names;
}

}  // namespace denselet::app
