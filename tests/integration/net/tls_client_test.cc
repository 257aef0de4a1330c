// What the options of a client are refused for, sessions, protocols, and certificates that are
// exchanged while connections are up.
#include <gmock/gmock.h>

#include "reactor/net/tls/tls_settings.h"
#include "tests/integration/net/tls_fixture.h"

namespace denselet::net {
namespace {

using testing::HasSubstr;

class TlsClientTest : public TlsTest {
 protected:
  std::string Refusal(const TlsClientOptions& options) {
    const auto client = TlsClient::Make(options);
    if (client) return "accepted";
    EXPECT_EQ(client.error().code(), ErrorCode::kInvalid);
    return client.error().message();
  }
  // A further connection that says something, so that tickets have come when it ends.
  bool Reused(TlsClient& client, ssl_ctx_st* context) {
    auto connection = Connected(client, context);
    if (connection->client == nullptr) return false;
    const bool reused = connection->client->session_reused();
    connection->server->Write("hello");
    TlsRecorder& user = connection->user;
    EXPECT_TRUE(RunUntil([&] { return user.received == "hello" || user.over(); }));
    EXPECT_FALSE(user.broken) << user.broken->message();
    connection->client->Close();
    return reused;
  }
};
INSTANTIATE_LOOP_TEST(TlsClientTest);

TEST_P(TlsClientTest, WrongOptionsAreNamed) {
  const Identity own = MakeIdentity({.common_name = "node"}, &authority_);
  const Identity other = MakeIdentity({.common_name = "other"}, &authority_);
  const std::string broken = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
  struct Case {
    std::string authorities, certificate, key, words;
  };
  const Case cases[] = {
      {"nonsense", "", "", "authorities: not PEM"},
      {own.key_pem, "", "", "authorities: there is no certificate in it"},
      {authority_.pem + broken, "", "", "authorities: certificate 2 cannot be read"},
      {std::string(TlsClient::kPemBytesMax + 1, ' '), "", "", "authorities: too large"},
      {authority_.pem, "nonsense", own.key_pem, "client certificate: not PEM"},
      {authority_.pem, own.pem, "nonsense", "client key: not PEM"},
      {authority_.pem, own.pem, own.pem, "client key: there is no private key in it"},
      {authority_.pem, own.pem, EncryptedKey(own), "client key: it is encrypted"},
      {authority_.pem, own.pem, "", "client certificate: it has no key"},
      {authority_.pem, "", own.key_pem, "client key: it has no certificate"},
      {authority_.pem, own.pem, other.key_pem, "the key does not belong to the certificate"},
  };
  for (const Case& c : cases) {
    TlsClientOptions options;
    options.authorities = c.authorities;
    options.certificate = c.certificate;
    options.key = c.key;
    EXPECT_THAT(Refusal(options), HasSubstr(c.words));
  }
  TlsClientOptions options = Trusting(authority_);
  options.protocols = {"h2", ""};
  EXPECT_THAT(Refusal(options), HasSubstr("ALPN protocol \"\": not 1 to 255 bytes long"));
  options.protocols = {std::string(256, 'x')};
  EXPECT_THAT(Refusal(options), HasSubstr("not 1 to 255 bytes long"));
}

TEST_P(TlsClientTest, ExpiredClientCertificateIsTakenAndItsEndIsKnown) {
  const WallTime end(Seconds(1'704'067'200));
  const Identity expired =
      MakeIdentity({.not_before = WallTime(Seconds(1'600'000'000)), .not_after = end}, &authority_);
  TlsClientOptions options = Trusting(authority_);
  EXPECT_EQ(TlsClient::Make(options)->client_certificate_not_after(), std::nullopt);
  options.certificate = expired.pem;
  options.key = expired.key_pem;
  const auto client = TlsClient::Make(options);
  ASSERT_TRUE(client);
  EXPECT_EQ(client->client_certificate_not_after(), end);
}

TEST_P(TlsClientTest, SecondConnectionReusesTheSession) {
  for (const TlsVersion version : {TlsVersion::k12, TlsVersion::k13}) {
    auto client = TlsClient::Make(Trusting(authority_));
    ASSERT_TRUE(client);
    const auto context = MakeServerContext(server_, {.version = version});
    EXPECT_FALSE(Reused(*client, context.get()));
    EXPECT_TRUE(Reused(*client, context.get()));
    EXPECT_TRUE(Reused(*client, context.get()));
  }
}

TEST_P(TlsClientTest, SessionOfOneNameIsNotOfferedForAnother) {
  auto client = TlsClient::Make(Trusting(authority_));
  ASSERT_TRUE(client);
  const auto context = MakeServerContext(server_, {.version = TlsVersion::k12});
  EXPECT_FALSE(Reused(*client, context.get()));
  auto [ours, theirs] = ConnectedPair();
  const TlsServer server(std::move(theirs), context.get());
  TlsRecorder user;
  const auto stream = Up(std::move(ours), *client, "127.0.0.1", user);
  ASSERT_NE(stream, nullptr);
  EXPECT_FALSE(stream->session_reused());
}

TEST_P(TlsClientTest, ServerThatForgotTheSessionIsGreetedInFull) {
  auto client = TlsClient::Make(Trusting(authority_));
  ASSERT_TRUE(client);
  const auto before = MakeServerContext(server_);
  const auto after = MakeServerContext(server_);
  EXPECT_FALSE(Reused(*client, before.get()));
  EXPECT_FALSE(Reused(*client, after.get()));
  EXPECT_TRUE(Reused(*client, after.get()));
}

TEST_P(TlsClientTest, SessionsAreBounded) {
  TlsClientOptions options = Trusting(authority_);
  options.sessions_max = 2;
  std::vector<std::string> names;
  for (int i = 0; i < 4; ++i) names.push_back("DNS:s" + std::to_string(i) + ".example");
  const Identity many = MakeIdentity({.names = names}, &authority_);
  auto client = TlsClient::Make(options);
  ASSERT_TRUE(client);
  const auto context = MakeServerContext(many, {.version = TlsVersion::k12});
  for (const std::string& name : names) {
    auto [ours, theirs] = ConnectedPair();
    const TlsServer server(std::move(theirs), context.get());
    TlsRecorder user;
    ASSERT_NE(Up(std::move(ours), *client, name.substr(4), user), nullptr);
  }
  TlsSessions& sessions = client->settings()->sessions;
  EXPECT_EQ(sessions.size(), 2u);
  EXPECT_EQ(sessions.Find("s1.example", clock_.WallNow()), nullptr);
  EXPECT_NE(sessions.Find("s3.example", clock_.WallNow()), nullptr);
  // A session is as good as the certificate it was made with.
  EXPECT_EQ(sessions.Find("s3.example", WallTime(Seconds(4'102'444'800))), nullptr);
  EXPECT_EQ(sessions.size(), 1u);
}

TEST_P(TlsClientTest, SessionSurvivesABrokenConnectionButNotItsOwn) {
  auto client = TlsClient::Make(Trusting(authority_));
  ASSERT_TRUE(client);
  const auto context = MakeServerContext(server_, {.version = TlsVersion::k12});
  EXPECT_FALSE(Reused(*client, context.get()));
  auto connection = Connected(*client, context.get());
  EXPECT_TRUE(connection->client->session_reused());
  connection->server->WriteRaw("no record at all");
  ASSERT_TRUE(RunUntil([&] { return connection->user.broken.has_value(); }));
  EXPECT_FALSE(Reused(*client, context.get()));
  EXPECT_TRUE(Reused(*client, context.get()));
}

TEST_P(TlsClientTest, ReplacedAuthoritiesCountForNewConnectionsOnly) {
  auto client = TlsClient::Make(Trusting(authority_));
  ASSERT_TRUE(client);
  const auto context = MakeServerContext(server_);
  EXPECT_FALSE(Reused(*client, context.get()));
  auto old = Connected(*client, context.get());
  ASSERT_NE(old->client, nullptr);
  old->server->echo = true;

  const Identity other = MakeAuthority("Other");
  ASSERT_TRUE(client->Replace(Trusting(other)));
  old->client->Send("still here");
  EXPECT_TRUE(RunUntil([&] { return old->user.received == "still here"; }));
  {
    auto [ours, theirs] = ConnectedPair();
    const TlsServer server(std::move(theirs), context.get());
    const Answer answer = Handshake(std::move(ours), *client, "localhost");
    ASSERT_TRUE(answer);
    ASSERT_FALSE(*answer) << "a session of the old authorities was reused";
    EXPECT_THAT(answer->error().message(), HasSubstr("unknown authority"));
  }
  ASSERT_TRUE(client->Replace(Trusting(authority_)));
  EXPECT_FALSE(Reused(*client, context.get()));
  EXPECT_TRUE(Reused(*client, context.get()));
}

TEST_P(TlsClientTest, ReplacementThatIsWrongChangesNothing) {
  auto client = TlsClient::Make(Trusting(authority_));
  ASSERT_TRUE(client);
  const auto context = MakeServerContext(server_);
  EXPECT_FALSE(Reused(*client, context.get()));
  TlsClientOptions wrong;
  wrong.authorities = "nonsense";
  EXPECT_FALSE(client->Replace(wrong));
  EXPECT_TRUE(Reused(*client, context.get()));
}

TEST_P(TlsClientTest, ReplacedClientCertificateIsShown) {
  const Identity first = MakeIdentity({.common_name = "first"}, &authority_);
  const Identity other = MakeAuthority("Other");
  const Identity second = MakeIdentity({.common_name = "second"}, &other);
  TlsClientOptions options = Trusting(authority_);
  options.certificate = first.pem;
  options.key = first.key_pem;
  auto client = TlsClient::Make(options);
  ASSERT_TRUE(client);
  TlsServerOptions demanding;
  demanding.client_authority = other.pem;
  demanding.version = TlsVersion::k12;
  const auto context = MakeServerContext(server_, demanding);
  const auto shake = [&] {
    auto [ours, theirs] = ConnectedPair();
    const TlsServer server(std::move(theirs), context.get());
    const Answer answer = Handshake(std::move(ours), *client, "localhost");
    return answer && *answer;
  };
  EXPECT_FALSE(shake());
  options.certificate = second.pem;
  options.key = second.key_pem;
  ASSERT_TRUE(client->Replace(options));
  EXPECT_TRUE(shake());
}

TEST_P(TlsClientTest, ClientMayGoWhileConnectionsAreUp) {
  std::optional<TlsClient> client = *TlsClient::Make(Trusting(authority_));
  const auto context = MakeServerContext(server_);
  auto connection = Connected(*client, context.get());
  ASSERT_NE(connection->client, nullptr);
  client.reset();
  connection->server->echo = true;
  connection->client->Send("hello");
  EXPECT_TRUE(RunUntil([&] { return connection->user.received == "hello"; }));
}

TEST_P(TlsClientTest, ServerChoosesAmongTheOfferedProtocols) {
  TlsClientOptions options = Trusting(authority_);
  options.protocols = {"h2", "http/1.1"};
  auto client = TlsClient::Make(options);
  ASSERT_TRUE(client);
  struct Case {
    std::vector<std::string> accepted;
    std::string chosen;
  };
  for (const Case& c : {Case{{"h2"}, "h2"}, Case{{"http/1.1"}, "http/1.1"}, Case{{}, ""}}) {
    TlsServerOptions server;
    server.protocols = c.accepted;
    const auto context = MakeServerContext(server_, server);
    const auto connection = Connected(*client, context.get());
    ASSERT_NE(connection->client, nullptr);
    EXPECT_EQ(connection->client->protocol(), c.chosen);
    EXPECT_EQ(connection->client->version(), TlsVersion::k13);
  }
}

TEST_P(TlsClientTest, ServerWithoutACommonProtocolRefuses) {
  TlsClientOptions options = Trusting(authority_);
  options.protocols = {"h2"};
  auto client = TlsClient::Make(options);
  ASSERT_TRUE(client);
  const OpensslServer server(server_, {"-rev", "-alpn", "http/1.1"});
  ASSERT_TRUE(server.started());
  const Answer answer = Handshake(ConnectTo(server.address()), *client, "localhost");
  ASSERT_TRUE(answer);
  ASSERT_FALSE(*answer);
  EXPECT_EQ(answer->error().code(), ErrorCode::kUnsupported);
  EXPECT_THAT(answer->error().message(), HasSubstr("no application protocol"));
}

}  // namespace
}  // namespace denselet::net
