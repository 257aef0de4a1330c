// The node as admission sees it: its name, labels, taints and what it has to give.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kube/api/fwd.h"
#include "sync/admission/pod_needs.h"

namespace denselet::sync {

struct NodeTaint {
  std::string key = {};
  std::string value = {};
  std::string effect = {};
};

struct NodeView {
  std::string name = {};
  std::map<std::string, std::string, std::less<>> labels = {};
  std::vector<NodeTaint> taints = {};
  ResourceAmounts allocatable = {};
  int64_t pods_max = 0;
  bool supplemental_groups_policy = false;  // the runtime heeds it
};

NodeView ReadNodeView(const kube::core::Node& node);

}  // namespace denselet::sync
