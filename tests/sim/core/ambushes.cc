#include "tests/sim/core/ambushes.h"

#include <algorithm>
#include <iterator>

namespace denselet::sim {
namespace {

using sync::Phase;
using sync::WaitFor;

constexpr int kAmbushes = 5;  // by anything
constexpr int kTraps = 16;    // by one thing
constexpr uint32_t kHitsMax = 4;
constexpr uint32_t kTrapHitsMax = 1;
constexpr uint32_t kWayHitsMax = 2;  // not everybody gets there

// Where few come by, and not for long; fewest where it is said twice.
constexpr SimPlace kRarePlaces[] = {
    {Phase::kSyncing, WaitFor::kSandboxStop},    {Phase::kSyncing, WaitFor::kPostStart},
    {Phase::kSyncing, WaitFor::kPreStop},        {Phase::kSyncing, WaitFor::kPreStop},
    {Phase::kSyncing, WaitFor::kStopTurn},       {Phase::kSyncing, WaitFor::kStopTurn},
    {Phase::kSyncing, WaitFor::kRemoveRetry},    {Phase::kSyncing, WaitFor::kRemoveRetry},
    {Phase::kTerminating, WaitFor::kSandboxRun}, {Phase::kTerminating, WaitFor::kCreate},
    {Phase::kTerminating, WaitFor::kStart},      {Phase::kTerminating, WaitFor::kPreStop},
    {Phase::kTerminating, WaitFor::kPreStop},    {Phase::kTerminating, WaitFor::kStopTurn},
    {Phase::kTerminating, WaitFor::kEndRecord},  {Phase::kTerminated, WaitFor::kRuntime},
};

// What the author of a pod may yet do that is deleted already.
bool MayFollowDeletion(SimEvent event) {
  return event == SimEvent::kDeleted || event == SimEvent::kRemoved ||
         event == SimEvent::kChanged || event == SimEvent::kDebugged || event == SimEvent::kEvicted;
}

bool StopsInTurn(WaitFor wait) { return wait == WaitFor::kStopTurn || wait == WaitFor::kPreStop; }

// Whether it waits for that when all its containers are stopped with their grace.
bool MayWaitFor(WaitFor wait, const SimPod& pod) {
  if (!StopsInTurn(wait)) return true;
  if (pod.grace_seconds == 0) return false;
  return wait == WaitFor::kStopTurn ? HasSidecar(pod.kind) : HasPreStop(pod.kind);
}

bool IsFor(const Ambush& ambush, const SimPod& pod) {
  if (ambush.event && !MayAmbush(*ambush.event, pod)) return false;
  if (!ambush.leads_to) return true;
  return MayAmbush(ambush.leads_to->event, pod) && MayWaitFor(ambush.leads_to->place.wait, pod);
}

// What brings pods to where the trap is; nothing: enough come by themselves.
std::optional<Ambush> WayTo(const Trap& trap) {
  const WaitFor wait = trap.place.wait;
  const SimPlace from{Phase::kSyncing, StopsInTurn(wait) ? WaitFor::kChange : wait};
  if (trap.place.phase == Phase::kTerminating) {
    const bool comes_back = trap.event == SimEvent::kWishedAgain;
    return Ambush{from, comes_back ? SimEvent::kWishedAgain : SimEvent::kEvicted, kWayHitsMax,
                  trap};
  }
  if (trap.place.phase == Phase::kSyncing && StopsInTurn(wait)) {
    // A probe kills one container, with its hook; without a sandbox all are stopped, in turn.
    const bool hook = wait == WaitFor::kPreStop;
    return Ambush{from, hook ? SimEvent::kLivenessFailed : SimEvent::kSandboxDied, kWayHitsMax,
                  trap};
  }
  return std::nullopt;
}

}  // namespace

bool DecidesTheEnd(SimEvent event) {
  switch (event) {
    case SimEvent::kDeleted:
    case SimEvent::kRemoved:
    case SimEvent::kWishedAgain:
    case SimEvent::kReplaced:
    case SimEvent::kChanged:
    case SimEvent::kDebugged:
    case SimEvent::kEvicted:
      return true;
    case SimEvent::kToldAgain:
    case SimEvent::kExited:
    case SimEvent::kSandboxDied:
    case SimEvent::kStateLost:
    case SimEvent::kLivenessFailed:
    case SimEvent::kRuntimeCrashed:
    case SimEvent::kMachineCrashed:
    case SimEvent::kAgentKilled:
    case SimEvent::kApiOutage:
    case SimEvent::kNodeNotReady:
    case SimEvent::kDiskFull:
      return false;
  }
  return false;
}

bool MayAmbush(SimEvent event, const SimPod& pod) {
  const bool of_files = event == SimEvent::kWishedAgain || event == SimEvent::kReplaced;
  const bool of_api =
      event == SimEvent::kEvicted || event == SimEvent::kDebugged || event == SimEvent::kDeleted;
  if (pod.is_static ? of_api : of_files) return false;
  return !DecidesTheEnd(event) || pod.doomed || (pod.deleting && MayFollowDeletion(event));
}

void Ambushes::Draw(Random& random) {
  const std::vector<SimPlace> places = SimPlaces();
  const auto any_place = [&] { return places[random.Below(places.size())]; };
  for (int i = 0; i < kAmbushes; ++i) ambushes_.push_back({any_place(), std::nullopt, kHitsMax});
  for (int i = 0; i < kTraps; ++i) {
    const SimPlace place =
        i % 4 == 0 ? any_place() : kRarePlaces[random.Below(std::size(kRarePlaces))];
    LayTrap({place, static_cast<SimEvent>(random.Below(kSimEvents))});
  }
}

void Ambushes::LayTrap(const Trap& trap) {
  ambushes_.push_back({trap.place, trap.event, kTrapHitsMax});
  if (const auto way = WayTo(trap)) ambushes_.push_back(*way);
}

Ambush* Ambushes::Find(const SimPlace& place, const SimPod& pod) {
  const auto found = std::ranges::find_if(ambushes_, [&](const Ambush& ambush) {
    return ambush.place == place && ambush.left > 0 && IsFor(ambush, pod);
  });
  return found == ambushes_.end() ? nullptr : &*found;
}

}  // namespace denselet::sim
