// Rules about the managers of CPUs, memory and topology: their policies, and their options.
#include <array>

#include "app/config/validate_parts.h"
#include "app/flags/text.h"
#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "kube/api/values/quantity.h"

namespace denselet::app {
namespace {

struct CpuOption {
  std::string_view name;
  std::string_view gate;  // that it needs; empty: none
};

constexpr std::array<CpuOption, 6> kCpuOptions = {{
    {"full-pcpus-only", ""},
    {"strict-cpu-reservation", ""},
    {"prefer-align-cpus-by-uncorecache", ""},
    {"distribute-cpus-across-numa", "CPUManagerPolicyBetaOptions"},
    {"align-by-socket", "CPUManagerPolicyAlphaOptions"},
    {"distribute-cpus-across-cores", "CPUManagerPolicyAlphaOptions"},
}};

// Each cannot be on together with the other.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kCpuOptionsApart = {{
    {"full-pcpus-only", "distribute-cpus-across-cores"},
    {"distribute-cpus-across-numa", "distribute-cpus-across-cores"},
    {"prefer-align-cpus-by-uncorecache", "distribute-cpus-across-cores"},
    {"prefer-align-cpus-by-uncorecache", "distribute-cpus-across-numa"},
}};

constexpr int64_t kNumaNodesLeast = 8;

const CpuOption* FindCpuOption(std::string_view name) {
  for (const CpuOption& option : kCpuOptions) {
    if (option.name == name) return &option;
  }
  return nullptr;
}

std::string CpuOptionList() {
  std::string list;
  for (const CpuOption& option : kCpuOptions) {
    list.append(list.empty() ? "" : ", ").append(option.name);
  }
  return list;
}

template <class Map>
bool IsOn(const Map& options, std::string_view name) {
  const auto found = options.find(std::string(name));
  if (found == options.end()) return false;
  const auto value = ParseBool(found->second);
  return value && *value;
}

template <class Map>
kube::Quantity CpuIn(const Map& reserved) {
  const auto found = reserved.find("cpu");
  if (found == reserved.end()) return {};
  const auto quantity = kube::Quantity::Parse(found->second);
  return quantity ? *quantity : kube::Quantity::FromUnits(1);  // that it is wrong is told already
}

}  // namespace

void ConfigRules::Managers() {
  OneOf("cpuManagerPolicy", config_.cpumanagerpolicy(), {"none", "static"});
  OneOf("memoryManagerPolicy", config_.memorymanagerpolicy(), {"None", "Static"});
  OneOf("topologyManagerPolicy", config_.topologymanagerpolicy(),
        {"none", "best-effort", "restricted", "single-numa-node"});
  OneOf("topologyManagerScope", config_.topologymanagerscope(), {"container", "pod"});
  CpuManagerOptions();
  if (config_.cpumanagerpolicy() == "static") CpuReservation();
  TopologyOptions();
}

void ConfigRules::CpuManagerOptions() {
  const auto& options = config_.cpumanagerpolicyoptions();
  for (const auto* entry : kube::Sorted(options)) {
    const std::string path = "cpuManagerPolicyOptions[" + entry->first + "]";
    if (config_.cpumanagerpolicy() == "none") {
      Wanted(path, InQuotes(entry->second), "no options with cpuManagerPolicy none");
      continue;
    }
    const CpuOption* option = FindCpuOption(entry->first);
    if (option == nullptr) {
      Wanted(path, InQuotes(entry->first), "one of " + CpuOptionList());
      continue;
    }
    if (!option->gate.empty()) NeedsGate(path, InQuotes(entry->second), option->gate);
    if (!ParseBool(entry->second)) Wanted(path, InQuotes(entry->second), "\"true\" or \"false\"");
  }
  if (config_.cpumanagerpolicy() == "none") return;
  for (const auto& [one, other] : kCpuOptionsApart) {
    if (!IsOn(options, one) || !IsOn(options, other)) continue;
    Wanted("cpuManagerPolicyOptions[" + std::string(one) + "]",
           "\"true\" beside " + std::string(other), "one of the two");
  }
  if (IsOn(options, "align-by-socket") && config_.topologymanagerpolicy() == "single-numa-node") {
    Wanted("cpuManagerPolicyOptions[align-by-socket]", "\"true\"",
           "\"false\" with topologyManagerPolicy single-numa-node");
  }
}

// Without it the pods that have no CPUs of their own would be left with none.
void ConfigRules::CpuReservation() {
  if (!config_.reservedsystemcpus().empty()) return;
  const kube::Quantity reserved = CpuIn(config_.systemreserved()) + CpuIn(config_.kubereserved());
  if (!reserved.IsZero()) return;
  Add("cpuManagerPolicy",
      "found \"static\", which needs CPU to be reserved: by reservedSystemCPUs, or by cpu in "
      "systemReserved or kubeReserved");
}

// With the policy none the kubelet does not look at them.
void ConfigRules::TopologyOptions() {
  if (config_.topologymanagerpolicy() == "none") return;
  for (const auto* entry : kube::Sorted(config_.topologymanagerpolicyoptions())) {
    const std::string path = "topologyManagerPolicyOptions[" + entry->first + "]";
    if (entry->first == "prefer-closest-numa-nodes") {
      if (!ParseBool(entry->second)) {
        Wanted(path, InQuotes(entry->second), "\"true\" or \"false\"");
      }
    } else if (entry->first == "max-allowable-numa-nodes") {
      const auto nodes = ParseDecimal(entry->second);
      if (!nodes || *nodes < kNumaNodesLeast) {
        Wanted(path, InQuotes(entry->second), "a number, 8 or more");
      }
    } else {
      Wanted(path, InQuotes(entry->first),
             "one of prefer-closest-numa-nodes, max-allowable-numa-nodes");
    }
  }
}

}  // namespace denselet::app
