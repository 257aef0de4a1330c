// How a pod resolves names: its policy and its own settings over the cluster's and the node's.
// Docs/compat/state.md section 7.
//
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/api/fwd.h"
#include "sync/ports/pod_services.h"
#include "sync/ports/runtime_spec.h"

namespace denselet::sync {

struct DnsNode {
  std::vector<std::string> cluster_servers = {};  // canonical addresses
  std::string cluster_domain = {};
  // resolvConf of the configuration; empty: pods with the node's settings ask the node itself.
  std::string resolv_conf_path = {};
};

// A resolv.conf(5), as far as upstream heeds it.
Result<DnsSpec> ParseResolvConf(std::string_view text);

struct PodDns {
  DnsSpec dns = {};
  std::vector<PodNote> notes = {};  // limits that were exceeded, and the like
};

// `host`: what resolv_conf_path has; empty where there is no path. `node_ips`: the node's.
PodDns MakePodDns(const kube::core::Pod& pod, const DnsNode& node, DnsSpec host,
                  const std::vector<std::string>& node_ips);

}  // namespace denselet::sync
