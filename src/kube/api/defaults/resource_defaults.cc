#include "kube/api/defaults/resource_defaults.h"

#include <cstdint>
#include <limits>

#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "kube/api/values/quantity.h"

namespace denselet::kube {
namespace {

constexpr std::string_view kHugePagesPrefix = "hugepages-";

bool IsHugePages(std::string_view name) { return name.starts_with(kHugePagesPrefix); }

bool IsPodLevelResource(std::string_view name) {
  return name == "cpu" || name == "memory" || IsHugePages(name);
}

using Texts = ResourceTexts;

Texts ToTexts(const ResourceMap& list) {
  Texts texts;
  for (const auto* entry : Sorted(list)) texts.emplace(entry->first, entry->second.string());
  return texts;
}

// One that came over the wire may be no quantity: it counts as zero, and validation names it.
Quantity Parse(const std::string& text) {
  const auto parsed = Quantity::Parse(text);
  return parsed ? *parsed : Quantity();
}

void Add(Texts& into, const Texts& more) {
  for (const auto& [name, text] : more) {
    const auto [at, is_new] = into.emplace(name, text);
    if (!is_new) at->second = (Parse(at->second) + Parse(text)).ToString();
  }
}

void Raise(Texts& into, const Texts& least) {
  for (const auto& [name, text] : least) {
    const auto [at, is_new] = into.emplace(name, text);
    if (!is_new && Parse(text) > Parse(at->second)) at->second = text;
  }
}

enum class Side : uint8_t { kLimits, kRequests };

Texts TextsOf(const core::Container& container, Side side) {
  const auto& resources = container.resources();
  return ToTexts(side == Side::kLimits ? resources.limits() : resources.requests());
}

Texts Aggregate(const core::PodSpec& spec, Side side) {
  Texts total;
  for (const auto& container : spec.containers()) Add(total, TextsOf(container, side));
  Texts sidecars;
  Texts init_most;
  for (const auto& container : spec.initcontainers()) {
    Texts texts = TextsOf(container, side);
    if (container.restartpolicy() == "Always") {
      Add(total, texts);
      Add(sidecars, texts);
      Raise(init_most, sidecars);
    } else {
      Add(texts, sidecars);
      Raise(init_most, texts);
    }
  }
  Raise(total, init_most);
  return total;
}

void SetIfAbsent(ResourceMap& list, const std::string& name, const std::string& text) {
  if (list.contains(name)) return;
  list[name].set_string(text);
}

// Huge pages cannot be overcommitted: the pod's limit is what its containers may take.
void SetHugePagesLimits(core::PodSpec& spec) {
  auto& resources = *spec.mutable_resources();
  if (resources.limits().empty() && resources.requests().empty()) return;
  for (const auto& [name, text] : Aggregate(spec, Side::kLimits)) {
    if (!IsHugePages(name) || resources.requests().contains(name)) continue;
    SetIfAbsent(*resources.mutable_limits(), name, text);
  }
}

void SetPodRequests(core::PodSpec& spec) {
  auto& resources = *spec.mutable_resources();
  if (resources.limits().empty()) return;
  auto& requests = *resources.mutable_requests();
  for (const auto& [name, text] : Aggregate(spec, Side::kRequests)) {
    if (IsPodLevelResource(name) && !IsHugePages(name)) SetIfAbsent(requests, name, text);
  }
  for (const auto* entry : Sorted(resources.limits())) {
    if (IsPodLevelResource(entry->first)) {
      SetIfAbsent(requests, entry->first, entry->second.string());
    }
  }
}

}  // namespace

ResourceTexts AggregateContainerRequests(const core::PodSpec& spec) {
  return Aggregate(spec, Side::kRequests);
}

ResourceTexts AggregateContainerLimits(const core::PodSpec& spec) {
  return Aggregate(spec, Side::kLimits);
}

void RoundToMilli(ResourceMap& list) {
  for (const auto* entry : Sorted(list)) {
    const auto quantity = Quantity::Parse(entry->second.string());
    if (!quantity) continue;
    const int64_t milli = quantity->Milli();
    const bool held =
        milli < std::numeric_limits<int64_t>::max() && milli > std::numeric_limits<int64_t>::min();
    const Quantity rounded = Quantity::FromMilli(milli, quantity->format());
    if (held && rounded != *quantity) list[entry->first].set_string(rounded.ToString());
  }
}

void SetRequestsFromLimits(ResourceMap& requests, const ResourceMap& limits) {
  for (const auto* entry : Sorted(limits)) {
    SetIfAbsent(requests, entry->first, entry->second.string());
  }
}

void SetPodLevelDefaults(core::PodSpec& spec) {
  if (!spec.has_resources()) return;
  SetHugePagesLimits(spec);
  SetPodRequests(spec);
}

}  // namespace denselet::kube
