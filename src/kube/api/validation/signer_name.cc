#include "kube/api/validation/signer_name.h"

namespace denselet::kube {
namespace {

constexpr size_t kDomainSizeMax = 253;
constexpr size_t kSignerSizeMax = 253 + 1 + 253 + 63 + 1;

// The first label that is wrong is reported, with all that is wrong with it.
template <class Check>
void ValidateLabelsOf(std::string_view part, Check check, const FieldPath& path, FaultList& out) {
  for (const std::string_view label : Split(part, '.')) {
    const NameFaults faults = check(label);
    for (const std::string& fault : faults) {
      out.Invalid(path, part, "validating label " + FaultValue(label).text() + ": " + fault);
    }
    if (!faults.empty()) return;
  }
}

}  // namespace

void ValidateSignerName(const std::string& name, const FieldPath& path, FaultList& out) {
  if (name.empty()) return out.Required(path);
  const auto parts = Split(name, '/');
  if (parts.size() != 2) {
    return out.Invalid(
        path, name,
        "must be a fully qualified domain and path of the form 'example.com/signer-name'");
  }
  if (parts[0].size() > kDomainSizeMax) out.TooLong(path, int{kDomainSizeMax});
  ValidateLabelsOf(parts[0], CheckDns1123Label, path, out);
  if (parts[0].find('.') == parts[0].npos) {
    out.Invalid(path, parts[0], "should be a domain with at least two segments separated by dots");
  }
  ValidateLabelsOf(parts[1], CheckDns1123Subdomain, path, out);
  if (name.size() > kSignerSizeMax) out.TooLong(path, int{kSignerSizeMax});
}

bool IsKubernetesSigner(const std::string& name) {
  const std::string host = name.substr(0, name.find('/'));
  return host == "kubernetes.io" || host.ends_with(".kubernetes.io");
}

NameFaults CheckTrustBundleName(const std::string& name) {
  const size_t colon = name.rfind(':');
  if (colon == name.npos) return CheckDns1123Subdomain(name);
  if (colon == 0) return {"ClusterTrustBundle without signer name must not have \":\" in its name"};
  return CheckDns1123Subdomain(std::string_view(name).substr(colon + 1));
}

}  // namespace denselet::kube
