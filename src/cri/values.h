// Values of CRI as ours, for whoever reads its messages.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "cri/messages.h"
#include "sync/ports/observed_pod.h"

namespace denselet::cri {

// Go's zero time is a number of its own here, and far below zero: there is no time before 1970.
inline WallTime TimeOf(int64_t nanoseconds) {
  return WallTime(Duration(std::max<int64_t>(nanoseconds, 0)));
}

// Comparisons and no switch: a runtime may send numbers that have no name yet.
inline sync::ContainerState StateOf(pb::ContainerState state) {
  if (state == pb::ContainerState::CONTAINER_CREATED) return sync::ContainerState::kCreated;
  if (state == pb::ContainerState::CONTAINER_RUNNING) return sync::ContainerState::kRunning;
  if (state == pb::ContainerState::CONTAINER_EXITED) return sync::ContainerState::kExited;
  return sync::ContainerState::kUnknown;
}

inline sync::SandboxState StateOf(pb::PodSandboxState state) {
  return state == pb::PodSandboxState::SANDBOX_READY ? sync::SandboxState::kReady
                                                     : sync::SandboxState::kNotReady;
}

}  // namespace denselet::cri
