// The real client and the model of an API server behind HTTP/2, connected: on one loop or on two,
// simulated or real.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "kube/client/api_client.h"
#include "kube/client/api_transport.h"
#include "reactor/net/connect.h"
#include "tests/fakes/http_api_server.h"

namespace denselet::fakes {

struct HttpApiPairOptions {
  HttpApiServerOptions server = {};
  kube::ApiTransportOptions transport = {};
  kube::ApiClientOptions client = {};
  kube::Credentials* credentials = nullptr;  // null: none
  // Whether the n-th attempt to connect, from 1, is never answered; none: each is.
  std::function<bool(uint64_t)> dial_hangs = {};
};

// Owned by a test. List-watches must be gone before it.
class HttpApiPair {
 public:
  HttpApiPair(reactor::Loop& server_loop, reactor::Loop& client_loop, Random& random,
              const net::Address& address, HttpApiPairOptions options = {})
      : server(server_loop, random, model, options.server) {
    server.Start(address);
    options.transport.scheme = "http";
    options.transport.authority = "api.test";
    options.transport.user_agent = "denselet-test";
    transport = std::make_unique<kube::ApiTransport>(
        client_loop, random, options.transport,
        options.credentials == nullptr ? no_credentials_ : *options.credentials,
        [this, &client_loop, hangs = std::move(options.dial_hangs)](
            const Context& context, reactor::Done<std::unique_ptr<net::Stream>> done) {
          ++dials;
          if (hangs && hangs(dials)) return hung_.push_back(std::move(done));
          net::Connect(client_loop, context, server.address(),
                       [done = std::move(done)](Result<std::unique_ptr<net::Socket>> r) mutable {
                         if (!r) return done(r.error());
                         done(std::unique_ptr<net::Stream>(*std::move(r)));
                       });
        });
    client = std::make_unique<kube::ApiClient>(client_loop, random, *transport, options.client);
  }
  ~HttpApiPair() {
    client.reset();
    transport.reset();
  }

  ApiModel model;
  HttpApiServer server;
  std::unique_ptr<kube::ApiTransport> transport;
  std::unique_ptr<kube::ApiClient> client;
  uint64_t dials = 0;

 private:
  kube::NoCredentials no_credentials_;
  std::vector<reactor::Done<std::unique_ptr<net::Stream>>> hung_;
};

}  // namespace denselet::fakes
