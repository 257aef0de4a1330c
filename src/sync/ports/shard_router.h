// The shards of the agent as the core sees them: which of them owns a pod, and the way there. The
// composition root puts it over the reactor's mail; the simulator does the same.
#pragma once

#include <cstdint>

#include "base/hash.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/unique_function.h"

namespace denselet::sync {

class ShardRouter {
 public:
  virtual ~ShardRouter() = default;

  virtual uint32_t shards() const = 0;
  // Runs `work` on shard `to`, which may be this one, in a later turn. kOverloaded: its mailbox is
  // full and `work` was destroyed unrun; the caller says what then.
  virtual Status Send(uint32_t to, UniqueFunction<void()> work) = 0;
};

// The one shard that writes anything about this pod.
inline uint32_t OwnerOf(const PodUid& pod, uint32_t shards) {
  return static_cast<uint32_t>(Fnv1a64(pod.value()) % shards);
}

}  // namespace denselet::sync
