#include "kube/api/validation/resources.h"

#include <limits>

#include "kube/api/codec/sorted.h"
#include "kube/api/values/quantity.h"

namespace denselet::kube {
namespace {

bool IsHugePages(std::string_view name) { return name.starts_with("hugepages-"); }

bool IsNative(std::string_view name) {
  return name.find('/') == name.npos || name.find("kubernetes.io/") != name.npos;
}

bool IsExtended(const std::string& name) {
  return !IsNative(name) && !name.starts_with("requests.") &&
         CheckQualifiedName("requests." + name).empty();
}

bool IsOvercommitAllowed(std::string_view name) { return IsNative(name) && !IsHugePages(name); }

bool IsCounted(std::string_view name) {
  return IsOneOf(name, {"pods", "resourcequotas", "services", "replicationcontrollers", "secrets",
                        "configmaps", "persistentvolumeclaims", "services.nodeports",
                        "services.loadbalancers"});
}

bool IsStandard(std::string_view name) {
  return IsCounted(name) || IsHugePages(name) || name.starts_with("requests.hugepages-") ||
         IsOneOf(name, {"cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory",
                        "requests.ephemeral-storage", "limits.cpu", "limits.memory",
                        "limits.ephemeral-storage", "storage", "requests.storage"});
}

Quantity Parse(const std::string& text) {
  const auto parsed = Quantity::Parse(text);
  return parsed ? *parsed : Quantity();
}

// What is beyond all numbers of units has no fraction either.
bool IsWhole(const Quantity& quantity) {
  const int64_t units = quantity.Units();
  if (units == std::numeric_limits<int64_t>::max()) return true;
  if (units == std::numeric_limits<int64_t>::min()) return true;
  return Quantity::FromUnits(units) == quantity;
}

enum class Level : uint8_t { kContainer, kPod };

bool ValidateName(const std::string& name, const FieldPath& path, FaultList& out) {
  const FaultValue value = FaultValue::Named(name);
  const NameFaults faults = CheckQualifiedName(name);
  out.Invalid(path, value, faults);
  if (!faults.empty()) return false;
  if (name.find('/') != name.npos || IsStandard(name)) return true;
  out.Invalid(path, value, "must be a standard resource type or fully qualified");
  return false;
}

void ValidateContainerName(const std::string& name, const FieldPath& path, FaultList& out) {
  ValidateName(name, path, out);
  const FaultValue value = FaultValue::Named(name);
  if (name.find('/') == name.npos) {
    if (!IsOneOf(name, {"cpu", "memory", "ephemeral-storage"}) && !IsHugePages(name)) {
      out.Invalid(path, value, "must be a standard resource for containers");
    }
  } else if (!IsNative(name) && !IsExtended(name)) {
    out.Invalid(path, value, "doesn't follow extended resource name standard");
  }
}

void ValidatePodName(const std::string& name, const FieldPath& path, FaultList& out) {
  if (!ValidateName(name, path, out)) return;
  if (name == "cpu" || name == "memory" || IsHugePages(name)) return;
  out.NotSupported(path, FaultValue::Named(name), {"cpu", "hugepages-", "memory"});
}

void ValidateHugePages(const std::string& name, const std::string& text, const FieldPath& path,
                       FaultList& out) {
  const auto size = Quantity::Parse(name.substr(std::string_view("hugepages-").size()));
  const bool whole = size && size->Sign() > 0 && IsWhole(*size);
  if (whole && Parse(text).Units() % size->Units() == 0) return;
  out.Invalid(path, text, text + " is not positive integer multiple of " + name);
}

void ValidateEntry(const std::string& name, const std::string& text, Level level,
                   const FieldPath& path, FaultList& out) {
  if (level == Level::kContainer)
    ValidateContainerName(name, path, out);
  else
    ValidatePodName(name, path, out);
  ValidateResourceValue(name, text, path, out);
}

void ValidateAgainstLimit(const std::string& name, const std::string& text,
                          const ResourceMap& limits, const FieldPath& path, FaultList& out) {
  const auto limit = limits.find(name);
  if (limit == limits.end()) {
    if (!IsOvercommitAllowed(name)) {
      out.Required(path / "limits", "Limit must be set for non overcommitable resources");
    }
    return;
  }
  const std::string& most = limit->second.string();
  if (Parse(text) != Parse(most) && !IsOvercommitAllowed(name)) {
    out.Invalid(path / "requests", text, "must be equal to " + name + " limit of " + most);
  } else if (Parse(text) > Parse(most)) {
    out.Invalid(path / "requests", text,
                "must be less than or equal to " + name + " limit of " + most);
  }
}

std::string JoinNames(const std::set<std::string>& names) {
  std::string joined;
  for (const std::string& name : names) joined.append(joined.empty() ? "" : ", ").append(name);
  return joined;
}

// A claim is used as a whole or by its requests, each once.
void ValidateClaim(const core::ResourceClaim& claim, std::set<std::string>& used,
                   const FieldPath& path, FaultList& out) {
  if (used.contains(claim.name())) return out.Duplicate(path, claim.name());
  std::string key = claim.name();
  if (!claim.request().empty()) {
    out.Invalid(path / "request", claim.request(), CheckDns1123Label(claim.request()));
    key += "/" + claim.request();
  }
  if (used.contains(key)) {
    out.Duplicate(path, key);
  } else if (claim.request().empty()) {
    for (const std::string& other : used) {
      if (other.starts_with(claim.name() + "/")) out.Duplicate(path, claim.name());
    }
  }
  used.insert(key);
}

void ValidateClaims(const core::ResourceRequirements& resources,
                    const std::set<std::string>& pod_claims, const FieldPath& path,
                    FaultList& out) {
  std::set<std::string> used;
  for (int i = 0; i < resources.claims_size(); ++i) {
    const auto& claim = resources.claims(i);
    if (claim.name().empty()) {
      out.Required(path[i]);
      continue;
    }
    ValidateClaim(claim, used, path[i], out);
    if (pod_claims.contains(claim.name())) continue;
    out.NotFound(path[i], claim.name(),
                 "must be one of the names in pod.spec.resourceClaims" +
                     (pod_claims.empty() ? " which is empty" : ": " + JoinNames(pod_claims)));
  }
}

void ValidateRequirements(const core::ResourceRequirements& resources,
                          const std::set<std::string>& pod_claims, Level level,
                          const FieldPath& path, FaultList& out) {
  bool huge_pages = false;
  bool compute = false;
  const auto note = [&](const std::string& name, const std::string& text, const FieldPath& at) {
    if (IsHugePages(name)) ValidateHugePages(name, text, at, out);
    huge_pages = huge_pages || IsHugePages(name);
    compute = compute || name == "cpu" || name == "memory";
  };
  for (const auto* limit : Sorted(resources.limits())) {
    const FieldPath at = (path / "limits").Key(limit->first);
    ValidateEntry(limit->first, limit->second.string(), level, at, out);
    note(limit->first, limit->second.string(), at);
  }
  for (const auto* request : Sorted(resources.requests())) {
    const FieldPath at = (path / "requests").Key(request->first);
    ValidateEntry(request->first, request->second.string(), level, at, out);
    ValidateAgainstLimit(request->first, request->second.string(), resources.limits(), path, out);
    note(request->first, request->second.string(), at);
  }
  if (huge_pages && !compute) out.Forbidden(path, "HugePages require cpu or memory");
  ValidateClaims(resources, pod_claims, path / "claims", out);
}

void ValidateAggregates(const core::PodSpec& spec, const FieldPath& path, FaultList& out) {
  const auto& resources = spec.resources();
  for (const auto& [name, text] : AggregateContainerRequests(spec)) {
    const auto pod = resources.requests().find(name);
    if (pod == resources.requests().end() || Parse(text) <= Parse(pod->second.string())) continue;
    out.Invalid((path / "requests").Key(name), pod->second.string(),
                "must be greater than or equal to aggregate container requests of " + text);
  }
  for (const auto& [name, text] : AggregateContainerLimits(spec)) {
    const auto pod = resources.limits().find(name);
    if (!IsHugePages(name) || pod == resources.limits().end()) continue;
    if (Parse(text) <= Parse(pod->second.string())) continue;
    out.Invalid((path / "limits").Key(name), pod->second.string(),
                "must be greater than or equal to aggregate container limits of " + text);
  }
}

void ValidateLimitsWithinPod(const core::PodSpec& spec, const FieldPath& path, FaultList& out) {
  const auto& pod_limits = spec.resources().limits();
  for (int i = 0; i < spec.containers_size(); ++i) {
    for (const auto* limit : Sorted(spec.containers(i).resources().limits())) {
      const auto pod = pod_limits.find(limit->first);
      if (pod == pod_limits.end()) continue;
      const std::string& text = limit->second.string();
      if (Parse(text) <= Parse(pod->second.string())) continue;
      out.Invalid((path / "containers")[i].Key(limit->first) / "limits", text,
                  "must be less than or equal to pod limits of " + pod->second.string());
    }
  }
}

std::string JsonOrNull(bool set, const std::string& text) {
  return set ? GoJsonString(text) : "null";
}

void ValidatePodClaim(const core::PodResourceClaim& claim, std::set<std::string>& names,
                      const FieldPath& path, FaultList& out) {
  if (claim.name().empty()) {
    out.Required(path / "name");
  } else if (!names.insert(claim.name()).second) {
    out.Duplicate(path / "name", claim.name());
  } else {
    out.Invalid(path / "name", claim.name(), CheckDns1123Label(claim.name()));
  }
  const FaultValue whole = FaultValue::Raw(
      "{\"Name\":" + GoJsonString(claim.name()) + ",\"ResourceClaimName\":" +
      JsonOrNull(claim.has_resourceclaimname(), claim.resourceclaimname()) +
      ",\"ResourceClaimTemplateName\":" +
      JsonOrNull(claim.has_resourceclaimtemplatename(), claim.resourceclaimtemplatename()) + "}");
  if (claim.has_resourceclaimname() && claim.has_resourceclaimtemplatename()) {
    out.Invalid(
        path, whole,
        "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified");
  }
  if (!claim.has_resourceclaimname() && !claim.has_resourceclaimtemplatename()) {
    out.Invalid(path, whole,
                "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`");
  }
  if (claim.has_resourceclaimname()) {
    out.Invalid(path / "resourceClaimName", claim.resourceclaimname(),
                CheckDns1123Subdomain(claim.resourceclaimname()));
  }
  if (claim.has_resourceclaimtemplatename()) {
    out.Invalid(path / "resourceClaimTemplateName", claim.resourceclaimtemplatename(),
                CheckDns1123Subdomain(claim.resourceclaimtemplatename()));
  }
}

}  // namespace

void ValidateResourceValue(const std::string& name, const std::string& text, const FieldPath& path,
                           FaultList& out) {
  const Quantity quantity = Parse(text);
  if (quantity.Sign() < 0) out.Invalid(path, text, kNegative);
  if (!IsCounted(name) && !IsExtended(name)) return;
  if (!IsWhole(quantity)) {
    out.Invalid(path, FaultValue::Named(text), "must be an integer");
  }
}

void ValidateContainerResources(const core::ResourceRequirements& resources, const PodParts& parts,
                                const FieldPath& path, FaultList& out) {
  ValidateRequirements(resources, parts.claims, Level::kContainer, path, out);
}

void ValidatePodResources(const PodParts& parts, const FieldPath& spec_path, FaultList& out) {
  const core::PodSpec& spec = parts.spec();
  if (!spec.has_resources()) return;
  const FieldPath path = spec_path / "resources";
  if (spec.os().name() == "windows") {
    return out.Forbidden(path, "may not be set for a windows pod");
  }
  if (!spec.resources().claims().empty()) {
    out.Forbidden(path / "claims", "claims may not be set for Resources at pod-level");
  }
  ValidateRequirements(spec.resources(), parts.claims, Level::kPod, path, out);
  ValidateAggregates(spec, path, out);
  ValidateLimitsWithinPod(spec, path, out);
}

void ValidateOverhead(const ResourceMap& overhead, const FieldPath& path, FaultList& out) {
  core::ResourceRequirements limits;
  *limits.mutable_limits() = overhead;
  ValidateRequirements(limits, {}, Level::kContainer, path, out);
}

void ValidateResourceClaims(const PodParts& parts, const FieldPath& path, FaultList& out) {
  const bool mirror = parts.pod.metadata().annotations().contains(std::string(kMirrorAnnotation));
  std::set<std::string> names;
  for (int i = 0; i < parts.spec().resourceclaims_size(); ++i) {
    if (mirror) {
      out.Forbidden(FieldPath("[]"), "static pods do not support resource claims");
    } else {
      ValidatePodClaim(parts.spec().resourceclaims(i), names, path[i], out);
    }
  }
}

}  // namespace denselet::kube
