// The hot fields of a pod, read from its bytes without parsing the rest.
#pragma once

#include <string_view>

#include "base/result.h"
#include "kube/api/pod/pod_at_rest.h"

namespace denselet::kube {

// Field numbers that more than one file knows.
inline constexpr uint32_t kPodMetadataField = 1;
inline constexpr uint32_t kMetadataManagedFieldsField = 17;

// Texts of the result are views into `wire`. kCorrupt: not the bytes of a pod.
Result<PodHotFields> ReadPodHotFields(std::string_view wire);

}  // namespace denselet::kube
