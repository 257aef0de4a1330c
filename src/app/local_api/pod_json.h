// A pod as the agent's local socket shows it: one line of the list, or all that can be asked of it.
// Pure, but for the worker that is read; so on the shard of the pod.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "app/local_api/json_out.h"
#include "sync/admission/admission_desk.h"
#include "sync/pod_worker/pod_worker.h"

namespace denselet::app {

struct PodToShow {
  const sync::PodWorker& worker;
  std::string_view status;  // bytes of its core.v1.PodStatus, as told last; empty: none yet
  uint32_t shard = 0;
  const sync::PodReadHealth* reads = nullptr;  // of one that cannot be read
};

// Name, status and readiness as kubectl shows them; the phase of its worker, what that waits for
// and since when.
void AppendPodRow(const PodToShow& pod, const Moment& moment, std::string& out);
// The same, and calls, transitions, containers, where the time of its start went, and its status
// whole.
void AppendPodDetail(const PodToShow& pod, const Moment& moment, std::string& out);
// A line of one that waits until it is decided whether it may run here. Nothing: the desk has not
// been asked yet.
void AppendWaitingRow(const sync::PodIdentity& pod,
                      const std::optional<sync::AdmissionDesk::Report>& asked, const Moment& moment,
                      std::string& out);
// A line of one under whose work the agent died again and again.
void AppendHeldBackRow(const sync::PodIdentity& pod, uint32_t shard, std::string& out);

}  // namespace denselet::app
