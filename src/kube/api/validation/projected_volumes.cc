#include "kube/api/validation/projected_volumes.h"

#include <set>

#include "kube/api/codec/codec.h"
#include "kube/api/codec/sorted.h"
#include "kube/api/validation/downward_api.h"
#include "kube/api/validation/names.h"
#include "kube/api/validation/paths.h"
#include "kube/api/validation/selectors.h"
#include "kube/api/validation/signer_name.h"

namespace denselet::kube {
namespace {

// Files of one volume: two sources must not write the same.
class TakenPaths {
 public:
  TakenPaths(const FieldPath& volume, FaultList& out) : volume_(volume), out_(out) {}

  void Take(const std::string& file, const std::string& shown) {
    if (!taken_.insert(file).second) {
      out_.Invalid(volume_, shown, "conflicting duplicate paths");
    }
  }

 private:
  const FieldPath& volume_;
  FaultList& out_;
  std::set<std::string> taken_;
};

// A ConfigMap's or a Secret's.
template <class Projection>
void ValidateKeys(const Projection& source, TakenPaths& taken, const FieldPath& path,
                  FaultList& out) {
  const std::string& name = source.localobjectreference().name();
  if (name.empty()) out.Required(path / "name");
  for (int i = 0; i < source.items_size(); ++i) {
    const auto& item = source.items(i);
    ValidateKeyToPath(item, (path / "items")[i], out);
    if (!item.path().empty()) taken.Take(item.path(), name);
  }
}

void ValidateDownward(const core::DownwardAPIProjection& source, TakenPaths& taken,
                      const FieldPath& path, FaultList& out) {
  for (const auto& file : source.items()) {
    ValidateDownwardApiFile(file, path, out);
    if (!file.path().empty()) taken.Take(file.path(), file.path());
  }
}

void ValidateToken(const core::ServiceAccountTokenProjection& source, const FieldPath& volume,
                   const FieldPath& path, FaultList& out) {
  constexpr int64_t kLeastSeconds = 10 * 60;
  constexpr int64_t kMostSeconds = int64_t{1} << 32;
  const int64_t seconds = source.expirationseconds();
  if (seconds < kLeastSeconds) {
    out.Invalid(path / "expirationSeconds", seconds,
                "may not specify a duration less than 10 minutes");
  }
  if (seconds > kMostSeconds) {
    out.Invalid(path / "expirationSeconds", seconds,
                "may not specify a duration larger than 2^32 seconds");
  }
  // Upstream names the volume's path here, not the token's.
  if (source.path().empty()) return out.Required(volume / "path");
  ValidateUnreservedPath(source.path(), volume / "path", out);
}

std::string TextOrNull(bool set, const std::string& text) {
  return set ? GoJsonString(text) : "null";
}

std::string ToInternalJson(const core::ClusterTrustBundleProjection& bundle) {
  const std::string optional = bundle.optional() ? "true" : "false";
  return "{\"Name\":" + TextOrNull(bundle.has_name(), bundle.name()) +
         ",\"SignerName\":" + TextOrNull(bundle.has_signername(), bundle.signername()) +
         ",\"LabelSelector\":" +
         (bundle.has_labelselector() ? EncodeJson(bundle.labelselector()) : "null") +
         ",\"Optional\":" + (bundle.has_optional() ? optional : "null") +
         ",\"Path\":" + GoJsonString(bundle.path()) + "}";
}

void ValidateBundleName(const core::ClusterTrustBundleProjection& bundle, const FieldPath& path,
                        FaultList& out) {
  if (bundle.name().empty()) out.Required(path / "name", "must be a valid object name");
  for (const std::string& fault : CheckTrustBundleName(bundle.name())) {
    out.Invalid(path / "name", bundle.name(), "not a valid clustertrustbundlename: " + fault);
  }
  if (bundle.has_labelselector()) {
    out.Invalid(path / "labelSelector", FaultValue::Raw(EncodeJson(bundle.labelselector())),
                "labelSelector must be unset if name is specified");
  }
}

void ValidateBundle(const core::ClusterTrustBundleProjection& bundle, TakenPaths& taken,
                    const FieldPath& path, FaultList& out) {
  if (bundle.has_name() && bundle.has_signername()) {
    out.Invalid(path, FaultValue::Raw(ToInternalJson(bundle)),
                "only one of name and signerName may be used");
  } else if (bundle.has_name()) {
    ValidateBundleName(bundle, path, out);
  } else if (bundle.has_signername()) {
    if (bundle.signername().empty()) {
      out.Required(path / "signerName", "must be a valid signer name");
    }
    ValidateSignerName(bundle.signername(), path / "signerName", out);
    ValidateLabelSelector(bundle.labelselector(), path / "labelSelector", out);
  } else {
    out.Required(path, "either name or signerName must be specified");
  }
  if (bundle.path().empty()) out.Required(path / "path");
  ValidateUnreservedPath(bundle.path(), path / "path", out);
  taken.Take(bundle.path(), bundle.path());
}

void ValidateUserAnnotations(const core::PodCertificateProjection& source, const FieldPath& path,
                             FaultList& out) {
  for (const auto* annotation : Sorted(source.userannotations())) {
    const std::string key = ToLower(annotation->first);
    const NameFaults faults = CheckQualifiedName(key);
    if (key.empty()) {
      out.Required(path);
    } else if (!faults.empty()) {
      out.Invalid(path, key, faults);
    } else if (key.find('/') == key.npos) {
      out.Invalid(path, key, "must be a domain-prefixed key (such as \"acme.io/foo\")");
    }
  }
  if (IsAnnotationsSizeExceeded(source.userannotations())) out.TooLong(path, kAnnotationsSizeMax);
}

void ValidateExpiration(const core::PodCertificateProjection& source, const FieldPath& path,
                        FaultList& out) {
  constexpr int32_t kDaySeconds = 24 * 60 * 60;
  if (!source.has_maxexpirationseconds()) return;
  const int32_t seconds = source.maxexpirationseconds();
  if (seconds < 3600) {
    out.Invalid(path, seconds, "if provided, maxExpirationSeconds must be >= 3600");
  }
  const int32_t most = IsKubernetesSigner(source.signername()) ? kDaySeconds : 91 * kDaySeconds;
  if (seconds > most) {
    out.Invalid(path, seconds,
                "if provided, maxExpirationSeconds must be <= " + std::to_string(most));
  }
}

void ValidateCertificate(const core::PodCertificateProjection& source, TakenPaths& taken,
                         const FieldPath& path, FaultList& out) {
  ValidateSignerName(source.signername(), path / "signerName", out);
  ValidateUserAnnotations(source, path / "userAnnotations", out);
  const Words types = {"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"};
  if (!IsOneOf(source.keytype(), types)) {
    out.NotSupported(path / "keyType", source.keytype(), types);
  }
  ValidateExpiration(source, path / "maxExpirationSeconds", out);
  const auto take = [&](std::string_view field, const std::string& file) {
    if (file.empty()) return;
    ValidateUnreservedPath(file, path / field, out);
    taken.Take(file, file);
  };
  take("credentialBundlePath", source.credentialbundlepath());
  take("keyPath", source.keypath());
  take("certificateChainPath", source.certificatechainpath());
  if (source.credentialbundlepath().empty() && source.keypath().empty() &&
      source.certificatechainpath().empty()) {
    out.Required(path,
                 "specify at least one of credentialBundlePath, keyPath, and certificateChainPath");
  }
}

void ValidateSource(const core::VolumeProjection& source, TakenPaths& taken,
                    const FieldPath& volume, const FieldPath& path, FaultList& out) {
  if (source.has_secret()) ValidateKeys(source.secret(), taken, path / "secret", out);
  if (source.has_configmap()) ValidateKeys(source.configmap(), taken, path / "configMap", out);
  if (source.has_downwardapi()) {
    ValidateDownward(source.downwardapi(), taken, path / "downwardAPI", out);
  }
  if (source.has_serviceaccounttoken()) {
    ValidateToken(source.serviceaccounttoken(), volume, path / "serviceAccountToken", out);
  }
  if (source.has_clustertrustbundle()) {
    ValidateBundle(source.clustertrustbundle(), taken, path / "clusterTrustBundle", out);
  }
  if (source.has_podcertificate()) {
    ValidateCertificate(source.podcertificate(), taken, path / "podCertificate", out);
  }
  const int sources = source.has_secret() + source.has_configmap() + source.has_downwardapi() +
                      source.has_serviceaccounttoken() + source.has_clustertrustbundle() +
                      source.has_podcertificate();
  if (sources > 1) out.Forbidden(path, "may not specify more than 1 volume type per source");
}

}  // namespace

void ValidateKeyToPath(const core::KeyToPath& item, const FieldPath& path, FaultList& out) {
  if (item.key().empty()) out.Required(path / "key");
  if (item.path().empty()) out.Required(path / "path");
  ValidateUnreservedPath(item.path(), path / "path", out);
  if (item.has_mode()) ValidateFileMode(item.mode(), path / "mode", out);
}

void ValidateDownwardApiFile(const core::DownwardAPIVolumeFile& file, const FieldPath& path,
                             FaultList& out) {
  if (file.path().empty()) out.Required(path / "path");
  ValidateUnreservedPath(file.path(), path / "path", out);
  if (file.has_fieldref()) {
    ValidateFieldRef(file.fieldref(),
                     {"metadata.annotations", "metadata.labels", "metadata.name",
                      "metadata.namespace", "metadata.uid"},
                     path / "fieldRef", out);
    if (file.has_resourcefieldref()) {
      out.Invalid(path, "resource",
                  "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (file.has_resourcefieldref()) {
    ValidateResourceFieldRef(file.resourcefieldref(), ContainerName::kRequired,
                             path / "resourceFieldRef", out);
  } else {
    out.Required(path, "one of fieldRef and resourceFieldRef is required");
  }
  if (file.has_mode()) ValidateFileMode(file.mode(), path / "mode", out);
}

void ValidateProjected(const core::ProjectedVolumeSource& source, const FieldPath& path,
                       FaultList& out) {
  if (source.has_defaultmode()) {
    ValidateFileMode(source.defaultmode(), path / "defaultMode", out);
  }
  TakenPaths taken(path, out);
  for (int i = 0; i < source.sources_size(); ++i) {
    ValidateSource(source.sources(i), taken, path, (path / "sources")[i], out);
  }
}

}  // namespace denselet::kube
