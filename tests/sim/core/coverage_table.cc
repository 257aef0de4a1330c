#include "tests/sim/core/coverage_table.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace denselet::sim {
namespace {

using sync::Phase;
using sync::WaitFor;

constexpr std::array<std::string_view, kSimEvents> kEventNames{
    "deleted",    "removed",         "wished again",    "replaced",        "changed",
    "debugged",   "told again",      "evicted",         "exited",          "sandbox died",
    "state lost", "liveness failed", "runtime crashed", "machine crashed", "agent killed",
    "API outage", "node not ready",  "disk full"};
constexpr std::array<std::string_view, kSimFaults> kFaultNames{
    "call not sent",   "call down",       "call refused",        "call lost before",
    "call lost after", "call late",       "call hang",           "call leaf failed",
    "call leaf hung",  "event lost",      "event lost and told", "events broken",
    "event late",      "event repeated",  "API request lost",    "API request late",
    "API busy",        "API answer lost", "API watch broken"};

constexpr std::string_view kDemanded;

bool IsOneOf(WaitFor wait, std::initializer_list<WaitFor> those) {
  return std::ranges::find(those, wait) != those.end();
}

// That they are reached is demanded, but not that everything happens in them.
bool IsFleeting(const SimPlace& place) {
  const bool late = IsOneOf(place.wait, {WaitFor::kSandboxStop, WaitFor::kSandboxRetry});
  if (place.phase == Phase::kFinished) return late;
  return place.phase == Phase::kTerminated &&
         (late || IsOneOf(place.wait, {WaitFor::kRead, WaitFor::kReadRetry}));
}
constexpr std::string_view kFleeting =
    "only a sandbox whose making was given up and that turns up late brings a pod there, and not "
    "for long";

bool HasContainers(const SimPlace& place) {
  return !IsOneOf(place.wait,
                  {WaitFor::kSandboxRun, WaitFor::kSandboxStop, WaitFor::kSandboxRetry});
}

bool IsAlive(const SimPlace& place) {
  return place.phase == Phase::kSyncing || place.phase == Phase::kTerminating;
}

std::string_view WhyNoContainer(const SimPlace& place) {
  if (!IsAlive(place)) return "all containers of a pod that has ended have stopped";
  if (!HasContainers(place)) {
    return "without its sandbox a pod has no container that runs, but for one nobody knows of yet";
  }
  return kDemanded;
}

std::string_view WhyNoSandbox(const SimPlace& place) {
  if (!IsAlive(place)) return "the sandboxes of a pod that has ended are stopped";
  if (place.wait == WaitFor::kSandboxRun) return "while a sandbox is made there is no other one";
  return kDemanded;
}

// A manifest that comes back finds its first life where it is by then.
std::string_view WhyNotBack(const SimPlace& place) {
  if (place.phase == Phase::kSyncing) {
    return "by the time that a manifest comes back the agent knows that it went";
  }
  if (place.wait == WaitFor::kEndRecord) return "a static pod is not evicted, and has no deadline";
  if (IsOneOf(place.wait, {WaitFor::kRemovalAllowed, WaitFor::kChange})) {
    return "nobody's word is waited for when a static pod has ended whose manifest went";
  }
  return kDemanded;
}

// How much of it asks something of the runtime while it rests there: all of a pod's calls count,
// not only the one that it waits for.
enum class Amount : uint8_t { kNone, kSome, kMany };

Amount CallsWhileSyncing(WaitFor wait) {
  if (IsOneOf(wait, {WaitFor::kPrepare, WaitFor::kVolumes, WaitFor::kPostStart, WaitFor::kPreStop,
                     WaitFor::kStopTurn, WaitFor::kRemoveRetry})) {
    return Amount::kNone;
  }
  const bool some =
      IsOneOf(wait, {WaitFor::kReadRetry, WaitFor::kStartupProbe, WaitFor::kStopRetry});
  return some ? Amount::kSome : Amount::kMany;
}

Amount CallsIn(const SimPlace& place) {
  switch (place.phase) {
    case Phase::kSyncing:
      return CallsWhileSyncing(place.wait);
    case Phase::kTerminating:
      if (place.wait == WaitFor::kPreStop) return Amount::kNone;
      return IsOneOf(place.wait, {WaitFor::kReadRetry, WaitFor::kStopTurn, WaitFor::kEndRecord})
                 ? Amount::kSome
                 : Amount::kMany;
    case Phase::kTerminated:
      return place.wait == WaitFor::kRelease ? Amount::kSome : Amount::kNone;
    case Phase::kFinished:
      return IsOneOf(place.wait,
                     {WaitFor::kReadRetry, WaitFor::kRemoveRetry, WaitFor::kRemovalAllowed})
                 ? Amount::kSome
                 : Amount::kMany;
  }
  return Amount::kNone;
}

// A start that is under way when its pod ends is given up.
bool GivesUpAStart(const SimPlace& place) {
  return place.phase == Phase::kTerminating &&
         IsOneOf(place.wait, {WaitFor::kSandboxRun, WaitFor::kCreate, WaitFor::kStart});
}

std::string_view WhyNoFault(SimFault fault, const SimPlace& place) {
  if (GivesUpAStart(place)) {
    if (fault == SimFault::kHang) return kDemanded;
    return "what is given up is answered at once, whatever else was to become of it";
  }
  switch (CallsIn(place)) {
    case Amount::kNone:
      return "for a pod that waits for this hardly anything is asked of the runtime";
    case Amount::kSome:
      if (fault != SimFault::kHang) return kDemanded;
      return "a call that hangs is answered at its deadline, and few are waited for there so long";
    case Amount::kMany:
      return kDemanded;
  }
  return kDemanded;
}

// Where something is made, mounted, hooked or cleaned up beside what is waited for.
bool WorksWhileSyncing(SimFault fault, WaitFor wait) {
  if (IsOneOf(wait, {WaitFor::kPrepare, WaitFor::kVolumes, WaitFor::kCreate, WaitFor::kPostStart,
                     WaitFor::kRemove, WaitFor::kBackOff, WaitFor::kImageRetry})) {
    return true;
  }
  return fault == SimFault::kLeafFailed &&
         IsOneOf(wait, {WaitFor::kRuntime, WaitFor::kNetwork, WaitFor::kImage,
                        WaitFor::kContainerRetry, WaitFor::kSandboxStop});
}

std::string_view WhyNoLeafFault(SimFault fault, const SimPlace& place) {
  bool works = IsOneOf(place.wait, {WaitFor::kRelease, WaitFor::kPreStop});
  if (place.phase == Phase::kSyncing) works |= WorksWhileSyncing(fault, place.wait);
  // What hangs when the pod's end comes is given up, and answered so.
  if (place.phase == Phase::kTerminating && fault == SimFault::kLeafHung) {
    works |= IsOneOf(
        place.wait, {WaitFor::kCreate, WaitFor::kSandboxStop, WaitFor::kStop, WaitFor::kEndRecord});
  }
  if (works) return kDemanded;
  return "hardly anything is made, mounted, hooked or cleaned up for a pod that waits for this";
}

// How much changes of a pod in the runtime while it rests there.
Amount ChangesIn(const SimPlace& place) {
  const WaitFor wait = place.wait;
  bool none = false;
  bool some = false;
  switch (place.phase) {
    case Phase::kSyncing:
      none = IsOneOf(wait, {WaitFor::kPrepare, WaitFor::kVolumes, WaitFor::kPreStop,
                            WaitFor::kStopTurn, WaitFor::kStopRetry, WaitFor::kRemoveRetry});
      some = IsOneOf(wait, {WaitFor::kReadRetry, WaitFor::kNetwork, WaitFor::kSandboxRetry,
                            WaitFor::kPostStart, WaitFor::kStartupProbe});
      break;
    case Phase::kTerminating:
      none = GivesUpAStart(place) ||
             IsOneOf(wait, {WaitFor::kReadRetry, WaitFor::kRuntime, WaitFor::kSandboxRetry,
                            WaitFor::kPreStop, WaitFor::kEndRecord});
      some = IsOneOf(wait, {WaitFor::kRead, WaitFor::kStopRetry});
      break;
    case Phase::kTerminated:
      none = true;
      break;
    case Phase::kFinished:
      none = IsOneOf(wait, {WaitFor::kChange, WaitFor::kRuntime, WaitFor::kReadRetry,
                            WaitFor::kRelease, WaitFor::kRemovalAllowed});
      some = wait == WaitFor::kRemoveRetry;
      break;
  }
  if (none) return Amount::kNone;
  return some ? Amount::kSome : Amount::kMany;
}

std::string_view WhyNoEventFault(SimFault fault, const SimPlace& place) {
  switch (ChangesIn(place)) {
    case Amount::kNone:
      return "hardly anything of a pod that waits for this changes in the runtime";
    case Amount::kSome:
      if (fault != SimFault::kEventsBroken) return kDemanded;
      return "few events break their stream, and few come there";
    case Amount::kMany:
      return kDemanded;
  }
  return kDemanded;
}

std::string_view WhyNoApiFault(const SimPlace& place) {
  const bool seldom = GivesUpAStart(place) || place.wait == WaitFor::kPreStop ||
                      place.wait == WaitFor::kPostStart ||
                      place == SimPlace{Phase::kSyncing, WaitFor::kRemoveRetry} ||
                      place == SimPlace{Phase::kTerminated, WaitFor::kRuntime} ||
                      place == SimPlace{Phase::kFinished, WaitFor::kReadRetry};
  if (!seldom) return kDemanded;
  return "pods wait for this too seldom, and not long enough for a status to go wrong meanwhile";
}

}  // namespace

std::string_view SimEventName(SimEvent event) { return kEventNames[static_cast<size_t>(event)]; }
std::string_view SimFaultName(SimFault fault) { return kFaultNames[static_cast<size_t>(fault)]; }

std::vector<SimPlace> SimPlaces() {
  std::vector<SimPlace> places;
  for (size_t phase = 0; phase < kSimPhases; ++phase) {
    for (size_t wait = 0; wait < sync::kWaitForCount; ++wait) {
      const SimPlace place{static_cast<Phase>(phase), static_cast<WaitFor>(wait)};
      if (CanWait(place)) places.push_back(place);
    }
  }
  return places;
}

bool CanWait(const SimPlace& place) {
  const WaitFor wait = place.wait;
  switch (place.phase) {
    case Phase::kSyncing:
      return !IsOneOf(wait, {WaitFor::kEndRecord, WaitFor::kRelease, WaitFor::kRemovalAllowed});
    case Phase::kTerminating:
      return IsOneOf(
          wait, {WaitFor::kRead, WaitFor::kReadRetry, WaitFor::kRuntime, WaitFor::kSandboxRun,
                 WaitFor::kSandboxStop, WaitFor::kSandboxRetry, WaitFor::kCreate, WaitFor::kStart,
                 WaitFor::kPreStop, WaitFor::kStopTurn, WaitFor::kStop, WaitFor::kStopRetry,
                 WaitFor::kEndRecord});
    // A sandbox whose making was given up can turn up late; no container can, without one.
    case Phase::kTerminated:
      return IsOneOf(wait, {WaitFor::kRead, WaitFor::kReadRetry, WaitFor::kRuntime,
                            WaitFor::kSandboxStop, WaitFor::kSandboxRetry, WaitFor::kRelease});
    case Phase::kFinished:
      return IsOneOf(wait, {WaitFor::kRead, WaitFor::kReadRetry, WaitFor::kRuntime,
                            WaitFor::kSandboxStop, WaitFor::kSandboxRetry, WaitFor::kRemove,
                            WaitFor::kRemoveRetry, WaitFor::kRelease, WaitFor::kRemovalAllowed});
  }
  return false;
}

bool CanBeHit(const SimPlace& place) {
  return CanWait(place) || place == SimPlace{Phase::kFinished, WaitFor::kChange};
}

std::string_view WhyNotDemanded(SimEvent event, const SimPlace& place) {
  if (IsFleeting(place)) return kFleeting;
  switch (event) {
    case SimEvent::kExited:
    case SimEvent::kStateLost:
    case SimEvent::kLivenessFailed:
      return WhyNoContainer(place);
    case SimEvent::kSandboxDied:
      return WhyNoSandbox(place);
    case SimEvent::kWishedAgain:
      return WhyNotBack(place);
    case SimEvent::kReplaced:
      if (place.phase == Phase::kSyncing) return kDemanded;
      return "a manifest that is gone does not change, unless it came back while its pod ends";
    case SimEvent::kEvicted:
    case SimEvent::kChanged:
    case SimEvent::kDeleted:
    case SimEvent::kRemoved:
    case SimEvent::kDebugged:
    case SimEvent::kToldAgain:
    case SimEvent::kRuntimeCrashed:
    case SimEvent::kMachineCrashed:
    case SimEvent::kAgentKilled:
    case SimEvent::kApiOutage:
    case SimEvent::kNodeNotReady:
    case SimEvent::kDiskFull:
      return kDemanded;
  }
  return kDemanded;
}

std::string_view WhyNotDemanded(SimFault fault, const SimPlace& place) {
  if (IsFleeting(place)) return kFleeting;
  if (fault == SimFault::kLeafFailed || fault == SimFault::kLeafHung) {
    return WhyNoLeafFault(fault, place);
  }
  if (fault >= SimFault::kApiRequestLost) return WhyNoApiFault(place);
  if (fault >= SimFault::kEventLost) return WhyNoEventFault(fault, place);
  return WhyNoFault(fault, place);
}

}  // namespace denselet::sim
