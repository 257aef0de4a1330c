#include "kube/api/defaults/volume_defaults.h"

#include <cstdint>
#include <vector>

#include "kube/api/defaults/image_name.h"
#include "kube/api/defaults/resource_defaults.h"
#include "kube/api/types.h"

namespace denselet::kube {
namespace {

constexpr int32_t kDefaultMode = 0644;
constexpr int64_t kTokenExpirationSeconds = 3600;

// The member that names the kind of volume; a volume of no kind is an empty directory.
bool HasSource(const core::VolumeSource& source) {
  std::vector<const google::protobuf::FieldDescriptor*> set;
  source.GetReflection()->ListFields(source, &set);
  return !set.empty();
}

template <class Source>
void SetModeDefault(Source& source) {
  if (!source.has_defaultmode()) source.set_defaultmode(kDefaultMode);
}

template <class Items>
void SetItemsDefaults(Items& items) {
  for (auto& item : items) {
    if (item.has_fieldref()) SetFieldRefDefaults(*item.mutable_fieldref());
  }
}

void SetRbdDefaults(core::RBDVolumeSource& rbd) {
  if (rbd.pool().empty()) rbd.set_pool("rbd");
  if (rbd.user().empty()) rbd.set_user("admin");
  if (rbd.keyring().empty()) rbd.set_keyring("/etc/ceph/keyring");
}

void SetAzureDiskDefaults(core::AzureDiskVolumeSource& disk) {
  if (!disk.has_cachingmode()) disk.set_cachingmode("ReadWrite");
  if (!disk.has_fstype()) disk.set_fstype("ext4");
  if (!disk.has_readonly()) disk.set_readonly(false);
  if (!disk.has_kind()) disk.set_kind("Shared");
}

void SetProjectedDefaults(core::ProjectedVolumeSource& projected) {
  SetModeDefault(projected);
  for (auto& source : *projected.mutable_sources()) {
    if (source.has_downwardapi()) {
      SetItemsDefaults(*source.mutable_downwardapi()->mutable_items());
    }
    if (source.has_serviceaccounttoken() && !source.serviceaccounttoken().has_expirationseconds()) {
      source.mutable_serviceaccounttoken()->set_expirationseconds(kTokenExpirationSeconds);
    }
  }
}

void SetScaleIoDefaults(core::ScaleIOVolumeSource& scale_io) {
  if (scale_io.storagemode().empty()) scale_io.set_storagemode("ThinProvisioned");
  if (scale_io.fstype().empty()) scale_io.set_fstype("xfs");
}

void SetClaimDefaults(core::PersistentVolumeClaimSpec& claim) {
  if (!claim.has_volumemode()) claim.set_volumemode("Filesystem");
  if (!claim.has_resources()) return;
  RoundToMilli(*claim.mutable_resources()->mutable_limits());
  RoundToMilli(*claim.mutable_resources()->mutable_requests());
}

}  // namespace

void SetFieldRefDefaults(core::ObjectFieldSelector& field_ref) {
  if (field_ref.apiversion().empty()) field_ref.set_apiversion("v1");
}

std::string PullPolicyFor(const std::string& image) {
  const auto name = ParseImageName(image);
  return name && name->tag == "latest" ? "Always" : "IfNotPresent";
}

void SetVolumeDefaults(core::Volume& volume) {
  auto& source = *volume.mutable_volumesource();
  if (!HasSource(source)) source.mutable_emptydir();
  if (source.has_image() && source.image().pullpolicy().empty()) {
    source.mutable_image()->set_pullpolicy(PullPolicyFor(source.image().reference()));
  }
  if (source.has_hostpath() && !source.hostpath().has_type()) {
    source.mutable_hostpath()->set_type("");
  }
  if (source.has_secret()) SetModeDefault(*source.mutable_secret());
  if (source.has_configmap()) SetModeDefault(*source.mutable_configmap());
  if (source.has_downwardapi()) {
    SetModeDefault(*source.mutable_downwardapi());
    SetItemsDefaults(*source.mutable_downwardapi()->mutable_items());
  }
  if (source.has_projected()) SetProjectedDefaults(*source.mutable_projected());
  if (source.has_iscsi() && source.iscsi().iscsiinterface().empty()) {
    source.mutable_iscsi()->set_iscsiinterface("default");
  }
  if (source.has_rbd()) SetRbdDefaults(*source.mutable_rbd());
  if (source.has_azuredisk()) SetAzureDiskDefaults(*source.mutable_azuredisk());
  if (source.has_scaleio()) SetScaleIoDefaults(*source.mutable_scaleio());
  if (source.has_ephemeral() && source.ephemeral().has_volumeclaimtemplate()) {
    SetClaimDefaults(*source.mutable_ephemeral()->mutable_volumeclaimtemplate()->mutable_spec());
  }
}

}  // namespace denselet::kube
