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
  // Destroyed at the end of the turn: callbacks of its own may be on the stack.
  void LetGo() { loop_owned_by_->DeferDelete(std::make_unique<Release>(*loop_owned_by_, keeper_)); }

 private:
  class Release final : public reactor::Deletable {
   public:
    Release(reactor::Loop& loop, reactor::TimerId keeper) : loop_(loop), keeper_(keeper) {}
    Release(const Release&) = delete;
    Release& operator=(const Release&) = delete;
    ~Release() override { loop_.Disarm(keeper_); }

   private:
    reactor::Loop& loop_;
    const reactor::TimerId keeper_;
  };

  reactor::Loop* loop_owned_by_ = nullptr;
  reactor::TimerId keeper_;
};

}  // namespace denselet::net
