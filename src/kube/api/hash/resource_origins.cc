#include "kube/api/hash/resource_origins.h"

#include <utility>

namespace denselet::kube {
namespace {

std::string_view NameOf(ResourceSide side) {
  return side == ResourceSide::kLimits ? "limits" : "requests";
}

std::string_view WithoutBlanks(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

FoundQuantity Written(ManifestPlace place) {
  auto quantity = QuantityAt(place);
  if (!quantity) return quantity.error();
  return std::optional<GoQuantity>(*std::move(quantity));
}

using MaybeQuantity = std::optional<GoQuantity>;

void AddTo(MaybeQuantity& sum, const MaybeQuantity& addend) {
  if (!addend) return;
  if (sum) {
    sum->Add(*addend);
  } else {
    sum = addend;
  }
}

void RaiseTo(MaybeQuantity& most, MaybeQuantity other) {
  if (!other) return;
  if (!most || other->CompareAndConvert(*most) > 0) most = std::move(other);
}

// What all containers together take: an init container adds to the sidecars before it.
FoundQuantity OfAllContainers(ManifestPlace spec, ResourceSide side, std::string_view name) {
  MaybeQuantity all, sidecars, init_most;
  for (const ManifestPlace& container : spec.Field("containers").Elements()) {
    const auto quantity = ContainerQuantity(container.Field("resources"), side, name);
    if (!quantity) return quantity.error();
    AddTo(all, *quantity);
  }
  for (const ManifestPlace& container : spec.Field("initContainers").Elements()) {
    auto quantity = ContainerQuantity(container.Field("resources"), side, name);
    if (!quantity) return quantity.error();
    if (container.Field("restartPolicy").Text() == "Always") {
      AddTo(all, *quantity);
      AddTo(sidecars, *quantity);
      RaiseTo(init_most, sidecars);
    } else {
      MaybeQuantity use = *std::move(quantity);
      AddTo(use, sidecars);
      RaiseTo(init_most, std::move(use));
    }
  }
  RaiseTo(all, std::move(init_most));
  return all;
}

}  // namespace

Result<GoQuantity> QuantityAt(ManifestPlace place) {
  const auto text = place.Text();
  if (!text) return GoQuantity();
  return GoQuantity::Parse(WithoutBlanks(*text));
}

FoundQuantity ContainerQuantity(ManifestPlace resources, ResourceSide side, std::string_view name) {
  const ManifestPlace own = resources.Field(NameOf(side)).Field(name);
  if (own.IsWritten()) return Written(own);
  if (side == ResourceSide::kLimits) return MaybeQuantity();
  return ContainerQuantity(resources, ResourceSide::kLimits, name);
}

FoundQuantity PodQuantity(ManifestPlace spec, ResourceSide side, std::string_view name) {
  const ManifestPlace own = spec.Field("resources").Field(NameOf(side)).Field(name);
  if (own.IsWritten()) return Written(own);
  if (side == ResourceSide::kLimits) return OfAllContainers(spec, side, name);
  if (!name.starts_with("hugepages-")) {
    auto requested = OfAllContainers(spec, side, name);
    if (!requested || requested->has_value()) return requested;
  }
  return PodQuantity(spec, ResourceSide::kLimits, name);
}

}  // namespace denselet::kube
