// Events on their way to those who called GetContainerEvents, with the faults that real runtimes
// have: lost, late, twice, out of order, and a reader that is too slow.
//
// As containerd does, events are kept while nobody listens (five minutes at most) and go to the
// first who comes; as CRI-O does, a reader whose queue is full loses the newest. Owned by the
// Simulator, on its shard.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "bench/cri_sim/call.h"
#include "bench/cri_sim/later.h"
#include "bench/cri_sim/settings.h"
#include "reactor/api/loop.h"

namespace denselet::cri_sim {

struct EventCounters {
  uint64_t published = 0, delivered = 0, lost = 0, late = 0, duplicated = 0, reordered = 0;
  uint64_t overflowed = 0;  // dropped for a slow reader
};

class EventHub {
 public:
  static constexpr size_t kQueueMax = 1000;     // unread by one subscriber; then the newest is lost
  static constexpr size_t kBacklogMax = 10000;  // while nobody listens; then the oldest is lost
  static constexpr Duration kBacklogAge = Minutes(5);
  static constexpr size_t kSubscribersMax = 64;

  EventHub(reactor::Loop& loop, Random& random, const Settings& settings)
      : loop_(loop), random_(random), settings_(settings), late_(loop) {}
  ~EventHub();

  Status Subscribe(CallPtr call);
  void Publish(std::string event);
  // As a crash does: what was kept or late is gone.
  void Forget();

  size_t subscribers() const { return subscribers_.size(); }
  const EventCounters& counters() const { return counters_; }
  void ResetCounters() { counters_ = {}; }

 private:
  struct Kept {
    TimePoint at;
    std::string event;
  };

  void Deliver(const std::string& event);
  void DeliverAll(const std::string& event, bool twice);

  reactor::Loop& loop_;
  Random& random_;
  const Settings& settings_;
  std::vector<CallPtr> subscribers_;
  std::deque<Kept> backlog_;
  std::optional<std::string> held_back_;  // goes out behind the next one
  reactor::TimerId held_back_timer_;
  Later late_;
  EventCounters counters_;
};

}  // namespace denselet::cri_sim
