// Which servers are accepted, and what is said about those that are not.
#include <gmock/gmock.h>

#include "tests/integration/net/tls_fixture.h"

namespace denselet::net {
namespace {

using testing::HasSubstr;

class TlsVerifyTest : public TlsTest {
 protected:
  // The answer for a real server with this certificate.
  Answer Ask(const Identity& identity, const TlsClientOptions& options, const std::string& name,
             const std::vector<std::string>& arguments = {}) {
    std::vector<std::string> all = {"-rev"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const OpensslServer server(identity, all);
    if (!server.started()) {
      ADD_FAILURE() << "openssl s_server did not start";
      return std::nullopt;
    }
    auto client = TlsClient::Make(options);
    EXPECT_TRUE(client) << client.error().message();
    return Handshake(ConnectTo(server.address()), *client, name);
  }
  void ExpectRefused(const Answer& answer, const std::string& words) {
    ASSERT_TRUE(answer);
    ASSERT_FALSE(*answer) << "accepted; wanted: " << words;
    EXPECT_EQ(answer->error().code(), ErrorCode::kPermission) << answer->error().message();
    EXPECT_THAT(answer->error().message(), HasSubstr(words));
  }
  void ExpectAccepted(const Answer& answer) {
    ASSERT_TRUE(answer);
    EXPECT_TRUE(*answer) << answer->error().message();
  }
};
INSTANTIATE_LOOP_TEST(TlsVerifyTest);

TEST_P(TlsVerifyTest, ServerOfATrustedAuthorityIsAcceptedByNameAndByAddress) {
  for (const char* name : {"localhost", "127.0.0.1", "localhost."}) {
    const Answer answer = Ask(server_, Trusting(authority_), name);
    ExpectAccepted(answer);
  }
}

TEST_P(TlsVerifyTest, ExpiredCertificateIsRefusedWithItsDate) {
  const Identity expired = MakeIdentity({.names = {"DNS:localhost"},
                                         .not_before = WallTime(Seconds(1'600'000'000)),
                                         .not_after = WallTime(Seconds(1'704'067'200))},
                                        &authority_);
  ExpectRefused(Ask(expired, Trusting(authority_), "localhost"),
                "the server's certificate expired on 2024-01-01T00:00:00Z");
}

TEST_P(TlsVerifyTest, CertificateThatIsNotYetValidIsRefusedWithItsDate) {
  const Identity early = MakeIdentity({.names = {"DNS:localhost"},
                                       .not_before = WallTime(Seconds(4'102'444'800)),
                                       .not_after = WallTime(Seconds(4'102'544'800))},
                                      &authority_);
  ExpectRefused(Ask(early, Trusting(authority_), "localhost"),
                "the server's certificate is not valid before 2100-01-01T00:00:00Z");
}

TEST_P(TlsVerifyTest, ExpiredAuthorityOfTheChainIsNamed) {
  const Identity middle = MakeIdentity({.common_name = "Middle",
                                        .not_before = WallTime(Seconds(1'600'000'000)),
                                        .not_after = WallTime(Seconds(1'704'067'200)),
                                        .authority = true},
                                       &authority_);
  const Identity leaf = MakeIdentity({.names = {"DNS:localhost"}}, &middle);
  TlsClientOptions options = Trusting(authority_);
  options.authorities += middle.pem;
  ExpectRefused(Ask(leaf, options, "localhost"),
                "the certificate \"CN=Middle\" of the server's chain expired on 2024-01-01");
}

TEST_P(TlsVerifyTest, WrongNameIsRefusedWithTheNamesThatWouldDo) {
  const Identity other =
      MakeIdentity({.names = {"DNS:a.example", "DNS:b.example", "IP:10.0.0.1"}}, &authority_);
  ExpectRefused(Ask(other, Trusting(authority_), "c.example"),
                "the server's certificate is for \"a.example\", \"b.example\", \"10.0.0.1\", not "
                "for \"c.example\"");
  ExpectRefused(Ask(other, Trusting(authority_), "10.0.0.2"), "not for \"10.0.0.2\"");
}

TEST_P(TlsVerifyTest, AddressIsNoDnsNameAndTheCommonNameCountsForNothing) {
  const Identity as_name = MakeIdentity({.names = {"DNS:127.0.0.1"}}, &authority_);
  ExpectRefused(Ask(as_name, Trusting(authority_), "127.0.0.1"), "not for \"127.0.0.1\"");
  const Identity only_common = MakeIdentity({.common_name = "localhost"}, &authority_);
  ExpectRefused(Ask(only_common, Trusting(authority_), "localhost"),
                "names no server at all (no subject alternative name)");
}

TEST_P(TlsVerifyTest, WildcardStandsForOneLabel) {
  const Identity wildcard = MakeIdentity({.names = {"DNS:*.svc.example"}}, &authority_);
  ExpectAccepted(Ask(wildcard, Trusting(authority_), "a.svc.example"));
  ExpectRefused(Ask(wildcard, Trusting(authority_), "a.b.svc.example"),
                "not for \"a.b.svc.example\"");
}

TEST_P(TlsVerifyTest, AddressOfVersionSixIsChecked) {
  const Identity six = MakeIdentity({.names = {"IP:fd00::1"}}, &authority_);
  ExpectAccepted(Ask(six, Trusting(authority_), "fd00::1"));
  ExpectAccepted(Ask(six, Trusting(authority_), "fd00:0:0::1"));
  ExpectRefused(Ask(six, Trusting(authority_), "fd00::2"), "is for \"fd00::1\", not for");
}

TEST_P(TlsVerifyTest, UnknownAuthorityIsNamed) {
  const Identity other = MakeAuthority("Somebody Else");
  const Identity stranger = MakeServer(other);
  ExpectRefused(Ask(stranger, Trusting(authority_), "localhost"),
                "signed by an unknown authority: issuer \"CN=Somebody Else\"");
  TlsClientOptions system;  // the store of this machine does not know it either
  ExpectRefused(Ask(stranger, system, "localhost"), "signed by an unknown authority");
}

TEST_P(TlsVerifyTest, SelfSignedCertificateIsRefusedUnlessItIsTrustedItself) {
  const Identity own = MakeIdentity({.common_name = "me", .names = {"DNS:localhost"}});
  ExpectRefused(Ask(own, Trusting(authority_), "localhost"),
                "the server's certificate is self-signed: \"CN=me\"");
  ExpectAccepted(Ask(own, Trusting(own), "localhost"));
}

TEST_P(TlsVerifyTest, WithoutVerificationAnyCertificateWillDo) {
  TlsClientOptions options;
  options.verification = TlsVerification::kNone;
  const Identity own = MakeIdentity({.not_before = WallTime(Seconds(1'600'000'000)),
                                     .not_after = WallTime(Seconds(1'704'067'200))});
  ExpectAccepted(Ask(own, options, "whatever.example"));
  ExpectAccepted(Ask(own, options, "", {"-tls1_2"}));
}

TEST_P(TlsVerifyTest, ClientCertificateThatIsDemandedIsShown) {
  const Identity client = MakeIdentity({.common_name = "node"}, &authority_);
  for (const TlsVersion version : {TlsVersion::k12, TlsVersion::k13}) {
    TlsClientOptions options = Trusting(authority_);
    options.certificate = client.pem;
    options.key = client.key_pem;
    auto made = TlsClient::Make(options);
    ASSERT_TRUE(made);
    const auto context = MakeServerContext(
        server_, {.version = version, .client_authority = authority_.pem, .protocols = {}});
    auto connection = Connected(*made, context.get());
    ASSERT_NE(connection->client, nullptr);
    connection->server->Write("welcome");
    EXPECT_TRUE(RunUntil([&] { return connection->user.received == "welcome"; }));
  }
}

TEST_P(TlsVerifyTest, ServerThatRefusesOurCertificateSaysWhy) {
  const Identity other = MakeAuthority("Somebody Else");
  const Identity stranger = MakeIdentity({.common_name = "node"}, &other);
  const Identity expired = MakeIdentity({.common_name = "node",
                                         .not_before = WallTime(Seconds(1'600'000'000)),
                                         .not_after = WallTime(Seconds(1'704'067'200))},
                                        &authority_);
  struct Case {
    const Identity* shown;
    TlsVersion version;
    std::string words;
  };
  const Case cases[] = {
      {nullptr, TlsVersion::k13, "the server refused our certificate: certificate required"},
      {&stranger, TlsVersion::k13, "the server refused our certificate: unknown CA"},
      {&stranger, TlsVersion::k12, "the server refused our certificate: unknown CA"},
      {&expired, TlsVersion::k13, "the server refused our certificate: certificate expired"},
      {&expired, TlsVersion::k12, "the server refused our certificate: certificate expired"},
      // TLS 1.2 has no word of its own for it.
      {nullptr, TlsVersion::k12, "the server refused our terms: handshake failure"},
  };
  for (const Case& c : cases) {
    TlsClientOptions options = Trusting(authority_);
    if (c.shown != nullptr) {
      options.certificate = c.shown->pem;
      options.key = c.shown->key_pem;
    }
    auto client = TlsClient::Make(options);
    ASSERT_TRUE(client);
    const auto context = MakeServerContext(
        server_, {.version = c.version, .client_authority = authority_.pem, .protocols = {}});
    auto [ours, theirs] = ConnectedPair();
    const TlsServer server(std::move(theirs), context.get());
    Answer answer = Handshake(std::move(ours), *client, "localhost");
    ASSERT_TRUE(answer);
    TlsRecorder user;
    std::unique_ptr<TlsStream> stream;
    // With TLS 1.3 our part of the handshake is over before the server looks.
    if (*answer) {
      stream = **std::move(answer);
      stream->Use(user);
      ASSERT_TRUE(RunUntil([&] { return user.broken.has_value(); }));
    } else {
      user.broken = answer->error();
    }
    EXPECT_THAT(user.broken->message(), HasSubstr(c.words));
    if (c.words.find("certificate:") != c.words.npos) {
      EXPECT_EQ(user.broken->code(), ErrorCode::kPermission);
    }
  }
}

TEST_P(TlsVerifyTest, DnsNameIsSentToTheServerAndAnAddressIsNot) {
  auto client = TlsClient::Make(Trusting(authority_));
  ASSERT_TRUE(client);
  const auto context = MakeServerContext(server_);
  for (const auto& [name, seen] : {std::pair<std::string, std::string>{"localhost", "localhost"},
                                   {"localhost.", "localhost"},
                                   {"127.0.0.1", ""}}) {
    auto [ours, theirs] = ConnectedPair();
    const TlsServer server(std::move(theirs), context.get());
    ExpectAccepted(Handshake(std::move(ours), *client, name));
    EXPECT_EQ(server.server_name(), seen);
  }
}

TEST_P(TlsVerifyTest, NamesThatNoServerHasAreRefusedBeforeAnythingIsSent) {
  auto client = TlsClient::Make(Trusting(authority_));
  ASSERT_TRUE(client);
  for (const std::string& name :
       {std::string(""), std::string(".example"), std::string("a b"), std::string("a\0b", 3),
        std::string("[::1]"), std::string(300, 'a'), std::string("*.example")}) {
    auto [ours, theirs] = ConnectedPair();
    TlsRecorder server;
    theirs->Use(server);
    const Answer answer = Handshake(std::move(ours), *client, name);
    ASSERT_TRUE(answer);
    ASSERT_FALSE(*answer) << name;
    EXPECT_EQ(answer->error().code(), ErrorCode::kInvalid);
    EXPECT_TRUE(RunUntil([&] { return server.over(); }));
    EXPECT_EQ(server.received, "");
  }
}

TEST_P(TlsVerifyTest, ServerHearsWhyItWasRefused) {
  const Identity other = MakeAuthority("Somebody Else");
  auto client = TlsClient::Make(Trusting(other));
  ASSERT_TRUE(client);
  const auto context = MakeServerContext(server_);
  auto [ours, theirs] = ConnectedPair();
  const TlsServer server(std::move(theirs), context.get());
  ExpectRefused(Handshake(std::move(ours), *client, "localhost"), "unknown authority");
  EXPECT_TRUE(RunUntil([&] { return server.broken(); }));
  EXPECT_THAT(server.failure(), HasSubstr("unknown ca"));
}

TEST_P(TlsVerifyTest, VersionsBelowTheMinimumAreRefused) {
  TlsClientOptions options = Trusting(authority_);
  ExpectAccepted(Ask(server_, options, "localhost", {"-tls1_2"}));
  options.version_min = TlsVersion::k13;
  ExpectAccepted(Ask(server_, options, "localhost", {"-tls1_3"}));
  const Answer answer = Ask(server_, options, "localhost", {"-tls1_2"});
  ASSERT_TRUE(answer);
  ASSERT_FALSE(*answer);
  EXPECT_EQ(answer->error().code(), ErrorCode::kUnsupported) << answer->error().message();
  EXPECT_THAT(answer->error().message(), HasSubstr("protocol version"));
}

TEST_P(TlsVerifyTest, ServerOfOldVersionsOnlyIsRefused) {
  const Answer answer = Ask(server_, Trusting(authority_), "localhost",
                            {"-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0"});
  ASSERT_TRUE(answer);
  ASSERT_FALSE(*answer);
  EXPECT_EQ(answer->error().code(), ErrorCode::kUnsupported) << answer->error().message();
}

}  // namespace
}  // namespace denselet::net
