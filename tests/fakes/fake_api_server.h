// The API server behind its port, without a network: a model of the server, answers that take a
// while, and the faults that a client cannot hide from who uses it. For simulations of the whole
// agent.
//
// Owned by a test, on the loop's shard. Destroyed, it answers nobody any more; list-watches must be
// gone by then. A crash loses nothing of what is in the model.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/random.h"
#include "kube/client/watched_objects.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"
#include "tests/fakes/api_model.h"

namespace denselet::fakes {

struct FakeApiFaults {
  // Of each way; uniform between them.
  Duration delay_min = Microseconds(200);
  Duration delay_max = Milliseconds(5);
  double lost_request = 0;  // kUnavailable; nothing was done
  double lost_answer = 0;   // it was done, but nobody knows: kUnknownOutcome
  // Its caller hears kUnknownOutcome soon; it arrives later than that.
  double late_request = 0;
  Duration late_max = Seconds(20);
  double broken_watch = 0;   // of each change that is told: the watch breaks instead
  double repeated_list = 0;  // of each broken watch: it starts from a list
};

// What became of a request about a pod, or of the word that it changed.
enum class FakeApiFault : uint8_t { kLostRequest, kLateRequest, kBusy, kLostAnswer, kBrokenWatch };

class FakeApiServer final : public sync::ApiServer {
 public:
  FakeApiServer(reactor::Loop& loop, Random& random, ApiModel& model);
  ~FakeApiServer() override;

  void Send(const Context& context, sync::ApiRequest request,
            reactor::Done<sync::ApiObject> done) override;
  std::unique_ptr<sync::ListWatch> Follow(sync::ListWatchSpec spec,
                                          sync::ListWatchUser& user) override;

  FakeApiFaults& faults() { return faults_; }
  // Told when it happens; only of pods.
  void set_on_fault(std::function<void(FakeApiFault, const ObjectRef& pod)> f) {
    on_fault_ = std::move(f);
  }
  // Who asked is no more, without a word: what is under way arrives all the same, and is answered
  // to nobody.
  void Abandon();
  // Down: requests wait until it is up or their time is over, watches break. Who follows is back
  // within seconds, as the client sees to it, unless it was woken so lately.
  void Crash();
  void Start();
  bool up() const { return up_; }

  struct Counters {
    uint64_t requests = 0;  // that reached the server
    uint64_t lost_answers = 0;
    uint64_t lists = 0;
  };
  const Counters& counters() const { return counters_; }
  size_t calls() const { return calls_.size(); }

 private:
  class Call;
  class FakeListWatch;

  Duration Delay();
  void SendLate(sync::ApiRequest request);
  void Told(FakeApiFault fault, const kube::Resource& resource, const ObjectRef& object);
  bool Chance(double chance) { return chance > 0 && random_.Unit() < chance; }

  reactor::Loop& loop_;
  Random& random_;
  ApiModel& model_;
  FakeApiFaults faults_;
  std::function<void(FakeApiFault, const ObjectRef&)> on_fault_;
  Counters counters_;
  bool up_ = true;
  TimePoint wake_not_before_ = TimePoint::min();
  uint64_t subscription_ = 0;
  uint64_t next_call_ = 1;
  std::map<uint64_t, std::unique_ptr<Call>> calls_;
  std::set<FakeListWatch*> list_watches_;
};

}  // namespace denselet::fakes
