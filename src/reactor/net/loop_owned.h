// For an operation that answers once and that nobody owns but the loop it runs on: it lives until
// it lets go, or until the loop ends.
#pragma once

#include <memory>
#include <utility>

#include "reactor/api/loop.h"

namespace denselet::net {

class LoopOwned {
 public:
  virtual ~LoopOwned() = default;

  template <class Operation>
  static Operation& Keep(reactor::Loop& loop, std::unique_ptr<Operation> operation) {
    Operation& kept = *operation;
    LoopOwned& base = kept;
    base.loop_owned_by_ = &loop;
    // A timer that never runs: its task goes with the loop.
    base.keeper_ = loop.Arm(kNever, [owner = std::move(operation)] {});
    return kept;
  }

 protected:
  // Destroyed in a later turn: callbacks of its own may be on the stack.
  void LetGo() {
    loop_owned_by_->Post([loop = loop_owned_by_, keeper = keeper_] { loop->Disarm(keeper); });
  }

 private:
  reactor::Loop* loop_owned_by_ = nullptr;
  reactor::TimerId keeper_;
};

}  // namespace denselet::net
