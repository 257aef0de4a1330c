#include "managers/node/node_config.h"

#include <charconv>
#include <utility>

#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "managers/node/machine_facts.h"

namespace denselet::node {

namespace {

constexpr std::string_view kMemoryAvailable = "memory.available";
constexpr std::string_view kNodeFsAvailable = "nodefs.available";

constexpr std::pair<std::string_view, PressureSignal> kSignals[] = {
    {kMemoryAvailable, PressureSignal::kMemoryAvailable},
    {kNodeFsAvailable, PressureSignal::kNodeFsAvailable},
    {"nodefs.inodesFree", PressureSignal::kNodeFsInodesFree},
    {"pid.available", PressureSignal::kPidAvailable},
};
static_assert(std::size(kSignals) == kPressureSignals);

Result<ResourceList> ParseReserved(const google::protobuf::Map<std::string, std::string>& map,
                                   std::string_view field) {
  ResourceList list;
  for (const auto* entry : kube::Sorted(map)) {
    Result<kube::Quantity> quantity = kube::Quantity::Parse(entry->second);
    if (!quantity) return quantity.error().With(field, entry->first);
    if (quantity->Sign() < 0) {
      return Error(ErrorCode::kInvalid, "must not be negative").With(field, entry->first);
    }
    list.emplace(entry->first, *quantity);
  }
  return list;
}

Result<std::optional<EvictionThreshold>> ParseEviction(
    const google::protobuf::Map<std::string, std::string>& map, std::string_view signal) {
  const auto found = map.find(std::string(signal));
  if (found == map.end()) return std::optional<EvictionThreshold>();
  const Result<EvictionThreshold> threshold = EvictionThreshold::Parse(found->second);
  if (!threshold) return threshold.error().With("evictionHard", signal);
  return std::optional<EvictionThreshold>(*threshold);
}

// Of the signals that are measured; as upstream, these two percentages turn one off.
Status AddThresholds(const google::protobuf::Map<std::string, std::string>& map,
                     std::string_view field, std::vector<PressureThreshold>& to) {
  for (const auto& [name, signal] : kSignals) {
    const auto found = map.find(std::string(name));
    if (found == map.end() || found->second == "0%" || found->second == "100%") continue;
    const Result<EvictionThreshold> value = EvictionThreshold::Parse(found->second);
    if (!value) return value.error().With(field, name);
    to.push_back({signal, *value});
  }
  return Ok();
}

Status ReadPressure(const kube::config::KubeletConfiguration& from, NodeConfig& config) {
  const Status hard =
      AddThresholds(from.evictionhard(), "evictionHard", config.pressure_thresholds);
  if (!hard) return hard.error();
  const Status soft =
      AddThresholds(from.evictionsoft(), "evictionSoft", config.pressure_thresholds);
  if (!soft) return soft.error();
  if (from.has_evictionpressuretransitionperiod()) {
    config.pressure_transition_period =
        Duration(from.evictionpressuretransitionperiod().duration());
  }
  return Ok();
}

Result<Duration> ToDuration(const kube::meta::Duration& duration, std::string_view field) {
  const Duration value(duration.duration());
  if (value <= Duration::zero()) {
    return Error(ErrorCode::kInvalid, "must be greater than 0").With(field);
  }
  return value;
}

// Explicitly reserved CPUs are what the system has; nothing else is taken from the rest.
Status ReserveCpus(const std::string& list, NodeConfig& config) {
  if (list.empty()) return Ok();
  const Result<int64_t> cpus = CountCpus(list);
  if (!cpus) return cpus.error().With("reservedSystemCPUs");
  config.kube_reserved.erase("cpu");
  config.system_reserved.insert_or_assign("cpu", kube::Quantity::FromUnits(*cpus));
  return Ok();
}

Status ReadReserved(const kube::config::KubeletConfiguration& from, NodeConfig& config) {
  Result<ResourceList> system = ParseReserved(from.systemreserved(), "systemReserved");
  if (!system) return system.error();
  config.system_reserved = std::move(*system);
  Result<ResourceList> kube = ParseReserved(from.kubereserved(), "kubeReserved");
  if (!kube) return kube.error();
  config.kube_reserved = std::move(*kube);
  Result<std::optional<EvictionThreshold>> memory =
      ParseEviction(from.evictionhard(), kMemoryAvailable);
  if (!memory) return memory.error();
  config.memory_eviction = *std::move(memory);
  Result<std::optional<EvictionThreshold>> storage =
      ParseEviction(from.evictionhard(), kNodeFsAvailable);
  if (!storage) return storage.error();
  config.storage_eviction = *std::move(storage);
  return ReserveCpus(from.reservedsystemcpus(), config);
}

Status ReadIntervals(const kube::config::KubeletConfiguration& from, NodeConfig& config) {
  if (from.has_nodestatusupdatefrequency()) {
    const auto update = ToDuration(from.nodestatusupdatefrequency(), "nodeStatusUpdateFrequency");
    if (!update) return update.error();
    config.status_update_interval = *update;
  }
  if (from.has_nodestatusreportfrequency()) {
    const auto report = ToDuration(from.nodestatusreportfrequency(), "nodeStatusReportFrequency");
    if (!report) return report.error();
    config.status_report_interval = *report;
  }
  if (!from.has_nodeleasedurationseconds()) return Ok();
  if (from.nodeleasedurationseconds() <= 0) {
    return Error(ErrorCode::kInvalid, "nodeLeaseDurationSeconds: must be greater than 0");
  }
  config.lease_duration_seconds = from.nodeleasedurationseconds();
  return Ok();
}

}  // namespace

Result<EvictionThreshold> EvictionThreshold::Parse(std::string_view text) {
  if (!text.ends_with('%')) {
    const Result<kube::Quantity> quantity = kube::Quantity::Parse(text);
    if (!quantity) return quantity.error();
    return EvictionThreshold{.quantity = *quantity};
  }
  std::string_view number = text;
  while (number.ends_with('%')) number.remove_suffix(1);
  float percent = 0;
  const char* end = number.data() + number.size();
  const auto parsed = std::from_chars(number.data(), end, percent);
  if (parsed.ec != std::errc{} || parsed.ptr != end || !(percent >= 0 && percent <= 100)) {
    return Error(ErrorCode::kInvalid, "not a percentage: \"" + std::string(text) + "\"");
  }
  return EvictionThreshold{.fraction = percent / 100};
}

kube::Quantity EvictionThreshold::Of(const kube::Quantity& capacity) const {
  if (quantity) return *quantity;
  const double part = static_cast<double>(capacity.Units()) * static_cast<double>(fraction);
  return kube::Quantity::FromUnits(static_cast<int64_t>(part), kube::Quantity::Format::kBinarySi);
}

Result<NodeConfig> MakeNodeConfig(const kube::config::KubeletConfiguration& configuration,
                                  NodeFlags flags) {
  NodeConfig config;
  config.flags = std::move(flags);
  if (configuration.has_registernode()) config.register_node = configuration.registernode();
  for (const kube::core::Taint& taint : configuration.registerwithtaints()) {
    config.taints.push_back({taint.key(), taint.value(), taint.effect()});
  }
  config.provider_id = configuration.providerid();
  if (configuration.has_enablecontrollerattachdetach()) {
    config.controller_attach_detach = configuration.enablecontrollerattachdetach();
  }
  if (configuration.has_localstoragecapacityisolation()) {
    config.local_storage_isolation = configuration.localstoragecapacityisolation();
  }
  if (configuration.has_port()) config.port = configuration.port();
  if (configuration.has_maxpods()) config.pods_max = configuration.maxpods();
  config.pods_per_core_max = configuration.podspercore();
  if (configuration.has_nodestatusmaximages()) {
    config.images_max = configuration.nodestatusmaximages();
  }
  if (const Status read = ReadReserved(configuration, config); !read) return read.error();
  if (const Status read = ReadPressure(configuration, config); !read) return read.error();
  if (const Status read = ReadIntervals(configuration, config); !read) return read.error();
  return config;
}

std::string_view GoArch() {
#if defined(__x86_64__)
  return "amd64";
#elif defined(__aarch64__)
  return "arm64";
#elif defined(__riscv)
  return "riscv64";
#elif defined(__powerpc64__)
  return "ppc64le";
#elif defined(__s390x__)
  return "s390x";
#else
#error "a name for this architecture is missing"
#endif
}

}  // namespace denselet::node
