#include "kube/api/validation/claim_template.h"

#include "kube/api/validation/metadata.h"
#include "kube/api/validation/names.h"
#include "kube/api/validation/resources.h"
#include "kube/api/validation/selectors.h"
#include "kube/api/values/quantity.h"

namespace denselet::kube {
namespace {

void ValidateAccessModes(const core::PersistentVolumeClaimSpec& spec, const FieldPath& path,
                         FaultList& out) {
  bool single_pod = false;
  bool others = false;
  for (const std::string& mode : spec.accessmodes()) {
    const Words modes = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"};
    const bool known = CheckSupported(path, mode, modes, out);
    single_pod = single_pod || mode == "ReadWriteOncePod";
    others = others || (known && mode != "ReadWriteOncePod");
  }
  if (single_pod && others) {
    out.Forbidden(path, "may not use ReadWriteOncePod with other access modes");
  }
}

void ValidateStorage(const core::PersistentVolumeClaimSpec& spec, const FieldPath& path,
                     FaultList& out) {
  const auto& requests = spec.resources().requests();
  const auto storage = requests.find("storage");
  if (storage == requests.end()) return out.Required(path);
  const auto quantity = Quantity::Parse(storage->second.string());
  if (!quantity || quantity->Sign() <= 0) {
    return out.Invalid(path, storage->second.string(), kNotPositive);
  }
}

template <class Source>
void ValidateDataSource(const Source& source, const FieldPath& path, FaultList& out) {
  if (source.name().empty()) out.Required(path / "name");
  if (source.kind().empty()) out.Required(path / "kind");
  if (source.apigroup().empty() && source.kind() != "PersistentVolumeClaim") {
    out.Invalid(path, source.kind(),
                "must be 'PersistentVolumeClaim' when referencing the default apiGroup");
  }
  if (!source.apigroup().empty()) {
    out.Invalid(path / "apiGroup", source.apigroup(), CheckDns1123Subdomain(source.apigroup()));
  }
}

bool AreSame(const core::TypedLocalObjectReference& a, const core::TypedObjectReference& b) {
  return a.has_apigroup() == b.has_apigroup() && a.apigroup() == b.apigroup() &&
         a.kind() == b.kind() && a.name() == b.name();
}

void ValidateDataSources(const core::PersistentVolumeClaimSpec& spec, const FieldPath& path,
                         FaultList& out) {
  const auto& ref = spec.datasourceref();
  if (spec.has_datasource()) ValidateDataSource(spec.datasource(), path / "dataSource", out);
  if (spec.has_datasourceref()) {
    ValidateDataSource(ref, path / "dataSourceRef", out);
    if (!ref.namespace_().empty()) {
      out.Invalid(path / "dataSourceRef" / "namespace", ref.namespace_(),
                  CheckDns1123Label(ref.namespace_()));
    }
  }
  if (!spec.has_datasource() || !spec.has_datasourceref()) return;
  // Upstream hands over a path where it means a value; that is shown as an empty object.
  const FaultValue nothing = FaultValue::Raw("{}");
  if (!ref.namespace_().empty()) {
    out.Invalid(path, nothing, "may not be specified when dataSourceRef.namespace is specified");
  } else if (!AreSame(spec.datasource(), ref)) {
    out.Invalid(path, nothing, "must match dataSourceRef");
  }
}

void ValidateClass(const std::string& name, const FieldPath& path, FaultList& out) {
  if (!name.empty()) out.Invalid(path, name, CheckDns1123Subdomain(name));
}

}  // namespace

void ValidateClaimTemplate(const core::PersistentVolumeClaimTemplate& claim, const FieldPath& path,
                           FaultList& out) {
  ValidateTemplateMetadata(claim.metadata(), path / "metadata", out);
  const auto& spec = claim.spec();
  const FieldPath spec_path = path / "spec";
  if (spec.accessmodes().empty()) {
    out.Required(spec_path / "accessModes", "at least 1 access mode is required");
  }
  ValidateLabelSelector(spec.selector(), spec_path / "selector", out);
  ValidateAccessModes(spec, spec_path / "accessModes", out);
  ValidateStorage(spec, (spec_path / "resources").Key("storage"), out);
  ValidateClass(spec.storageclassname(), spec_path / "storageClassName", out);
  if (spec.has_volumemode()) {
    CheckSupported(spec_path / "volumeMode", spec.volumemode(), {"Block", "Filesystem"}, out);
  }
  ValidateDataSources(spec, spec_path, out);
  ValidateClass(spec.volumeattributesclassname(), spec_path / "volumeAttributesClassName", out);
}

}  // namespace denselet::kube
