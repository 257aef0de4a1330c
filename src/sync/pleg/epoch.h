// The order of what we did and what we saw (invariant 2): a number drawn before a request is sent
// says as of when its answer holds; one drawn when an answer has come says when we knew. No clock
// takes part, neither ours nor the runtime's.
#pragma once

#include <atomic>
#include <cstdint>

#include "sync/decide/ledger_view.h"

namespace denselet::sync {

// One for the whole agent: a list is taken by one shard and judged by all, so their numbers must
// compare. The only thing that shards of the core share; a single counter that only grows.
class EpochCounter {
 public:
  Epoch Next() { return last_.fetch_add(1, std::memory_order_seq_cst) + 1; }
  // The one that was drawn last.
  Epoch last() const { return last_.load(std::memory_order_seq_cst); }

 private:
  std::atomic<uint64_t> last_ = 0;
};

}  // namespace denselet::sync
