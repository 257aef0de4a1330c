// What happens in a run: pods that come, change and go, and trouble of every kind. All of it is
// drawn from the seed alone, never from how the run goes, so that a run with events and one without
// have the same story. Which pods are hit is drawn by their place in the story; what does not fit
// any more when its time has come is skipped. In a quiet run nothing hits a pod before the last hit
// has come to rest.
//
// In a few places that the seed draws, pods are ambushed (ambushes.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/sim/core/ambushes.h"
#include "tests/sim/core/core_world.h"

namespace denselet::sim {

// Whether nothing but the word that something was lost brings a list in this seed's story.
bool ListsOnlyAtAWord(uint64_t seed);

class Disturbances final : public CoreWatcher {
 public:
  explicit Disturbances(CoreWorld& core);

  // Draws faults and pods and plans what happens until `end`.
  void Begin(TimePoint end);
  // From now on nothing fails and nothing is disturbed.
  void MakePeace();

  // CoreWatcher
  void OnRequest(const fakes::SentRequest&) override {}
  void OnPodChanged(const sync::PodWorker& worker) override;
  void OnPodRests(const PodUid& pod, const SimPlace& place) override;
  void OnPodGone(const PodUid&) override {}
  void OnAgentStarts() override {}
  void OnServerChange(const ServerChange& change) override;

 private:
  void DrawFaults();
  void DrawEventFaults(Random& random);
  void Meddle();
  void PlanNext(TimePoint end);
  void Disturb(Random& random);
  void AddPod(Random& random);
  void Spring(const PodUid& uid, std::optional<SimEvent> event, uint64_t seed);
  // Sources repeat themselves until they have had their share of wishes.
  void Repeat(TimePoint end);

  // In a quiet run: what was done to it last has come to rest, on any way.
  bool IsCalm(const PodUid& pod) const;
  // From now on something is done to it, for so long.
  void Stir(const SimPod& pod, Duration length = {});

  // False: it did not fit.
  bool Hit(SimEvent event, SimPod& pod, Random& random);
  bool Do(SimEvent event, SimPod& pod, Random& random);
  bool Delete(SimPod& pod, Random& random);
  bool Remove(SimPod& pod);
  bool WishAgain(SimPod& pod, Random& random);
  bool Replace(SimPod& pod, Random& random);
  bool ReplaceManifest(SimPod& pod);
  const SimPod& Succeed(const SimPod& pod);
  void Come(const std::string& name);
  bool ComeBack(SimPod& pod);
  // It was deleted so long ago that, as far as the story goes, it is not there any more.
  bool IsLongDeleted(const SimPod& pod) const;
  bool Change(SimPod& pod, Random& random);
  bool Debug(SimPod& pod);
  bool Evict(SimPod& pod, Random& random);
  bool HitContainer(SimEvent event, const SimPod& pod, Random& random);
  bool KillSandbox(const SimPod& pod, Random& random);
  bool CrashRuntime(SimEvent event, Random& random);
  bool KillAgent(Random& random);
  bool MakeNotReady(Random& random);
  bool FillDisk(Random& random);

  CoreWorld& core_;
  SeededRandom plan_;
  SeededRandom repeats_;
  TimePoint began_ = {};
  Duration pause_max_ = {};  // between two events
  uint32_t pods_max_ = 0;
  uint32_t pods_drawn_ = 0;
  uint32_t doomed_ = 0;
  std::vector<PodUid> slots_;  // the pods of the story
  Ambushes ambushes_;
  std::map<PodUid, TimePoint> deleted_at_;
  uint32_t full_ = 0;                    // the disk, or read-only, for so many reasons
  std::map<PodUid, TimePoint> calm_at_;  // of a quiet run
  bool crowded_ = false;
  bool troubled_ = true;
};

}  // namespace denselet::sim
