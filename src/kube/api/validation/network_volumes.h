// Volumes of disks and file systems elsewhere, each a few required fields. `path` is the source's.
#pragma once

#include "kube/api/types.h"
#include "kube/api/validation/fault_list.h"

namespace denselet::kube {

void ValidateGceDisk(const core::GCEPersistentDiskVolumeSource&, const FieldPath&, FaultList&);
void ValidateAwsDisk(const core::AWSElasticBlockStoreVolumeSource&, const FieldPath&, FaultList&);
void ValidateNfs(const core::NFSVolumeSource&, const FieldPath&, FaultList&);
void ValidateIscsi(const core::ISCSIVolumeSource&, const FieldPath&, FaultList&);
void ValidateIscsiName(const core::ISCSIVolumeSource&, const std::string& volume,
                       const FieldPath& volume_path, FaultList&);
void ValidateGlusterfs(const core::GlusterfsVolumeSource&, const FieldPath&, FaultList&);
void ValidateFlocker(const core::FlockerVolumeSource&, const FieldPath&, FaultList&);
void ValidateRbd(const core::RBDVolumeSource&, const FieldPath&, FaultList&);
void ValidateCinder(const core::CinderVolumeSource&, const FieldPath&, FaultList&);
void ValidateCephFs(const core::CephFSVolumeSource&, const FieldPath&, FaultList&);
void ValidateQuobyte(const core::QuobyteVolumeSource&, const FieldPath&, FaultList&);
void ValidateFc(const core::FCVolumeSource&, const FieldPath&, FaultList&);
void ValidateFlexVolume(const core::FlexVolumeSource&, const FieldPath&, FaultList&);
void ValidateAzureFile(const core::AzureFileVolumeSource&, const FieldPath&, FaultList&);
void ValidateVsphere(const core::VsphereVirtualDiskVolumeSource&, const FieldPath&, FaultList&);
void ValidatePhoton(const core::PhotonPersistentDiskVolumeSource&, const FieldPath&, FaultList&);
void ValidatePortworx(const core::PortworxVolumeSource&, const FieldPath&, FaultList&);
void ValidateAzureDisk(const core::AzureDiskVolumeSource&, const FieldPath&, FaultList&);
void ValidateStorageOs(const core::StorageOSVolumeSource&, const FieldPath&, FaultList&);
void ValidateScaleIo(const core::ScaleIOVolumeSource&, const FieldPath&, FaultList&);
void ValidateCsi(const core::CSIVolumeSource&, const FieldPath&, FaultList&);

}  // namespace denselet::kube
