// A pod's status in one word, and its containers in two numbers: the columns STATUS, READY and
// RESTARTS as kubectl shows them, computed as kubectl does it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "kube/api/fwd.h"

namespace denselet::app {

struct ShownStatus {
  std::string status = "Pending";  // "Running", "CrashLoopBackOff", "Init:0/1", "Completed"
  uint32_t ready = 0;
  uint32_t containers = 0;  // regular ones, and sidecars
  uint64_t restarts = 0;
};

// What of the pod's specification counts for it.
struct ShownSpec {
  uint32_t init_containers = 0;  // sidecars among them
  uint32_t containers = 0;       // regular ones
  std::set<std::string_view> sidecars = {};
  bool deleted = false;
};

ShownStatus ShowStatus(const ShownSpec& spec, const kube::core::PodStatus& status);

}  // namespace denselet::app
