// What must be remembered of a pod between decisions and is in no observation: when containers were
// seen to have ended, and how long crash loops wait. A plain value of the pod worker; lost with the
// process, as the kubelet's is.
//
// Times are our own clock's: the runtime's finishing times decide nothing. The difference is how
// long it takes to see an exit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "sync/decide/pod_facts.h"
#include "sync/ports/observed_pod.h"

namespace denselet::sync {

struct BackOffEntry {
  uint64_t key = 0;
  Duration delay = {};
  TimePoint updated = {};
  friend bool operator==(const BackOffEntry&, const BackOffEntry&) = default;
};

struct ExitSeen {
  uint32_t attempt = 0;
  TimePoint at = {};
  friend bool operator==(const ExitSeen&, const ExitSeen&) = default;
};

struct ContainerMemory {
  std::string name = {};
  std::optional<ExitSeen> last_exit = {};
  std::optional<ExitSeen> exit_before = {};
  std::optional<BackOffEntry> back_off = {};
  std::optional<Duration> waited = {};  // before the newest start; nothing: it came at once
  uint32_t attempts = 0;                // one more than the highest attempt ever seen or asked for
};

// At most one entry for each name that the pod ever had; bounded by what validation lets through.
struct PodMemory {
  std::vector<ContainerMemory> containers = {};

  const ContainerMemory* Find(std::string_view name) const;
  ContainerMemory& Of(std::string_view name);

  // With every observation and every ReadContainer, before Decide.
  void NoteObserved(const ObservedPod& observed, TimePoint now);
  void NoteObserved(const ObservedContainer& observed, TimePoint now);
  // When a CreateContainer begins, which may take a while until it is sent: what its container has
  // waited for stays the reason that is told. Nothing else counts yet.
  void NoteWaited(std::string_view name, const std::optional<BackOffEntry>& back_off);
  // At every CreateContainer that is sent.
  void NoteCreate(std::string_view name, uint32_t attempt,
                  const std::optional<BackOffEntry>& back_off);
};

// Crash-loop back-off: 10 s, doubled at each restart to the maximum; a container that ran for ten
// minutes starts over.
inline constexpr Duration kBackOffForgets = Seconds(600);

// The delay that still holds a container with that exit; nothing: it may be started.
std::optional<Duration> BackOffDelay(const std::optional<BackOffEntry>& entry, uint64_t key,
                                     TimePoint exited, TimePoint now);
// The entry after a start that follows that exit.
BackOffEntry NextBackOff(const std::optional<BackOffEntry>& entry, uint64_t key, TimePoint exited,
                         const NodeFacts& node, TimePoint now);

}  // namespace denselet::sync
