// Decides for each call what goes wrong with it and how long it takes; drawn from the seed. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"
#include "bench/cri_sim/settings.h"

namespace denselet::cri_sim {

// What happens to one call, in this order: before, the effect, after.
struct CallPlan {
  struct Part {
    Duration wait{};
    bool hang = false;
    bool fail = false;
  };
  Part before, after;
  bool unimplemented = false;
  int error_code = 0;
  std::string error_message;
};

inline CallPlan PlanCall(Settings& settings, const std::string& method, Random& random) {
  CallPlan plan;
  auto found = settings.methods.find(method);
  if (found == settings.methods.end()) found = settings.methods.find("*");
  if (found == settings.methods.end()) return plan;
  MethodFaults& faults = found->second;
  plan.unimplemented = faults.unimplemented;
  plan.before.wait = faults.latency.Draw(random);
  plan.after.wait = faults.answer_latency.Draw(random);
  if (faults.hang.Draw(random)) {
    (faults.hang_side == Side::kBefore ? plan.before : plan.after).hang = true;
  }
  if (faults.error.Draw(random)) {
    (faults.error_side == Side::kBefore ? plan.before : plan.after).fail = true;
    plan.error_code = faults.error_code;
    plan.error_message = faults.error_message;
  }
  return plan;
}

}  // namespace denselet::cri_sim
