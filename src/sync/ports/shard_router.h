// The way from shard to shard as the core sees it (ports/pod_shard.h says which of them owns a
// pod). The composition root puts it over the reactor's mail; the simulator does the same.
#pragma once

#include <cstdint>

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

}  // namespace denselet::sync
