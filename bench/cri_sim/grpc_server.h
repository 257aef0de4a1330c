// CRI over gRPC on a unix socket: one generic service takes every call as bytes and hands it to the
// simulator's shard. gRPC's few threads do no more than that.
//
// Owned by the host, used from one thread that is not the shard's: starting and stopping block.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "bench/cri_sim/call.h"
#include "bench/cri_sim/inbox.h"

namespace denselet::cri_sim {

struct GrpcServerOptions {
  std::string socket;  // path
  int message_bytes_max = 16 << 20;
};

class GrpcServer {
 public:
  using OnCall = void (*)(void* owner, std::string_view path, std::string request,
                          const CallPtr& call);

  // `begin(owner, ...)` runs on the shard.
  GrpcServer(Inbox& inbox, GrpcServerOptions options, void* owner, OnCall begin);
  ~GrpcServer();

  Status Start();
  // As a crash: connections break, the socket goes. Returns when the last call has ended.
  void Stop();

 private:
  class Service;

  Inbox& inbox_;
  const GrpcServerOptions options_;
  void* const owner_;
  const OnCall begin_;
  std::unique_ptr<Service> service_;
  struct Running;
  std::unique_ptr<Running> running_;
};

}  // namespace denselet::cri_sim
