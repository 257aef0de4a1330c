// The connections to the API server. Three lanes, so that nothing ever waits behind something less
// urgent: heartbeats have one connection of their own; watches, which never end, fill others; the
// rest goes over a few that watches never touch.
//
// While the server is away each lane tries to connect with pauses of its own. Heartbeats, without
// which the node is taken for dead, keep theirs short; whichever lane is answered first wakes the
// others.
//
// Lives on the API shard.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/context.h"
#include "base/random.h"
#include "kube/client/api_contact.h"
#include "kube/client/credentials.h"
#include "reactor/api/loop.h"
#include "reactor/net/http2/client.h"

namespace denselet::kube {

enum class ApiLane : uint8_t { kHeartbeat, kRequests, kWatches };
inline constexpr size_t kApiLanes = 3;

struct ApiTransportOptions {
  std::string scheme = "https";
  std::string authority;  // host and port, as the server knows itself
  std::string base_path;  // "/k8s/clusters/c1" of a server behind a gateway; without a slash behind
  std::string user_agent;
  net::Http2Options connection;
  uint32_t request_connections_max = 4;
  // A kube-apiserver takes 100 streams on a connection, so this is 6400 watches. Of a server that
  // takes one, it is what it is: further watches wait, and requests do not wait for them.
  uint32_t watch_connections_max = 64;
  uint32_t spare_streams_min = 10;
  size_t waiting_max = 16384;  // requests or watches that wait for a stream, each lane
  // Between attempts to connect, up to a half longer by chance.
  Duration backoff_min = Milliseconds(200);
  Duration backoff_max = Seconds(10);
  // Of heartbeats: a node has 40 s until its lease runs out, and asks every 10 s.
  Duration heartbeat_backoff_max = Seconds(2);
  Duration heartbeat_connect_timeout = Seconds(10);
  ApiContactOptions contact;
};

class ApiTransport final : private net::Http2ClientUser {
 public:
  // `credentials` outlives this.
  ApiTransport(reactor::Loop& loop, Random& random, ApiTransportOptions options,
               Credentials& credentials, net::Http2Client::Dial dial);

  // `request` has a method, a target without the base path and headers; the rest is added here.
  // `authorization` is what Credentials::Authorization said.
  std::unique_ptr<net::HttpExchange> Start(const Context& context, ApiLane lane,
                                           const std::string& authorization,
                                           net::HttpRequest request, std::string body,
                                           net::HttpClientCall& call);

  Credentials& credentials() { return credentials_; }
  ApiContact& contact() { return contact_; }

  // A request was answered with 401. People are told what is known to be wrong, too.
  void OnUnauthorized(const Error& reason);

  // Why a request of this lane gets no connection; nothing: it has one, or none was ever wanted.
  std::optional<Error> Obstacle(ApiLane lane) const;

  // The connections' credentials (client certificate, authorities) have changed. Watches are broken
  // for that, and can tell by the number of renewals since they began.
  void Renew();
  uint64_t renewals() const { return renewals_; }
  // See sync::ApiServer::DropIdleConnections.
  void CloseIdle();

  net::Http2Client::Counters counters(ApiLane lane) const { return Lane(lane).counters(); }

 private:
  // Http2ClientUser
  void OnConnected() override { contact_.OnConnected(); }
  void OnConnectFailed(const Error& reason) override { contact_.OnConnectFailed(reason); }

  net::Http2Client& Lane(ApiLane lane) { return *lanes_[static_cast<size_t>(lane)]; }
  const net::Http2Client& Lane(ApiLane lane) const { return *lanes_[static_cast<size_t>(lane)]; }

  const ApiTransportOptions options_;
  Credentials& credentials_;
  ApiContact contact_;
  net::Http2Client::Dial dial_;  // shared by the lanes
  std::array<std::unique_ptr<net::Http2Client>, kApiLanes> lanes_;
  uint64_t renewals_ = 0;
};

}  // namespace denselet::kube
