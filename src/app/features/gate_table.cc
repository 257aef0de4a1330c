#include "app/features/gate_table.h"

#include <algorithm>

#include "app/features/gates.h"
#include "base/check.h"
#include "base/split.h"

namespace denselet::app {
namespace {

GateStage StageOf(std::string_view word) {
  if (word == "Alpha") return GateStage::kAlpha;
  if (word == "Beta") return GateStage::kBeta;
  if (word == "GA") return GateStage::kGa;
  CHECK(word == "Deprecated");
  return GateStage::kDeprecated;
}

GateScope ScopeOf(std::string_view word) {
  if (word == "all") return GateScope::kAll;
  if (word == "kubelet") return GateScope::kKubelet;
  if (word == "library") return GateScope::kLibrary;
  CHECK(word == "other");
  return GateScope::kOther;
}

// "GracefulNodeShutdownBasedOnPodPriority Beta on free kubelet GracefulNodeShutdown"
Gate ReadGate(std::string_view line) {
  Gate gate;
  gate.name = TakeUntil(line, ' ');
  gate.stage = StageOf(TakeUntil(line, ' '));
  gate.on_by_default = TakeUntil(line, ' ') == "on";
  gate.locked = TakeUntil(line, ' ') == "locked";
  gate.scope = ScopeOf(TakeUntil(line, ' '));
  if (line != "-") {
    while (!line.empty()) gate.needs.push_back(TakeUntil(line, ','));
  }
  return gate;
}

std::vector<Gate> ReadGates() {
  std::vector<Gate> gates;
  for (std::string_view text = kGates; !text.empty();) {
    const std::string_view line = TakeUntil(text, '\n');
    if (!line.starts_with('#')) gates.push_back(ReadGate(line));
  }
  CHECK(std::ranges::is_sorted(gates, {}, &Gate::name));
  return gates;
}

}  // namespace

std::span<const Gate> AllGates() {
  static const std::vector<Gate> gates = ReadGates();
  return gates;
}

const Gate* FindGate(std::string_view name) {
  const auto gates = AllGates();
  const auto at = std::ranges::lower_bound(gates, name, {}, &Gate::name);
  return at != gates.end() && at->name == name ? &*at : nullptr;
}

std::string_view StageLabel(GateStage stage) {
  switch (stage) {
    case GateStage::kAlpha:
      return "ALPHA";
    case GateStage::kBeta:
      return "BETA";
    case GateStage::kGa:
      return "";
    case GateStage::kDeprecated:
      return "DEPRECATED";
  }
  return "";
}

std::vector<std::string> GateHelpLines() {
  std::vector<std::string> lines;
  for (const Gate& gate : AllGates()) {
    if (gate.stage != GateStage::kAlpha && gate.stage != GateStage::kBeta) continue;
    lines.push_back(std::string(gate.name) + "=true|false (" + std::string(StageLabel(gate.stage)) +
                    " - default=" + (gate.on_by_default ? "true)" : "false)"));
  }
  return lines;
}

}  // namespace denselet::app
