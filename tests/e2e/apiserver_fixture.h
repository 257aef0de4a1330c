// The HTTP/2 client over TLS with an administrator's certificate, for tests against a real
// kube-apiserver; they are run by control_plane.sh.
#pragma once

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/random.h"
#include "reactor/net/connect.h"
#include "reactor/net/http2/client.h"
#include "reactor/net/tls/tls_client.h"
#include "reactor/net/tls/tls_connect.h"
#include "tests/integration/loop_fixture.h"

namespace denselet::net {

inline std::string Setting(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) ADD_FAILURE() << name << " is not set: run this by control_plane.sh";
  return value == nullptr ? "" : value;
}

inline std::string PkiFile(const std::string& name) {
  std::ifstream file(Setting("DENSELET_PKI") + "/" + name);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

// One request with all that came of it.
struct Call final : HttpClientCall {
  void OnHead(HttpResponseHead h) override { head = std::move(h); }
  void OnBody(std::span<const std::byte> data) override {
    body.append(reinterpret_cast<const char*>(data.data()), data.size());
  }
  void OnEnd() override { ended = true; }
  void OnFailed(const Error& reason) override { failed = reason; }
  bool over() const { return ended || failed; }

  std::unique_ptr<HttpExchange> exchange;
  std::optional<HttpResponseHead> head;
  std::string body;
  bool ended = false;
  std::optional<Error> failed;
};

// Of a request and its answer.
struct MediaTypes {
  std::string accepted = "application/json";
  std::string sent = "application/json";
};

class ApiServerTest : public reactor::LoopTest {
 protected:
  ApiServerTest() {
    UseTls({.authorities = PkiFile("ca.crt"),
            .certificate = PkiFile("admin.crt"),
            .key = PkiFile("admin.key"),
            .protocols = {"h2"}});
    Http2ClientOptions options;
    client_ = std::make_unique<Http2Client>(
        loop(), random_, options,
        [this](const Context& context, reactor::Done<std::unique_ptr<Stream>> done) {
          Dial(context, std::move(done));
        });
  }
  ~ApiServerTest() override { client_.reset(); }

  void UseTls(const TlsClientOptions& options) {
    auto tls = TlsClient::Make(options);
    ASSERT_TRUE(tls) << tls.error().message();
    tls_ = std::make_unique<TlsClient>(std::move(*tls));
  }

  void Dial(const Context& context, reactor::Done<std::unique_ptr<Stream>> done) {
    Connect(
        loop(), context, *Address::Parse(Setting("DENSELET_APISERVER")),
        [this, context, done = std::move(done)](Result<std::unique_ptr<Socket>> socket) mutable {
          if (!socket) return done(socket.error());
          TlsConnect(loop(), context, std::move(*socket), *tls_, server_name_,
                     [done = std::move(done)](Result<std::unique_ptr<TlsStream>> tls) mutable {
                       if (!tls) return done(tls.error());
                       EXPECT_EQ((*tls)->protocol(), "h2");
                       done(std::unique_ptr<Stream>(std::move(*tls)));
                     });
        });
  }

  void Start(Call& call, std::string method, std::string target, const std::string& body = "",
             const MediaTypes& types = {}) {
    HttpRequest request{.method = std::move(method),
                        .scheme = "https",
                        .authority = Setting("DENSELET_APISERVER"),
                        .target = std::move(target),
                        .headers = {{"accept", types.accepted}}};
    if (!body.empty()) request.headers.Add("content-type", types.sent);
    call.exchange = client_->Start({}, std::move(request),
                                   body.empty() ? RequestBody::kNone : RequestBody::kStreamed,
                                   WhenFull::kOpenAnother, call);
    if (body.empty()) return;
    call.exchange->SendBody(body);
    call.exchange->EndBody();
  }

  // The whole answer's status; 0 when it failed.
  int Ask(Call& call, std::string method, std::string target, const std::string& body = "",
          const MediaTypes& types = {}) {
    Start(call, std::move(method), std::move(target), body, types);
    if (!RunUntil([&] { return call.over(); })) return 0;
    if (call.failed) ADD_FAILURE() << call.failed->message();
    return call.head ? call.head->status : 0;
  }

  SeededRandom random_{1};
  std::string server_name_ = "127.0.0.1";
  std::unique_ptr<TlsClient> tls_;
  std::unique_ptr<Http2Client> client_;
};

}  // namespace denselet::net
