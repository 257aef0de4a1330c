// What the users of rpc/ say about the calls they make: tables of methods and of classes, static
// data of theirs.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/metrics.h"
#include "base/time.h"
#include "rpc/failure.h"
#include "rpc/limiter.h"

namespace denselet::rpc {

// Calls that share a bound: the user's enum, from 0, in the order of its table of ClassOptions.
using ClassId = uint8_t;

struct Method {
  const char* path;       // "/package.Service/Method"
  std::string_view name;  // in metrics and messages
  uint16_t id;            // the user's enum, from 0, below kMethodsMax
  ClassId call_class;
  Effect effect;
  // For what a failure means with this method and no other; given ToError's result, returns the
  // final one. Pure: runs on gRPC's thread or on the shard.
  Error (*translate)(const Failure& failure, Error error) = nullptr;
};
inline constexpr uint16_t kMethodsMax = 512;

// Whom a class's limits are for.
enum class LimitsOf : uint8_t {
  kProcess,  // each shard has its share of limit_min, limit_max and limit_start, one at least
  kShard,    // whole on each shard: for what one or two of them ask, so that no share is too small
};

struct ClassOptions {
  std::string_view name;  // in metrics: "list"
  // From sending; Duration::max(): none but the context's.
  Duration deadline = Minutes(2);
  // In the queue; then kDeadlineExceeded. The context's deadline holds for both together.
  Duration wait_max = Minutes(2);
  // A call that is out for longer, and for longer than it takes of itself, is told in the log;
  // Duration::max(): none is.
  Duration patience = Seconds(20);
  LimitsOf limits_of = LimitsOf::kProcess;
  LimiterOptions limits = {};  // queue_max is each shard's own
};

struct CallOptions {
  // What the call takes of itself (the grace period of a stop): added to its class's deadline and
  // to what counts as slow.
  Duration expected = Duration::zero();
};

// Where the calls of a method are counted. Cells of the shard's own, of the user's table; those it
// does not want are null.
struct MethodCells {
  CounterCell* calls = nullptr;      // asked for
  CounterCell* errors = nullptr;     // of them, ended with an error
  HistogramCell* latency = nullptr;  // seconds from sending to the answer; of those that were sent
};

// Implemented by the user, asked once for each method.
class CallMetrics {
 public:
  virtual MethodCells CellsOf(const Method& method) = 0;

 protected:
  ~CallMetrics() = default;
};

}  // namespace denselet::rpc
