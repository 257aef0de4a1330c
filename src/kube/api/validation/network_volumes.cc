#include "kube/api/validation/network_volumes.h"

#include <algorithm>

#include "kube/api/codec/sorted.h"
#include "kube/api/validation/names.h"

namespace denselet::kube {
namespace {

void RequireText(const std::string& text, const FieldPath& path, FaultList& out) {
  if (text.empty()) out.Required(path);
}

void ValidatePartition(int32_t partition, const FieldPath& path, FaultList& out) {
  // Zero is allowed, whatever the message says: it means the whole disk.
  if (partition < 0 || partition > 255) out.Invalid(path, partition, OutOfRange(1, 255));
}

// "host:port", with an address of IPv6 in brackets.
bool IsHostAndPort(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == text.npos) return false;
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == text.npos || end + 1 != colon) return false;
    host = text.substr(1, end - 1);
    return host.find('[') == host.npos && text.substr(colon).find_first_of("[]") == text.npos;
  }
  return text.find(':') == colon && text.find_first_of("[]") == text.npos;
}

}  // namespace

void ValidateGceDisk(const core::GCEPersistentDiskVolumeSource& source, const FieldPath& path,
                     FaultList& out) {
  RequireText(source.pdname(), path / "pdName", out);
  ValidatePartition(source.partition(), path / "partition", out);
}

void ValidateAwsDisk(const core::AWSElasticBlockStoreVolumeSource& source, const FieldPath& path,
                     FaultList& out) {
  RequireText(source.volumeid(), path / "volumeID", out);
  ValidatePartition(source.partition(), path / "partition", out);
}

void ValidateNfs(const core::NFSVolumeSource& source, const FieldPath& path, FaultList& out) {
  RequireText(source.server(), path / "server", out);
  RequireText(source.path(), path / "path", out);
  if (!source.path().starts_with('/')) {
    out.Invalid(path / "path", source.path(), "must be an absolute path");
  }
}

void ValidateGlusterfs(const core::GlusterfsVolumeSource& source, const FieldPath& path,
                       FaultList& out) {
  RequireText(source.endpoints(), path / "endpoints", out);
  RequireText(source.path(), path / "path", out);
}

void ValidateFlocker(const core::FlockerVolumeSource& source, const FieldPath& path,
                     FaultList& out) {
  if (source.datasetname().empty() && source.datasetuuid().empty()) {
    out.Required(path, "one of datasetName and datasetUUID is required");
  }
  if (!source.datasetname().empty() && !source.datasetuuid().empty()) {
    out.Invalid(path, "resource",
                "datasetName and datasetUUID can not be specified simultaneously");
  }
  if (source.datasetname().find('/') != std::string::npos) {
    out.Invalid(path / "datasetName", source.datasetname(), "must not contain '/'");
  }
}

void ValidateRbd(const core::RBDVolumeSource& source, const FieldPath& path, FaultList& out) {
  if (source.monitors().empty()) out.Required(path / "monitors");
  RequireText(source.image(), path / "image", out);
}

void ValidateCinder(const core::CinderVolumeSource& source, const FieldPath& path, FaultList& out) {
  RequireText(source.volumeid(), path / "volumeID", out);
  if (source.has_secretref())
    RequireText(source.secretref().name(), path / "secretRef" / "name", out);
}

void ValidateCephFs(const core::CephFSVolumeSource& source, const FieldPath& path, FaultList& out) {
  if (source.monitors().empty()) out.Required(path / "monitors");
}

void ValidateQuobyte(const core::QuobyteVolumeSource& source, const FieldPath& path,
                     FaultList& out) {
  constexpr size_t kTenantSizeMax = 64;
  constexpr std::string_view kPairs =
      "must be a host:port pair or multiple pairs separated by commas";
  if (source.registry().empty()) {
    out.Required(path / "registry", kPairs);
  } else if (source.tenant().size() > kTenantSizeMax) {
    out.Required(path / "tenant", "must be a UUID and may not exceed a length of 64 characters");
  } else {
    for (const std::string_view pair : Split(source.registry(), ',')) {
      if (!IsHostAndPort(pair)) out.Invalid(path / "registry", source.registry(), kPairs);
    }
  }
  RequireText(source.volume(), path / "volume", out);
}

void ValidateFc(const core::FCVolumeSource& source, const FieldPath& path, FaultList& out) {
  const auto& names = source.targetwwns();
  if (names.empty() && source.wwids().empty()) {
    out.Required(path / "targetWWNs", "must specify either targetWWNs or wwids, but not both");
  }
  if (!names.empty() && !source.wwids().empty()) {
    std::string json;
    for (const auto& name : names) json.append(json.empty() ? "[" : ",").append(GoJsonString(name));
    out.Invalid(path / "targetWWNs", FaultValue::Raw(json + "]"),
                "targetWWNs and wwids can not be specified simultaneously");
  }
  if (names.empty()) return;
  if (!source.has_lun()) {
    out.Required(path / "lun", "lun is required if targetWWNs is specified");
  } else if (source.lun() < 0 || source.lun() > 255) {
    out.Invalid(path / "lun", source.lun(), OutOfRange(0, 255));
  }
}

void ValidateFlexVolume(const core::FlexVolumeSource& source, const FieldPath& path,
                        FaultList& out) {
  RequireText(source.driver(), path / "driver", out);
  for (const auto* option : Sorted(source.options())) {
    const std::string& key = option->first;
    const std::string normal = "." + ToLower(key.substr(0, key.find('/')));
    if (!normal.ends_with(".kubernetes.io") && !normal.ends_with(".k8s.io")) continue;
    out.Invalid((path / "options").Key(key), key,
                "kubernetes.io and k8s.io namespaces are reserved");
  }
}

void ValidateAzureFile(const core::AzureFileVolumeSource& source, const FieldPath& path,
                       FaultList& out) {
  RequireText(source.secretname(), path / "secretName", out);
  RequireText(source.sharename(), path / "shareName", out);
}

void ValidateVsphere(const core::VsphereVirtualDiskVolumeSource& source, const FieldPath& path,
                     FaultList& out) {
  RequireText(source.volumepath(), path / "volumePath", out);
}

void ValidatePhoton(const core::PhotonPersistentDiskVolumeSource& source, const FieldPath& path,
                    FaultList& out) {
  RequireText(source.pdid(), path / "pdID", out);
}

void ValidatePortworx(const core::PortworxVolumeSource& source, const FieldPath& path,
                      FaultList& out) {
  RequireText(source.volumeid(), path / "volumeID", out);
}

void ValidateAzureDisk(const core::AzureDiskVolumeSource& source, const FieldPath& path,
                       FaultList& out) {
  RequireText(source.diskname(), path / "diskName", out);
  RequireText(source.diskuri(), path / "diskURI", out);
  if (source.has_cachingmode()) {
    CheckSupported(path / "cachingMode", source.cachingmode(), {"None", "ReadOnly", "ReadWrite"},
                   out);
  }
  if (!source.has_kind()) return;
  CheckSupported(path / "kind", source.kind(), {"Dedicated", "Managed", "Shared"}, out);
  if (source.kind() == "Managed") {
    if (source.diskuri().starts_with("/subscriptions/")) return;
    out.NotSupported(path / "diskURI", source.diskuri(),
                     {"/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/"
                      "microsoft.compute/disks/{disk-id}"});
  } else if (!source.diskuri().starts_with("https://")) {
    out.NotSupported(
        path / "diskURI", source.diskuri(),
        {"https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"});
  }
}

void ValidateStorageOs(const core::StorageOSVolumeSource& source, const FieldPath& path,
                       FaultList& out) {
  if (source.volumename().empty()) {
    out.Required(path / "volumeName");
  } else {
    out.Invalid(path / "volumeName", source.volumename(), CheckDns1123Label(source.volumename()));
  }
  if (!source.volumenamespace().empty()) {
    out.Invalid(path / "volumeNamespace", source.volumenamespace(),
                CheckDns1123Label(source.volumenamespace()));
  }
  if (source.has_secretref())
    RequireText(source.secretref().name(), path / "secretRef" / "name", out);
}

void ValidateScaleIo(const core::ScaleIOVolumeSource& source, const FieldPath& path,
                     FaultList& out) {
  RequireText(source.gateway(), path / "gateway", out);
  RequireText(source.system(), path / "system", out);
  RequireText(source.volumename(), path / "volumeName", out);
}

void ValidateCsi(const core::CSIVolumeSource& source, const FieldPath& path, FaultList& out) {
  constexpr size_t kDriverSizeMax = 63;
  if (source.driver().empty()) {
    out.Required(path / "driver");
  } else {
    if (source.driver().size() > kDriverSizeMax) out.TooLong(path / "driver", int{kDriverSizeMax});
    out.Invalid(path / "driver", source.driver(), CheckDns1123Subdomain(ToLower(source.driver())));
  }
  if (!source.has_nodepublishsecretref()) return;
  const std::string& secret = source.nodepublishsecretref().name();
  if (secret.empty()) return out.Required(path / "nodePublishSecretRef" / "name");
  out.Invalid(path / "name", secret, CheckDns1123Subdomain(secret));
}

}  // namespace denselet::kube
