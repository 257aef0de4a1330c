// The first parameter of every port call and operation: until when, how urgent, still wanted?, on
// whose behalf. A Context is a small value; it is copied into the operation that it starts and into
// messages between shards.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "base/cancel.h"
#include "base/ids.h"
#include "base/random.h"
#include "base/time.h"

namespace denselet {

// Who goes first where something is scarce (queues, CRI classes, status patches). Lower is more
// urgent.
enum class Priority : uint8_t {
  kCritical,    // lease and node heartbeats, critical pods, deletion
  kReadiness,   // what makes a pod ready or not ready
  kNormal,      // ordinary pod work
  kBackground,  // housekeeping, cross-checks
};

// Trace context as W3C has it: one id per story (a pod's start), one span per step.
struct Trace {
  std::array<uint8_t, 16> id{};
  uint64_t span = 0;

  bool valid() const { return id != std::array<uint8_t, 16>{} && span != 0; }
  // The traceparent header, "00-<32 hex>-<16 hex>-01"; empty when not valid.
  std::string TraceParent() const;

  static Trace Start(Random& random);
  Trace Child(Random& random) const;

  friend bool operator==(const Trace&, const Trace&) = default;
};

// The pod for which something is done; its name may not be known.
struct ContextPod {
  ObjectRef ref;
  PodUid uid;
};

struct Context {
  TimePoint deadline = kNever;
  Priority priority = Priority::kNormal;
  CancelToken cancel;
  Trace trace;
  // For people; null: no single pod's work. Shared by all copies, of which there is one for each
  // step and some go to other shards: nobody changes it.
  std::shared_ptr<const ContextPod> pod = nullptr;

  bool Expired(TimePoint now) const { return now >= deadline; }
  // What remains until the deadline; zero when it has passed, Duration::max() when there is none.
  Duration Left(TimePoint now) const;

  // The same, but no later than `limit` from now: a callee's own bound never lengthens the
  // caller's.
  Context WithTimeout(TimePoint now, Duration limit) const;
  // A further step of the same story.
  Context WithSpan(Random& random) const;
};

// A context on its way between shards: with the time it was queued, waiting is known apart from
// working.
struct QueuedContext {
  Context context;
  TimePoint queued_at;

  // Zero when the sender's turn began after the receiver's: each reads its clock once per turn.
  Duration Waited(TimePoint now) const { return std::max(now - queued_at, Duration::zero()); }
};

}  // namespace denselet
