#include "rpc/call.h"

#include <grpc/support/time.h>
#include <grpcpp/channel.h>
#include <grpcpp/support/client_callback.h>

#include <algorithm>

namespace denselet::rpc::internal {

void GrpcOperation::Prepare(const Launch& launch) {
  unsent_peer_ = &launch.endpoint.target();
  context_.AddMetadata("traceparent", launch.traceparent);
  if (launch.timeout != Duration::max()) {
    context_.set_deadline(gpr_time_from_nanos(launch.timeout.count(), GPR_TIMESPAN));
  }
}

// gRPC knows it and tells only the reactors of its callback API.
bool GrpcOperation::Refused() {
  struct Asker final : grpc::internal::ClientReactor {
    void OnDone(const grpc::Status&) override {}
  };
  return Asker().InternalTrailersOnly(context_.c_call());
}

// Surely not sent is only what found no connection. A deadline or cancel of ours ends a call before
// gRPC has noted which connection took it, so it says nothing: it counts as sent.
std::optional<Failure> GrpcOperation::FailureOf(const grpc::Status& status) const {
  if (status.ok()) return std::nullopt;
  const auto code = static_cast<GrpcCode>(status.error_code());
  const bool ours = code == GrpcCode::kDeadlineExceeded || code == GrpcCode::kCancelled;
  return Failure{.code = code,
                 .message = status.error_message().substr(0, Failure::kMessageBytesMax),
                 .sent = ours || context_.peer() != *unsent_peer_};
}

// Blocks grow up to the maximum: long lists take few of them.
google::protobuf::ArenaOptions MessageArenaOptions() {
  google::protobuf::ArenaOptions options;
  options.max_block_size = 64 << 10;
  return options;
}

}  // namespace denselet::rpc::internal
