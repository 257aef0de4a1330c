// Connections to the API server: addresses, proxies, TLS and what is spoken over it.
#include "kube/client/api_dialer.h"

#include <gtest/gtest.h>

#include "tests/integration/net/tls_fixture.h"

namespace denselet::kube {
namespace {

class ApiDialerTest : public net::TlsTest {
 protected:
  using Answer = Result<std::unique_ptr<net::Stream>>;

  static ApiDialerOptions Options(const std::string& url) {
    ApiDialerOptions options;
    options.server = *ParseServerUrl(url);
    return options;
  }

  Answer Dial(ApiDialerOptions options, net::TlsClient* tls, const Context& context = {}) {
    ApiDialer dialer(
        loop(),
        [this](const Context&, const std::string& host, uint16_t port,
               reactor::Done<std::vector<net::Address>> done) {
          looked_up_ = host + " " + std::to_string(port);
          loop().Post([this, done = std::move(done)]() mutable { done(addresses_); });
        },
        std::move(options));
    std::optional<Answer> answer;
    dialer.Dial(context, tls, [&](Answer result) {
      EXPECT_FALSE(answer.has_value()) << "answered twice";
      answer.emplace(std::move(result));
    });
    EXPECT_FALSE(answer.has_value()) << "answered inside the call";
    if (!RunUntil([&] { return answer.has_value(); })) return Error(ErrorCode::kBug, "no answer");
    return *std::move(answer);
  }

  // Takes connections, and says what it is told to when a head has come.
  struct Peer {
    std::unique_ptr<net::Listener> listener;
    std::vector<std::unique_ptr<net::TlsRecorder>> users;
    std::vector<std::unique_ptr<net::Socket>> sockets;
  };
  std::unique_ptr<Peer> Listen() {
    auto peer = std::make_unique<Peer>();
    peer->listener = *net::Listener::Open(
        loop(), *net::Address::Ip("127.0.0.1", 0), [p = peer.get()](auto socket) {
          p->users.push_back(std::make_unique<net::TlsRecorder>());
          p->sockets.push_back(std::move(socket));
          p->sockets.back()->Use(*p->users.back());
        });
    return peer;
  }
  // An address where nobody listens.
  net::Address Nobody() {
    const net::Address address = Listen()->listener->address();
    Settle();
    return address;
  }

  struct TlsPeer {
    net::SslContextPtr context;
    std::unique_ptr<net::Listener> listener;
    std::vector<std::unique_ptr<net::TlsServer>> servers;
  };
  std::unique_ptr<TlsPeer> ListenTls(const net::Identity& identity,
                                     std::vector<std::string> protocols) {
    auto peer = std::make_unique<TlsPeer>();
    peer->context = net::MakeServerContext(identity, {.protocols = std::move(protocols)});
    peer->listener = *net::Listener::Open(
        loop(), *net::Address::Ip("127.0.0.1", 0), [p = peer.get()](auto socket) {
          p->servers.push_back(
              std::make_unique<net::TlsServer>(std::move(socket), p->context.get()));
        });
    return peer;
  }
  net::TlsClient Client() {
    net::TlsClientOptions options = Trusting(authority_);
    options.protocols = {"h2"};
    return *net::TlsClient::Make(options);
  }

  std::vector<net::Address> addresses_;
  std::string looked_up_;
};

INSTANTIATE_TEST_SUITE_P(Loops, ApiDialerTest, testing::ValuesIn(reactor::AvailableBackends()),
                         reactor::NameOfBackend);

TEST_P(ApiDialerTest, AServerWithoutTlsIsConnectedAsItIs) {
  const auto peer = Listen();
  addresses_ = {peer->listener->address()};
  EXPECT_TRUE(Dial(Options("http://api.test:8080"), nullptr));
  EXPECT_EQ(looked_up_, "api.test 8080");
}

TEST_P(ApiDialerTest, AddressesAreTriedOneAfterTheOther) {
  const auto peer = Listen();
  addresses_ = {Nobody(), Nobody(), peer->listener->address()};
  EXPECT_TRUE(Dial(Options("http://api.test"), nullptr));
  addresses_ = {Nobody(), Nobody()};
  const Answer refused = Dial(Options("http://api.test"), nullptr);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find(addresses_[1].ToString()), std::string::npos)
      << refused.error().message();
  addresses_ = {};
  EXPECT_FALSE(Dial(Options("http://api.test"), nullptr));
}

TEST_P(ApiDialerTest, WhatIsSpokenMustBeHttp2) {
  net::TlsClient client = Client();
  const auto good = ListenTls(server_, {"h2"});
  addresses_ = {good->listener->address()};
  EXPECT_TRUE(Dial(Options("https://localhost"), &client));
  // One that chooses nothing, and one that refuses what it is offered.
  for (const std::vector<std::string>& protocols :
       {std::vector<std::string>{}, std::vector<std::string>{"http/1.1"}}) {
    const auto other = ListenTls(server_, protocols);
    addresses_ = {other->listener->address()};
    const Answer unsupported = Dial(Options("https://localhost"), &client);
    ASSERT_FALSE(unsupported);
    EXPECT_EQ(unsupported.error().code(), ErrorCode::kUnsupported);
    EXPECT_EQ(unsupported.error().message(),
              addresses_[0].ToString() +
                  " does not speak HTTP/2, which is needed: it, or a gateway in front of the API "
                  "server, offers no \"h2\" over TLS (ALPN)");
  }
}

TEST_P(ApiDialerTest, TheNameInTheCertificateIsThatOfTheHostUnlessGiven) {
  net::TlsClient client = Client();
  const net::Identity other =
      net::MakeIdentity({.common_name = "x", .names = {"DNS:other.example"}}, &authority_);
  const auto peer = ListenTls(other, {"h2"});
  addresses_ = {peer->listener->address()};
  const Answer wrong = Dial(Options("https://localhost"), &client);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message().find("connect to \"" + addresses_[0].ToString() +
                                         "\": TLS with \"localhost\": "),
            std::string::npos)
      << wrong.error().message();
  ApiDialerOptions named = Options("https://localhost");
  named.server_name = "other.example";
  EXPECT_TRUE(Dial(named, &client));
}

TEST_P(ApiDialerTest, AProxyIsAskedForATunnel) {
  const auto proxy = Listen();
  addresses_ = {proxy->listener->address()};
  ApiDialerOptions options = Options("http://api.test:6443");
  options.proxy = *ParseProxy("http://user:pass@proxy.test:3128");
  const auto answer_with = [&](std::string text) {
    return [&, text] {
      if (proxy->users.empty() || !proxy->users.back()->received.ends_with("\r\n\r\n")) return;
      proxy->sockets.back()->Send(text);
      proxy->users.back()->received += "(answered)";
    };
  };
  const auto dial = [&](const std::string& text) {
    const auto answer = answer_with(text);
    bool over = false;
    // Looked at in every turn.
    std::function<void()> look = [&] {
      if (over) return;
      answer();
      loop().Arm(After(clock_.Now(), Milliseconds(1)), look);
    };
    look();
    Answer result = Dial(options, nullptr);
    over = true;
    return result;
  };
  EXPECT_TRUE(dial("HTTP/1.1 200 Connection established\r\n\r\n"));
  EXPECT_EQ(looked_up_, "proxy.test 3128");
  EXPECT_TRUE(proxy->users.back()->received.starts_with("CONNECT api.test:6443 HTTP/1.1\r\n"))
      << proxy->users.back()->received;
  EXPECT_NE(proxy->users.back()->received.find("Proxy-Authorization: Basic dXNlcjpwYXNz"),
            std::string::npos);
  const Answer refused = dial("HTTP/1.1 407 Who\r\ncontent-length: 0\r\n\r\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kPermission);
}

TEST_P(ApiDialerTest, AnAddressThatFallsSilentDoesNotTakeTheTimeOfTheOthers) {
  net::TlsClient client = Client();
  const auto silent = Listen();  // takes connections and says nothing
  const auto good = ListenTls(server_, {"h2"});
  addresses_ = {silent->listener->address(), good->listener->address()};
  const Answer answer = Dial(Options("https://localhost"), &client,
                             Context{}.WithTimeout(clock_.Now(), Milliseconds(600)));
  EXPECT_TRUE(answer) << answer.error().message();
}

TEST_P(ApiDialerTest, ACancelledDialAnswersOnce) {
  const auto silent = Listen();
  net::TlsClient client = Client();
  addresses_ = {silent->listener->address()};
  CancelSource source;
  Context context;
  context.cancel = source.token();
  loop().Arm(After(clock_.Now(), Milliseconds(5)), [&] { source.Cancel(); });
  const Answer answer = Dial(Options("https://localhost"), &client, context);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), ErrorCode::kCancelled);
}

}  // namespace
}  // namespace denselet::kube
