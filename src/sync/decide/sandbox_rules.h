// Whether the pod's sandbox will do, or another one is needed.
#pragma once

#include <cstdint>

#include "sync/decide/known_pod.h"

namespace denselet::sync {

enum class SandboxNeed : uint8_t {
  kNone,  // the current one will do
  kLook,  // it was just made: its addresses are not known yet
  kFirst,
  kNotReady,
  kSeveralReady,
  kNetworkChanged,
  kNoAddress,
};

struct SandboxVerdict {
  SandboxNeed need = SandboxNeed::kNone;
  uint32_t attempt = 0;                   // of the one to be made
  const KnownSandbox* current = nullptr;  // the newest

  bool NewOne() const { return need != SandboxNeed::kNone && need != SandboxNeed::kLook; }
};

SandboxVerdict JudgeSandbox(const PodPlan& plan, const KnownPod& pod);

}  // namespace denselet::sync
