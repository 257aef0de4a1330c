// From a kubeconfig to the server: which way a connection takes, and what is said of one that
// fails.
#include "kube/client/api_connection.h"

#include <gmock/gmock.h>

#include "reactor/net/listener.h"
#include "tests/fakes/http_api_server.h"
#include "tests/integration/kube/kube_credentials_fixture.h"
#include "tests/integration/net/tls_fixture.h"

namespace denselet::kube {
namespace {

using testing::HasSubstr;
using testing::Not;

class ApiConnectionTest : public KubeCredentialsTest {
 protected:
  ~ApiConnectionTest() override { connection_.reset(); }

  Status Connect() {
    ApiConnectionOptions options;
    options.credentials.environment = environment_;
    auto made = ApiConnection::Make(
        CredentialParts{*loop_, files_, *watcher_, processes_, Logger(log_)}, random_,
        [this](const Context&, const std::string& host, uint16_t port,
               reactor::Done<std::vector<net::Address>> done) {
          looked_up_ = host;
          const auto address = net::Address::Ip("127.0.0.1", port);
          loop().Post([done = std::move(done), address]() mutable {
            done(std::vector<net::Address>{*address});
          });
        },
        access_, std::move(options));
    if (!made) return made.error();
    connection_ = *std::move(made);
    connection_->CheckHealth(Context{}.WithTimeout(clock_.Now(), Seconds(20)),
                             [this](Status status) { health_ = std::move(status); });
    return Ok();
  }
  // Takes connections and remembers what they say.
  void Listen() {
    listener_ =
        *net::Listener::Open(loop(), *net::Address::Ip("127.0.0.1", 0), [this](auto socket) {
          users_.push_back(std::make_unique<net::TlsRecorder>());
          sockets_.push_back(std::move(socket));
          sockets_.back()->Use(*users_.back());
        });
  }
  std::string ListenerUrl() const {
    return "http://127.0.0.1:" + std::to_string(listener_->address().port());
  }
  bool RunUntilItSays(const std::string& text) {
    return RunUntil(
        [&] { return !users_.empty() && users_.back()->received.find(text) != std::string::npos; });
  }

  SeededRandom random_{1};
  std::vector<std::string> environment_;
  std::string looked_up_;
  std::optional<Status> health_;
  std::vector<std::unique_ptr<net::TlsRecorder>> users_;
  std::vector<std::unique_ptr<net::Socket>> sockets_;
  std::unique_ptr<net::Listener> listener_;
  std::unique_ptr<ApiConnection> connection_;
};

INSTANTIATE_TEST_SUITE_P(Loops, ApiConnectionTest, testing::ValuesIn(reactor::AvailableBackends()),
                         reactor::NameOfBackend);

TEST_P(ApiConnectionTest, TheProxyOfTheEnvironmentIsAskedForATunnel) {
  Listen();
  access_.server = "http://api.test:6443";
  environment_ = {"HTTP_PROXY=http://me:word@127.0.0.1:" +
                  std::to_string(listener_->address().port())};
  ASSERT_TRUE(Connect());
  ASSERT_TRUE(RunUntilItSays("\r\n\r\n"));
  EXPECT_THAT(users_.back()->received, testing::StartsWith("CONNECT api.test:6443 HTTP/1.1\r\n"));
  EXPECT_THAT(users_.back()->received, HasSubstr("Proxy-Authorization: Basic bWU6d29yZA=="));
  EXPECT_EQ(looked_up_, "127.0.0.1");
}

TEST_P(ApiConnectionTest, TheKubeconfigsProxyGoesFirstAndNoProxyLeavesItOut) {
  Listen();
  access_.server = "http://api.test:6443";
  access_.proxy_url = ListenerUrl();
  environment_ = {"HTTP_PROXY=http://other:1", "NO_PROXY=*"};
  ASSERT_TRUE(Connect());
  EXPECT_TRUE(RunUntilItSays("CONNECT api.test:6443"));
  access_.proxy_url.clear();
  access_.server = "http://api.test:" + std::to_string(listener_->address().port());
  ASSERT_TRUE(Connect());
  EXPECT_TRUE(RunUntilItSays("PRI * HTTP/2.0")) << "straight to the server";
  EXPECT_EQ(looked_up_, "api.test");
}

TEST_P(ApiConnectionTest, AProxyOfAnotherKindIsRefused) {
  access_.server = "https://api.test:6443";
  environment_ = {"https_proxy=socks5://me:word@127.0.0.1:1080"};
  const Status refused = Connect();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kUnsupported);
  EXPECT_THAT(refused.error().message(), HasSubstr("https_proxy"));
  EXPECT_THAT(refused.error().message(), Not(HasSubstr("word")));
}

TEST_P(ApiConnectionTest, ACertificateThatIsNotTrustedIsToldAtOnceWithTheKubeconfig) {
  const net::Identity trusted = net::MakeAuthority("trusted"), other = net::MakeAuthority("other");
  const net::Identity identity = net::MakeServer(other);
  const net::SslContextPtr context = net::MakeServerContext(identity, {.protocols = {"h2"}});
  std::vector<std::unique_ptr<net::TlsServer>> servers;
  listener_ = *net::Listener::Open(loop(), *net::Address::Ip("127.0.0.1", 0), [&](auto socket) {
    servers.push_back(std::make_unique<net::TlsServer>(std::move(socket), context.get()));
  });
  access_.server = "https://127.0.0.1:" + std::to_string(listener_->address().port());
  access_.authorities.data = trusted.pem;
  access_.kubeconfig_path = "/etc/node.conf";
  ASSERT_TRUE(Connect());
  const TimePoint begin = clock_.Now();
  std::string lines;
  EXPECT_TRUE(RunUntil([&] {
    lines += sink_.Take();
    return lines.find("Could not connect to the API server") != std::string::npos;
  }));
  EXPECT_LE(clock_.Now() - begin, Seconds(5));
  EXPECT_THAT(lines, HasSubstr("kubeconfig=\"/etc/node.conf\""));
  EXPECT_THAT(lines, HasSubstr("certificate"));
  connection_.reset();
}

TEST_P(ApiConnectionTest, ATokenThatIsRefusedIsToldAsSuchWithTheKubeconfig) {
  fakes::ApiModel model;
  fakes::HttpApiServer server(loop(), random_, model, {.token = "Bearer right"});
  server.Start(*net::Address::Ip("127.0.0.1", 0));
  access_.server = "http://" + server.address().ToString();
  access_.token.data = "wrong";
  access_.kubeconfig_path = "/etc/bootstrap.conf";
  ASSERT_TRUE(Connect());
  ASSERT_TRUE(RunUntil([&] { return health_.has_value(); }));
  ASSERT_FALSE(*health_);
  EXPECT_EQ(health_->error().code(), ErrorCode::kPermission) << health_->error().message();
  const std::string lines = sink_.Take();
  EXPECT_THAT(lines, HasSubstr("The API server refused our credentials"));
  EXPECT_THAT(lines, HasSubstr("kubeconfig=\"/etc/bootstrap.conf\""));
  EXPECT_THAT(lines, HasSubstr("it was sent the token of \\\"/etc/bootstrap.conf\\\""));
  connection_.reset();
}

TEST_P(ApiConnectionTest, AHealthThatNobodyTellsHasTheCauseInIt) {
  Listen();
  access_.server = ListenerUrl();
  listener_.reset();
  ASSERT_TRUE(Connect());
  ASSERT_TRUE(
      RunUntil([&] { return connection_->transport().contact().unreachable().has_value(); }));
  clock_.Advance(Seconds(30));
  ASSERT_TRUE(RunUntil([&] { return health_.has_value(); }));
  ASSERT_FALSE(*health_);
  EXPECT_THAT(health_->error().message(), HasSubstr("Connection refused"));
  connection_.reset();
}

TEST_P(ApiConnectionTest, WhereItWasTriedIsSaidOnce) {
  Listen();
  const net::Identity trusted = net::MakeAuthority("trusted");
  access_.authorities.data = trusted.pem;
  access_.server = "https://" + listener_->address().ToString();
  ASSERT_TRUE(Connect());
  ASSERT_TRUE(RunUntil([&] { return !sockets_.empty(); }));
  sockets_.clear();
  std::string lines;
  const auto told = [&] {
    lines += sink_.Take();
    return lines.find("Could not connect to the API server") != std::string::npos;
  };
  ASSERT_TRUE(RunUntil(told));
  EXPECT_THAT(lines, HasSubstr("TLS with \\\"127.0.0.1\\\""));
  EXPECT_EQ(lines.find("TLS with"), lines.rfind("TLS with")) << lines;
  EXPECT_EQ(lines.find("connect to \\\""), lines.rfind("connect to \\\"")) << lines;
  connection_.reset();
}

}  // namespace
}  // namespace denselet::kube
