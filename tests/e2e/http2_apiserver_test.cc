// The HTTP/2 client over TLS against a real kube-apiserver; run by control_plane.sh.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "reactor/net/connect.h"
#include "reactor/net/http2/client.h"
#include "reactor/net/tls/tls_client.h"
#include "reactor/net/tls/tls_connect.h"
#include "tests/integration/loop_fixture.h"

namespace denselet::net {
namespace {

std::string Setting(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) ADD_FAILURE() << name << " is not set: run this by control_plane.sh";
  return value == nullptr ? "" : value;
}

std::string PkiFile(const std::string& name) {
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

class Http2ApiServerTest : public reactor::LoopTest {
 protected:
  Http2ApiServerTest() {
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
  ~Http2ApiServerTest() override { client_.reset(); }

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

  void Start(Call& call, std::string method, std::string target, const std::string& body = "") {
    HttpRequest request{.method = std::move(method),
                        .scheme = "https",
                        .authority = Setting("DENSELET_APISERVER"),
                        .target = std::move(target),
                        .headers = {{"accept", "application/json"}}};
    if (!body.empty()) request.headers.Add("content-type", "application/json");
    call.exchange = client_->Start({}, std::move(request),
                                   body.empty() ? RequestBody::kNone : RequestBody::kStreamed,
                                   WhenFull::kOpenAnother, call);
    if (body.empty()) return;
    call.exchange->SendBody(body);
    call.exchange->EndBody();
  }

  // The whole answer's status; 0 when it failed.
  int Ask(Call& call, std::string method, std::string target, const std::string& body = "") {
    Start(call, std::move(method), std::move(target), body);
    if (!RunUntil([&] { return call.over(); })) return 0;
    if (call.failed) ADD_FAILURE() << call.failed->message();
    return call.head ? call.head->status : 0;
  }

  // The error of connecting with the present TLS settings.
  Error Refusal() {
    std::optional<Result<std::unique_ptr<Stream>>> result;
    Dial(Context{}.WithTimeout(loop().Now(), Seconds(10)),
         [&](Result<std::unique_ptr<Stream>> r) { result.emplace(std::move(r)); });
    EXPECT_TRUE(RunUntil([&] { return result.has_value(); }));
    EXPECT_FALSE(*result);
    return result->error();
  }

  SeededRandom random_{1};
  std::string server_name_ = "127.0.0.1";
  std::unique_ptr<TlsClient> tls_;
  std::unique_ptr<Http2Client> client_;
};
INSTANTIATE_LOOP_TEST(Http2ApiServerTest);

std::string ConfigMap(const std::string& name, const std::string& value) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
         R"("},"data":{"key":")" + value + R"("}})";
}

TEST_P(Http2ApiServerTest, AClientCertificateIsAccepted) {
  Call version, secret;
  EXPECT_EQ(Ask(version, "GET", "/version"), 200);
  EXPECT_NE(version.body.find("\"gitVersion\": \"v1."), std::string::npos) << version.body;
  EXPECT_EQ(Ask(secret, "GET", "/api/v1/namespaces/kube-system/secrets"), 200);
}

TEST_P(Http2ApiServerTest, WithoutOneThereIsNoAccess) {
  UseTls({.authorities = PkiFile("ca.crt"), .protocols = {"h2"}});
  Call secret;
  EXPECT_EQ(Ask(secret, "GET", "/api/v1/namespaces/kube-system/secrets"), 403);
}

TEST_P(Http2ApiServerTest, AnotherAuthoritysServerIsRefusedWithTheCause) {
  UseTls({.authorities = PkiFile("other-ca.crt"), .protocols = {"h2"}});
  const Error error = Refusal();
  EXPECT_EQ(error.code(), ErrorCode::kPermission);
  EXPECT_NE(error.message().find("unknown authority"), std::string::npos) << error.message();
}

TEST_P(Http2ApiServerTest, AnotherNamesServerIsRefusedWithTheCause) {
  server_name_ = "elsewhere.example";
  const Error error = Refusal();
  EXPECT_EQ(error.code(), ErrorCode::kPermission);
  EXPECT_NE(error.message().find("kubernetes.default.svc"), std::string::npos) << error.message();
  EXPECT_NE(error.message().find("elsewhere.example"), std::string::npos) << error.message();
}

TEST_P(Http2ApiServerTest, AWatchTellsOfWhatIsCreatedMeanwhile) {
  const std::string name = "watched-" + std::to_string(static_cast<int>(GetParam()));
  const std::string all = "/api/v1/namespaces/default/configmaps";
  Call watch, created, deleted;
  Start(watch, "GET", all + "?watch=true&fieldSelector=metadata.name%3D" + name);
  ASSERT_TRUE(RunUntil([&] { return watch.head.has_value(); }));
  EXPECT_EQ(watch.head->status, 200);
  // Large enough to need several frames and windows both ways.
  const std::string value(700'000, 'v');
  EXPECT_EQ(Ask(created, "POST", all, ConfigMap(name, value)), 201);
  ASSERT_TRUE(RunUntil([&] { return watch.body.find(value) != std::string::npos; }));
  EXPECT_NE(watch.body.find("\"ADDED\""), std::string::npos);
  EXPECT_EQ(Ask(deleted, "DELETE", all + "/" + name), 200);
  ASSERT_TRUE(RunUntil([&] { return watch.body.find("\"DELETED\"") != std::string::npos; }));
  EXPECT_FALSE(watch.over());
  watch.exchange.reset();
  Call after;
  EXPECT_EQ(Ask(after, "GET", "/healthz"), 200);
  EXPECT_EQ(client_->counters().connections, 1u);
}

TEST_P(Http2ApiServerTest, MoreWatchesThanOneConnectionCarriesAreSpread) {
  constexpr size_t kWatches = 250;
  std::vector<std::unique_ptr<Call>> watches;
  for (size_t i = 0; i < kWatches; ++i) {
    watches.push_back(std::make_unique<Call>());
    Start(*watches.back(), "GET",
          "/api/v1/namespaces/default/configmaps?watch=true&fieldSelector=metadata.name%3Dw" +
              std::to_string(i));
  }
  ASSERT_TRUE(RunUntil([&] {
    return std::all_of(watches.begin(), watches.end(),
                       [](const auto& watch) { return watch->head || watch->over(); });
  }));
  for (const auto& watch : watches) {
    ASSERT_FALSE(watch->over());
    EXPECT_EQ(watch->head->status, 200);
  }
  EXPECT_EQ(client_->counters().streams, kWatches);
  EXPECT_GE(client_->counters().connections, 3u);
  // A hundred and more are in use everywhere, and still a request does not wait.
  Call quick;
  EXPECT_EQ(Ask(quick, "GET", "/version"), 200);
}

}  // namespace
}  // namespace denselet::net
