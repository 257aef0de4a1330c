// The two patches that a node agent sends again and again: of a pod's status and of its node's.
// Both go to the subresource "status" with kStrategicPatchContentType.
//
// Pure functions, on any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/api/fwd.h"

namespace denselet::kube {

// The pod's uid stands in the patch: a pod of the same name that came in its place refuses it. So
// does the version that the patch starts from, if it is given: then of two patches that are under
// way only one can be taken, whatever becomes of them on the way. Nothing: the statuses are the
// same.
Result<std::optional<std::string>> MakePodStatusPatch(std::string_view uid,
                                                      const core::PodStatus& before,
                                                      const core::PodStatus& after,
                                                      std::string_view resource_version = {});

// Also what changed in the metadata (annotations, labels); never the spec. Addresses that changed
// are replaced whole: the type says that they are merged by their type, of which there may be
// several. Nothing: the nodes are the same.
Result<std::optional<std::string>> MakeNodeStatusPatch(const core::Node& before,
                                                       const core::Node& after);

}  // namespace denselet::kube
