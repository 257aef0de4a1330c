// The way of hints from gRPC's thread, which must never wait, to the shard that owns the pods:
// marks, one a pod, in a bounded set. When the set is full the marks become one, "any pod".
//
// No locks: the set is handed over by exchanging a pointer, and a shard is woken by a reserved
// place in its mailbox (the bell), so a wake-up can neither be refused nor be lost:
//
//   gRPC's thread:  take the set, if it is there; add; put it back; ring the bell, if it is there
//   the shard:      hang up a new bell; take the set; tell
//
// Whichever order the two run in, a set that was put back is taken by a turn that begins later.
//
// Shared by the shard and by the stream's call, which may outlive it. Close() on the shard ends it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/ids.h"
#include "base/metrics.h"
#include "cri/cri_metrics.h"
#include "reactor/shard.h"
#include "sync/ports/runtime.h"

namespace denselet::cri {

class PodHints : public std::enable_shared_from_this<PodHints> {
 public:
  static constexpr size_t kMarksMax = 4096;
  static constexpr size_t kStampsMax = 64;  // of events whose latency is measured, a turn
  static constexpr Duration kBellPause = Milliseconds(10);

  // On the shard. `user` and `metrics` must live until Close().
  static std::shared_ptr<PodHints> Make(reactor::Shard& shard, sync::RuntimeEventsUser& user,
                                        MetricSet<CriMetric>& metrics);
  ~PodHints();

  // On any thread.
  void Mark(const sync::PodHint& hint, int64_t created_at);
  void MarkAll();

  // On the shard of the stream. Every change is told; of changes that follow each other quickly the
  // last, but never so that a gap between two established streams is missed.
  void SetState(sync::EventStreamState state);

  // On the shard: nothing is told any more.
  void Close();

 private:
  struct Marks {
    // In order, so that what is told does not depend on chance.
    std::map<PodUid, sync::PodHint> pods = {};
    bool all = false;
    uint64_t events = 0;
    std::vector<int64_t> created_at = {};

    void Add(const sync::PodHint& hint);
    void Take(Marks other);
  };

  PodHints(reactor::Shard& shard, sync::RuntimeEventsUser& user, MetricSet<CriMetric>& metrics)
      : shard_(shard), user_(&user), metrics_(metrics) {}

  template <class Change>
  void Add(Change change);
  void Ring();
  void Deliver();
  bool HangBell();
  void TellState();
  void TellMarks(const Marks& marks);

  // Any thread
  std::atomic<Marks*> marks_ = nullptr;
  std::atomic<reactor::ForeignSlot*> bell_ = nullptr;
  std::atomic<uint64_t> state_ = 0;  // number of the change, and the state in the lowest byte

  // The shard
  reactor::Shard& shard_;
  sync::RuntimeEventsUser* user_;  // null: closed
  MetricSet<CriMetric>& metrics_;
  uint64_t told_state_ = 0;
  reactor::TimerId timer_;
};

}  // namespace denselet::cri
