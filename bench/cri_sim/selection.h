// Which sandboxes and containers a filter of CRI means. For the handlers' .cc files only.
#pragma once

#include <vector>

#include "bench/cri_sim/cri_messages.h"
#include "bench/cri_sim/world.h"

namespace denselet::cri_sim {

// In the order of ids, or in any when the settings say so.
std::vector<const Sandbox*> Select(World& world, const cri::PodSandboxFilter& filter);
std::vector<const Container*> Select(World& world, const cri::ContainerFilter& filter);

template <class T>
void ShuffleIfAsked(World& world, std::vector<T>& items) {
  if (!world.settings.random_order) return;
  for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[world.random.Below(i)]);
}

}  // namespace denselet::cri_sim
