#include "sync/spec/unsupported_fields.h"

#include <string>

#include "base/quoted.h"
#include "kube/api/types.h"

namespace denselet::sync {
namespace {

constexpr size_t kShownMax = 256;  // bytes of a name in a message

Error Unsupported(const std::string& field) {
  return Error(ErrorCode::kUnsupported, field + " is not supported yet");
}

}  // namespace

Status CheckSupported(const kube::core::Pod& pod) {
  const kube::core::PodSpec& spec = pod.spec();
  // A sandbox of another handler: a virtual machine, say.
  if (!spec.runtimeclassname().empty()) {
    return Unsupported("runtimeClassName " + Quoted(spec.runtimeclassname(), kShownMax));
  }
  // Its root would be the node's.
  if (spec.has_hostusers() && !spec.hostusers()) {
    return Unsupported("a user namespace of the pod's own (hostUsers: false)");
  }
  if (spec.resourceclaims_size() > 0) {
    return Unsupported("resource claim " + Quoted(spec.resourceclaims(0).name(), kShownMax));
  }
  return Ok();
}

}  // namespace denselet::sync
