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
      new Connection(*std::move(runtime), *std::move(images), options.request_timeout));
}

Connection::Connection(std::unique_ptr<rpc::Endpoint> runtime,
                       std::unique_ptr<rpc::Endpoint> images, Duration request_timeout)
    : runtime_(std::move(runtime)),
      images_(std::move(images)),
      classes_(CallClasses(request_timeout)) {}

}  // namespace denselet::cri
