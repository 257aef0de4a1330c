// The pod lifecycle event generator: sees to it that no change in the runtime stays unnoticed.
//
//              stream established, list after it, and as many clean lists as trust asks for
//   lists lead ------------------------------------------------------------------> events lead
//   a list each second                                            a cross-check each 5 minutes
//              <------------------------------------------------------------------
//                            stream lost or not supported, or nobody knows what was lost
//
// A stream that breaks soon after it was trusted doubles the clean lists it takes to be trusted
// again, so a flapping stream does not make the mode flap; time in peace halves them. A runtime
// that was away itself, so that lists failed too, is no flapping stream: back, it is listed at once
// and trusted as before. A cross-check that finds what no event announced makes the next one come
// sooner; clean ones make it later again (invariants 9 to 11).
//
// Node-wide; lives on one shard, owned by the composition root. It never looks at a pod: hints and
// parts of lists go to the shards that own the pods, which read them there. Destroyed, it tells
// nobody; the answer of a list under way is dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/repeated_trouble.h"
#include "reactor/api/loop.h"
#include "sync/pleg/epoch.h"
#include "sync/pleg/pleg_metrics.h"
#include "sync/ports/pod_shard.h"
#include "sync/ports/runtime.h"

namespace denselet::sync {

struct PlegOptions {
  bool use_events = true;
  Duration relist_period = Seconds(1);
  Duration cross_check_period_max = Minutes(5);
  Duration cross_check_period_min = Seconds(10);
  uint32_t clean_checks_to_lengthen = 2;
  uint32_t clean_lists_to_trust_min = 1;
  uint32_t clean_lists_to_trust_max = 64;
  // A stream that breaks within this after it was trusted is flapping.
  Duration flapping_within = Minutes(2);
  Duration list_deadline = Minutes(2);
  // Without a successful list for so long PLEG is not healthy, as upstream has it.
  Duration unhealthy_after_lists_lead = Minutes(3);
  Duration unhealthy_after_events_lead = Minutes(10);
  size_t history_max = 32;
};

enum class PlegMode : uint8_t { kListsLead, kEventsLead };
std::string_view PlegModeName(PlegMode mode);

struct PlegModeChange {
  PlegMode mode;
  TimePoint at;
  std::string why;
};

// What the shards are given. Both run on the shard named; both may be refused when its mailbox is
// full, and then all is listed again.
class PlegShards {
 public:
  virtual ~PlegShards() = default;
  // These pods changed, perhaps.
  virtual Status Hint(uint32_t shard, std::vector<PodHint> hints) = 0;
  // Its part of a list that was asked for at `epoch`, sorted by uid; `was`: since the list before.
  // `checked` is called on the shard of PLEG with the number of differences that nothing had
  // announced.
  virtual Status Listed(uint32_t shard, Epoch epoch, RuntimeWas was, std::vector<ListedPod> pods,
                        UniqueFunction<void(uint64_t missed)> checked) = 0;
};

class PlegUser {
 public:
  // For a node event.
  virtual void OnPlegMode(const PlegModeChange& change) = 0;

 protected:
  ~PlegUser() = default;
};

class Pleg final : public RuntimeEventsUser {
 public:
  Pleg(reactor::Loop& loop, Random& random, const Logger& log, Runtime& runtime,
       EpochCounter& epochs, PlegShards& shards, uint32_t shard_count, const PlegOptions& options,
       PlegUser& user);
  ~Pleg();
  Pleg(const Pleg&) = delete;
  Pleg& operator=(const Pleg&) = delete;

  PlegMode mode() const { return mode_; }
  bool uses_events() const { return options_.use_events; }  // false: switched off by configuration
  const std::deque<PlegModeChange>& history() const { return history_; }
  Duration cross_check_period() const { return cross_check_period_; }
  uint64_t missed_events() const { return missed_total_; }
  TimePoint last_list() const { return last_list_; }
  TimePoint list_began() const { return list_began_; }  // the newest
  // A list succeeded lately, or the agent is young; and none fails for long.
  bool Healthy(TimePoint now) const { return WhyUnhealthy(now).empty(); }
  // In upstream's words; empty: healthy.
  std::string WhyUnhealthy(TimePoint now) const;
  // As soon as none is under way, but not twice within relist_period.
  void RelistNow();
  // The runtime answers after a time in which it did not, whatever the stream says: one that hung
  // has lost no connection. What waits for it is read after a list.
  void OnRuntimeBack();
  bool listing() const { return list_cancel_ != nullptr; }
  MetricSet<PlegMetric>& metrics() { return metrics_; }

  // RuntimeEventsUser
  void OnPodHint(const PodHint& hint) override;
  void OnHintsLost() override;
  void OnStreamState(EventStreamState state) override;

  struct Faults {
    bool trust_at_once = false;      // before the list that follows the subscription (10)
    bool ignore_hints_lost = false;  // (9)
    bool epoch_after_list = false;   // R8: the list is stamped when it has come (2)
    bool ignore_missed = false;      // (11)
    bool never_cross_check = false;  // events are trusted for ever (12)
  };
  Faults& faults_for_tests() { return faults_; }

 private:
  void ArmNext(Duration pause);
  void ListForStream();
  void CheckAListComes() const;
  void StartList();
  void OnList(uint64_t number, Result<RuntimeList> answer);
  void Distribute(Epoch epoch, RuntimeList list);
  void OnChecked(uint64_t number, uint64_t missed);
  void Judge();
  void SetMode(PlegMode mode, std::string why);
  Duration Period() const;
  void FlushHints();

  reactor::Loop& loop_;
  Random& random_;
  const Logger log_;
  Runtime& runtime_;
  EpochCounter& epochs_;
  PlegShards& shards_;
  const PlegOptions options_;
  PlegUser& user_;
  MetricSet<PlegMetric> metrics_;
  Faults faults_;

  PlegMode mode_ = PlegMode::kListsLead;
  std::deque<PlegModeChange> history_;
  EventStreamState stream_ = EventStreamState::kConnecting;
  Epoch established_ = 0;  // the newest number when the stream was
  bool must_relist_ = false;
  uint32_t clean_needed_;
  uint32_t clean_lists_ = 0;  // in a row, asked for after the stream was established
  TimePoint trusted_since_ = {};
  bool broke_soon_ = false;                      // the stream, after it was trusted
  bool was_away_ = false;                        // a list has failed since the stream was lost
  RuntimeWas runtime_was_ = RuntimeWas::kThere;  // since the last list that all shards were given
  Duration cross_check_period_;
  uint32_t clean_checks_ = 0;
  uint64_t missed_total_ = 0;
  const TimePoint born_;
  TimePoint last_list_ = {};
  std::optional<TimePoint> failing_since_ = {};  // the beginning of the first list that failed
  RepeatedTrouble trouble_ = {};

  // The list under way, or whose parts are still being judged.
  std::unique_ptr<CancelSource> list_cancel_;
  uint64_t list_number_ = 0;
  Epoch list_epoch_ = 0;
  TimePoint list_began_ = {};
  TimePoint list_before_ = {};
  bool list_proves_stream_ = false;  // it was asked for after the stream was established
  uint32_t parts_open_ = 0;
  uint64_t list_missed_ = 0;

  std::vector<std::map<PodUid, PodHint>> hints_;  // by shard, until the end of this turn
  bool flush_posted_ = false;
  reactor::TimerId timer_ = {};
  std::shared_ptr<bool> alive_;  // shared with answers that come after the end
};

}  // namespace denselet::sync
