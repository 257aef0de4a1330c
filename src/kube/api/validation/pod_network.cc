#include "kube/api/validation/pod_network.h"

#include "kube/api/validation/ip_address.h"

namespace denselet::kube {
namespace {

// What libc's resolver can take.
constexpr int kNameserversMax = 3;
constexpr int kSearchesMax = 32;
constexpr size_t kSearchesSizeMax = 2048;
constexpr size_t kHostnameSizeMax = 64;

template <class Texts>
FaultValue ListValue(const Texts& texts) {
  std::string json;
  for (const std::string& text : texts)
    json.append(json.empty() ? "[" : ",").append(GoJsonString(text));
  return FaultValue::Raw(json + "]");
}

void ValidateSearches(const core::PodDNSConfig& config, const FieldPath& path, FaultList& out) {
  if (config.searches_size() > kSearchesMax) {
    out.Invalid(path, ListValue(config.searches()), "must not have more than 32 search paths");
  }
  size_t size = 0;
  for (const std::string& search : config.searches()) size += search.size() + 1;
  if (size > kSearchesSizeMax + 1) {
    out.Invalid(path, ListValue(config.searches()),
                "must not have more than 2048 characters (including spaces) in the search list");
  }
  for (int i = 0; i < config.searches_size(); ++i) {
    std::string search = config.searches(i);
    if (search == ".") continue;
    if (search.ends_with('.')) search.pop_back();
    out.Invalid(path[i], search, CheckDns1123SubdomainWithUnderscore(search));
  }
}

}  // namespace

void ValidateDnsPolicy(const core::PodSpec& spec, const FieldPath& path, FaultList& out) {
  if (spec.dnspolicy().empty()) return out.Required(path);
  CheckSupported(path, spec.dnspolicy(),
                 {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"}, out);
}

void ValidateDnsConfig(const core::PodSpec& spec, const FieldPath& path, FaultList& out) {
  const auto& config = spec.dnsconfig();
  if (spec.dnspolicy() == "None") {
    if (!spec.has_dnsconfig()) {
      return out.Required(path, "must provide `dnsConfig` when `dnsPolicy` is None");
    }
    if (config.nameservers().empty()) {
      return out.Required(path / "nameservers",
                          "must provide at least one DNS nameserver when `dnsPolicy` is None");
    }
  }
  if (config.nameservers_size() > kNameserversMax) {
    out.Invalid(path / "nameservers", ListValue(config.nameservers()),
                "must not have more than 3 nameservers");
  }
  for (int i = 0; i < config.nameservers_size(); ++i) {
    ValidateIpAddress(config.nameservers(i), (path / "nameservers")[i], out);
  }
  ValidateSearches(config, path / "searches", out);
  for (int i = 0; i < config.options_size(); ++i) {
    if (config.options(i).name().empty()) out.Required((path / "options")[i], "must not be empty");
  }
}

void ValidateHostnameOverride(const core::PodSpec& spec, const FieldPath& spec_path,
                              FaultList& out) {
  if (!spec.has_hostnameoverride()) return;
  const FieldPath path = spec_path / "hostnameOverride";
  if (spec.sethostnameasfqdn()) {
    out.Forbidden(path, "may not be specified when setHostnameAsFQDN is true");
  }
  if (spec.hostnetwork()) out.Forbidden(path, "may not be specified when hostNetwork is true");
  if (spec.hostnameoverride().size() > kHostnameSizeMax) out.TooLong(path, int{kHostnameSizeMax});
  out.Invalid(path, spec.hostnameoverride(), CheckDns1123Subdomain(spec.hostnameoverride()));
}

void ValidateHostAliases(const core::PodSpec& spec, const FieldPath& path, FaultList& out) {
  for (int i = 0; i < spec.hostaliases_size(); ++i) {
    const auto& alias = spec.hostaliases(i);
    ValidateIpAddress(alias.ip(), path[i] / "ip", out);
    for (int j = 0; j < alias.hostnames_size(); ++j) {
      const std::string& name = alias.hostnames(j);
      out.Invalid((path[i] / "hostnames")[j], name, CheckDns1123Subdomain(name));
    }
  }
}

}  // namespace denselet::kube
