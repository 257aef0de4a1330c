#include "cri/connection.h"

#include <utility>

namespace denselet::cri {

namespace {

rpc::EndpointOptions EndpointOf(const ConnectionOptions& options, const std::string& address,
                                const char* name) {
  return {.address = address,
          .name = name,
          .user_agent = options.user_agent,
          .receive_bytes_max = Connection::kReceiveBytesMax};
}

}  // namespace

Result<std::unique_ptr<Connection>> Connection::Make(const ConnectionOptions& options,
                                                     const Clock& clock) {
  auto runtime =
      rpc::Endpoint::Make(EndpointOf(options, options.runtime_endpoint, "runtime"), clock);
  if (!runtime) return runtime.error().With("container runtime endpoint", options.runtime_endpoint);
  const std::string& address =
      options.image_endpoint.empty() ? options.runtime_endpoint : options.image_endpoint;
  auto images = rpc::Endpoint::Make(EndpointOf(options, address, "image"), clock);
  if (!images) return images.error().With("image service endpoint", address);
  return std::unique_ptr<Connection>(
      new Connection(*std::move(runtime), *std::move(images), options));
}

Connection::Connection(std::unique_ptr<rpc::Endpoint> runtime,
                       std::unique_ptr<rpc::Endpoint> images, const ConnectionOptions& options)
    : runtime_(std::move(runtime)),
      images_(std::move(images)),
      classes_(CallClasses(options.request_timeout)),
      stream_retry_pause_(options.stream_retry_pause),
      list_bytes_max_(options.list_bytes_max) {
  for (std::atomic<TimePoint>& at : ask_for_stream_at_) at = TimePoint::min();
}

bool Connection::Streams(ListStream list) const {
  const std::atomic<TimePoint>& at = ask_for_stream_at_[static_cast<size_t>(list)];
  return at.load(std::memory_order_relaxed) <= runtime_->clock().Now();
}

void Connection::DoesNotStream(ListStream list) {
  ask_for_stream_at_[static_cast<size_t>(list)].store(
      After(runtime_->clock().Now(), stream_retry_pause_), std::memory_order_relaxed);
}

}  // namespace denselet::cri
