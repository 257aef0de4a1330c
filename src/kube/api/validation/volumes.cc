#include "kube/api/validation/volumes.h"

#include <set>
#include <string>

#include "kube/api/validation/claim_template.h"
#include "kube/api/validation/containers.h"
#include "kube/api/validation/network_volumes.h"
#include "kube/api/validation/paths.h"
#include "kube/api/validation/projected_volumes.h"
#include "kube/api/values/quantity.h"

namespace denselet::kube {
namespace {

// Counts the sources of a volume: only the first is looked into.
class SourceCheck {
 public:
  SourceCheck(const FieldPath& path, FaultList& out) : path_(path), out_(out) {}

  // `twice`: the name under which upstream reports a second source, where that is another.
  template <class Source, class Rules>
  void Check(bool set, const Source& source, std::string_view name, Rules rules,
             std::string_view twice = "") {
    if (!set) return;
    if (found_) {
      return out_.Forbidden(path_ / (twice.empty() ? name : twice),
                            "may not specify more than 1 volume type");
    }
    found_ = true;
    rules(source, path_ / name, out_);
  }

  bool found() const { return found_; }

 private:
  const FieldPath& path_;
  FaultList& out_;
  bool found_ = false;
};

void ValidateEmptyDir(const core::EmptyDirVolumeSource& source, const FieldPath& path,
                      FaultList& out) {
  if (!source.has_sizelimit()) return;
  const auto limit = Quantity::Parse(source.sizelimit().string());
  if (!limit || limit->Sign() >= 0) return;
  out.Forbidden(path / "sizeLimit", "SizeLimit field must be a valid resource quantity");
}

void ValidateHostPath(const core::HostPathVolumeSource& source, const FieldPath& path,
                      FaultList& out) {
  if (source.path().empty()) return out.Required(path / "path");
  ValidateNoStepUp(source.path(), path / "path", out);
  if (!source.has_type()) return;
  CheckSupported(path / "type", source.type(),
                 {"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File",
                  "FileOrCreate", "Socket"},
                 out);
}

void ValidateGitRepo(const core::GitRepoVolumeSource& source, const FieldPath& path,
                     FaultList& out) {
  if (source.repository().empty()) out.Required(path / "repository");
  ValidateDescendingPath(source.directory(), path / "directory", out);
}

template <class Source>
void ValidateItems(const Source& source, const FieldPath& path, FaultList& out) {
  if (source.has_defaultmode()) {
    ValidateFileMode(source.defaultmode(), path / "defaultMode", out);
  }
  for (int i = 0; i < source.items_size(); ++i) {
    ValidateKeyToPath(source.items(i), (path / "items")[i], out);
  }
}

void ValidateSecret(const core::SecretVolumeSource& source, const FieldPath& path, FaultList& out) {
  if (source.secretname().empty()) out.Required(path / "secretName");
  ValidateItems(source, path, out);
}

void ValidateConfigMap(const core::ConfigMapVolumeSource& source, const FieldPath& path,
                       FaultList& out) {
  if (source.localobjectreference().name().empty()) out.Required(path / "name");
  ValidateItems(source, path, out);
}

void ValidateClaim(const core::PersistentVolumeClaimVolumeSource& source, const FieldPath& path,
                   FaultList& out) {
  if (source.claimname().empty()) out.Required(path / "claimName");
}

void ValidateDownwardApi(const core::DownwardAPIVolumeSource& source, const FieldPath& path,
                         FaultList& out) {
  if (source.has_defaultmode()) {
    ValidateFileMode(source.defaultmode(), path / "defaultMode", out);
  }
  for (const auto& item : source.items()) ValidateDownwardApiFile(item, path, out);
}

void ValidateImageVolume(const core::ImageVolumeSource& source, const FieldPath& path,
                         FaultList& out) {
  ValidatePullPolicy(source.pullpolicy(), path / "pullPolicy", out);
}

void ValidateEphemeralVolume(const core::EphemeralVolumeSource& source, const FieldPath& path,
                             FaultList& out) {
  if (!source.has_volumeclaimtemplate()) return out.Required(path / "volumeClaimTemplate");
  ValidateClaimTemplate(source.volumeclaimtemplate(), path / "volumeClaimTemplate", out);
}

// The claim that is made for the volume has a name of both.
void ValidateClaimName(const std::string& pod, const core::Volume& volume, const FieldPath& path,
                       FaultList& out) {
  if (pod.empty() || volume.name().empty()) return;
  const std::string claim = pod + "-" + volume.name();
  for (const std::string& fault : CheckDns1123Subdomain(claim)) {
    out.Invalid(path / "name", volume.name(),
                "PVC name " + FaultValue(claim).text() + ": " + fault);
  }
}

// In the order in which upstream looks for them.
void ValidateSource(const core::Volume& volume, const std::string& pod, const FieldPath& path,
                    FaultList& out) {
  const auto& s = volume.volumesource();
  SourceCheck check(path, out);
  check.Check(s.has_emptydir(), s.emptydir(), "emptyDir", ValidateEmptyDir);
  check.Check(s.has_hostpath(), s.hostpath(), "hostPath", ValidateHostPath);
  check.Check(s.has_gitrepo(), s.gitrepo(), "gitRepo", ValidateGitRepo);
  check.Check(s.has_gcepersistentdisk(), s.gcepersistentdisk(), "persistentDisk", ValidateGceDisk,
              "gcePersistentDisk");
  check.Check(s.has_awselasticblockstore(), s.awselasticblockstore(), "awsElasticBlockStore",
              ValidateAwsDisk);
  check.Check(s.has_secret(), s.secret(), "secret", ValidateSecret);
  check.Check(s.has_nfs(), s.nfs(), "nfs", ValidateNfs);
  check.Check(s.has_iscsi(), s.iscsi(), "iscsi", ValidateIscsi);
  if (s.has_iscsi()) ValidateIscsiName(s.iscsi(), volume.name(), path, out);
  check.Check(s.has_glusterfs(), s.glusterfs(), "glusterfs", ValidateGlusterfs);
  check.Check(s.has_flocker(), s.flocker(), "flocker", ValidateFlocker);
  check.Check(s.has_persistentvolumeclaim(), s.persistentvolumeclaim(), "persistentVolumeClaim",
              ValidateClaim);
  check.Check(s.has_rbd(), s.rbd(), "rbd", ValidateRbd);
  check.Check(s.has_cinder(), s.cinder(), "cinder", ValidateCinder);
  check.Check(s.has_cephfs(), s.cephfs(), "cephfs", ValidateCephFs, "cephFS");
  check.Check(s.has_quobyte(), s.quobyte(), "quobyte", ValidateQuobyte);
  check.Check(s.has_downwardapi(), s.downwardapi(), "downwardAPI", ValidateDownwardApi,
              "downwarAPI");
  check.Check(s.has_fc(), s.fc(), "fc", ValidateFc);
  check.Check(s.has_flexvolume(), s.flexvolume(), "flexVolume", ValidateFlexVolume);
  check.Check(s.has_configmap(), s.configmap(), "configMap", ValidateConfigMap);
  check.Check(s.has_azurefile(), s.azurefile(), "azureFile", ValidateAzureFile);
  check.Check(s.has_vspherevolume(), s.vspherevolume(), "vsphereVolume", ValidateVsphere);
  check.Check(s.has_photonpersistentdisk(), s.photonpersistentdisk(), "photonPersistentDisk",
              ValidatePhoton);
  check.Check(s.has_portworxvolume(), s.portworxvolume(), "portworxVolume", ValidatePortworx);
  check.Check(s.has_azuredisk(), s.azuredisk(), "azureDisk", ValidateAzureDisk);
  check.Check(s.has_storageos(), s.storageos(), "storageos", ValidateStorageOs);
  check.Check(s.has_projected(), s.projected(), "projected", ValidateProjected);
  check.Check(s.has_scaleio(), s.scaleio(), "scaleIO", ValidateScaleIo);
  check.Check(s.has_csi(), s.csi(), "csi", ValidateCsi);
  const bool ephemeral_first = s.has_ephemeral() && !check.found();
  check.Check(s.has_ephemeral(), s.ephemeral(), "ephemeral", ValidateEphemeralVolume);
  if (ephemeral_first) ValidateClaimName(pod, volume, path, out);
  check.Check(s.has_image(), s.image(), "image", ValidateImageVolume);
  if (!check.found()) out.Required(path, "must specify a volume type");
}

}  // namespace

void ValidateVolumes(PodParts& parts, const FieldPath& path, FaultList& out) {
  const core::PodSpec& spec = parts.spec();
  const std::string& pod = parts.pod.metadata().name();
  std::set<std::string> made_claims;
  for (const auto& volume : spec.volumes()) {
    if (volume.volumesource().has_ephemeral()) made_claims.insert(pod + "-" + volume.name());
  }
  for (int i = 0; i < spec.volumes_size(); ++i) {
    const auto& volume = spec.volumes(i);
    const size_t before = out.size();
    ValidateSource(volume, pod, path[i], out);
    if (volume.name().empty()) {
      out.Required(path[i] / "name");
    } else {
      out.Invalid(path[i] / "name", volume.name(), CheckDns1123Label(volume.name()));
    }
    if (parts.volumes.contains(volume.name())) out.Duplicate(path[i] / "name", volume.name());
    if (out.size() == before) parts.volumes.emplace(volume.name(), &volume.volumesource());
    const std::string& claim = volume.volumesource().persistentvolumeclaim().claimname();
    if (volume.volumesource().has_persistentvolumeclaim() && made_claims.contains(claim)) {
      out.Invalid(path[i] / "persistentVolumeClaim" / "claimName", claim,
                  "must not reference a PVC that gets created for an ephemeral volume");
    }
  }
}

}  // namespace denselet::kube
