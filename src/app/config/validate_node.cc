// Rules about what the node keeps for itself, and how it registers.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "app/config/cpu_list.h"
#include "app/config/validate_parts.h"
#include "app/flags/text.h"
#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "kube/api/validation/names.h"
#include "kube/api/values/quantity.h"

namespace denselet::app {
namespace {

constexpr std::string_view kEnforcements =
    "\"none\", \"pods\", \"system-reserved\", \"system-reserved-compressible\", "
    "\"kube-reserved\" or \"kube-reserved-compressible\"";

bool Has(const auto& list, std::string_view text) {
  return std::ranges::find(list, text) != list.end();
}

bool IsHugePages(std::string_view resource) { return resource.starts_with("hugepages-"); }

// Small letters, digits, "-" and "_", the latter two not at the ends.
bool IsSysctlPart(std::string_view part, bool last) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (last && part.ends_with('*')) {
    part.remove_suffix(1);
    return part.empty() || (plain(part.front()) && IsSysctlPart(std::string(part) + "0", false));
  }
  if (part.empty() || !plain(part.front()) || !plain(part.back())) return false;
  return std::ranges::all_of(part, [&](char c) { return plain(c) || c == '-' || c == '_'; });
}

bool IsSysctlPattern(std::string_view name) {
  constexpr size_t kNameBytesMax = 253;
  if (name.size() > kNameBytesMax) return false;
  while (true) {
    const size_t end = name.find_first_of("./");
    if (end == name.npos) return IsSysctlPart(name, true);
    if (!IsSysctlPart(name.substr(0, end), false)) return false;
    name.remove_prefix(end + 1);
  }
}

// With "/" as the separator, "." is a character of the name, and the other way round.
std::string Dotted(std::string name) {
  const size_t first = name.find_first_of("./");
  if (first == name.npos || name[first] == '.') return name;
  std::ranges::transform(name, name.begin(), [](char c) {
    return c == '.' ? '/' : c == '/' ? '.' : c;
  });
  return name;
}

bool IsNamespaced(std::string name) {
  constexpr std::array<std::string_view, 10> kNames = {
      "kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced",
      "kernel.shm", "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg"};
  name = Dotted(std::move(name));
  name = name.substr(0, name.find('*'));
  return Has(kNames, name) || name.starts_with("net.") || name.starts_with("fs.mqueue.");
}

}  // namespace

void ConfigRules::NodeAllocatable() {
  const auto& enforced = config_.enforcenodeallocatable();
  std::set<std::string> seen;
  for (int i = 0; i < enforced.size(); ++i) {
    const std::string& name = enforced[i];
    const std::string path = "enforceNodeAllocatable[" + std::to_string(i) + "]";
    if (!seen.insert(name).second) {
      Wanted(path, InQuotes(name) + " a second time", "each once");
      continue;
    }
    if (name == "none") {
      if (enforced.size() > 1) Wanted(path, "\"none\" beside others", "it alone");
      continue;
    }
    const bool of_system = name == "system-reserved" || name == "system-reserved-compressible";
    const bool of_kube = name == "kube-reserved" || name == "kube-reserved-compressible";
    if (name != "pods" && !of_system && !of_kube) {
      Wanted(path, InQuotes(name), kEnforcements);
      continue;
    }
    if (of_system && config_.systemreservedcgroup().empty()) {
      Add(path, Found(path, InQuotes(name)) + ", which needs systemReservedCgroup to be set");
    }
    if (of_kube && config_.kubereservedcgroup().empty()) {
      Add(path, Found(path, InQuotes(name)) + ", which needs kubeReservedCgroup to be set");
    }
    if (!config_.cgroupsperqos()) {
      Add(path, Found(path, InQuotes(name)) + ", which needs cgroupsPerQOS to be true");
    }
  }
  for (const std::string_view kind : {"system-reserved", "kube-reserved"}) {
    const std::string compressible = std::string(kind) + "-compressible";
    if (Has(enforced, kind) && Has(enforced, compressible)) {
      Wanted("enforceNodeAllocatable", InQuotes(kind) + " and " + InQuotes(compressible),
             "one of them");
    }
  }
  const std::string& cpus = config_.reservedsystemcpus();
  if (!cpus.empty()) {
    if (!config_.systemreservedcgroup().empty() || !config_.kubereservedcgroup().empty()) {
      Wanted("reservedSystemCPUs", InQuotes(cpus),
             "nothing beside systemReservedCgroup or kubeReservedCgroup");
    }
    if (!CountCpus(cpus)) {
      Wanted("reservedSystemCPUs", InQuotes(cpus), "a list of CPUs, such as 0-3,8");
    }
  }
  for (const auto* entry : kube::Sorted(config_.systemreserved())) {
    ReservedResources("systemReserved", entry->first, entry->second);
  }
  for (const auto* entry : kube::Sorted(config_.kubereserved())) {
    ReservedResources("kubeReserved", entry->first, entry->second);
  }
  for (const auto* entry : kube::Sorted(config_.qosreserved())) {
    const std::string path = "qosReserved[" + entry->first + "]";
    std::string_view value = entry->second;
    while (value.ends_with('%')) value.remove_suffix(1);
    const auto percent = ParseDecimal(value);
    if (entry->first != "memory") {
      Wanted(path, InQuotes(entry->first), "\"memory\"");
    } else if (value.size() == entry->second.size() || !percent || *percent < 0 || *percent > 100) {
      Wanted(path, InQuotes(entry->second), "0% to 100%");
    }
  }
}

void ConfigRules::ReservedResources(const std::string& path, std::string_view resource,
                                    const std::string& quantity) {
  const std::string entry = path + "[" + std::string(resource) + "]";
  constexpr std::array<std::string_view, 4> kKnown = {"cpu", "memory", "ephemeral-storage", "pid"};
  if (!Has(kKnown, resource)) {
    return Wanted(entry, InQuotes(resource),
                  "\"cpu\", \"memory\", \"ephemeral-storage\" or \"pid\"");
  }
  const auto parsed = kube::Quantity::Parse(quantity);
  if (!parsed || parsed->Sign() < 0) {
    Wanted(entry, InQuotes(quantity), "a quantity of 0 or more, such as 500m or 1Gi");
  }
}

void ConfigRules::ReservedMemory() {
  std::set<std::pair<int32_t, std::string>> seen;
  for (int i = 0; i < config_.reservedmemory_size(); ++i) {
    const auto& reservation = config_.reservedmemory(i);
    const std::string list = "reservedMemory[" + std::to_string(i) + "].limits";
    for (const auto* limit : kube::Sorted(reservation.limits())) {
      const std::string& resource = limit->first;
      const std::string path = list + "[" + resource + "]";
      if (resource != "memory" && !IsHugePages(resource)) {
        Wanted(path, InQuotes(resource), "\"memory\" or \"hugepages-<size>\"");
      }
      const auto quantity = kube::Quantity::Parse(limit->second.string());
      if (!quantity || quantity->IsZero()) {
        Wanted(path, InQuotes(limit->second.string()), "a quantity other than 0");
      }
      if (!seen.insert({reservation.numanode(), resource}).second) {
        Wanted(
            path,
            resource + " of NUMA node " + std::to_string(reservation.numanode()) + " a second time",
            "each once");
      }
    }
  }
}

void ConfigRules::Taints() {
  for (int i = 0; i < config_.registerwithtaints_size(); ++i) {
    const auto& taint = config_.registerwithtaints(i);
    const std::string path = "registerWithTaints[" + std::to_string(i) + "]";
    for (const std::string& fault : kube::CheckQualifiedName(taint.key())) {
      Add(path + ".key", "found " + InQuotes(taint.key()) + ": " + fault);
    }
    if (!taint.value().empty()) {
      for (const std::string& fault : kube::CheckLabelValue(taint.value())) {
        Add(path + ".value", "found " + InQuotes(taint.value()) + ": " + fault);
      }
    }
    if (!taint.effect().empty()) {
      OneOf(path + ".effect", taint.effect(), {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    }
    if (taint.has_timeadded()) Wanted(path + ".timeAdded", "a time", "none");
  }
}

void ConfigRules::Sysctls() {
  for (int i = 0; i < config_.allowedunsafesysctls_size(); ++i) {
    const std::string& name = config_.allowedunsafesysctls(i);
    const std::string path = "allowedUnsafeSysctls[" + std::to_string(i) + "]";
    if (!IsSysctlPattern(name)) {
      Wanted(path, InQuotes(name),
             "the name of a sysctl, or the beginning of some and \"*\", 253 characters at most");
    } else if (!IsNamespaced(name)) {
      Wanted(path, InQuotes(name),
             "one that belongs to a namespace: kernel.shm*, kernel.msg*, kernel.sem, fs.mqueue.* "
             "or net.*");
    }
  }
}

}  // namespace denselet::app
