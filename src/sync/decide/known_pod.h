// What is known of a pod's objects now: the last observation, and on top of it the answers of our
// own calls that it does not cover. Built anew for each decision; points into its inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sync/decide/decide.h"

namespace denselet::sync {

enum class Life : uint8_t {
  kNone,
  kCreating,  // a create is in flight
  kCreated,
  kStarting,  // a start is in flight
  kRunning,
  kExited,
  kUnknown,  // the runtime cannot say
};

struct KnownContainer {
  std::string_view name = {};
  uint32_t attempt = 0;
  const ContainerId* id = nullptr;     // null while it is created
  const SandboxId* sandbox = nullptr;  // null: not known
  Life life = Life::kNone;
  bool exit_seen = false;  // of kExited; false: we stopped it and did not look since
  int32_t exit_code = 0;
  bool oom_killed = false;
  std::optional<uint64_t> hash = {};
  WallTime created = {};                  // of what was seen
  Epoch as_of = 0;                        // of what was last seen of it
  const ContainerEntry* entry = nullptr;  // null: none of our calls was about it

  bool stopping() const { return entry && entry->stop_began.has_value(); }
  // A start that was given up may yet take effect.
  bool may_yet_run() const {
    return life == Life::kCreated && entry && entry->start.state == CallState::kUnknown;
  }
};

struct KnownSandbox {
  uint32_t attempt = 0;
  const SandboxId* id = nullptr;
  bool ready = false;
  bool seen = false;  // false: we made it and did not look yet, so the rest is not known
  NetworkMode network = NetworkMode::kPod;
  const std::vector<std::string>* ips = nullptr;
  const SandboxEntry* entry = nullptr;

  bool stopped() const { return entry && entry->stop.done(); }
};

struct KnownPod {
  std::vector<KnownSandbox> sandboxes = {};     // by descending attempt
  std::vector<KnownContainer> containers = {};  // by name and descending attempt
  // By place in the plan: the one that decides, kNoContainer as an index: none. The newest that
  // runs or may run, or the newest.
  std::vector<uint16_t> subjects = {};

  const SandboxEntry* running_sandbox = nullptr;  // a run is in flight
  bool outcome_unknown = false;                   // a call's, that no observation covers
  bool changed_since_read = false;                // a call had an effect that nobody looked at

  const KnownContainer* Subject(ContainerIndex index) const {
    return subjects[index] == kNoContainer ? nullptr : &containers[subjects[index]];
  }
};

// An observation must be there.
KnownPod MakeKnownPod(const DecideInput& input);

}  // namespace denselet::sync
