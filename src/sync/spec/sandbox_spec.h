// What we ask the runtime for when a pod gets its sandbox: docs/compat/state.md section 6.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/api/fwd.h"
#include "sync/ports/runtime_spec.h"
#include "sync/spec/node_facts.h"

namespace denselet::sync {

Result<SandboxSpec> MakeSandboxSpec(const kube::core::Pod& pod, uint32_t attempt,
                                    const SpecNode& node, const SpecPod& facts);

// <logs>/<namespace>_<name>_<uid>
std::string PodLogDirectory(const kube::core::Pod& pod, std::string_view logs);

// Short name and domain as /etc/hosts has them; the domain is empty without a subdomain.
struct PodHostname {
  std::string name = {};
  std::string domain = {};
};
Result<PodHostname> HostnameOf(const kube::core::Pod& pod, std::string_view cluster_domain);

}  // namespace denselet::sync
