// Mail to another shard of which nothing may be lost, and of which only the newest of a pod counts:
// what does not fit into the other's mailbox is kept, one message per pod, and tried again.
#pragma once

#include <map>
#include <utility>

#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "base/unique_function.h"
#include "reactor/api/loop.h"

namespace denselet::sync {

template <class T>
class NewestPerPod {
 public:
  static constexpr Duration kRetry = Milliseconds(10);
  // Says whether it was taken.
  using Send = UniqueFunction<Status(const PodUid&, const T&)>;

  NewestPerPod(reactor::Loop& loop, Send send) : loop_(loop), send_(std::move(send)) {}
  ~NewestPerPod() { loop_.Disarm(timer_); }
  NewestPerPod(const NewestPerPod&) = delete;
  NewestPerPod& operator=(const NewestPerPod&) = delete;

  // The message of that pod that waits, or a new one; Flush sends it.
  T& operator[](const PodUid& pod) { return waiting_[pod]; }
  size_t size() const { return waiting_.size(); }

  void Flush() {
    loop_.Disarm(timer_);
    timer_ = {};
    while (!waiting_.empty()) {
      const auto next = waiting_.begin();
      if (!send_(next->first, next->second)) {
        timer_ = loop_.Arm(After(loop_.Now(), kRetry), [this] { Flush(); });
        return;
      }
      waiting_.erase(next);
    }
  }

 private:
  reactor::Loop& loop_;
  Send send_;
  std::map<PodUid, T> waiting_;
  reactor::TimerId timer_ = {};
};

}  // namespace denselet::sync
