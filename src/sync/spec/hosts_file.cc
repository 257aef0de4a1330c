#include "sync/spec/hosts_file.h"

#include <algorithm>

#include "kube/api/types.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;

std::string Aliases(const core::PodSpec& spec) {
  if (spec.hostaliases_size() == 0) return {};
  std::string text = "\n# Entries added by HostAliases.\n";
  for (const core::HostAlias& alias : spec.hostaliases()) {
    text += alias.ip() + "\t";
    for (int i = 0; i < alias.hostnames_size(); ++i) {
      if (i > 0) text += "\t";
      text += alias.hostnames(i);
    }
    text += "\n";
  }
  return text;
}

}  // namespace

std::string HostsFile(const core::Pod& pod, const PodHostname& hostname,
                      const std::vector<std::string>& pod_ips) {
  std::string text =
      "# Kubernetes-managed hosts file.\n"
      "127.0.0.1\tlocalhost\n"
      "::1\tlocalhost ip6-localhost ip6-loopback\n"
      "fe00::0\tip6-localnet\n"
      "fe00::0\tip6-mcastprefix\n"
      "fe00::1\tip6-allnodes\n"
      "fe00::2\tip6-allrouters\n";
  const std::string whole =
      hostname.domain.empty() ? "" : hostname.name + "." + hostname.domain + "\t";
  for (const std::string& ip : pod_ips) {
    text += ip;
    text += "\t";
    text += whole;
    text += hostname.name;
    text += "\n";
  }
  return text + Aliases(pod.spec());
}

std::string NodeHostsFile(const core::Pod& pod, std::string_view of_node) {
  return "# Kubernetes-managed hosts file (host network).\n" + std::string(of_node) +
         Aliases(pod.spec());
}

bool WantsHostsFile(const core::Pod& pod, const core::Container& container,
                    const std::vector<std::string>& pod_ips) {
  if (pod_ips.empty() && !pod.spec().hostnetwork()) return false;
  return std::ranges::none_of(container.volumemounts(), [](const core::VolumeMount& mount) {
    return mount.mountpath() == "/etc/hosts";
  });
}

}  // namespace denselet::sync
