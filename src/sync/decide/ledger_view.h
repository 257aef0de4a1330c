// What our own calls to the runtime told us, beside what was observed: the in-flight ledger as
// Decide sees it. The core fills it; this file says what each value means.
//
// Epochs are numbers of one shard that only grow: one is taken before the first byte of a read is
// sent (the observation's), one when the answer of a changing call arrives (Call::ended). An
// observation covers a call if its epoch is the greater one: then what it shows counts, and the
// call is history. A call that it does not cover counts as knowledge of exactly that object.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/boxed.h"
#include "base/ids.h"
#include "base/time.h"
#include "sync/ports/observed_pod.h"

namespace denselet::sync {

using Epoch = uint64_t;

inline const std::string kNoText;

struct Observation {
  const ObservedPod* pod = nullptr;  // null: this pod was never looked at
  Epoch epoch = 0;
};

enum class CallState : uint8_t {
  kNone,
  kInFlight,
  kDone,
  kFailed,   // the other side's own word, or it was surely not sent
  kUnknown,  // timed out, cancelled, connection lost; kAlreadyExists of a create, too
};

// Of kFailed and kUnknown.
struct CallFailure {
  std::string reason = {};  // CreateContainerError, RunContainerError, ...
  std::string message = {};
};

// A pod that runs has nine of them: what few calls have is kept apart.
struct Call {
  CallState state = CallState::kNone;
  // Of kFailed: it was surely not taken, so no read is due before it is tried again.
  bool no_effect = false;
  Epoch ended = 0;  // of kDone, kFailed and kUnknown
  TimePoint began = {};
  // Of kFailed and kUnknown: not again before this time.
  TimePoint retry_at = {};
  Boxed<CallFailure> failure = {};

  const std::string& reason() const { return failure ? failure->reason : kNoText; }
  const std::string& message() const { return failure ? failure->message : kNoText; }
  bool in_flight() const { return state == CallState::kInFlight; }
  bool done() const { return state == CallState::kDone; }
};

// A sandbox that we asked for, stopped or removed. At most one entry an attempt. One that was only
// observed gets an entry with the first call about it, with `run` kNone.
struct SandboxEntry {
  uint32_t attempt = 0;
  SandboxId id = {};  // empty until `run` is done
  Call run = {};
  Call stop = {};
  Call remove = {};
  // The answer of ReadSandbox, as of its own epoch. A kNotFound is an observation of the whole pod
  // that is due.
  std::optional<ObservedSandbox> seen = {};
  Epoch seen_at = 0;
};

// Why a container is stopped; decides the grace and what comes after.
enum class KillReason : uint8_t {
  kNone,
  kStartupProbe,
  kLivenessProbe,
  kChanged,  // its specification's hash did
  kPostStartFailed,
  kUnknownState,  // the runtime cannot say whether it runs: it must not run twice
  kDuplicate,     // another one of its name runs
  kRestartAll,
  kPodStops,  // the pod ends, or its sandbox is replaced
};

// A container that we created, started or stopped: one entry for each (name, attempt), which is the
// key under which at most one create is outstanding or unresolved. An adopted container (observed,
// not created by this process) gets one when the first call about it is made, with `create` kNone.
// An entry may be dropped when an observation covers all its calls and shows no such container, or
// shows a newer attempt of the name; a failed create stays until its retry.
struct ContainerEntry {
  std::string name = {};
  uint32_t attempt = 0;
  ContainerId id = {};  // empty until `create` is done
  SandboxId sandbox = {};
  uint64_t hash = 0;  // of the specification that it was created with
  Call create = {};
  Call start = {};
  Call post_start = {};
  Call pre_stop = {};  // kFailed and kUnknown count as done: a hook that fails holds up nothing
  Call stop = {};
  Call remove = {};
  // From the ContainerStop of the first stopping step, kept to the end:
  KillReason kill_reason = KillReason::kNone;
  bool restart_at_once = false;
  // When the first stopping step began: the grace runs from there.
  std::optional<TimePoint> stop_began = {};
  // When the grace that `stop` was sent with ends.
  TimePoint stop_ends = {};
  // The answer of ReadContainer, as of its own epoch, until an observation shows the container.
  Boxed<ObservedContainer> seen = {};
  Epoch seen_at = 0;
};

struct LedgerView {
  std::vector<SandboxEntry> sandboxes = {};
  std::vector<ContainerEntry> containers = {};
  // A read (of the whole pod or of objects) is under way.
  bool read_in_flight = false;
  // The last read failed: not again before this time.
  TimePoint read_retry_at = {};
  std::string read_failure = {};
};

}  // namespace denselet::sync
