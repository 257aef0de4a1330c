#include "sync/status/status_resources.h"

#include <map>
#include <optional>
#include <string>

#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "kube/api/values/quantity.h"
#include "sync/spec/pod_traits.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;
using kube::Quantity;
using List = google::protobuf::Map<std::string, kube::resource::Quantity>;

// Below these the kernel cannot go: an allocated value that is as small is shown as it was asked
// for.
constexpr int64_t kCpuRequestMilliMin = 2;
constexpr int64_t kCpuLimitMilliMin = 10;

Quantity Parsed(const kube::resource::Quantity& text) {
  const auto quantity = Quantity::Parse(text.string());
  return quantity ? *quantity : Quantity();
}

void Set(List& list, const char* name, const Quantity& value) {
  list[name].set_string(value.ToString());
}

std::optional<int64_t> CpuLimitMilli(const ObservedResources& seen) {
  if (seen.cpu_period_us.value_or(0) <= 0 || seen.cpu_quota_us.value_or(-1) <= 0) return {};
  const int64_t milli = *seen.cpu_quota_us * 1000 / *seen.cpu_period_us;
  return milli > 0 ? std::optional(milli) : std::nullopt;
}

std::optional<int64_t> CpuRequestMilli(const ObservedResources& seen) {
  const int64_t shares = seen.cpu_shares.value_or(0);
  if (shares < 2) return {};
  return (shares * 1000 + 1023) / 1024;
}

// What runs, over what was allocated.
class Running {
 public:
  Running(const ObservedContainer& seen, const core::ContainerStatus* old)
      : seen_(seen.resources.value_or(ObservedResources())), old_(old) {}

  void Limits(List& limits) const {
    const List* before = old_ ? &old_->resources().limits() : nullptr;
    Cpu(CpuLimitMilli(seen_), kCpuLimitMilliMin, before, limits);
    if (seen_.memory_limit_bytes.value_or(0) > 0) {
      Set(limits, "memory",
          Quantity::FromUnits(*seen_.memory_limit_bytes, Quantity::Format::kBinarySi));
    } else {
      Keep("memory", before, limits);
    }
  }

  // The kernel does not know of memory requests.
  void Requests(List& requests) const {
    const List* before = old_ ? &old_->resources().requests() : nullptr;
    Cpu(CpuRequestMilli(seen_), kCpuRequestMilliMin, before, requests);
    Keep("memory", before, requests);
  }

 private:
  static void Cpu(const std::optional<int64_t>& milli, int64_t least, const List* before,
                  List& list) {
    if (!milli) return Keep("cpu", before, list);
    const auto asked = list.find("cpu");
    const int64_t asked_milli = asked == list.end() ? 0 : Parsed(asked->second).Milli();
    if (*milli > least || asked_milli > least) Set(list, "cpu", Quantity::FromMilli(*milli));
  }

  static void Keep(const char* name, const List* before, List& list) {
    if (!before) return;
    const auto found = before->find(name);
    if (found != before->end()) list[name] = found->second;
  }

  const ObservedResources seen_;
  const core::ContainerStatus* old_;  // of the same instance, or null
};

// ---- sums of pods

using Sums = std::map<std::string, Quantity>;

enum class Kind : uint8_t { kRequests, kLimits };

const List& ListOf(const core::ResourceRequirements& resources, Kind kind) {
  return kind == Kind::kRequests ? resources.requests() : resources.limits();
}

void Add(Sums& sums, const List& list) {
  for (const auto* entry : kube::Sorted(list)) {
    const auto [place, is_new] = sums.try_emplace(entry->first, Parsed(entry->second));
    if (!is_new) place->second += Parsed(entry->second);
  }
}

void Add(Sums& sums, const Sums& others) {
  for (const auto& [name, value] : others) {
    const auto [place, is_new] = sums.try_emplace(name, value);
    if (!is_new) place->second += value;
  }
}

void Raise(Sums& most, const Sums& others) {
  for (const auto& [name, value] : others) {
    const auto [place, is_new] = most.try_emplace(name, value);
    if (!is_new && place->second < value) place->second = value;
  }
}

Sums OfContainers(const core::PodSpec& spec, Kind kind) {
  Sums running;
  for (const auto& c : spec.containers()) Add(running, ListOf(c.resources(), kind));
  Sums sidecars;
  Sums initializing;
  for (const auto& c : spec.initcontainers()) {
    Sums now;
    if (IsSidecar(c)) {
      Add(running, ListOf(c.resources(), kind));
      Add(sidecars, ListOf(c.resources(), kind));
      now = sidecars;
    } else {
      Add(now, ListOf(c.resources(), kind));
      Add(now, sidecars);
    }
    Raise(initializing, now);
  }
  Raise(running, initializing);
  return running;
}

// The pod's own word wins; what the sandbox itself takes comes on top.
Sums OfPod(const core::PodSpec& spec, Kind kind) {
  Sums sums = OfContainers(spec, kind);
  for (const auto* own : kube::Sorted(ListOf(spec.resources(), kind))) {
    const std::string& name = own->first;
    if (name == "cpu" || name == "memory" || name.starts_with("hugepages-")) {
      sums.insert_or_assign(name, Parsed(own->second));
    }
  }
  if (kind == Kind::kRequests) {
    Add(sums, spec.overhead());
    return sums;
  }
  for (const auto* overhead : kube::Sorted(spec.overhead())) {
    const auto limit = sums.find(overhead->first);
    if (limit != sums.end() && !limit->second.IsZero()) limit->second += Parsed(overhead->second);
  }
  return sums;
}

void Write(const Sums& sums, List& list) {
  for (const auto& [name, value] : sums) list[name].set_string(value.ToString());
}

}  // namespace

core::ResourceRequirements ContainerResourcesStatus(const core::ResourceRequirements& allocated,
                                                    const ObservedContainer& seen,
                                                    const core::ContainerStatus* old,
                                                    const core::ContainerStatus& status) {
  core::ResourceRequirements resources = allocated;
  if (seen.state != ContainerState::kRunning) return resources;
  const bool same = old && old->state().has_running() && old->containerid() == status.containerid();
  const Running running(seen, same ? old : nullptr);
  if (!resources.limits().empty()) running.Limits(*resources.mutable_limits());
  if (!resources.requests().empty()) running.Requests(*resources.mutable_requests());
  return resources;
}

void SetPodResources(const core::Pod& pod, core::PodStatus& out) {
  const Sums requests = OfPod(pod.spec(), Kind::kRequests);
  Write(requests, *out.mutable_allocatedresources());
  core::ResourceRequirements& resources = *out.mutable_resources();
  *resources.mutable_claims() = pod.spec().resources().claims();
  Write(requests, *resources.mutable_requests());
  Write(OfPod(pod.spec(), Kind::kLimits), *resources.mutable_limits());
}

}  // namespace denselet::sync
