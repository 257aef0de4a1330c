#include "kube/api/validation/metadata.h"

#include "kube/api/validation/names.h"
#include "kube/api/validation/pod_parts.h"
#include "kube/api/validation/selectors.h"

namespace denselet::kube {
namespace {

constexpr int kManagerSizeMax = 128;
constexpr int kSubresourceSizeMax = 256;
constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";

std::string ToJson(const meta::OwnerReference& owner) {
  std::string json = "{\"apiVersion\":" + GoJsonString(owner.apiversion()) +
                     ",\"kind\":" + GoJsonString(owner.kind()) +
                     ",\"name\":" + GoJsonString(owner.name()) +
                     ",\"uid\":" + GoJsonString(owner.uid());
  if (owner.has_controller())
    json += owner.controller() ? ",\"controller\":true" : ",\"controller\":false";
  if (owner.has_blockownerdeletion()) {
    json += owner.blockownerdeletion() ? ",\"blockOwnerDeletion\":true"
                                       : ",\"blockOwnerDeletion\":false";
  }
  return json + "}";
}

template <class List, class Text>
std::string ListToJson(const List& list, Text text) {
  std::string json;
  for (const auto& entry : list) json.append(json.empty() ? "[" : ",").append(text(entry));
  return json + "]";
}

void ValidateOwner(const meta::OwnerReference& owner, const FieldPath& path, FaultList& out) {
  const auto parts = Split(owner.apiversion(), '/');
  const std::string_view version = parts.size() > 2 ? "" : parts.back();
  if (version.empty())
    out.Invalid(path / "apiVersion", owner.apiversion(), "version must not be empty");
  if (owner.kind().empty()) out.Invalid(path / "kind", owner.kind(), "must not be empty");
  if (owner.name().empty()) out.Invalid(path / "name", owner.name(), "must not be empty");
  if (owner.uid().empty()) {
    out.Invalid(path / "uid", FaultValue::Named(owner.uid()), "must not be empty");
  }
  if (owner.apiversion() == "v1" && owner.kind() == "Event") {
    out.Invalid(path, FaultValue::Raw(ToJson(owner)),
                "/v1, Kind=Event is disallowed from being an owner");
  }
}

void ValidateOwners(const meta::ObjectMeta& metadata, const FieldPath& path, FaultList& out) {
  std::string controller;
  for (const auto& owner : metadata.ownerreferences()) {
    ValidateOwner(owner, path, out);
    if (!owner.controller()) continue;
    const std::string name = owner.kind() + "/" + owner.name();
    if (controller.empty()) {
      controller = name;
      continue;
    }
    out.Invalid(path, FaultValue::Raw(ListToJson(metadata.ownerreferences(), ToJson)),
                "Only one reference can have Controller set to true. Found \"true\" in references "
                "for " +
                    controller + " and " + name);
  }
}

void ValidateFinalizers(const meta::ObjectMeta& metadata, const FieldPath& path, FaultList& out) {
  bool orphan = false;
  bool foreground = false;
  for (const std::string& finalizer : metadata.finalizers()) {
    out.Invalid(path, finalizer, CheckQualifiedName(finalizer));
    orphan = orphan || finalizer == kOrphan;
    foreground = foreground || finalizer == kForeground;
  }
  if (!orphan || !foreground) return;
  out.Invalid(path, FaultValue::Raw(ListToJson(metadata.finalizers(), GoJsonString)),
              "finalizer orphan and foregroundDeletion cannot be both set");
}

void ValidateFinalizerNames(const meta::ObjectMeta& metadata, const FieldPath& path,
                            FaultList& out) {
  for (int i = 0; i < metadata.finalizers_size(); ++i) {
    const std::string& name = metadata.finalizers(i);
    if (name.find('/') != name.npos || IsOneOf(name, {"kubernetes", kOrphan, kForeground}))
      continue;
    out.Invalid(path[i], name,
                "name is neither a standard finalizer name nor is it fully qualified");
  }
}

void ValidateManagedFields(const meta::ManagedFieldsEntry& entry, const FieldPath& path,
                           FaultList& out) {
  if (!IsOneOf(entry.operation(), {"Apply", "Update"})) {
    out.Invalid(path / "operation", FaultValue::Named(entry.operation()),
                "must be `Apply` or `Update`");
  }
  if (!entry.fieldstype().empty() && entry.fieldstype() != "FieldsV1") {
    out.Invalid(path / "fieldsType", entry.fieldstype(), "must be `FieldsV1`");
  }
  if (entry.manager().size() > kManagerSizeMax) out.TooLong(path / "manager", kManagerSizeMax);
  if (entry.subresource().size() > kSubresourceSizeMax) {
    out.TooLong(path / "subresource", kSubresourceSizeMax);
  }
}

}  // namespace

void ValidateMetadata(const meta::ObjectMeta& metadata, const FieldPath& path, FaultList& out) {
  if (!metadata.generatename().empty()) {
    out.Invalid(path / "generateName", metadata.generatename(),
                CheckDns1123SubdomainPrefix(metadata.generatename()));
  }
  if (metadata.name().empty()) {
    out.Required(path / "name", "name or generateName is required");
  } else {
    out.Invalid(path / "name", metadata.name(), CheckDns1123Subdomain(metadata.name()));
  }
  if (metadata.namespace_().empty()) {
    out.Required(path / "namespace");
  } else {
    out.Invalid(path / "namespace", metadata.namespace_(),
                CheckDns1123Label(metadata.namespace_()));
  }
  CheckNonnegative(path / "generation", metadata.generation(), out);
  ValidateLabels(metadata.labels(), path / "labels", out);
  ValidateAnnotations(metadata.annotations(), path / "annotations", out);
  ValidateOwners(metadata, path / "ownerReferences", out);
  ValidateFinalizers(metadata, path / "finalizers", out);
  for (int i = 0; i < metadata.managedfields_size(); ++i) {
    ValidateManagedFields(metadata.managedfields(i), (path / "managedFields")[i], out);
  }
  ValidateFinalizerNames(metadata, path / "finalizers", out);
}

void ValidateTemplateMetadata(const meta::ObjectMeta& metadata, const FieldPath& path,
                              FaultList& out) {
  ValidateAnnotations(metadata.annotations(), path / "annotations", out);
  ValidateLabels(metadata.labels(), path / "labels", out);
  const auto forbid = [&](std::string_view field, bool set) {
    if (set) out.Forbidden(path / field, "cannot be set");
  };
  forbid("name", !metadata.name().empty());
  forbid("generateName", !metadata.generatename().empty());
  forbid("namespace", !metadata.namespace_().empty());
  forbid("selfLink", !metadata.selflink().empty());
  forbid("uID", !metadata.uid().empty());
  forbid("resourceVersion", !metadata.resourceversion().empty());
  forbid("generation", metadata.generation() != 0);
  forbid("creationTimestamp", metadata.creationtimestamp().seconds() != 0);
  forbid("deletionTimestamp", metadata.has_deletiontimestamp());
  forbid("deletionGracePeriodSeconds", metadata.has_deletiongraceperiodseconds());
  forbid("ownerReferences", !metadata.ownerreferences().empty());
  forbid("finalizers", !metadata.finalizers().empty());
  forbid("managedFields", !metadata.managedfields().empty());
}

}  // namespace denselet::kube
