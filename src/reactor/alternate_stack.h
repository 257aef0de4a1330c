// A second stack for handlers of signals: the one of a thread that has run over its own has no room
// for them. Of the thread that makes it, until it is destroyed there.
#pragma once

#include <csignal>
#include <cstddef>
#include <memory>

namespace denselet::reactor {

class AlternateStack {
 public:
  AlternateStack() : room_(std::make_unique<std::byte[]>(kBytes)) {
    stack_t mine = {};
    mine.ss_sp = room_.get();
    mine.ss_size = kBytes;
    (void)::sigaltstack(&mine, &before_);
  }
  ~AlternateStack() { (void)::sigaltstack(&before_, nullptr); }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  static constexpr size_t kBytes = size_t{64} * 1024;
  std::unique_ptr<std::byte[]> room_;
  stack_t before_ = {};
};

}  // namespace denselet::reactor
