// What is to be said when a status was computed, apart from the status itself.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "sync/ports/events.h"

namespace denselet::node {

struct NodeEvent {
  sync::EventType type = sync::EventType::kNormal;
  std::string reason = {};
  std::string message = {};
  std::string why = {};  // for the log; empty: it says nothing of it
};

struct NodeNotes {
  std::vector<NodeEvent> events;
  std::vector<Error> errors;  // parts of the status that could not be set

  // "Node N status is now: REASON", as the kubelet says it.
  void StatusIsNow(const std::string& node, std::string reason, std::string why = {}) {
    std::string message = "Node " + node + " status is now: " + reason;
    events.push_back(
        {sync::EventType::kNormal, std::move(reason), std::move(message), std::move(why)});
  }
};

// What is remembered between two computations.
struct NodeMemory {
  bool reboot_told = false;
  bool unschedulable = false;
};

}  // namespace denselet::node
