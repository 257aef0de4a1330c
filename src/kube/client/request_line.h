// Requests that wait for their turn under kubeAPIQPS and kubeAPIBurst (or those of events).
//
// The most urgent goes first, of equals the oldest: a thousand tokens of pods that start do not
// hold up the word that another pod is ready, or has ended. So that nobody waits for ever, the
// oldest of all goes when a few have overtaken it.
//
// Owned by the ApiClient, on the API shard; who waits is gone before it. Bounded by who can wait:
// the calls that there may be, and one page of each list-watch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/context.h"
#include "base/error.h"
#include "kube/client/token_bucket.h"
#include "reactor/api/loop.h"

namespace denselet::kube {

class RequestLine {
 public:
  // Names one who waits.
  using Place = uint64_t;
  // How many go before the oldest does: the least urgent have a fifth of all turns at least.
  static constexpr uint32_t kOvertakingsMax = 4;

  // A rate of zero or less: no limit. `setting` is what people know the rate by.
  RequestLine(reactor::Loop& loop, std::string setting, double per_second, uint32_t burst)
      : loop_(loop), setting_(std::move(setting)), bucket_(per_second, burst) {}
  ~RequestLine() { loop_.Disarm(timer_); }
  RequestLine(const RequestLine&) = delete;
  RequestLine& operator=(const RequestLine&) = delete;

  // `go` runs when it is its turn, in a later turn of the loop. It may find that who waited is
  // gone.
  Place Enter(Priority priority, reactor::Task go);
  // Does not want to go any more. For who has not gone yet: one whose turn has come gives it back.
  void Leave(Place place);

  size_t size() const { return waiting_.size(); }
  // What to tell who has waited in vain: the limit is ours, and the API server was not asked.
  Error TooLate() const;

 private:
  struct Waiting {
    Priority priority;
    reactor::Task go;
  };
  using Line = std::map<Place, Waiting>;

  void Pump();
  void Rearm(TimePoint now);
  Line::iterator Next();

  reactor::Loop& loop_;
  const std::string setting_;
  TokenBucket bucket_;
  Line waiting_;  // in the order in which they came
  std::set<std::pair<Priority, Place>> by_urgency_;
  Place next_place_ = 1;
  uint32_t overtakings_ = 0;  // of the oldest
  reactor::TimerId timer_ = {};
  bool armed_ = false;
};

}  // namespace denselet::kube
