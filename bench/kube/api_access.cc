#include "bench/kube/api_access.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "reactor/net/connect.h"
#include "reactor/net/tls/tls_connect.h"

namespace denselet::bench {
namespace {

// What control_plane.sh tells those it runs.
std::string Setting(const char* name) {
  const char* value = std::getenv(name);
  CHECK(value != nullptr);
  return value;
}

net::TlsClient MakeTls() {
  const auto file = [](const std::string& name) {
    std::ifstream in(Setting("DENSELET_PKI") + "/" + name);
    CHECK(in.is_open());
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  auto tls = net::TlsClient::Make({.authorities = file("ca.crt"),
                                   .certificate = file("admin.crt"),
                                   .key = file("admin.key"),
                                   .protocols = {"h2"}});
  CHECK(tls);
  return *std::move(tls);
}

}  // namespace

ApiAccess::ApiAccess()
    : loop_(*reactor::MakeEventLoop(reactor::ProbeBackend(clock_), clock_)),
      server_(Setting("DENSELET_APISERVER")),
      tls_(MakeTls()) {
  kube::ApiTransportOptions options;
  options.authority = server_;
  options.user_agent = "denselet-bench";
  transport_ = std::make_unique<kube::ApiTransport>(
      *loop_, random_, options, credentials_,
      [this](const Context& context, reactor::Done<std::unique_ptr<net::Stream>> done) {
        Dial(context, std::move(done));
      });
  kube::ApiClientOptions client;
  client.requests_per_second = 0;
  client_ = std::make_unique<kube::ApiClient>(*loop_, random_, *transport_, client);
}

ApiAccess::~ApiAccess() {
  client_.reset();
  transport_.reset();
}

void ApiAccess::Dial(const Context& context, reactor::Done<std::unique_ptr<net::Stream>> done) {
  net::Connect(
      *loop_, context, *net::Address::Parse(server_),
      [this, context, done = std::move(done)](Result<std::unique_ptr<net::Socket>> socket) mutable {
        if (!socket) return done(socket.error());
        net::TlsConnect(
            *loop_, context, *std::move(socket), tls_, "127.0.0.1",
            [done = std::move(done)](Result<std::unique_ptr<net::TlsStream>> stream) mutable {
              if (!stream) return done(stream.error());
              done(std::unique_ptr<net::Stream>(*std::move(stream)));
            });
      });
}

}  // namespace denselet::bench
