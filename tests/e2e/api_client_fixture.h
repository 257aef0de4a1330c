// A client of the real API server on a real loop, as the cluster's administrator; run beside
// control_plane.sh.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/random.h"
#include "kube/client/api_client.h"
#include "reactor/net/connect.h"
#include "reactor/net/tls/tls_client.h"
#include "reactor/net/tls/tls_connect.h"
#include "tests/integration/loop_fixture.h"

namespace denselet::kube {

// Owned by a test; drives its own loop.
class ApiServerClient {
 protected:
  explicit ApiServerClient(reactor::Backend backend)
      : loop_(*reactor::MakeEventLoop(backend, clock_)) {
    auto tls = net::TlsClient::Make({.authorities = PkiFile("ca.crt"),
                                     .certificate = PkiFile("admin.crt"),
                                     .key = PkiFile("admin.key"),
                                     .protocols = {"h2"}});
    EXPECT_TRUE(tls) << tls.error().message();
    tls_ = std::make_unique<net::TlsClient>(std::move(*tls));
    Connect({});
  }
  ~ApiServerClient() {
    client_.reset();
    transport_.reset();
  }

  static std::string Setting(const char* name) {
    const char* value = std::getenv(name);
    if (value == nullptr) ADD_FAILURE() << name << " is not set: run this by control_plane.sh";
    return value == nullptr ? "" : value;
  }

  static std::string PkiFile(const std::string& name) {
    std::ifstream file(Setting("DENSELET_PKI") + "/" + name);
    EXPECT_TRUE(file) << name;
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void Connect(const ApiClientOptions& options) {
    client_.reset();
    ApiTransportOptions transport;
    transport.authority = Setting("DENSELET_APISERVER");
    transport.user_agent = "denselet-test";
    transport_ = std::make_unique<ApiTransport>(
        *loop_, random_, transport, credentials_,
        [this](const Context& context, reactor::Done<std::unique_ptr<net::Stream>> done) {
          Dial(*tls_, context, std::move(done));
        });
    client_ = std::make_unique<ApiClient>(*loop_, random_, *transport_, options);
  }

  void Dial(net::TlsClient& tls, const Context& context,
            reactor::Done<std::unique_ptr<net::Stream>> done) {
    net::Connect(loop(), context, *net::Address::Parse(Setting("DENSELET_APISERVER")),
                 [this, &tls, context,
                  done = std::move(done)](Result<std::unique_ptr<net::Socket>> socket) mutable {
                   if (!socket) return done(socket.error());
                   net::TlsConnect(loop(), context, std::move(*socket), tls, "127.0.0.1",
                                   [done = std::move(done)](
                                       Result<std::unique_ptr<net::TlsStream>> stream) mutable {
                                     if (!stream) return done(stream.error());
                                     done(std::unique_ptr<net::Stream>(std::move(*stream)));
                                   });
                 });
  }

  reactor::Loop& loop() { return *loop_; }

  reactor::RealClock clock_;
  std::unique_ptr<reactor::EventLoop> loop_;
  SeededRandom random_{1};
  NoCredentials credentials_;
  std::unique_ptr<net::TlsClient> tls_;
  std::unique_ptr<ApiTransport> transport_;
  std::unique_ptr<ApiClient> client_;
};

class ApiClientTest : public testing::TestWithParam<reactor::Backend>, protected ApiServerClient {
 protected:
  ApiClientTest() : ApiServerClient(GetParam()) {}

  template <class Predicate>
  [[nodiscard]] bool RunUntil(Predicate done) {
    return reactor::RunLoopUntil(*loop_, clock_, std::move(done));
  }

  // Waits for the answer of `start(done)`.
  template <class T, class Start>
  Result<T> Await(Start start) {
    std::optional<Result<T>> answer;
    start(reactor::Done<T>([&](Result<T> result) { answer.emplace(std::move(result)); }));
    if (!RunUntil([&] { return answer.has_value(); })) {
      return Error(ErrorCode::kDeadlineExceeded, "no answer");
    }
    return *std::move(answer);
  }
};

// Remembers what a list-watch tells.
struct Followed final : sync::ListWatchUser {
  void OnObject(std::string_view wire) override {
    const Result<MetaView> meta = ReadMeta(wire);
    ASSERT_TRUE(meta);
    names.insert(meta->Ref().ToString());
    ++objects;
  }
  void OnGone(const ObjectRef& object, std::string_view) override {
    names.erase(object.ToString());
    ++gone;
  }
  void OnSynced() override { ++synced; }
  void OnTrouble(const Error& reason) override { troubles.push_back(reason.message()); }

  std::set<std::string> names;
  int objects = 0, gone = 0, synced = 0;
  std::vector<std::string> troubles;
};

}  // namespace denselet::kube
