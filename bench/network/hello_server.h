// Our HTTP/1 server on a shard of its own that answers every request at once, as the nginx beside
// it does.
#pragma once

#include <memory>

#include "bench/network/child.h"
#include "reactor/net/http1/server.h"
#include "reactor/real_clock.h"
#include "reactor/shards.h"

namespace denselet::bench {

class HelloServer final : public net::HttpService {
 public:
  explicit HelloServer(reactor::ShardsOptions options) {
    options.count = 1;
    auto started = reactor::Shards::Start(options, clock_);
    CHECK(started);
    shards_ = std::move(*started);
    shards_->RunAndWait(0, [this](reactor::Shard& shard) {
      server_ = std::make_unique<net::Http1Server>(
          shard.loop(), *this, net::Http1ServerOptions{.connections_max = 20'000});
      port_ = server_->Listen(*net::Address::Parse("127.0.0.1:0"))->port();
    });
  }
  ~HelloServer() override {
    shards_->RunAndWait(0, [this](reactor::Shard&) { server_.reset(); });
  }

  uint16_t port() const { return port_; }
  size_t connections() {
    size_t count = 0;
    shards_->RunAndWait(0, [&](reactor::Shard&) { count = server_->connections(); });
    return count;
  }

 private:
  void OnRequest(net::HttpRequest, net::HttpServerExchange exchange) override {
    exchange.Respond(200, "text/plain", Nginx::kBody);
  }

  const reactor::RealClock clock_;
  std::unique_ptr<reactor::Shards> shards_;
  std::unique_ptr<net::Http1Server> server_;
  uint16_t port_ = 0;
};

}  // namespace denselet::bench
