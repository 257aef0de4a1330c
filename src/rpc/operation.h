// One call with everything a callback of gRPC needs, without gRPC's types. call.h derives the real
// ones; Client moves them through their life.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/slot_map.h"
#include "base/time.h"
#include "reactor/shard.h"
#include "rpc/endpoint.h"
#include "rpc/failure.h"

namespace denselet::rpc {

class ClientCore;

// Made on the shard that asks, handed to gRPC by Begin, and handed back by the last callback, which
// posts it to the shard. Shared by the shard's table and by gRPC's side: whichever lets go last
// destroys it, also when the client or the shard has gone meanwhile.
class Operation {
 public:
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  struct Launch {
    Endpoint& endpoint;
    std::string traceparent;
    Duration timeout;  // Duration::max(): none
  };
  // What is to be told to whom when gRPC is done with it.
  struct ReturnAddress {
    reactor::ForeignSlot slot;
    std::weak_ptr<ClientCore> client;
    SlotKey key;
  };

  // On the shard, once; Ended may run on another thread before it returns.
  void Begin(const Launch& launch, ReturnAddress address, std::shared_ptr<Operation> self);
  // On the shard, after Begin, any number of times.
  virtual void Cancel() = 0;
  // On the shard, once and last: tells the asker. Nothing: success.
  virtual void Deliver(std::optional<Error> error) = 0;
  // On the shard instead of Deliver: nobody wants to know any more.
  virtual void Forget() = 0;

  // On the shard, after the return.
  const std::optional<Failure>& failure() const { return failure_; }
  // It was answered, and the asker gets an error all the same: what came could not be used.
  bool unusable() const { return unusable_; }
  TimePoint ended_at() const { return ended_at_; }

 protected:
  Operation() = default;

  // On gRPC's thread, before Ended.
  void set_unusable(bool unusable) { unusable_ = unusable; }
  // The call leaves; Ended follows.
  virtual void Send(const Launch& launch) = 0;
  // By the last callback, on gRPC's thread. `this` may be gone when it returns.
  void Ended(std::optional<Failure> failure);

 private:
  // First, so that it goes last: what derived classes hold of gRPC is gone then.
  std::optional<Endpoint::Hold> hold_;
  const Clock* clock_ = nullptr;
  std::optional<ReturnAddress> address_;
  std::shared_ptr<Operation> self_;
  std::optional<Failure> failure_;
  bool unusable_ = false;
  TimePoint ended_at_;
};

}  // namespace denselet::rpc
