// The container runtime as the agent sees it. cri/ implements it over gRPC; the simulator has a
// model of a runtime behind the same port.
//
// One instance a shard: every answer comes once, in a later turn, on the shard that asked. A call
// takes the deadline of its class unless the context's is nearer, and waits its turn within that
// class, urgent ones first.
//
// What a failed call means is in its code:
//   kNotFound, kAlreadyExists, kInvalid, kPermission, kConflict, kUnsupported
//                     the runtime's own word: it did nothing
//   kUnavailable, kOverloaded, kDeadlineExceeded   it was not sent, or surely not taken: no effect
//   kUnknownOutcome   it may have had an effect, or a part of it: look (ReadPod) before anything is
//                     repeated. Also what a runtime answers that has no better code for its
//                     failures (containerd's Unknown: runc could not start it); the text says why
//   kCancelled        of a call that was not sent yet; a sent one that is cancelled is
//                     kUnknownOutcome
//   kCorrupt          it answered something that cannot be (no id, another version)
// Calls that only read have no effect to be unknown: they fail with the other codes, or kIo.
// The text is the one that a kubelet's user knows: "rpc error: code = NotFound desc = ...".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "reactor/api/file_system.h"
#include "sync/ports/observed_pod.h"
#include "sync/ports/runtime_spec.h"

namespace denselet::sync {

struct RuntimeVersion {
  std::string name = {};     // "containerd"
  std::string version = {};  // "1.7.24"
  std::string api_version = {};

  friend bool operator==(const RuntimeVersion&, const RuntimeVersion&) = default;
};

struct RuntimeCondition {
  bool met = false;
  std::string reason = {};
  std::string message = {};
  friend bool operator==(const RuntimeCondition&, const RuntimeCondition&) = default;
};

struct RuntimeHandler {
  std::string name = {};  // empty: the default one
  bool recursive_read_only_mounts = false;
  bool user_namespaces = false;
  friend bool operator==(const RuntimeHandler&, const RuntimeHandler&) = default;
};

// Nothing for a condition: the runtime did not tell it.
struct RuntimeStatus {
  std::optional<RuntimeCondition> runtime_ready = {};
  std::optional<RuntimeCondition> network_ready = {};
  std::vector<RuntimeHandler> handlers = {};  // sorted by name
  bool supplemental_groups_policy = false;
  bool user_namespaces_host_network = false;
  friend bool operator==(const RuntimeStatus&, const RuntimeStatus&) = default;
};

enum class CgroupDriver : uint8_t { kSystemd, kCgroupfs };

struct ExecResult {
  int32_t exit_code = 0;
  std::string output = {};  // standard output, then standard error; 16 MiB at most
  size_t errors_from = 0;   // where standard error begins in it
};

// Everything the runtime has, taken in one go.
// Why the runtime, or its network, cannot be used; empty: it can.
struct RuntimeTrouble {
  std::string runtime = {};
  std::string network = {};
  friend bool operator==(const RuntimeTrouble&, const RuntimeTrouble&) = default;
};

// Before a list that was answered: what failed because it was away need not wait any longer.
enum class RuntimeWas : uint8_t { kThere, kAway };

struct RuntimeList {
  std::vector<ListedPod> pods = {};  // sorted by uid
};

class Runtime {
 public:
  virtual ~Runtime() = default;

  virtual void Version(const Context&, reactor::Done<RuntimeVersion>) = 0;
  virtual void Status(const Context&, reactor::Done<RuntimeStatus>) = 0;
  // Nothing: the runtime has no opinion, the configuration's driver holds.
  virtual void CgroupDriverInUse(const Context&, reactor::Done<std::optional<CgroupDriver>>) = 0;
  virtual void SetPodCidr(const Context&, std::string pod_cidr, reactor::Done<Unit>) = 0;

  // Sandboxes first, then containers, all states: what a relist compares.
  virtual void ListAll(const Context&, reactor::Done<RuntimeList>) = 0;
  // Everything about one pod, found by the uid in its labels. A pod the runtime knows nothing of is
  // an empty ObservedPod, not an error. An object that goes away while it is read is left out.
  virtual void ReadPod(const Context&, const PodUid&, reactor::Done<ObservedPod>) = 0;
  // One sandbox that was just made: its addresses, which containers are told. kNotFound: it is
  // gone.
  virtual void ReadSandbox(const Context&, const SandboxId&, reactor::Done<ObservedSandbox>) = 0;
  // One container that there is surely something new about. Who knows its sandbox says so: without
  // it the runtime has to be asked for that, too.
  virtual void ReadContainer(const Context&, const ContainerId&, const SandboxId& known_sandbox,
                             reactor::Done<ObservedContainer>) = 0;

  virtual void RunSandbox(const Context&, const SandboxSpec&, reactor::Done<SandboxId>) = 0;
  // Stopping and removing what is gone already is fine.
  virtual void StopSandbox(const Context&, const SandboxId&, reactor::Done<Unit>) = 0;
  virtual void RemoveSandbox(const Context&, const SandboxId&, reactor::Done<Unit>) = 0;

  virtual void CreateContainer(const Context&, const SandboxId&, const ContainerSpec&,
                               const SandboxSpec&, reactor::Done<ContainerId>) = 0;
  virtual void StartContainer(const Context&, const ContainerId&, reactor::Done<Unit>) = 0;
  // Its deadline is that of its class and the grace.
  virtual void StopContainer(const Context&, const ContainerId&, Duration grace,
                             reactor::Done<Unit>) = 0;
  virtual void RemoveContainer(const Context&, const ContainerId&, reactor::Done<Unit>) = 0;
  virtual void UpdateResources(const Context&, const ContainerId&, const LinuxResources&,
                               reactor::Done<Unit>) = 0;
  // kUnsupported of runtimes that cannot: best effort by contract.
  virtual void UpdateSandboxResources(const Context&, const SandboxId&,
                                      const LinuxResources& resources,
                                      const LinuxResources& overhead, reactor::Done<Unit>) = 0;
  virtual void ReopenLog(const Context&, const ContainerId&, reactor::Done<Unit>) = 0;

  // Runs a command in a container. Past `timeout` the runtime ends it: kDeadlineExceeded. Zero: it
  // may take as long as the context allows.
  virtual void Exec(const Context&, const ContainerId&, std::vector<std::string> command,
                    Duration timeout, reactor::Done<ExecResult>) = 0;
};

// The stream of container events. Events are hints: what they say is that a pod deserves a read. Of
// their content one thing is kept: that sandboxes and containers were made or started, and which.
// Whoever has seen these run since, or end, knows what the events tell.
struct PodHint {
  static constexpr size_t kBegunMax = 8;

  // Anything may have changed.
  PodHint(PodUid changed) : pod(std::move(changed)) {}  // NOLINT: a hint of a pod is one of its uid
  // Nothing but this object, which was made or started.
  PodHint(PodUid changed, std::string object)
      : pod(std::move(changed)), begun({std::move(object)}), only_begun(true) {}

  // Both.
  void Join(const PodHint& other) {
    only_begun = only_begun && other.only_begun;
    if (only_begun) begun.insert(other.begun.begin(), other.begun.end());
    if (begun.size() > kBegunMax) only_begun = false;
    if (!only_begun) begun.clear();
  }

  PodUid pod;
  std::set<std::string> begun = {};  // ids
  bool only_begun = false;
};

enum class EventStreamState : uint8_t {
  kConnecting,   // not there, or lost; tried again for ever, with growing pauses
  kEstablished,  // from now on every change is announced: the list that follows is complete
  kUnsupported,  // the runtime has none; asked again now and then
};

class RuntimeEventsUser {
 public:
  // This pod changed. Coalesced: many events may come as one call.
  virtual void OnPodHint(const PodHint& hint) = 0;
  // Events were lost, or could not be read: any pod may have changed.
  virtual void OnHintsLost() = 0;
  virtual void OnStreamState(EventStreamState state) = 0;

 protected:
  ~RuntimeEventsUser() = default;
};

}  // namespace denselet::sync
