// metadata of a pod: name, labels, annotations, owners, finalizers.
#pragma once

#include "kube/api/types.h"
#include "kube/api/validation/fault_list.h"

namespace denselet::kube {

void ValidateMetadata(const meta::ObjectMeta& metadata, const FieldPath& path, FaultList& out);

// Of a template for objects that are made later: only labels and annotations may be set.
void ValidateTemplateMetadata(const meta::ObjectMeta& metadata, const FieldPath& path,
                              FaultList& out);

}  // namespace denselet::kube
