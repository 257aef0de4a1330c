// What the parts of a pod's validation share: the pod's parts by name, and a way over all
// containers. Like the other headers of this folder but static_pod.h, it takes the types whole and
// is for .cc files.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "kube/api/types.h"
#include "kube/api/validation/fault_list.h"
#include "kube/api/validation/field_path.h"
#include "kube/api/validation/names.h"

namespace denselet::kube {

inline constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";

struct PodParts {
  const core::Pod& pod;
  // Only those without a fault: a mount of another one is reported as not found, as upstream does.
  std::map<std::string, const core::VolumeSource*> volumes;
  std::set<std::string> claims;

  const core::PodSpec& spec() const { return pod.spec(); }
  bool host_users() const { return !spec().has_hostusers() || spec().hostusers(); }
};

// Both types have the same fields.
core::Container ToContainer(const core::EphemeralContainer& container);

// Init, regular, ephemeral ones.
void ForEachContainer(const core::PodSpec& spec, const FieldPath& spec_path,
                      const std::function<void(const core::Container&, const FieldPath&)>& call);

void CheckNonnegative(const FieldPath& path, int64_t value, FaultList& out);

}  // namespace denselet::kube
