// The statuses of one shard's pods: made when something about a pod changed, once a turn at most,
// handed on when they differ from those before, and known to have arrived or not.
//
//   Changed --> [ pods, each once ] --> BuildPodStatus --(differs)--> PodStatusSink
//   OnStatusSettled: the last status of a pod that is to go has arrived --> its objects may go
//
// When a pod has finished, its last word is spoken: the runtime forgets then what it was made from.
// A status that must not be told (kBug) is not: the one before stays, and that is logged.
//
// Lives on one shard beside its PodShard, which ends first. Bounded by the number of pods.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/log.h"
#include "reactor/api/loop.h"
#include "sync/ports/pod_status.h"
#include "sync/shard/pod_shard.h"
#include "sync/status/pod_status.h"

namespace denselet::sync {

class PodStatuses final : public PodStatusUser {
 public:
  static constexpr size_t kBuildsPerTurnMax = 64;

  PodStatuses(reactor::Loop& loop, const Logger& log, PodShard& pods, PodStatusSink& sink);
  ~PodStatuses();
  PodStatuses(const PodStatuses&) = delete;
  PodStatuses& operator=(const PodStatuses&) = delete;

  // Nothing is told before the node is known: container ids carry the name of the runtime.
  void SetNode(const StatusNode& node);
  // Something about it is new; soon its status is made.
  void Changed(const PodUid& pod);
  // It has left this node.
  void Gone(const PodUid& pod);
  // What the API server showed of a static pod before this agent began: its status goes on from it.
  // Empty: the mirror is gone, and nothing is kept for a static pod that there is not.
  void SetMirror(const PodUid& static_pod, const kube::PodRef& mirror);

  // PodStatusUser
  void OnStatusSettled(const PodUid& pod, uint64_t version) override;

  // Drops what is kept for the next statuses only to make them sooner.
  void ForgetParsed();

  size_t waiting() const { return line_.size(); }
  // Empty: none was made yet. Bytes of a core.v1.PodStatus.
  std::string_view StatusOf(const PodUid& pod) const;

  struct Faults {
    bool forget_before = false;    // a status is made as if none had been told before
    bool finish_early = false;     // a pod counts as finished while its containers stop
    bool allow_unsettled = false;  // its objects may go before its last status has arrived
  };
  Faults& faults_for_tests() { return faults_; }

 private:
  struct Kept {
    std::string status = {};  // as handed on last
    uint64_t version = 0;     // of it
    uint64_t settled = 0;
    TimePoint settled_at = {};
    uint64_t shows_start = 0;  // the version that tells first that all has started
    bool start_told = false;   // that it has arrived was told to the worker
    MayRun may_run = MayRun::kYes;
    Finished finished = Finished::kNo;
    kube::PodRef pod = {};    // that it was made from
    uint64_t generation = 0;  // of the worker
    bool in_line = false;
    std::string mirror = {};       // its uid; empty: none
    bool mirror_seen = false;      // once
    std::string told_mirror = {};  // with the status that was handed on last
    // The pod's generation when its end was told of; of the worker's generation that is kept.
    std::optional<int64_t> end_told = {};
    // The pod had ended before we began, and has nothing to tell since: its status is not ours.
    bool taken_over = false;
    bool refused = false;  // the newest could not be made; logged
  };

  void LineUp(const PodUid& pod, Kept& kept);
  void Turn();
  void Make(const PodUid& pod, Kept& kept);
  bool EndIsTold(const PodWorker& worker, const Kept& kept) const;
  void Tell(Kept& kept);
  Result<std::string> Build(const PodWorker& worker, Kept& kept, Finished finished) const;
  void NoteStart(const PodWorker& worker, Kept& kept);
  void AllowRemovalOf(const PodUid& pod, const Kept& kept);

  reactor::Loop& loop_;
  const Logger log_;
  PodShard& pods_;
  PodStatusSink& sink_;
  std::optional<StatusNode> node_;
  std::map<PodUid, Kept> kept_;
  std::deque<PodUid> line_;
  uint64_t next_version_ = 1;
  bool turn_posted_ = false;
  Faults faults_;
  // Of the pods that had a status last: most get the next one soon. Parsed into again and again,
  // which costs few allocations.
  class ParsedPods;
  std::unique_ptr<ParsedPods> parsed_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with the posted turn
};

}  // namespace denselet::sync
