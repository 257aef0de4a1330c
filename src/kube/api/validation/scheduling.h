// What the scheduler reads of a pod: affinity, tolerations, spread, gates. A static pod never meets
// it, but is shown by it.
#pragma once

#include "kube/api/validation/pod_parts.h"

namespace denselet::kube {

void ValidateAffinity(const core::Affinity& affinity, const FieldPath& path, FaultList& out);
void ValidateTolerations(const google::protobuf::RepeatedPtrField<core::Toleration>& tolerations,
                         const FieldPath& path, FaultList& out);
void ValidateTopologySpread(const core::PodSpec& spec, const FieldPath& path, FaultList& out);
void ValidateGates(const core::PodSpec& spec, const FieldPath& spec_path, FaultList& out);
void ValidateSchedulingGroup(const core::PodSchedulingGroup& group, const FieldPath& path,
                             FaultList& out);

// Keys whose values are taken from the pod's own labels.
template <class Keys>
void ValidateLabelKeys(const Keys& keys, bool has_selector, const FieldPath& path, FaultList& out) {
  if (keys.empty()) return;
  if (!has_selector) {
    return out.Forbidden(path, "must not be specified when labelSelector is not set");
  }
  for (int i = 0; i < keys.size(); ++i) out.Invalid(path[i], keys[i], CheckQualifiedName(keys[i]));
}

// A key must not be in the selector twice: once written, once from the pod's labels.
void ValidateKeysNotInSelector(const google::protobuf::RepeatedPtrField<std::string>& keys,
                               const meta::LabelSelector& selector, const FieldPath& path,
                               FaultList& out);

}  // namespace denselet::kube
