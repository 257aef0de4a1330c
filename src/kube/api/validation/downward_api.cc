#include "kube/api/validation/downward_api.h"

#include <optional>
#include <utility>

#include "kube/api/validation/names.h"
#include "kube/api/values/quantity.h"

namespace denselet::kube {
namespace {

const Words kResources = {"limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
                          "requests.cpu", "requests.ephemeral-storage", "requests.memory"};

// "metadata.labels['app']" is a path and a subscript.
std::optional<std::pair<std::string, std::string>> SplitSubscript(const std::string& field) {
  if (!field.ends_with("']")) return std::nullopt;
  const std::string rest = field.substr(0, field.size() - 2);
  const size_t at = rest.find("['");
  if (at == rest.npos || at == 0) return std::nullopt;
  return std::pair(rest.substr(0, at), rest.substr(at + 2));
}

bool IsField(const std::string& field) {
  return IsOneOf(field,
                 {"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace",
                  "metadata.uid", "spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName",
                  "spec.schedulerName", "status.phase", "status.hostIP", "status.hostIPs",
                  "status.podIP", "status.podIPs", "spec.host"});
}

// Why the field cannot be referred to by anyone.
std::optional<std::string> FieldFault(const core::ObjectFieldSelector& ref) {
  if (ref.apiversion() != "v1") return "unsupported pod version: " + ref.apiversion();
  if (const auto parts = SplitSubscript(ref.fieldpath())) {
    if (IsOneOf(parts->first, {"metadata.annotations", "metadata.labels"})) return std::nullopt;
    return "field label does not support subscript: " + ref.fieldpath();
  }
  if (!IsField(ref.fieldpath())) return "field label not supported: " + ref.fieldpath();
  return std::nullopt;
}

bool IsHugePages(const std::string& resource) {
  return resource.starts_with("limits.hugepages-") || resource.starts_with("requests.hugepages-");
}

void ValidateDivisor(const core::ResourceFieldSelector& ref, const FieldPath& path,
                     FaultList& out) {
  const auto divisor = Quantity::Parse(ref.divisor().string());
  if (!divisor || divisor->IsZero()) return;
  const std::string& text = ref.divisor().string();
  const std::string& name = ref.resource();
  const auto refuse = [&](const std::string& detail) {
    out.Invalid(path / "divisor", name, detail);
  };
  if (name == "limits.cpu" || name == "requests.cpu") {
    if (!IsOneOf(text, {"1", "1m"})) {
      refuse("only divisor's values 1m and 1 are supported with the cpu resource");
    }
    return;
  }
  if (IsOneOf(text, {"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi",
                     "1Ei"})) {
    return;
  }
  const std::string bytes =
      "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei are supported "
      "with the ";
  if (name.ends_with("s.memory")) refuse(bytes + "memory resource");
  if (name.ends_with("s.ephemeral-storage")) refuse(bytes + "local ephemeral storage resource");
  if (IsHugePages(name)) refuse(bytes + "hugepages resource");
}

}  // namespace

void ValidateFieldRef(const core::ObjectFieldSelector& ref, Words supported, const FieldPath& path,
                      FaultList& out) {
  if (ref.apiversion().empty()) return out.Required(path / "apiVersion");
  if (ref.fieldpath().empty()) return out.Required(path / "fieldPath");
  if (const auto fault = FieldFault(ref)) {
    return out.Invalid(path / "fieldPath", ref.fieldpath(),
                       "error converting fieldPath: " + *fault);
  }
  // The name that the node's name had once.
  const std::string field = ref.fieldpath() == "spec.host" ? "spec.nodeName" : ref.fieldpath();
  const auto parts = SplitSubscript(field);
  if (!parts) {
    if (!IsOneOf(field, supported)) out.NotSupported(path / "fieldPath", field, supported);
    return;
  }
  const bool labels = parts->first == "metadata.labels";
  const std::string key = labels ? parts->second : ToLower(parts->second);
  out.Invalid(path, key, CheckQualifiedName(key));
}

void ValidateResourceFieldRef(const core::ResourceFieldSelector& ref, ContainerName container_name,
                              const FieldPath& path, FaultList& out) {
  if (container_name == ContainerName::kRequired && ref.containername().empty()) {
    out.Required(path / "containerName");
  } else if (ref.resource().empty()) {
    out.Required(path / "resource");
  } else if (!IsOneOf(ref.resource(), kResources) && !IsHugePages(ref.resource())) {
    out.NotSupported(path / "resource", ref.resource(), kResources);
  }
  ValidateDivisor(ref, path, out);
}

}  // namespace denselet::kube
