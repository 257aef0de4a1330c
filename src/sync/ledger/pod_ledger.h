// What our own calls about one pod told us: filled by the pod worker with every call it begins and
// every answer that comes, read by Decide beside the observation (decide/ledger_view.h says what
// the entries mean).
//
// It holds invariants 5 and 7: an answer stays knowledge until an observation that was asked for
// after it covers it, and of one (name, attempt) at most one create is in flight or unresolved. A
// wish to begin a call that must not be begun is a bug of ours about one pod and comes back as
// kBug.
//
// A plain value of one worker. Bounded: what is covered and of no use any more is dropped with
// every observation; what is left has a container of the plan or a running call behind it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "sync/decide/ledger_view.h"
#include "sync/ports/observed_pod.h"

namespace denselet::sync {

// The calls of an entry, as keys of what is under way.
enum class CallKind : uint8_t {
  kRunSandbox,
  kStopSandbox,
  kRemoveSandbox,
  kReadSandbox,
  kCreate,
  kStart,
  kPostStart,
  kPreStop,
  kStop,
  kRemove,
  kReadContainer,
};
std::string_view CallKindName(CallKind kind);

// The faults that the simulator puts in on purpose; see tests/sim/core/mutations.h.
struct LedgerFaults {
  bool forget_done = false;        // a successful reply is not kept (5)
  bool unknown_is_failed = false;  // an unknown outcome is taken for "nothing happened" (7)
};

struct RetryPolicy {
  Duration pause_min = Seconds(1);
  Duration pause_max = Seconds(30);
};

class PodLedger {
 public:
  const LedgerView& view() const { return view_; }
  LedgerView& view() { return view_; }

  // kBug: not now.
  Status BeginRunSandbox(uint32_t attempt, TimePoint now);
  Status BeginCreate(const std::string& name, uint32_t attempt, const SandboxId& sandbox,
                     uint64_t hash, TimePoint now);

  SandboxEntry& Sandbox(uint32_t attempt);
  ContainerEntry& Container(const std::string& name, uint32_t attempt);
  SandboxEntry* FindSandbox(const SandboxId& id);
  ContainerEntry* FindContainer(const ContainerId& id);

  static void Begin(Call& call, TimePoint now);
  // Writes the answer down: done, failed or unknown, with the time to try again. `is_create`: a
  // kAlreadyExists does not say whether it is ours.
  void End(Call& call, const Status& answer, Epoch ended, std::string_view reason, bool is_create,
           TimePoint now, double jitter);

  // A new observation: what it covers and what is of no use any more goes; a create that seemed to
  // have failed and did not is settled, so that its number is not used again.
  void Prune(const ObservedPod& observed, Epoch as_of);

  // A call that makes something is under way: hints can wait for its end.
  bool making() const;
  // The newest sandbox that may still turn up: its run was given up, and nobody has seen it.
  std::optional<uint32_t> LateSandbox() const;
  // Creates in flight or with an unknown outcome that no observation covers.
  size_t Unresolved(Epoch as_of) const;

  LedgerFaults& faults_for_tests() { return faults_; }

 private:
  LedgerView view_;
  RetryPolicy retry_;
  uint32_t failures_ = 0;  // in a row, of any call of the pod
  LedgerFaults faults_;
};

}  // namespace denselet::sync
