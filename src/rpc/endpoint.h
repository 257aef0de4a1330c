// The other side of a unix socket: one gRPC channel, and what is known about it being there. Shared
// by the clients of all shards.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "base/time.h"
#include "rpc/breaker.h"
#include "rpc/poller.h"
#include "rpc/socket_path.h"

namespace grpc {
class Channel;
}

namespace denselet::rpc {

struct EndpointOptions {
  std::string address;  // as SocketPath reads it
  std::string name;     // in metrics and messages
  std::string user_agent = {};
  uint32_t receive_bytes_max = 16 << 20;  // of one message; more is an error of the call
  Duration connect_backoff_base = Milliseconds(100);
  Duration connect_backoff_max = Milliseconds(500);  // a socket of this machine costs little to try
  Duration connect_timeout = Seconds(5);
  BreakerOptions breaker = {};
};

// Made and destroyed by main, outside the shards: threads are started when the first endpoint is
// made, and inherit the CPUs of the thread that does it. It outlives the clients; its end
// waits for the last callback of calls that were left behind by them. Everything else is for any
// thread.
class Endpoint {
 public:
  static Result<std::unique_ptr<Endpoint>> Make(const EndpointOptions& options, const Clock& clock);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  const std::string& name() const { return options_.name; }
  const EndpointOptions& options() const { return options_; }
  const Clock& clock() const { return clock_; }

  BreakerView breaker() const;
  // Calls that gRPC has not let go of.
  uint64_t calls_held() const;

  // Connects now if it waits between two attempts: for who knows that the other side is back.
  void TryConnectNow();

  // For Client.
  const std::shared_ptr<grpc::Channel>& channel() const { return channel_; }
  Poller& poller() const { return *poller_; }
  const std::string& target() const { return target_; }  // as ClientContext::peer() of unsent calls
  bool BreakerRefuses(TimePoint now) const;
  [[nodiscard]] bool EnterBreaker(TimePoint now);
  void OnReachable(TimePoint now);
  void OnUnreachable(TimePoint now, std::string_view why);
  // The words of the last call that found nobody, for those that the breaker refuses: one absence
  // is told in one wording, whoever finds it out.
  std::string WhyUnreachable() const;

  // Held by each call as long as it has anything of gRPC's.
  class Hold {
   public:
    explicit Hold(Endpoint& endpoint);
    ~Hold();
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

   private:
    Endpoint& endpoint_;
  };

 private:
  Endpoint(const EndpointOptions& options, std::string path, const Clock& clock,
           std::shared_ptr<Poller> poller);

  const EndpointOptions options_;
  const std::string target_;
  const Clock& clock_;
  const std::shared_ptr<Poller> poller_;    // shared with other endpoints
  std::shared_ptr<grpc::Channel> channel_;  // shared with gRPC's contexts

  // A mutex, because all shards must agree on one verdict: held for a few comparisons, twice a
  // call.
  mutable std::mutex mutex_;
  std::condition_variable released_;
  Breaker breaker_;
  std::string why_unreachable_;
  uint64_t held_ = 0;
};

}  // namespace denselet::rpc
