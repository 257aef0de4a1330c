#include "managers/node/node_resources.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "kube/api/validation/names.h"

namespace denselet::node {

namespace {

using kube::Quantity;
using QuantityMap = google::protobuf::Map<std::string, kube::resource::Quantity>;

constexpr std::string_view kHugePagesPrefix = "hugepages-";
constexpr std::string_view kQuotaPrefix = "requests.";

void Put(QuantityMap& map, const std::string& name, const Quantity& value) {
  map[name].set_string(value.ToString());
}

// What the server has sent is valid; anything else counts as none.
Quantity ValueOf(const kube::resource::Quantity& quantity) {
  const Result<Quantity> value = Quantity::Parse(quantity.string());
  return value ? *value : Quantity();
}

Quantity NotNegative(const Quantity& value) {
  return value.Sign() < 0 ? Quantity::FromUnits(0, value.format()) : value;
}

int64_t Bounded(uint64_t number) {
  return static_cast<int64_t>(std::min<uint64_t>(number, std::numeric_limits<int64_t>::max()));
}

Quantity Bytes(uint64_t bytes) {
  return Quantity::FromUnits(Bounded(bytes), Quantity::Format::kBinarySi);
}

int64_t PodsMax(const NodeConfig& config, int64_t cpus) {
  if (config.pods_per_core_max <= 0) return config.pods_max;
  return std::min<int64_t>(cpus * config.pods_per_core_max, config.pods_max);
}

void SetCapacity(const NodeConfig& config, const MachineFacts& facts, const DeviceInput& devices,
                 QuantityMap& capacity) {
  for (const auto& [name, value] : MachineCapacity(config, facts)) Put(capacity, name, value);
  Put(capacity, "pods", Quantity::FromUnits(PodsMax(config, facts.cpus)));
  for (const auto& [name, value] : devices.capacity) Put(capacity, name, value);
  // Zero says that a plugin had them once; other resources of that kind are the cluster's.
  for (const std::string& name : devices.removed) Put(capacity, name, Quantity());
}

void DropForgottenExtended(const QuantityMap& capacity, QuantityMap& allocatable) {
  std::vector<std::string> gone;
  for (const auto* entry : kube::Sorted(allocatable)) {
    if (!capacity.contains(entry->first) && IsExtendedResource(entry->first)) {
      gone.push_back(entry->first);
    }
  }
  for (const std::string& name : gone) allocatable.erase(name);
}

void SetAllocatable(const ResourceList& reserved, const DeviceInput& devices,
                    const QuantityMap& capacity, QuantityMap& allocatable) {
  DropForgottenExtended(capacity, allocatable);
  for (const auto* entry : kube::Sorted(capacity)) {
    Quantity value = ValueOf(entry->second);
    if (const auto found = reserved.find(entry->first); found != reserved.end()) {
      value -= found->second;
    }
    Put(allocatable, entry->first, NotNegative(value));
  }
  for (const auto& [name, value] : devices.allocatable) Put(allocatable, name, value);
  Quantity memory = ValueOf(allocatable["memory"]);
  for (const auto* entry : kube::Sorted(capacity)) {
    if (!IsHugePageResource(entry->first)) continue;
    memory = NotNegative(memory - ValueOf(entry->second));
  }
  Put(allocatable, "memory", memory);
}

}  // namespace

bool IsHugePageResource(std::string_view name) { return name.starts_with(kHugePagesPrefix); }

bool IsExtendedResource(std::string_view name) {
  const bool native = name.find('/') == std::string_view::npos ||
                      name.find("kubernetes.io/") != std::string_view::npos;
  if (native || name.starts_with(kQuotaPrefix)) return false;
  return kube::CheckQualifiedName(std::string(kQuotaPrefix).append(name)).empty();
}

ResourceList MachineCapacity(const NodeConfig& config, const MachineFacts& facts) {
  ResourceList list;
  list.emplace("cpu", Quantity::FromMilli(facts.cpus * 1000));
  list.emplace("memory", Bytes(facts.memory_bytes));
  for (const HugePages& size : facts.huge_pages) {
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(size.page_kib * 1024, size.pages, &bytes)) {
      bytes = std::numeric_limits<uint64_t>::max();
    }
    list.emplace(std::string(kHugePagesPrefix) + Bytes(size.page_kib * 1024).ToString(),
                 Bytes(bytes));
  }
  if (config.local_storage_isolation && facts.root_fs_bytes > 0) {
    list.emplace("ephemeral-storage", Bytes(facts.root_fs_bytes));
  }
  return list;
}

ResourceList Reservation(const NodeConfig& config, const ResourceList& capacity) {
  ResourceList list;
  const auto find = [](const ResourceList& in, const std::string& name) {
    const auto found = in.find(name);
    return found == in.end() ? Quantity() : found->second;
  };
  // tidy: allow random-order because this one is a std::map
  for (const auto& [name, there_is] : capacity) {
    Quantity value = find(config.system_reserved, name);
    value += find(config.kube_reserved, name);
    if (name == "memory" && config.memory_eviction) value += config.memory_eviction->Of(there_is);
    if (name == "ephemeral-storage" && config.storage_eviction) {
      value += config.storage_eviction->Of(there_is);
    }
    if (!value.IsZero()) list.emplace(name, value);
  }
  return list;
}

void SetResources(const NodeConfig& config, const MachineFacts& facts, const DeviceInput& devices,
                  kube::core::NodeStatus& status) {
  SetCapacity(config, facts, devices, *status.mutable_capacity());
  SetAllocatable(Reservation(config, MachineCapacity(config, facts)), devices, status.capacity(),
                 *status.mutable_allocatable());
}

}  // namespace denselet::node
