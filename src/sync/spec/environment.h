// The variables that a container begins with: its own (env), those of configMaps and secrets
// (envFrom), and where services are. Docs/compat/state.md section 7; in upstream's words where
// something is missing.
//
// Pure: what a container refers to is asked for by who has the ports, between the two functions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kube/api/fwd.h"
#include "kube/api/pod/pod_fields.h"
#include "sync/ports/pod_objects.h"
#include "sync/ports/runtime_spec.h"

namespace denselet::sync {

struct EnvFileRef {
  std::string volume = {};
  std::string path = {};
  friend auto operator<=>(const EnvFileRef&, const EnvFileRef&) = default;
};

struct EnvironmentNeeds {
  std::set<ObjectKey> objects = {};
  std::set<EnvFileRef> files = {};
};

struct EnvironmentFacts {
  // What was asked for, or why it cannot be had.
  std::map<ObjectKey, Result<ObjectBytes>> objects = {};
  std::map<EnvFileRef, Result<std::string>> files = {};
  ServiceSet services = {};
  std::vector<std::string> pod_ips = {};   // the node's family first
  std::vector<std::string> host_ips = {};  // empty: not known
  kube::NodeAllocatable allocatable = {};
  std::string pod_folder = {};  // <root>/pods/<uid>, for what people read
};

EnvironmentNeeds NeedsOf(const kube::core::Pod& pod, const kube::core::Container& container);

// Sorted by name.
Result<KeyValues> MakeEnvironment(const kube::core::Pod& pod,
                                  const kube::core::Container& container,
                                  const EnvironmentFacts& facts);

}  // namespace denselet::sync
