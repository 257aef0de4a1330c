// Counts work that is under way, so that its owner can wait for the last of it before it goes.
// Lives on one shard.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/check.h"
#include "reactor/api/loop.h"

namespace denselet::reactor {

class Gate {
 public:
  // Held by one piece of work; its end is the holder's end. Must not outlive the gate.
  class Pass {
   public:
    Pass(Pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
    Pass& operator=(Pass&& other) noexcept {
      if (this != &other) {
        Release();
        gate_ = std::exchange(other.gate_, nullptr);
      }
      return *this;
    }
    ~Pass() { Release(); }

   private:
    friend class Gate;
    explicit Pass(Gate* gate) : gate_(gate) {}
    void Release() {
      if (Gate* gate = std::exchange(gate_, nullptr)) gate->Leave();
    }
    Gate* gate_;
  };

  explicit Gate(Loop& loop) : loop_(loop) {}
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() { CHECK(inside_ == 0); }

  // Nothing once the gate is closed: the work must not begin.
  [[nodiscard]] std::optional<Pass> Enter() {
    if (closed_) return std::nullopt;
    ++inside_;
    return Pass(this);
  }

  // No more work begins; `empty` is posted to the loop when the last has ended (also when there is
  // none).
  void Close(Task empty) {
    CHECK(!closed_);
    closed_ = true;
    when_empty_ = std::move(empty);
    if (inside_ == 0) loop_.Post(std::move(when_empty_));
  }

  bool closed() const { return closed_; }
  uint64_t inside() const { return inside_; }

 private:
  void Leave() {
    CHECK(inside_ > 0);
    if (--inside_ == 0 && closed_) loop_.Post(std::move(when_empty_));
  }

  Loop& loop_;
  uint64_t inside_ = 0;
  bool closed_ = false;
  Task when_empty_;
};

}  // namespace denselet::reactor
