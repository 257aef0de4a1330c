// Why a pod cannot be on this node, in upstream's order, reasons and messages. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kube/api/fwd.h"
#include "sync/admission/bookings.h"
#include "sync/admission/node_view.h"
#include "sync/admission/pod_needs.h"
#include "sync/ports/admission.h"

namespace denselet::sync {

inline constexpr std::string_view kUnexpectedAdmissionError = "UnexpectedAdmissionError";

// What the node has too little of.
struct Shortage {
  std::string resource = {};
  int64_t requested = 0;
  int64_t used = 0;
  int64_t capacity = 0;
  int64_t leaving = 0;  // of what is used: had by pods that make room for another

  int64_t missing() const;
};

struct AdmissionFailure {
  Rejection rejection = {};
  std::optional<Shortage> shortage = {};
  bool is_affinity = false;  // by labels that may be old
  bool is_ports = false;
  bool passes = false;  // what it lacks is had by pods that are going already, or make room
};

Rejection NodeUnknown();

// What no other pod's end could mend: the operating system, the policy of supplemental groups.
std::optional<Rejection> RefuseByKind(const kube::core::Pod& pod, const NodeView& node);

// All of them: resources, affinity, name, ports, taints.
std::vector<AdmissionFailure> FindFailures(const kube::core::Pod& pod, const PodNeeds& needs,
                                           const NodeView& node, const Bookings& bookings);

}  // namespace denselet::sync
