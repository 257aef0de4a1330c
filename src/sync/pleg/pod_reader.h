// Reads single pods from the runtime: those that an event, a list or their own worker marked. Marks
// coalesce to one per pod, so there are never more than pods (invariant 9, R10).
//
//   marked --> reading --> applied            a mark that comes while it is read: marked again
//      ^          |
//      +-- back-off <-- failed                 of this pod only: 1 s, doubled to 60 s
//
// A list that began after the failed read ends the back-off, of all pods when the runtime was away
// before it: however often that is, they are read at once when it is back, as fast as the places of
// suspects allow. Otherwise once in backoff_max: a pod may have a trouble of its own.
//
// A pod whose last read failed is a suspect; suspects get a quarter of the places, so that any
// number of hung pods leaves the others alone. A read that is asked for is always under way or in
// line, and ends at its deadline: nobody waits for nothing (6).
//
// Lives on one shard, owned by PodShard. Destroyed, it cancels its reads and tells nobody.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "base/ids.h"
#include "base/random.h"
#include "reactor/api/loop.h"
#include "sync/pleg/epoch.h"
#include "sync/pleg/observed_store.h"
#include "sync/ports/runtime.h"

namespace denselet::sync {

struct PodReaderOptions {
  uint32_t reads_max = 16;
  Duration deadline = Seconds(30);
  Duration backoff_min = Seconds(1);
  Duration backoff_max = Minutes(1);
};

// What is wrong with reading one pod; for whoever asks.
struct PodReadHealth {
  uint32_t failures = 0;  // in a row
  TimePoint failing_since = {};
  std::string last_error = {};
  std::optional<TimePoint> woken_at = {};  // by a list
};

class PodReaderUser {
 public:
  // The store has what a read showed.
  virtual void OnRead(const PodUid& pod, Applied applied, Duration took) = 0;
  virtual void OnReadFailed(const PodUid& pod, const Error& error) = 0;

 protected:
  ~PodReaderUser() = default;
};

class PodReader {
 public:
  PodReader(reactor::Loop& loop, Random& random, Runtime& runtime, EpochCounter& epochs,
            ObservedStore& store, const PodReaderOptions& options, PodReaderUser& user);
  ~PodReader();
  PodReader(const PodReader&) = delete;
  PodReader& operator=(const PodReader&) = delete;

  // A read is due that begins after this call. Urgent ones go first and do not wait for a back-off
  // that is longer than backoff_min.
  enum class Urgency : uint8_t { kNormal, kUrgent };
  void Mark(const PodUid& pod, Urgency urgency = Urgency::kNormal);
  // A list that began after `epoch` was answered.
  void ListAnswered(Epoch epoch, RuntimeWas was);
  // Its read is no longer wanted; one under way ends unheard.
  void Drop(const PodUid& pod);

  bool IsMarked(const PodUid& pod) const;
  // A read that began after `epoch` is under way or in line, and does not wait for a back-off.
  bool Covers(const PodUid& pod, Epoch epoch) const;
  // The end of its back-off; the past: there is none.
  TimePoint RetryAt(const PodUid& pod) const;
  bool IsReading(const PodUid& pod) const;
  size_t marked() const { return pods_.size(); }
  size_t reading() const { return reading_; }
  size_t waiting() const { return urgent_.size() + normal_.size() + suspects_.size(); }
  // Nothing: its reads succeed.
  const PodReadHealth* Health(const PodUid& pod) const;
  size_t unhealthy() const { return health_.size(); }
  // The oldest read under way began after this; of none: now.
  Epoch OldestUnderWay() const;

 private:
  struct Entry {
    bool due = true;  // a read has to begin
    bool urgent = false;
    std::list<PodUid>* line = nullptr;  // where it waits for its turn; in one at a time
    std::list<PodUid>::iterator place = {};
    bool dropped = false;
    Epoch epoch = 0;  // of the read under way
    bool reading = false;
    uint64_t number = 0;
    bool suspect = false;  // of the read under way
    TimePoint began = {};
    TimePoint not_before = {};
    reactor::TimerId timer = {};
    std::unique_ptr<CancelSource> cancel = {};
  };

  void Enqueue(const PodUid& pod, Entry& entry);
  void Pump();
  bool StartFrom(std::list<PodUid>& line, size_t limit, size_t& used);
  static void LeaveLine(Entry& entry);
  void Start(const PodUid& pod, Entry& entry);
  void OnAnswer(const PodUid& pod, uint64_t number, Result<ObservedPod> answer);
  void Failed(const PodUid& pod, Entry& entry, const Error& error);

  reactor::Loop& loop_;
  Random& random_;
  Runtime& runtime_;
  EpochCounter& epochs_;
  ObservedStore& store_;
  const PodReaderOptions options_;
  PodReaderUser& user_;
  std::map<PodUid, Entry> pods_;
  std::map<PodUid, PodReadHealth> health_;
  std::list<PodUid> urgent_;
  std::list<PodUid> normal_;
  std::list<PodUid> suspects_;
  size_t reading_ = 0;
  size_t suspects_reading_ = 0;
  uint64_t next_number_ = 1;
  std::shared_ptr<bool> alive_;  // shared with answers that come after the end
};

}  // namespace denselet::sync
