#include "app/flags/validate_flags.h"

#include <algorithm>
#include <array>

#include "app/flags/text.h"
#include "kube/api/validation/names.h"
#include "managers/node/ip_address.h"

namespace denselet::app {
namespace {

constexpr std::array<std::string_view, 11> kAllowedKeys = {
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
    "beta.kubernetes.io/os",
    "failure-domain.beta.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "kubernetes.io/arch",
    "kubernetes.io/hostname",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone",
};

constexpr std::array<std::string_view, 2> kAllowedPrefixes = {"kubelet.kubernetes.io",
                                                              "node.kubernetes.io"};

std::string_view PrefixOf(std::string_view key) {
  const size_t slash = key.find('/');
  return slash == std::string_view::npos ? std::string_view() : key.substr(0, slash);
}

bool IsWithin(std::string_view prefix, std::string_view domain) {
  return prefix == domain || (prefix.ends_with(domain) && prefix.size() > domain.size() &&
                              prefix[prefix.size() - domain.size() - 1] == '.');
}

template <size_t N>
std::string List(const std::array<std::string_view, N>& texts) {
  return Joined(std::vector<std::string>(texts.begin(), texts.end()), ", ");
}

kube::Fault FaultOf(std::string_view flag, std::string message) {
  return {.path = "--" + std::string(flag), .message = std::move(message)};
}

void CheckNodeLabels(const ParsedFlags& flags, std::vector<kube::Fault>& faults) {
  std::vector<std::string> forbidden;
  std::vector<std::string> malformed;
  const auto note = [&malformed](const std::string& text, const std::vector<std::string>& why) {
    if (!why.empty()) malformed.push_back("'" + text + "' - " + Joined(why, ", "));
  };
  for (const auto& [key, value] : flags.NodeLabels()) {
    if (!MayLabelItself(key)) forbidden.push_back(key);
    note(key, kube::CheckQualifiedName(key));
    note(value, kube::CheckLabelValue(value));
  }
  if (!forbidden.empty()) {
    faults.push_back(
        FaultOf("node-labels",
                "unknown 'kubernetes.io' or 'k8s.io' labels specified with --node-labels: [" +
                    Joined(forbidden, " ") +
                    "]; --node-labels in the 'kubernetes.io' namespace must begin with an allowed "
                    "prefix (" +
                    List(kAllowedPrefixes) + ") or be in the specifically allowed set (" +
                    List(kAllowedKeys) + ")"));
  }
  if (!malformed.empty()) {
    faults.push_back(FaultOf("node-labels", "invalid node labels: " + Joined(malformed, "; ")));
  }
}

void CheckCloudProvider(const ParsedFlags& flags, std::vector<kube::Fault>& faults) {
  const std::string provider = flags.Text("cloud-provider");
  if (provider.empty() || provider == "external") return;
  faults.push_back(FaultOf(
      "cloud-provider", "cloud provider " + Quoted(provider) +
                            " was specified, but built-in cloud providers are disabled. Please set "
                            "--cloud-provider=external and migrate to an external cloud provider"));
}

void CheckLockFile(const ParsedFlags& flags, std::vector<kube::Fault>& faults) {
  if (!flags.Bool("exit-on-lock-contention") || !flags.Text("lock-file").empty()) return;
  faults.push_back(FaultOf("exit-on-lock-contention",
                           "cannot exit on lock file contention: no lock file specified"));
}

// What is no address is ignored, as the kubelet does; two are one of each family.
void CheckNodeIps(const ParsedFlags& flags, std::vector<kube::Fault>& faults) {
  const std::string text = flags.Text("node-ip");
  std::vector<node::IpAddress> ips;
  for (const std::string_view part : Split(text, ',')) {
    if (const auto ip = node::IpAddress::Parse(Trimmed(part))) ips.push_back(*ip);
  }
  const auto refuse = [&](const char* why) {
    faults.push_back(FaultOf("node-ip", "bad --node-ip " + Quoted(text) + ": " + why));
  };
  if (ips.size() > 2 || (ips.size() == 2 && ips[0].family() == ips[1].family())) {
    refuse("must contain either a single IP or a dual-stack pair of IPs");
  } else if (ips.size() == 2 && (ips[0].IsUnspecified() || ips[1].IsUnspecified())) {
    refuse("dual-stack node IP cannot include '0.0.0.0' or '::'");
  }
}

}  // namespace

bool MayLabelItself(std::string_view key) {
  const std::string_view prefix = PrefixOf(key);
  if (!IsWithin(prefix, "kubernetes.io") && !IsWithin(prefix, "k8s.io")) return true;
  return std::ranges::find(kAllowedKeys, key) != kAllowedKeys.end() ||
         std::ranges::any_of(kAllowedPrefixes,
                             [&](std::string_view allowed) { return IsWithin(prefix, allowed); });
}

std::vector<kube::Fault> ValidateFlags(const ParsedFlags& flags) {
  std::vector<kube::Fault> faults;
  CheckNodeLabels(flags, faults);
  CheckCloudProvider(flags, faults);
  CheckLockFile(flags, faults);
  CheckNodeIps(flags, faults);
  return faults;
}

}  // namespace denselet::app
