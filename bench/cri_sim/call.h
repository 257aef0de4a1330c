// One call of a client as the simulator sees it, whatever carries it. Lives on the simulator's
// shard; shared, because a call that waits (latency, a pull, a hang) may be cancelled meanwhile.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_function.h"

namespace denselet::cri_sim {

// Numbers as gRPC has them.
struct RpcStatus {
  int code = 0;
  std::string message;

  bool ok() const { return code == 0; }
};
// What is not a code of gRPC's own is Unknown, as containerd answers.
RpcStatus ToRpcStatus(const Error& error);
// "UNAVAILABLE" and the like; -1 when it is none.
int RpcCodeByName(std::string_view name);
// Of an answer that is too long to be sent, in the words of servers in Go.
RpcStatus TooLong(size_t bytes, size_t bytes_max);

class Call {
 public:
  virtual ~Call() = default;

  // A message behind those before, no longer than message_bytes_max; nothing happens once the call
  // has ended.
  virtual void Send(std::string message) = 0;
  virtual void Finish(RpcStatus status) = 0;
  // Messages that wait for the client to read.
  virtual size_t unsent() const = 0;
  virtual size_t message_bytes_max() const = 0;
  // Finished, or the client is gone.
  virtual bool ended() const = 0;

  UniqueFunction<void()> on_cancel;  // the client is gone; not called after Finish
};

using CallPtr = std::shared_ptr<Call>;
// Called once, with the answer on the wire.
using Answer = UniqueFunction<void(Result<std::string>)>;

}  // namespace denselet::cri_sim
