// The ambushes of a run: in a few places that the seed draws, whoever comes to rest there is hit at
// once by something.
//
// When and whom that hits depends on the run. So what decides how a pod ends hits only pods that
// are gone in the end in any case: those that are doomed, and such as the story has deleted.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.h"
#include "tests/sim/core/coverage_table.h"
#include "tests/sim/core/sim_pods.h"

namespace denselet::sim {

// How a pod ends must not depend on whether and when it was ambushed.
bool DecidesTheEnd(SimEvent event);
// Whether this pod may be ambushed with it.
bool MayAmbush(SimEvent event, const SimPod& pod);

// Where who is to be hit by what.
struct Trap {
  SimPlace place;
  SimEvent event;
};

struct Ambush {
  SimPlace place;
  std::optional<SimEvent> event;  // nothing: any
  uint32_t left;                  // so many times
  // It is for those whom it brings there.
  std::optional<Trap> leads_to = {};
};

class Ambushes {
 public:
  void Draw(Random& random);
  // One for this pod, which has come to rest there; null: none.
  Ambush* Find(const SimPlace& place, const SimPod& pod);

 private:
  // With what brings pods there, where few come by.
  void LayTrap(const Trap& trap);

  std::vector<Ambush> ambushes_;
};

}  // namespace denselet::sim
