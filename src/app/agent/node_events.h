// Events of the node itself, for people: what the parts of the agent tell, in words.
#pragma once

#include <string>
#include <utility>

#include "sync/pleg/pleg.h"
#include "sync/ports/events.h"

namespace denselet::app {

// Pods are followed in another way than before.
inline sync::ObjectEvent EventOf(const sync::PlegModeChange& change, std::string node_name) {
  return {.object = sync::NodeEventObject(std::move(node_name)),
          .type = sync::EventType::kNormal,
          .reason = "PLEGModeChanged",
          .message = "Pods are followed by " + std::string(sync::PlegModeName(change.mode)) +
                     " now: " + change.why};
}

}  // namespace denselet::app
