// "Nobody wants this any more", seen by everyone who holds a token.
//
// Source and callbacks belong to one shard: Cancel(), OnCancel() and Registration are for that
// shard alone. A token may be copied into messages to other shards, where only cancelled() may be
// asked. To cancel across shards, send a message to the shard that owns the source.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/unique_function.h"

namespace denselet {

namespace internal {

struct CancelState {
  struct Callback {
    uint64_t id;
    UniqueFunction<void()> run;
  };

  std::atomic<bool> cancelled = false;
  uint64_t next_id = 1;
  std::vector<Callback> callbacks;
};

}  // namespace internal

// Keeps a callback registered; when it dies, or on Forget(), the callback will not run any more.
class CancelRegistration {
 public:
  CancelRegistration() = default;
  CancelRegistration(CancelRegistration&& other) noexcept;
  CancelRegistration& operator=(CancelRegistration&& other) noexcept;
  ~CancelRegistration() { Forget(); }

  void Forget();

 private:
  friend class CancelToken;
  std::weak_ptr<internal::CancelState> state_;
  uint64_t id_ = 0;
};

class CancelToken {
 public:
  CancelToken() = default;  // of no source: never cancelled

  bool cancelled() const {
    return state_ != nullptr && state_->cancelled.load(std::memory_order_acquire);
  }

  // `callback` runs once, inside the source's Cancel(). Asking a token that is cancelled already is
  // the caller's first step: then there is nothing to wait for and nothing is registered.
  [[nodiscard]] CancelRegistration OnCancel(UniqueFunction<void()> callback) const;

 private:
  friend class CancelSource;
  // Shared because a source may die before the tokens that were copied into operations, and the
  // other way round.
  std::shared_ptr<internal::CancelState> state_;
};

class CancelSource {
 public:
  CancelSource();
  // Releases the callbacks unrun: nobody can cancel any more, and the last token may die elsewhere.
  ~CancelSource();
  CancelSource(const CancelSource&) = delete;
  CancelSource& operator=(const CancelSource&) = delete;

  const CancelToken& token() const { return token_; }

  // Callbacks run here, in the order of their registration. Each may forget others; a second Cancel
  // does nothing.
  void Cancel();

 private:
  CancelToken token_;
};

}  // namespace denselet
