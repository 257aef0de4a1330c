// Calls from one shard to one endpoint: who waits, who is under way, and the way back of answers.
// call.h has the functions that start them.
//
// A call is asked for with a Context and ends with exactly one Done, in a later turn, on this
// shard:
//
//   asked --> waiting for its turn in its class --> sent --> answered, lost, timed out or cancelled
//     |                    |                                          |
//     | breaker open       | cancelled, deadline, displaced           | posted by gRPC's thread
//     v                    v                                          v
//   Done(kUnavailable)   Done(kCancelled, kDeadlineExceeded,        Done(answer, or failure.h's
//   codes)
//                             kOverloaded)
//
// Cancel and deadline of what was sent go through gRPC, whose last callback brings the Done: what
// comes is the truth at that moment, and nothing comes later.
//
// Concurrency is bounded for the process by giving each shard its share of a class's limits: pods
// are spread over shards evenly, every shard sees the same latencies, and independent limiters that
// add and multiply settle at equal shares. No shard waits for another, nothing is locked. (A limit
// of fewer calls than there are shards is one for each.) What only one or two shards ask has the
// whole limit there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/context.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "reactor/api/loop.h"
#include "reactor/shard.h"
#include "rpc/endpoint.h"
#include "rpc/limiter.h"
#include "rpc/method.h"
#include "rpc/operation.h"
#include "rpc/rpc_metrics.h"

namespace denselet::rpc {

// Lives on one shard. Stop() drains: everything ends, each with its Done. One that is destroyed
// with calls under way takes them back: their Dones are destroyed unrun, and late answers find
// nobody.
class Client {
 public:
  // Refused calls whose Done is on its way; then kOverloaded without a reason. What waits and is
  // under way is bounded by its class: a flood of one never takes the place of others.
  static constexpr uint32_t kRefusedMax = 1024;

  // `classes` and what `metrics` gives must outlive it. `calls` may be null. `log`: where calls
  // that take long are told, if anywhere.
  Client(reactor::Shard& shard, Endpoint& endpoint, std::span<const ClassOptions> classes,
         Random& random, MetricSet<RpcMetric>& metrics, CallMetrics* calls,
         std::optional<Logger> log = std::nullopt);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // For call.h.
  void Start(const Context& context, const Method& method, const CallOptions& options,
             std::shared_ptr<Operation> operation);

  // Nothing starts any more; what waits ends with kCancelled, what was sent is cancelled. `stopped`
  // runs after the last Done, in a later turn. Calls asked for afterwards end with kCancelled, if
  // the client is still there by then. Once.
  void Stop(reactor::Task stopped);

  Endpoint& endpoint();
  LimiterState StateOf(ClassId call_class) const;
  uint64_t under_way() const;  // calls without their Done yet

 private:
  const std::shared_ptr<ClientCore> core_;  // shared: answers on their way look for it
};

// The part of `all` that shard `index` of `shards` has: as even as it gets, at least one.
LimiterOptions ShareOf(const LimiterOptions& all, uint32_t index, uint32_t shards);
// What it has of a class.
LimiterOptions LimitsOn(const ClassOptions& of, uint32_t index, uint32_t shards);

}  // namespace denselet::rpc
