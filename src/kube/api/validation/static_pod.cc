#include "kube/api/validation/static_pod.h"

#include <charconv>
#include <limits>

#include "kube/api/codec/codec.h"
#include "kube/api/validation/containers.h"
#include "kube/api/validation/env.h"
#include "kube/api/validation/metadata.h"
#include "kube/api/validation/pod_network.h"
#include "kube/api/validation/ports.h"
#include "kube/api/validation/resources.h"
#include "kube/api/validation/scheduling.h"
#include "kube/api/validation/security.h"
#include "kube/api/validation/selectors.h"
#include "kube/api/validation/volumes.h"
#include "kube/api/validation/windows.h"

namespace denselet::kube {
namespace {

bool IsDeletionCost(const std::string& text) {
  if (text.starts_with('+') || (text.starts_with('0') && text != "0")) return false;
  int32_t cost = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cost);
  return error == std::errc{} && end == text.data() + text.size();
}

// Where tolerations stood before they had a field.
void ValidateTolerationsAnnotation(const core::Pod& pod, const FieldPath& path, FaultList& out) {
  constexpr char kKey[] = "scheduler.alpha.kubernetes.io/tolerations";
  const auto& annotations = pod.metadata().annotations();
  const auto annotation = annotations.find(kKey);
  if (annotation == annotations.end() || annotation->second.empty()) return;
  core::PodSpec spec;
  const DecodeReport report = DecodeJson("{\"tolerations\":" + annotation->second + "}", spec);
  if (!report.ok()) return out.Invalid(path, kKey, report.ToStatus().error().message());
  ValidateTolerations(spec.tolerations(), path / kKey, out);
}

void ValidatePodAnnotations(const core::Pod& pod, const FieldPath& path, FaultList& out) {
  constexpr char kDeletionCost[] = "controller.kubernetes.io/pod-deletion-cost";
  const auto& annotations = pod.metadata().annotations();
  const auto mirror = annotations.find(std::string(kMirrorAnnotation));
  if (mirror != annotations.end() && pod.spec().nodename().empty()) {
    out.Invalid(path.Key(kMirrorAnnotation), mirror->second,
                "must set spec.nodeName if mirror pod annotation is set");
  }
  ValidateTolerationsAnnotation(pod, path, out);
  const auto cost = annotations.find(kDeletionCost);
  if (cost != annotations.end() && !IsDeletionCost(cost->second)) {
    out.Invalid(path.Key(kDeletionCost), cost->second, "must be a 32bit integer");
  }
  ValidateSecurityAnnotations(pod, path, out);
}

void ValidateRestartPolicy(const core::PodSpec& spec, const FieldPath& path, FaultList& out) {
  if (spec.restartpolicy().empty()) return out.Required(path);
  CheckSupported(path, spec.restartpolicy(), {"Always", "OnFailure", "Never"}, out);
}

void ValidatePreemptionPolicy(const core::PodSpec& spec, const FieldPath& path, FaultList& out) {
  if (!spec.has_preemptionpolicy()) return;
  if (spec.preemptionpolicy().empty()) return out.Required(path);
  CheckSupported(path, spec.preemptionpolicy(), {"PreemptLowerPriority", "Never"}, out);
}

// A name that may be left out.
void ValidateSubdomain(const std::string& name, const FieldPath& path, FaultList& out) {
  if (!name.empty()) out.Invalid(path, name, CheckDns1123Subdomain(name));
}

void ValidateLabel(const std::string& name, const FieldPath& path, FaultList& out) {
  if (!name.empty()) out.Invalid(path, name, CheckDns1123Label(name));
}

void ValidateDeadline(const core::PodSpec& spec, const FieldPath& path, FaultList& out) {
  constexpr int64_t kDeadlineMax = std::numeric_limits<int32_t>::max();
  const int64_t deadline = spec.activedeadlineseconds();
  if (!spec.has_activedeadlineseconds() || (deadline >= 1 && deadline <= kDeadlineMax)) return;
  out.Invalid(path, deadline, OutOfRange(1, kDeadlineMax));
}

// The parts of a spec that hang together.
void ValidateParts(PodParts& parts, const FieldPath& path, FaultList& out) {
  const core::PodSpec& spec = parts.spec();
  ValidateVolumes(parts, path / "volumes", out);
  for (const auto& claim : spec.resourceclaims()) {
    if (!claim.name().empty()) parts.claims.insert(claim.name());
  }
  ValidateResourceClaims(parts, path / "resourceClaims", out);
  ValidateContainers(parts, path, out);
  ValidatePodResources(parts, path, out);
}

void ValidateSpec(const core::Pod& pod, const FieldPath& path, FaultList& out) {
  const core::PodSpec& spec = pod.spec();
  PodParts parts{.pod = pod, .volumes = {}, .claims = {}};
  if (!spec.has_terminationgraceperiodseconds()) {
    out.Required(path / "terminationGracePeriodSeconds");
  }
  ValidateParts(parts, path, out);
  ValidateHostNetworkPorts(spec, path, out);
  ValidateRestartPolicy(spec, path / "restartPolicy", out);
  ValidateDnsPolicy(spec, path / "dnsPolicy", out);
  ValidateLabels(spec.nodeselector(), path / "nodeSelector", out);
  ValidatePodSecurityContext(spec, path / "securityContext", out);
  ValidateAffinity(spec.affinity(), path / "affinity", out);
  ValidateDnsConfig(spec, path / "dnsConfig", out);
  ValidateGates(spec, path, out);
  ValidateTopologySpread(spec, path / "topologySpreadConstraints", out);
  ValidateHostProcess(spec, path, out);
  ValidateHostUsers(parts, path, out);
  ValidateHostnameOverride(spec, path, out);
  ValidateSubdomain(spec.serviceaccountname(), path / "serviceAccountName", out);
  ValidateSubdomain(spec.nodename(), path / "nodeName", out);
  ValidateDeadline(spec, path / "activeDeadlineSeconds", out);
  ValidateLabel(spec.hostname(), path / "hostname", out);
  ValidateLabel(spec.subdomain(), path / "subdomain", out);
  ValidateTolerations(spec.tolerations(), path / "tolerations", out);
  ValidateHostAliases(spec, path / "hostAliases", out);
  ValidateSubdomain(spec.priorityclassname(), path / "priorityClassName", out);
  if (spec.has_runtimeclassname()) {
    out.Invalid(path / "runtimeClassName", spec.runtimeclassname(),
                CheckDns1123Subdomain(spec.runtimeclassname()));
  }
  ValidatePreemptionPolicy(spec, path / "preemptionPolicy", out);
  ValidateOverhead(spec.overhead(), path / "overhead", out);
  ValidateOs(spec, path, out);
  if (spec.has_schedulinggroup()) {
    ValidateSchedulingGroup(spec.schedulinggroup(), path / "schedulingGroup", out);
  }
  ValidateEnvFileVolumes(spec, path, out);
}

// Tokens are issued to an account.
void ForbidTokensWithoutAccount(const core::PodSpec& spec, const FieldPath& path, FaultList& out) {
  if (!spec.serviceaccountname().empty()) return;
  for (int i = 0; i < spec.volumes_size(); ++i) {
    const auto& sources = spec.volumes(i).volumesource().projected().sources();
    for (int j = 0; j < sources.size(); ++j) {
      if (!sources[j].has_serviceaccounttoken()) continue;
      out.Forbidden(((path / "volumes")[i] / "projected" / "sources")[j] / "serviceAccountToken",
                    "must not be specified when serviceAccountName is not set");
    }
  }
}

// What a pod may get later, but not begin with.
void ValidateCreation(const core::Pod& pod, const FieldPath& path, FaultList& out) {
  const core::PodSpec& spec = pod.spec();
  if (!spec.ephemeralcontainers().empty()) {
    out.Forbidden(path / "ephemeralContainers", "cannot be set on create");
  }
  if (!spec.nodename().empty() && !spec.schedulinggates().empty()) {
    out.Forbidden(path / "nodeName", "cannot be set until all schedulingGates have been cleared");
  }
}

}  // namespace

std::vector<Fault> ValidateStaticPod(const core::Pod& pod) {
  FaultList out;
  const FieldPath metadata("metadata");
  const FieldPath spec("spec");
  ValidateMetadata(pod.metadata(), metadata, out);
  ValidatePodAnnotations(pod, metadata / "annotations", out);
  ValidateSpec(pod, spec, out);
  ForbidTokensWithoutAccount(pod.spec(), spec, out);
  ValidateImages(pod.spec(), spec, out);
  ValidateCreation(pod, spec, out);
  ValidateSecurityAnnotationsMatch(pod, spec, out);
  if (!out.empty()) return out.Take();
  const auto refusal = RefuseApiReferences(pod);
  if (!refusal) return {};
  return {{.path = "", .line = 0, .message = *refusal}};
}

}  // namespace denselet::kube
