#include "sync/spec/resource_spec.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "kube/api/types.h"
#include "kube/api/values/quantity.h"
#include "sync/spec/pod_traits.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;
using kube::Quantity;
using List = google::protobuf::Map<std::string, kube::resource::Quantity>;

constexpr int64_t kGuaranteedScore = -997;
constexpr int64_t kBestEffortScore = 1000;

// Nothing: not listed. What cannot be read counts as zero: validation does not let it through.
std::optional<Quantity> Get(const List& list, std::string_view name) {
  const auto found = list.find(std::string(name));
  if (found == list.end()) return std::nullopt;
  const auto quantity = Quantity::Parse(found->second.string());
  return quantity ? *quantity : Quantity();
}

Quantity Amount(const List& list, std::string_view name) {
  return Get(list, name).value_or(Quantity());
}

enum class Kind : uint8_t { kRequests, kLimits };

const List& ListOf(const core::ResourceRequirements& resources, Kind kind) {
  return kind == Kind::kRequests ? resources.requests() : resources.limits();
}

void Add(std::optional<Quantity>& sum, const std::optional<Quantity>& more) {
  if (more) sum = sum.value_or(Quantity()) + *more;
}

void Raise(std::optional<Quantity>& most, const std::optional<Quantity>& other) {
  if (other && (!most || *most < *other)) most = other;
}

// Of all containers as they run beside and after each other.
std::optional<Quantity> OfContainers(const core::PodSpec& spec, std::string_view name, Kind kind) {
  std::optional<Quantity> running;
  for (const auto& c : spec.containers()) Add(running, Get(ListOf(c.resources(), kind), name));
  std::optional<Quantity> sidecars;
  std::optional<Quantity> initializing;
  for (const auto& c : spec.initcontainers()) {
    const auto own = Get(ListOf(c.resources(), kind), name);
    if (IsSidecar(c)) {
      Add(running, own);
      Add(sidecars, own);
      Raise(initializing, sidecars);
    } else {
      std::optional<Quantity> now = own;
      Add(now, sidecars);
      Raise(initializing, now);
    }
  }
  Raise(running, initializing);
  return running;
}

// The pod's own word wins.
std::optional<Quantity> OfPod(const core::PodSpec& spec, std::string_view name, Kind kind) {
  if (spec.has_resources()) {
    if (auto own = Get(ListOf(spec.resources(), kind), name)) return own;
  }
  return OfContainers(spec, name, kind);
}

// A container's limit, or the pod's where it has none.
Quantity LimitOf(const core::Pod& pod, const core::Container& container, std::string_view name) {
  const Quantity own = Amount(container.resources().limits(), name);
  if (!own.IsZero() || !HasPodResources(pod)) return own;
  return Amount(pod.spec().resources().limits(), name);
}

LinuxResources Calculate(const std::optional<Quantity>& cpu_request, const Quantity& cpu_limit,
                         const Quantity& memory_limit, bool no_quota, const SpecNode& node) {
  LinuxResources out;
  out.cpu_shares = CpuShares(cpu_request ? cpu_request->Milli() : cpu_limit.Milli());
  if (memory_limit.Units() != 0) out.memory_limit_bytes = memory_limit.Units();
  if (node.cpu_cfs_quota) {
    out.cpu_period_us = node.cpu_cfs_period_us;
    const int64_t quota = no_quota ? -1 : CpuQuota(cpu_limit.Milli(), node.cpu_cfs_period_us);
    if (quota != 0) out.cpu_quota_us = quota;
  }
  if (node.cgroup_v2 && !node.single_process_oom_kill) out.unified = {{"memory.oom.group", "1"}};
  return out;
}

// "hugepages-2Mi" to "2MB", as the kernel's cgroup files are called.
std::string PageSize(std::string_view resource) {
  const auto size = Quantity::Parse(resource.substr(std::string_view("hugepages-").size()));
  if (!size) return {};
  constexpr std::array<std::string_view, 5> kUnits{"B", "KB", "MB", "GB", "TB"};
  int64_t number = size->Units();
  size_t unit = 0;
  while (number >= 1024 && unit + 1 < kUnits.size()) {
    number /= 1024;
    ++unit;
  }
  return std::to_string(number) + std::string(kUnits.at(unit));
}

void SetPages(const List& limits, std::vector<HugepageLimit>& pages) {
  for (HugepageLimit& page : pages) {
    for (const auto* entry : kube::Sorted(limits)) {
      if (!entry->first.starts_with("hugepages-") || PageSize(entry->first) != page.page_size)
        continue;
      page.bytes =
          static_cast<uint64_t>(std::max<int64_t>(Amount(limits, entry->first).Units(), 0));
    }
  }
}

std::vector<HugepageLimit> Pages(const core::Pod& pod, const core::Container& container,
                                 const SpecNode& node) {
  std::vector<HugepageLimit> pages;
  for (const std::string& size : node.hugepage_sizes) pages.push_back({.page_size = size});
  if (HasPodResources(pod)) SetPages(pod.spec().resources().limits(), pages);
  SetPages(container.resources().limits(), pages);
  return pages;
}

bool MaySwap(const core::Pod& pod, const core::Container& container, const SpecNode& node) {
  const Quantity request = Amount(container.resources().requests(), "memory");
  const Quantity limit = Amount(container.resources().limits(), "memory");
  return node.limited_swap && node.cgroup_v2 && !IsCriticalPod(pod) &&
         QosOf(pod) == QosClass::kBurstable && !(request.IsZero() && limit.IsZero()) &&
         request != limit;
}

void SetSwap(const core::Pod& pod, const core::Container& container, const SpecNode& node,
             LinuxResources& out) {
  if (!node.swap_controller) return;
  if (!node.cgroup_v2) {
    out.memory_swap_limit_bytes = out.memory_limit_bytes;
    return;
  }
  int64_t swap = 0;
  const int64_t request = Amount(container.resources().requests(), "memory").Units();
  if (MaySwap(pod, container, node) && node.memory_capacity_bytes > 0 &&
      request <= node.memory_capacity_bytes) {
    swap = static_cast<int64_t>(static_cast<double>(request) /
                                static_cast<double>(node.memory_capacity_bytes) *
                                static_cast<double>(node.swap_capacity_bytes));
  }
  out.unified.emplace_back("memory.swap.max", std::to_string(swap));
}

// What the pod asked for and gave to no container, for each of them.
int64_t ShareOfPodMemory(const core::PodSpec& spec) {
  const int64_t own = Amount(spec.resources().requests(), "memory").Units();
  if (own == 0) return 0;
  const auto given = OfContainers(spec, "memory", Kind::kRequests);
  return (own - given.value_or(Quantity()).Units()) /
         (spec.containers_size() + spec.initcontainers_size());
}

int64_t LeastRegularMemory(const core::PodSpec& spec) {
  std::optional<int64_t> least;
  for (const auto& c : spec.containers()) {
    const int64_t own = Amount(c.resources().requests(), "memory").Units();
    least = std::min(least.value_or(own), own);
  }
  return least.value_or(0);
}

QosClass QosFrom(const std::array<Quantity, 2>& requests, const std::array<Quantity, 2>& limits,
                 bool all_limited) {
  const auto zero = [](const std::array<Quantity, 2>& list) {
    return list[0].IsZero() && list[1].IsZero();
  };
  if (zero(requests) && zero(limits)) return QosClass::kBestEffort;
  return all_limited && requests == limits ? QosClass::kGuaranteed : QosClass::kBurstable;
}

constexpr std::array<std::string_view, 2> kQosResources{"cpu", "memory"};

// True: both are limited.
bool AddQos(const core::ResourceRequirements& resources, std::array<Quantity, 2>& requests,
            std::array<Quantity, 2>& limits) {
  bool both = true;
  for (size_t i = 0; i < kQosResources.size(); ++i) {
    const Quantity request = Amount(resources.requests(), kQosResources.at(i));
    const Quantity limit = Amount(resources.limits(), kQosResources.at(i));
    if (request.Sign() > 0) requests.at(i) += request;
    if (limit.Sign() > 0) limits.at(i) += limit;
    both &= limit.Sign() > 0;
  }
  return both;
}

}  // namespace

QosClass QosOf(const core::Pod& pod) {
  const std::string& said = pod.status().qosclass();
  if (said == "Guaranteed") return QosClass::kGuaranteed;
  if (said == "Burstable") return QosClass::kBurstable;
  if (said == "BestEffort") return QosClass::kBestEffort;
  std::array<Quantity, 2> requests;
  std::array<Quantity, 2> limits;
  if (pod.spec().has_resources()) {
    const bool both = AddQos(pod.spec().resources(), requests, limits);
    return QosFrom(requests, limits, both || pod.spec().resources().limits().empty());
  }
  bool all = true;
  for (const auto& c : pod.spec().containers()) all &= AddQos(c.resources(), requests, limits);
  for (const auto& c : pod.spec().initcontainers()) all &= AddQos(c.resources(), requests, limits);
  return QosFrom(requests, limits, all);
}

int64_t CpuShares(int64_t milli_cpu) {
  constexpr int64_t kLeast = 2;
  constexpr int64_t kMost = 262'144;
  if (milli_cpu <= 0) return kLeast;
  if (milli_cpu > kMost * 1000 / 1024) return kMost;
  return std::clamp(milli_cpu * 1024 / 1000, kLeast, kMost);
}

int64_t CpuQuota(int64_t milli_cpu, int64_t period_us) {
  constexpr int64_t kLeastUs = 1000;
  if (milli_cpu == 0) return 0;
  return std::max(milli_cpu * period_us / 1000, kLeastUs);
}

int64_t OomScoreAdj(const core::Pod& pod, const core::Container& container,
                    int64_t memory_capacity_bytes) {
  if (IsNodeCriticalPod(pod)) return kGuaranteedScore;
  switch (QosOf(pod)) {
    case QosClass::kGuaranteed:
      return kGuaranteedScore;
    case QosClass::kBestEffort:
      return kBestEffortScore;
    case QosClass::kBurstable:
      break;
  }
  const auto score = [&](int64_t memory) {
    return 1000 - 1000 * memory / std::max<int64_t>(memory_capacity_bytes, 1);
  };
  const int64_t share =
      pod.spec().resources().requests().empty() ? 0 : ShareOfPodMemory(pod.spec());
  int64_t value = score(Amount(container.resources().requests(), "memory").Units() + share);
  if (IsSidecarOf(pod, container.name())) {
    value = std::min(value, score(LeastRegularMemory(pod.spec()) + share));
  }
  if (value < 1000 + kGuaranteedScore) return 1000 + kGuaranteedScore;
  return value == kBestEffortScore ? value - 1 : value;
}

LinuxResources ContainerResources(const core::Pod& pod, const core::Container& container,
                                  const SpecNode& node, const SpecContainer& facts) {
  LinuxResources out =
      Calculate(Get(container.resources().requests(), "cpu"), LimitOf(pod, container, "cpu"),
                LimitOf(pod, container, "memory"), facts.exclusive_cpus, node);
  out.oom_score_adj = OomScoreAdj(pod, container, node.memory_capacity_bytes);
  out.hugepages = Pages(pod, container, node);
  out.cpuset_cpus = facts.cpuset_cpus;
  out.cpuset_mems = facts.cpuset_mems;
  SetSwap(pod, container, node, out);
  return out;
}

LinuxResources SandboxResources(const core::Pod& pod, const SpecNode& node, const SpecPod& facts) {
  const core::PodSpec& spec = pod.spec();
  return Calculate(
      OfPod(spec, "cpu", Kind::kRequests), OfPod(spec, "cpu", Kind::kLimits).value_or(Quantity()),
      OfPod(spec, "memory", Kind::kLimits).value_or(Quantity()), facts.exclusive_cpus, node);
}

LinuxResources OverheadResources(const core::Pod& pod, const SpecNode& node) {
  if (pod.spec().overhead().empty()) return {};
  const Quantity cpu = Amount(pod.spec().overhead(), "cpu");
  return Calculate(cpu, cpu, Amount(pod.spec().overhead(), "memory"), false, node);
}

}  // namespace denselet::sync
