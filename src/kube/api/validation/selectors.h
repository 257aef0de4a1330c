// Labels, annotations, and selectors over labels.
#pragma once

#include <string>

#include "kube/api/types.h"
#include "kube/api/validation/fault_list.h"

namespace denselet::kube {

using TextMap = google::protobuf::Map<std::string, std::string>;

void ValidateLabels(const TextMap& labels, const FieldPath& path, FaultList& out);
void ValidateAnnotations(const TextMap& annotations, const FieldPath& path, FaultList& out);
void ValidateLabelSelector(const meta::LabelSelector& selector, const FieldPath& path,
                           FaultList& out);

// Together too large?
bool IsAnnotationsSizeExceeded(const TextMap& annotations);
inline constexpr int kAnnotationsSizeMax = 256 * 1024;

}  // namespace denselet::kube
