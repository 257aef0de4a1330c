#include "kube/api/validation/pod_parts.h"

namespace denselet::kube {

core::Container ToContainer(const core::EphemeralContainer& container) {
  core::Container same;
  same.ParsePartialFromString(container.ephemeralcontainercommon().SerializePartialAsString());
  return same;
}

void ForEachContainer(const core::PodSpec& spec, const FieldPath& spec_path,
                      const std::function<void(const core::Container&, const FieldPath&)>& call) {
  for (int i = 0; i < spec.initcontainers_size(); ++i) {
    call(spec.initcontainers(i), (spec_path / "initContainers")[i]);
  }
  for (int i = 0; i < spec.containers_size(); ++i) {
    call(spec.containers(i), (spec_path / "containers")[i]);
  }
  for (int i = 0; i < spec.ephemeralcontainers_size(); ++i) {
    call(ToContainer(spec.ephemeralcontainers(i)), (spec_path / "ephemeralContainers")[i]);
  }
}

void CheckNonnegative(const FieldPath& path, int64_t value, FaultList& out) {
  if (value < 0) out.Invalid(path, value, kNegative);
}

}  // namespace denselet::kube
