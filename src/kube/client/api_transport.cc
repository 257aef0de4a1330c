#include "kube/client/api_transport.h"

#include <utility>

namespace denselet::kube {
namespace {

net::Http2ClientOptions OptionsOf(const ApiTransportOptions& options, ApiLane lane) {
  net::Http2ClientOptions client;
  client.connection = options.connection;
  client.waiting_max = options.waiting_max;
  client.backoff_min = options.backoff_min;
  client.backoff_max = options.backoff_max;
  switch (lane) {
    case ApiLane::kHeartbeat:
      client.connections_max = 1;
      client.connect_timeout = options.heartbeat_connect_timeout;
      client.backoff_max = options.heartbeat_backoff_max;
      // The next heartbeat would find it closed by a server or a load balancer that is stricter.
      client.connection.idle_timeout = Duration::max();
      break;
    case ApiLane::kRequests:
      client.connections_max = options.request_connections_max;
      client.spare_streams_min = options.spare_streams_min;
      break;
    case ApiLane::kWatches:
      client.connections_max = options.watch_connections_max;
      client.spare_streams_min = options.spare_streams_min;
      break;
  }
  return client;
}

}  // namespace

ApiTransport::ApiTransport(reactor::Loop& loop, Random& random, ApiTransportOptions options,
                           Credentials& credentials, net::Http2Client::Dial dial)
    : options_(std::move(options)),
      credentials_(credentials),
      contact_(loop, options_.contact),
      dial_(std::move(dial)) {
  for (size_t i = 0; i < kApiLanes; ++i) {
    lanes_[i] = std::make_unique<net::Http2Client>(
        loop, random, OptionsOf(options_, static_cast<ApiLane>(i)),
        [this](const Context& context, reactor::Done<std::unique_ptr<net::Stream>> done) {
          dial_(context, std::move(done));
        },
        static_cast<net::Http2ClientUser*>(this));
  }
  contact_.Subscribe([this] {
    for (const auto& lane : lanes_) lane->RetrySoon();
  });
}

std::unique_ptr<net::HttpExchange> ApiTransport::Start(const Context& context, ApiLane lane,
                                                       const std::string& authorization,
                                                       net::HttpRequest request, std::string body,
                                                       net::HttpClientCall& call) {
  request.scheme = options_.scheme;
  request.authority = options_.authority;
  request.target.insert(0, options_.base_path);
  request.headers.Add("user-agent", options_.user_agent);
  if (!authorization.empty()) request.headers.Add("authorization", authorization);
  if (const std::string trace = context.trace.TraceParent(); !trace.empty()) {
    request.headers.Add("traceparent", trace);
  }
  if (body.empty()) {
    return Lane(lane).Start(context, std::move(request), net::RequestBody::kNone,
                            net::WhenFull::kOpenAnother, call);
  }
  request.headers.Add("content-length", std::to_string(body.size()));
  auto exchange = Lane(lane).Start(context, std::move(request), net::RequestBody::kStreamed,
                                   net::WhenFull::kOpenAnother, call);
  exchange->SendBody(std::move(body));
  exchange->EndBody();
  return exchange;
}

void ApiTransport::OnUnauthorized(const Error& reason) {
  std::string text = reason.message();
  if (const std::string origin = credentials_.Origin(); !origin.empty()) {
    text += "; it was sent " + origin;
  }
  if (const std::string fault = credentials_.Fault(); !fault.empty()) text += "; " + fault;
  contact_.OnUnauthorized(Error(reason.code(), std::move(text)));
}

std::optional<Error> ApiTransport::Obstacle(ApiLane lane) const {
  if (std::optional<Error> own = Lane(lane).Obstacle()) return own;
  return contact_.unreachable();
}

void ApiTransport::Renew() {
  ++renewals_;
  Lane(ApiLane::kHeartbeat).Renew(net::Http2Client::Renewal::kDrain);
  Lane(ApiLane::kRequests).Renew(net::Http2Client::Renewal::kDrain);
  // A watch does not end by itself; it is taken up again where it stood.
  Lane(ApiLane::kWatches).Renew(net::Http2Client::Renewal::kBreak);
}

void ApiTransport::CloseIdle() {
  for (const auto& lane : lanes_) lane->CloseIdle();
}

}  // namespace denselet::kube
