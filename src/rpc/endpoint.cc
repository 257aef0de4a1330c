#include "rpc/endpoint.h"

#include <grpcpp/channel.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "base/quoted.h"

namespace denselet::rpc {
namespace {

// What the other side may send of one answer before we have read any: the 64 KiB that HTTP/2 begins
// with make a list of two megabytes wait thirty times.
constexpr int kWindowBytes = 4 << 20;
constexpr int kErrorTextBytesMax = 1 << 20;  // servers put their whole story into a status

int ToMilliseconds(Duration d) {
  const int64_t count = std::chrono::duration_cast<Milliseconds>(d).count();
  return static_cast<int>(std::clamp<int64_t>(count, 1, std::numeric_limits<int>::max()));
}

grpc::ChannelArguments ArgumentsOf(const EndpointOptions& options) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(static_cast<int>(options.receive_bytes_max));
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS,
                   ToMilliseconds(options.connect_backoff_base));
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, ToMilliseconds(options.connect_backoff_max));
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, ToMilliseconds(options.connect_timeout));
  arguments.SetInt(GRPC_ARG_MAX_METADATA_SIZE, kErrorTextBytesMax);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kWindowBytes);
  arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, "localhost");
  // Two endpoints of one address have a connection each: one that is filled by a long answer does
  // not hold up the other.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  if (!options.user_agent.empty()) arguments.SetUserAgentPrefix(options.user_agent);
  return arguments;
}

}  // namespace

Result<std::unique_ptr<Endpoint>> Endpoint::Make(const EndpointOptions& options,
                                                 const Clock& clock) {
  Result<std::string> path = SocketPath(options.address);
  if (!path) return path.error();
  Result<std::shared_ptr<Poller>> poller = Poller::Get();
  if (!poller) return poller.error();
  return std::unique_ptr<Endpoint>(
      new Endpoint(options, std::move(*path), clock, std::move(*poller)));
}

// The target has its three slashes on purpose. ClientContext::peer() is the target until a
// connection takes the call, and the connection's address, which gRPC writes with one slash, from
// then on: that is how a call that was never sent is known.
Endpoint::Endpoint(const EndpointOptions& options, std::string path, const Clock& clock,
                   std::shared_ptr<Poller> poller)
    : options_(options),
      target_("unix://" + std::move(path)),
      clock_(clock),
      poller_(std::move(poller)),
      channel_(grpc::CreateCustomChannel(target_, grpc::InsecureChannelCredentials(),
                                         ArgumentsOf(options))),
      breaker_(options.breaker) {}

Endpoint::~Endpoint() {
  std::unique_lock lock(mutex_);
  released_.wait(lock, [this] { return held_ == 0; });
}

BreakerView Endpoint::breaker() const {
  const std::lock_guard lock(mutex_);
  return breaker_.view();
}

uint64_t Endpoint::calls_held() const {
  const std::lock_guard lock(mutex_);
  return held_;
}

void Endpoint::TryConnectNow() {
  channel_->GetState(/*try_to_connect=*/true);
  grpc::experimental::ChannelResetConnectionBackoff(channel_.get());
}

bool Endpoint::BreakerRefuses(TimePoint now) const {
  const std::lock_guard lock(mutex_);
  return breaker_.Refuses(now);
}

bool Endpoint::EnterBreaker(TimePoint now) {
  const std::lock_guard lock(mutex_);
  return breaker_.Enter(now);
}

void Endpoint::OnReachable(TimePoint now) {
  const std::lock_guard lock(mutex_);
  breaker_.OnReachable(now);
}

void Endpoint::OnUnreachable(TimePoint now, std::string_view why) {
  const std::lock_guard lock(mutex_);
  breaker_.OnUnreachable(now);
  why_unreachable_ = why;
}

std::string Endpoint::WhyUnreachable() const {
  const std::lock_guard lock(mutex_);
  return why_unreachable_;
}

Endpoint::Hold::Hold(Endpoint& endpoint) : endpoint_(endpoint) {
  const std::lock_guard lock(endpoint_.mutex_);
  ++endpoint_.held_;
}

// Notified under the lock: the endpoint may be gone right after it.
Endpoint::Hold::~Hold() {
  const std::lock_guard lock(endpoint_.mutex_);
  if (--endpoint_.held_ == 0) endpoint_.released_.notify_all();
}

}  // namespace denselet::rpc
