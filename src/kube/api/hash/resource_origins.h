// Where the quantities of a pod's resources came from: the manifest, or defaulting, which copies
// and adds them up. The hash of a static pod depends on how Go came to a quantity, not only on its
// value.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "kube/api/hash/go_quantity.h"
#include "kube/api/hash/manifest.h"

namespace denselet::kube {

enum class ResourceSide : uint8_t { kLimits, kRequests };

// Nothing: neither the manifest nor defaulting explains it.
using FoundQuantity = Result<std::optional<GoQuantity>>;

// As the manifest has it; `null`, or nothing at all, is the zero value.
Result<GoQuantity> QuantityAt(ManifestPlace place);

// Of a container's `resources`: a request that is not written is the limit.
FoundQuantity ContainerQuantity(ManifestPlace resources, ResourceSide side, std::string_view name);

// Of the pod's own `resources`: a request that is not written is what the containers request, or
// the limit; a limit of huge pages is what the containers have.
FoundQuantity PodQuantity(ManifestPlace spec, ResourceSide side, std::string_view name);

}  // namespace denselet::kube
