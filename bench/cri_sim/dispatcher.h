// Takes calls through their faults to their handlers and back, and counts them. Owned by the
// Simulator, on its shard.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/random.h"
#include "bench/cri_sim/call.h"
#include "bench/cri_sim/faults.h"
#include "bench/cri_sim/later.h"
#include "bench/cri_sim/method_table.h"
#include "bench/cri_sim/violations.h"
#include "reactor/api/loop.h"

namespace denselet::cri_sim {

struct MethodCounters {
  uint64_t calls = 0, errors = 0, cancelled = 0, in_flight = 0, in_flight_max = 0;
};

class Dispatcher {
 public:
  static constexpr size_t kHungMax = 100'000;  // then such calls are refused

  Dispatcher(reactor::Loop& loop, Settings& settings, Random& random, Violations& violations,
             MethodTable& table)
      : loop_(loop),
        settings_(settings),
        random_(random),
        violations_(violations),
        table_(table),
        later_(loop) {}

  // `path` as HTTP/2 has it: "/runtime.v1.RuntimeService/Version".
  void Begin(std::string_view path, std::string request, const CallPtr& call);

  // Lets hung calls go on; of all methods when `method` is empty. How many.
  size_t Release(const std::string& method);
  size_t hung() const { return hung_.size(); }

  const std::map<std::string, MethodCounters>& counters() const { return counters_; }
  // What is in flight stays counted.
  void ResetCounters();

 private:
  struct Passage;  // one call on its way
  struct Hung {
    std::string method;
    std::weak_ptr<Passage> passage;
    reactor::Task go_on;
  };

  void Before(const std::shared_ptr<Passage>& passage);
  void Effect(const std::shared_ptr<Passage>& passage);
  void After(const std::shared_ptr<Passage>& passage, Result<std::string> result);
  void Finish(const std::shared_ptr<Passage>& passage, Result<std::string> result);
  // Runs `next` when the part's wait and hang are over.
  void Pass(const std::shared_ptr<Passage>& passage, const CallPlan::Part& part,
            reactor::Task next);
  void Ended(Passage& passage, bool cancelled, bool failed);

  reactor::Loop& loop_;
  Settings& settings_;
  Random& random_;
  Violations& violations_;
  MethodTable& table_;
  Later later_;
  std::list<Hung> hung_;
  std::map<std::string, MethodCounters> counters_;
};

}  // namespace denselet::cri_sim
