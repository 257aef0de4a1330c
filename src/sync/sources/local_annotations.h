// The annotations that the node itself puts on every pod that it takes on: where it came from and
// since when it is known. They are written into the pod's bytes, without parsing them.
#pragma once

#include <string_view>

#include "base/result.h"
#include "kube/api/pod/pod_at_rest.h"

namespace denselet::sync {

struct LocalAnnotations {
  std::string_view source;
  std::string_view seen;
  std::string_view mirror = {};  // empty: what stands in the pod stays
};

// kCorrupt: the pod's metadata cannot be read. kOverloaded: the pod is too large with them.
Result<kube::PodRef> WithAnnotations(const kube::PodAtRest& pod,
                                     const LocalAnnotations& annotations);

// The value of kubernetes.io/config.seen; empty when there is none.
std::string_view SeenAnnotation(const kube::PodAtRest& pod);

}  // namespace denselet::sync
