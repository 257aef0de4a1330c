// What containers and volumes may be told of their pod (the downward API): fields of its metadata,
// and what its containers asked for. In upstream's words where something cannot be had.
//
// Pure functions, on any thread.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/api/fwd.h"
#include "kube/api/values/quantity.h"

namespace denselet::kube {

// "metadata.name", "metadata.labels['app']", "metadata.annotations" (all of them, a line each).
// Fields of the specification and the status are for who knows the running pod: here kInvalid.
Result<std::string> PodField(const core::Pod& pod, std::string_view field_path);

// By resource: what is there for pods.
using NodeAllocatable = std::map<std::string, Quantity, std::less<>>;

// A request or limit of a container, in units of the divisor, rounded up. A limit that the
// container does not have is the node's. `container`: whom it is asked of if the selector names
// nobody.
Result<std::string> ResourceField(const core::Pod& pod, const core::ResourceFieldSelector& selector,
                                  std::string_view container, const NodeAllocatable& node);

}  // namespace denselet::kube
