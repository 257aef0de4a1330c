// Brings the statuses of pods to the API server, and lets go of pods that have ended.
//
//   SetStatus --> newest per pod --> judged against what the server has
//                                      | same: settled                      finished and deleted:
//                                      DELETE | an ordinary start: held for a moment
//                                      v
//                    [ line: ends, readiness, others ] --> PATCH --> answer: what the server has
//                    now
//                                      ^                     |
//                                      +--- pause, GET ------+ in vain
//
// One request of a pod is under way at a time, so its statuses arrive in their order; pods do not
// wait for each other. What the server has comes from the watch and from the answers, so no GET
// goes before a patch; each patch names the uid and the version that it starts from, so that one
// that was lost on its way, of this process or the one before, cannot arrive after a newer one.
//
// An ordinary start (pending, nothing wrong) is held for `start_hold`: a pod that is up by then
// costs one patch. While requests wait for their turn under the rate limit it is held on, up to
// `start_hold_max`: what it would take is better spent on what makes pods run. Readiness, an end, a
// restart or a reason to wait is never held.
//
// Everything is bounded by the number of pods. Lives on the API shard; destroying it ends it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "base/cancel.h"
#include "base/context.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/repeated_trouble.h"
#include "base/time.h"
#include "kube/api/fwd.h"
#include "kube/api/pod/pod_at_rest.h"
#include "managers/status/merge_status.h"
#include "managers/status/status_metrics.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"
#include "sync/ports/pod_status.h"

namespace denselet::managers {

struct StatusManagerOptions {
  // Requests under way; the others wait in line. Small, because what was handed to the client is
  // not replaced by a newer status any more.
  uint32_t requests_max = 16;
  Duration request_time_max = Seconds(10);
  Duration start_hold = Seconds(1);
  Duration start_hold_max = Seconds(30);
  // Between tries of one pod, and of all when the server cannot be reached.
  Duration retry_min = Milliseconds(200);
  Duration retry_max = Seconds(10);
  // A status that the server took and shows otherwise is sent again no sooner.
  Duration reconcile_interval = Seconds(10);
  // A status that the server calls invalid, unless a newer one comes.
  Duration refused_pause = Minutes(1);
};

class StatusManager final : public sync::PodStatusSink {
 public:
  enum class Stage : uint8_t {
    kResting,  // nothing to send
    kHeld,     // an ordinary start
    kInLine,
    kPatching,
    kReading,  // after a conflict
    kDeleting,
    kPausing,  // after a failure
  };

  StatusManager(reactor::Loop& loop, Random& random, Logger log, sync::ApiServer& api,
                sync::PodStatusUser& user, const StatusManagerOptions& options);
  ~StatusManager();
  StatusManager(const StatusManager&) = delete;
  StatusManager& operator=(const StatusManager&) = delete;

  // sync::PodStatusSink
  void SetStatus(sync::PodStatusUpdate update) override;
  void Forget(const PodUid& pod) override;

  // What the watch of the API server tells, mirror pods included.
  void OnApiPod(const kube::PodRef& pod);
  void OnApiPodGone(const kube::PodRef& pod);

  struct Counts {
    size_t pods = 0, in_line = 0, held = 0, pausing = 0, requests = 0;
    bool server_in_trouble = false;
  };
  Counts counts() const;
  // kResting also of pods that nobody knows.
  Stage stage(const PodUid& pod) const;
  MetricSet<StatusMetric>& metrics() { return metrics_; }
  const MetricSet<StatusMetric>& metrics() const { return metrics_; }

  // Deliberate faults, to prove that tests see them.
  struct Faults {
    bool end_while_running = false;  // a terminal phase is told while containers may run
    bool no_version = false;         // patches do not say what they start from
    bool drop_foreign = false;       // conditions of others are overwritten
    bool settle_early = false;       // a status counts as arrived when it is sent
    bool delete_early = false;       // objects of pods go before their last status was taken
  };
  Faults& faults_for_tests() { return faults_; }

 private:
  struct Entry {
    sync::PodStatusUpdate wanted = {};
    ObjectRef name = {};
    bool is_static = false;
    uint64_t generation = 0;  // of this entry: answers to one before it find nobody

    Stage stage = Stage::kResting;
    Urgency urgency = Urgency::kNormal;  // of kInLine
    uint64_t turn = 0;                   // of kInLine
    reactor::TimerId timer = {};         // of kHeld and kPausing
    uint32_t failures = 0;
    TimePoint changed = {};  // since when there is something unsent
    std::optional<TimePoint> held_since = {};
    std::optional<uint64_t> settled = {};  // the version that was told to be
    std::optional<uint64_t> taken = {};    // the version that the server took last
    std::string taken_for = {};            // the uid of the object: a mirror may be made anew
    TimePoint taken_at = {};
    // The object as which it shows all of this status: most of what is told is told to be the same.
    struct Shows {
      std::string uid, version;
    };
    std::optional<Shows> shows = {};
    std::optional<uint64_t> refused = {};  // the version that it called invalid
    // Of a request under way: the status that it carries, the version of the pod it starts from.
    uint64_t sent = 0;
    std::string based_on = {};
  };
  using Entries = std::map<PodUid, Entry>;
  using Line = std::set<std::tuple<Urgency, uint64_t, PodUid>>;

  // What there is to do about a pod.
  struct Work {
    // kNotYet: a status will come that may be sent.
    enum class Kind : uint8_t { kNothing, kNotYet, kPatch, kDelete } kind = Kind::kNothing;
    Urgency urgency = Urgency::kNormal;
    std::string patch = {};
  };

  // Empty: the API server has no object for its status.
  kube::PodRef ShownOf(const Entry& entry) const;
  // Its status goes on from what `shown` has, or there is nothing yet.
  static bool GoesOnFrom(const Entry& entry, const kube::core::Pod& shown);
  // True: it is news.
  bool Show(const kube::PodRef& pod);
  enum class Purpose : uint8_t { kJudging, kSending };
  Result<Work> Plan(const Entry& entry, const kube::PodAtRest& shown, Purpose purpose) const;
  // Somebody will have a use for the patch. Most statuses of a start are held, or wait for their
  // turn, until a newer one takes their place.
  bool NeedsPatch(const Entry& entry, Urgency urgency) const;
  bool HoldIsOver(const Entry& entry) const;
  static bool Shows(const Entry& entry, const kube::PodAtRest& shown);
  // Of a pod whose turn it is.
  Result<Work> PlanNow(const PodUid& pod, const Entry& entry, const kube::PodAtRest& shown);

  void JudgeNamed(const ObjectRef& name);
  void Judge(const PodUid& pod, Entry& entry);
  void Settle(const PodUid& pod, Entry& entry);
  void Rest(Entry& entry);
  void LineUp(const PodUid& pod, Entry& entry, Urgency urgency, Work work);
  void LeaveLine(const PodUid& pod, Entry& entry);
  void Hold(const PodUid& pod, Entry& entry, Work work);
  void Pause(const PodUid& pod, Entry& entry, Duration pause);
  void Wake(const PodUid& pod, Entry& entry, TimePoint when);

  void Pump();
  Line::iterator Next();
  void Send(const PodUid& pod, Entry& entry);
  void Ask(const PodUid& pod, Entry& entry, Stage stage, sync::ApiRequest request);
  void OnAnswer(const PodUid& pod, uint64_t generation, Result<sync::ApiObject> answer);
  void OnPatched(const PodUid& pod, Entry& entry, Result<sync::ApiObject> answer);
  void Read(const PodUid& pod, Entry& entry);
  void OnRead(const PodUid& pod, Entry& entry, Result<sync::ApiObject> answer);
  void OnDeleted(const PodUid& pod, Entry& entry, Result<sync::ApiObject> answer);
  void OnFailure(const PodUid& pod, Entry& entry, const Error& error, std::string_view doing);
  bool ConcernsAll(const Error& error) const;
  void NoteServer(const Result<sync::ApiObject>& answer);
  void LoseShown(const Entry& entry);

  reactor::Loop& loop_;
  Random& random_;
  const Logger log_;
  sync::ApiServer& api_;
  sync::PodStatusUser& user_;
  const StatusManagerOptions options_;
  MetricSet<StatusMetric> metrics_;
  Faults faults_;

  // What Plan reads into: memory that is there already is half of the time that it takes.
  struct Scratch;
  const std::unique_ptr<Scratch> scratch_;

  Entries entries_;
  std::map<ObjectRef, std::set<PodUid>> named_;  // entries by name: static pods may share one
  std::map<ObjectRef, kube::PodRef> shown_;      // what the API server has
  Line line_;
  // What was judged this moment, while the line is looked at: mostly it is sent at once. Not kept
  // for those that wait, which are judged again.
  struct Judged {
    PodUid pod;
    Work work;
  };
  std::optional<Judged> judged_;
  uint64_t next_turn_ = 1;
  uint64_t next_generation_ = 1;
  uint32_t requests_ = 0;
  uint32_t urgent_in_a_row_ = 0;
  // The server cannot be reached: one request at a time tries it, with pauses.
  uint32_t troubles_ = 0;
  RepeatedTrouble crowded_;                   // requests do not get their turn in time
  TimePoint answered_at_ = TimePoint::min();  // by the server, whatever it said
  TimePoint quiet_until_ = {};
  reactor::TimerId quiet_timer_ = {};
  CancelSource cancel_;
};

std::string_view Name(StatusManager::Stage stage);

}  // namespace denselet::managers
