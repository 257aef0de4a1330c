// The stream of container events of a RuntimeModel, as a runtime and a network deliver it: late,
// twice, out of order, or not at all, with and without a word about it.
//
// Owned by a test with the agent, on the shard of the agent's events; destroyed, it tells nobody.
#pragma once

#include <memory>
#include <optional>
#include <set>

#include "reactor/api/loop.h"
#include "sync/ports/runtime.h"
#include "tests/fakes/fake_runtime.h"

namespace denselet::fakes {

struct FakeEventFaults {
  Duration delay_max = Milliseconds(5);
  double lost = 0;       // nobody learns of it
  double lost_told = 0;  // OnHintsLost instead
  double repeated = 0;
  double late = 0;  // much later than others
  Duration late_max = Seconds(20);
  double broken = 0;  // of each event: the stream breaks instead
  bool supported = true;
};

class FakeEventStream {
 public:
  FakeEventStream(reactor::Loop& loop, FakeRuntimeHost& host, FakeEventFaults faults,
                  sync::RuntimeEventsUser& user);
  ~FakeEventStream();
  FakeEventStream(const FakeEventStream&) = delete;
  FakeEventStream& operator=(const FakeEventStream&) = delete;

  FakeEventFaults& faults() { return faults_; }
  bool established() const { return state_ == sync::EventStreamState::kEstablished; }
  void Break();
  TimePoint established_at() const { return established_at_; }
  // When it was last told that hints are lost; nothing: never.
  const std::optional<TimePoint>& lost_at() const { return lost_at_; }

 private:
  void Set(sync::EventStreamState state);
  void TryConnect();
  void OnChanged(const sync::PodHint& hint);
  void Deliver(const sync::PodHint& hint, Duration delay);
  void Arm(Duration delay, reactor::Task task);

  reactor::Loop& loop_;
  FakeRuntimeHost& host_;
  FakeEventFaults faults_;
  sync::RuntimeEventsUser& user_;
  sync::EventStreamState state_ = sync::EventStreamState::kConnecting;
  std::shared_ptr<bool> alive_;  // shared with timers: there are as many as events on their way
  TimePoint established_at_ = {};
  std::optional<TimePoint> lost_at_ = {};
  uint64_t subscription_ = 0;
  uint64_t life_ = 0;  // of the runtime, when it was established
};

}  // namespace denselet::fakes
