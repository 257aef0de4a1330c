#include "kube/api/hash/internal_conversion.h"

#include "kube/api/types.h"

namespace denselet::kube {
namespace {

// Of before init containers were fields: dropped wherever they come.
constexpr const char* kInitContainerAnnotations[] = {
    "pod.beta.kubernetes.io/init-containers",
    "pod.alpha.kubernetes.io/init-containers",
    "pod.beta.kubernetes.io/init-container-statuses",
    "pod.alpha.kubernetes.io/init-container-statuses",
};

}  // namespace

void ApplyInternalConversion(core::Pod& pod) {
  for (const char* annotation : kInitContainerAnnotations) {
    if (pod.has_metadata()) pod.mutable_metadata()->mutable_annotations()->erase(annotation);
  }
  core::PodSpec& spec = *pod.mutable_spec();
  if (spec.serviceaccountname().empty()) spec.set_serviceaccountname(spec.serviceaccount());
  if (spec.terminationgraceperiodseconds() < 0) spec.set_terminationgraceperiodseconds(1);
  spec.mutable_securitycontext();  // the namespaces of the host are in there

  core::PodStatus& status = *pod.mutable_status();
  if (status.podip().empty()) return;
  if (status.podips_size() == 0 || status.podips(0).ip() != status.podip()) {
    status.clear_podips();
    status.add_podips()->set_ip(status.podip());
  }
}

}  // namespace denselet::kube
