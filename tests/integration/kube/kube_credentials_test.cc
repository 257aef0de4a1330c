// Credentials that are renewed under us: files and plugins.
#include "tests/integration/kube/kube_credentials_fixture.h"

#include "reactor/net/connect.h"
#include "reactor/net/listener.h"
#include "reactor/net/tls/tls_connect.h"
#include "tests/tls/certificates.h"
#include "tests/tls/tls_server.h"

namespace denselet::kube {
namespace {

INSTANTIATE_TEST_SUITE_P(Loops, KubeCredentialsTest,
                         testing::ValuesIn(reactor::AvailableBackends()), reactor::NameOfBackend);

TEST_P(KubeCredentialsTest, ATokenFileIsReadAgainWhenItChanges) {
  Replace("token", "one\n");
  access_.token.path = Path("token");
  Make();
  EXPECT_EQ(Authorization(), "(none)");
  ASSERT_TRUE(WhenReady());
  EXPECT_EQ(Authorization(), "Bearer one");
  Replace("token", "two\n");
  EXPECT_TRUE(RunUntilAuthorizationIs("Bearer two"));
  EXPECT_EQ(renewed_, 0) << "connections do not depend on it";
}

TEST_P(KubeCredentialsTest, ATokenFileIsReadAgainByTimeAlone) {
  // Behind a mount that tells of nothing: a link that leads to where no watch looks is not needed,
  // a write without a close is enough.
  Replace("token", "one");
  access_.token.path = Path("token");
  Make();
  ASSERT_TRUE(WhenReady());
  std::fstream open(Path("token"));
  open << "two" << std::flush;
  clock_.Advance(Minutes(2));
  EXPECT_TRUE(RunUntilAuthorizationIs("Bearer two"));
}

TEST_P(KubeCredentialsTest, AFileThatIsBrokenOrEmptyLeavesTheOldInUse) {
  Replace("token", "one");
  access_.token.path = Path("token");
  Make();
  ASSERT_TRUE(WhenReady());
  for (const char* broken : {"", "\n", "a\nb"}) {
    SCOPED_TRACE(broken);
    Replace("token", broken);
    EXPECT_TRUE(RunUntil([&] { return credentials_->trouble().has_value(); }));
    EXPECT_EQ(Authorization(), "Bearer one");
    EXPECT_TRUE(WhenReady()) << "what is in use will do";
    Replace("token", "one");
    EXPECT_TRUE(RunUntil([&] { return !credentials_->trouble().has_value(); }));
  }
  std::filesystem::remove(Path("token"));
  EXPECT_TRUE(RunUntil([&] { return credentials_->trouble().has_value(); }));
  EXPECT_EQ(Authorization(), "Bearer one");
}

TEST_P(KubeCredentialsTest, WhatIsMissingIsAnErrorUntilItIsThere) {
  access_.token.path = Path("token");
  Make();
  const Status missing = WhenReady();
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message().find(Path("token")), std::string::npos)
      << missing.error().message();
  Replace("token", "one");
  EXPECT_TRUE(RunUntilAuthorizationIs("Bearer one"));
  EXPECT_TRUE(WhenReady());
}

TEST_P(KubeCredentialsTest, WhatCannotBeReadIsToldOnceWithTheKubeconfigAndItsEndToo) {
  access_.token.path = Path("token");
  access_.kubeconfig_path = "/etc/node.conf";
  Make();
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(WhenReady());
    clock_.Advance(Seconds(2));
  }
  std::string lines = sink_.Take();
  EXPECT_EQ(std::ranges::count(lines, '\n'), 1) << lines;
  EXPECT_NE(lines.find("kubeconfig=\"/etc/node.conf\""), std::string::npos) << lines;
  Replace("token", "one");
  EXPECT_TRUE(RunUntilAuthorizationIs("Bearer one"));
  lines = sink_.Take();
  EXPECT_NE(lines.find("could be read again"), std::string::npos) << lines;
}

TEST_P(KubeCredentialsTest, CertificatesThatAreReplacedRenewConnections) {
  const net::Identity first = net::MakeAuthority("first"), second = net::MakeAuthority("second");
  const net::Identity server = net::MakeServer(first);
  const net::Identity old_client = net::MakeIdentity({.common_name = "old"}, &first);
  const net::Identity new_client = net::MakeIdentity({.common_name = "new"}, &second);
  Replace("ca", first.pem);
  Replace("certificate", old_client.pem);
  Replace("key", old_client.key_pem);
  access_.server = "https://127.0.0.1:1";
  access_.authorities.path = Path("ca");
  access_.certificate.path = Path("certificate");
  access_.key.path = Path("key");
  Make();
  EXPECT_EQ(credentials_->tls(), nullptr);
  ASSERT_TRUE(WhenReady());
  ASSERT_NE(credentials_->tls(), nullptr);

  // A server that knows clients of the second authority only.
  const auto context =
      net::MakeServerContext(server, {.client_authority = second.pem, .protocols = {"h2"}});
  const auto is_let_in = [&] {
    std::unique_ptr<net::TlsServer> other;
    auto listener = *net::Listener::Open(
        loop(), *net::Address::Ip("127.0.0.1", 0), [&](std::unique_ptr<net::Socket> socket) {
          other = std::make_unique<net::TlsServer>(std::move(socket), context.get());
        });
    std::unique_ptr<net::Stream> ours;
    bool failed = false;
    net::Connect(loop(), {}, listener->address(), [&](Result<std::unique_ptr<net::Socket>> socket) {
      ASSERT_TRUE(socket);
      net::TlsConnect(loop(), {}, *std::move(socket), *credentials_->tls(), "localhost",
                      [&](Result<std::unique_ptr<net::TlsStream>> tls) {
                        failed = !tls;
                        if (tls) ours = *std::move(tls);
                      });
    });
    EXPECT_TRUE(RunUntil([&] {
      return other != nullptr &&
             (other->established() || other->broken() || !other->failure().empty()) &&
             (failed || ours != nullptr);
    }));
    return other->established();
  };
  EXPECT_FALSE(is_let_in());

  // Two files do not change at once; in between they do not fit and the old ones stay.
  Replace("certificate", new_client.pem);
  EXPECT_TRUE(RunUntil([&] { return credentials_->trouble().has_value(); }));
  EXPECT_EQ(renewed_, 0);
  Replace("key", new_client.key_pem);
  EXPECT_TRUE(RunUntil([&] { return renewed_ == 1; }));
  EXPECT_FALSE(credentials_->trouble().has_value());
  EXPECT_TRUE(is_let_in());
  Replace("ca", "not PEM");
  EXPECT_TRUE(RunUntil([&] { return credentials_->trouble().has_value(); }));
  EXPECT_TRUE(is_let_in()) << "the old authorities stay";
  EXPECT_EQ(renewed_, 1);
}

TEST_P(KubeCredentialsTest, APluginSaysWhoWeAre) {
  WritePlugin("echo \"$PLUGIN_SETTING $KUBERNETES_EXEC_INFO\" >" + Path("info") + "\n" +
              TokenAnswer("secret"));
  Make();
  ASSERT_TRUE(WhenReady());
  EXPECT_EQ(Authorization(), "Bearer secret");
  EXPECT_EQ(Runs(), 1);
  const std::string info = reactor::Content(Path("info"));
  EXPECT_TRUE(info.starts_with("set {")) << info;
  EXPECT_NE(info.find("http://127.0.0.1:1"), std::string::npos) << info;
}

TEST_P(KubeCredentialsTest, APluginThatFailsIsHeardAndAskedAgainLater) {
  WritePlugin("test -e " + Path("good") + " || { echo 'no login' >&2; exit 3; }\n" +
              TokenAnswer("secret"));
  Make();
  const Status failed = WhenReady();
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message().find("exit code 3: no login; install it"), std::string::npos)
      << failed.error().message();
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(WhenReady());
  EXPECT_LE(Runs(), 2) << "not once for everybody who asks";
  Replace("good", "");
  clock_.Advance(Seconds(2));
  EXPECT_TRUE(RunUntil([&] { return bool(WhenReady()); }));
  EXPECT_EQ(Authorization(), "Bearer secret");
}

TEST_P(KubeCredentialsTest, APluginThatTakesTooLongIsKilled) {
  WritePlugin("echo $$ >" + Path("pid") + "\nexec cat /dev/zero >/dev/null\n");
  Make();
  ASSERT_TRUE(RunUntil([&] { return !reactor::Content(Path("pid")).empty(); }));
  clock_.Advance(Minutes(2));
  const Status late = WhenReady();
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().message().find("credential plugin"), std::string::npos)
      << late.error().message();
  EXPECT_FALSE(reactor::IsAlive(std::stoi(reactor::Content(Path("pid")))));
}

TEST_P(KubeCredentialsTest, ACredentialThatExpiresIsReplacedBeforeItDoes) {
  const std::string expires = FormatRfc3339(clock_.WallNow() + Hours(1), 0);
  WritePlugin("if test $(wc -l <" + Path("runs") + ") = 1; then\n" + TokenAnswer("first", expires) +
              "else\n" + TokenAnswer("second") + "fi\n");
  Make();
  ASSERT_TRUE(WhenReady());
  EXPECT_EQ(Authorization(), "Bearer first");
  clock_.Advance(Hours(1) - Seconds(20));
  loop_->RunTurn(clock_.Now());
  EXPECT_EQ(Authorization(), "(none)");
  ASSERT_TRUE(WhenReady());
  EXPECT_EQ(Authorization(), "Bearer second");
  EXPECT_EQ(Runs(), 2);
}

TEST_P(KubeCredentialsTest, ACredentialThatHasExpiredAlreadyIsNotAskedForInATightLoop) {
  WritePlugin(TokenAnswer("stale", FormatRfc3339(clock_.WallNow() - Hours(1), 0)));
  Make();
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(WhenReady());
  EXPECT_EQ(Authorization(), "Bearer stale") << "the server decides";
  EXPECT_LE(Runs(), 3);
}

TEST_P(KubeCredentialsTest, ManyRefusalsAskThePluginOnce) {
  WritePlugin(TokenAnswer("token-$(wc -l <" + Path("runs") + " | tr -d ' ')"));
  Make();
  ASSERT_TRUE(WhenReady());
  EXPECT_EQ(Authorization(), "Bearer token-1");
  clock_.Advance(Seconds(5));
  loop_->RunTurn(clock_.Now());
  // Requests that were under way with the old one, refused before and after the new one is there.
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(credentials_->Refused());
  ASSERT_TRUE(WhenReady());
  EXPECT_EQ(Authorization(), "Bearer token-2");
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(credentials_->Refused());
  EXPECT_EQ(Authorization(), "Bearer token-2");
  EXPECT_EQ(Runs(), 2);
}

TEST_P(KubeCredentialsTest, APluginWhoseTokensStayRefusedIsAskedLessAndLess) {
  WritePlugin(TokenAnswer("wrong"));
  Make();
  ASSERT_TRUE(WhenReady());
  const auto refuse_for = [&](int seconds) {
    for (int i = 0; i < seconds; ++i) {
      clock_.Advance(Seconds(1));
      loop_->RunTurn(clock_.Now());
      credentials_->Refused();
      ASSERT_TRUE(WhenReady());
    }
  };
  refuse_for(120);
  EXPECT_GE(Runs(), 5);
  EXPECT_LE(Runs(), 9);
  const int before = Runs();
  refuse_for(120);
  EXPECT_GE(Runs(), before + 1) << "but it is asked";
  EXPECT_LE(Runs(), before + 3);
  // One that was taken for a long time and is refused then is another matter.
  const int then = Runs();
  clock_.Advance(Minutes(10));
  refuse_for(3);
  EXPECT_GE(Runs(), then + 1);
}

TEST_P(KubeCredentialsTest, APluginIsToldOfTheAuthoritiesInAFile) {
  Replace("ca", "CA");
  access_.authorities.path = Path("ca");
  WritePlugin("echo \"$KUBERNETES_EXEC_INFO\" >" + Path("info") + "\n" + TokenAnswer("secret"));
  Make();
  ASSERT_TRUE(WhenReady());
  EXPECT_NE(reactor::Content(Path("info")).find(R"("certificate-authority-data":"Q0E=")"),
            std::string::npos)
      << reactor::Content(Path("info"));
  // Without them it is not run.
  std::filesystem::remove(Path("ca"));
  Make();
  EXPECT_FALSE(WhenReady());
  EXPECT_EQ(Runs(), 1);
}

TEST_P(KubeCredentialsTest, ACertificateThatHasExpiredIsNamed) {
  const net::Identity authority = net::MakeAuthority("first");
  const net::Identity client = net::MakeIdentity(
      {.common_name = "old", .not_after = clock_.WallNow() - Hours(1)}, &authority);
  Replace("client", client.pem + client.key_pem);
  access_.server = "https://127.0.0.1:1";
  access_.authorities.data = authority.pem;
  access_.certificate.path = access_.key.path = Path("client");
  Make();
  ASSERT_TRUE(WhenReady());
  const std::string said = "the client certificate of \"" + Path("client") + "\" expired at " +
                           FormatRfc3339(clock_.WallNow() - Hours(1), 0).substr(0, 13);
  EXPECT_EQ(credentials_->Fault().substr(0, said.size()), said) << credentials_->Fault();
  const std::string lines = sink_.Take();
  EXPECT_NE(lines.find("has expired"), std::string::npos) << lines;
  const net::Identity renewed = net::MakeIdentity({.common_name = "new"}, &authority);
  Replace("client", renewed.pem + renewed.key_pem);
  EXPECT_TRUE(RunUntil([&] { return renewed_ == 1; }));
  EXPECT_EQ(credentials_->Fault(), "");
}

TEST_P(KubeCredentialsTest, WhatSomebodyWillAskForIsNotReadBeforeAndToldByNobodyElse) {
  access_.token.path = Path("token");
  options_.beginning = KubeCredentialsOptions::Beginning::kWhenAsked;
  Make();
  for (int i = 0; i < 10; ++i) loop_->RunTurn(clock_.Now());
  EXPECT_FALSE(credentials_->trouble().has_value()) << "nobody has asked";
  EXPECT_FALSE(WhenReady());
  EXPECT_EQ(sink_.Take(), "") << "who asked tells";
  Replace("token", "one");
  EXPECT_TRUE(RunUntilAuthorizationIs("Bearer one"));
  std::filesystem::remove(Path("token"));
  EXPECT_TRUE(RunUntil([&] { return credentials_->trouble().has_value(); }));
  EXPECT_NE(sink_.Take().find("Could not read"), std::string::npos) << "from now on nobody asks";
}

TEST_P(KubeCredentialsTest, ItMayEndAtAnyPoint) {
  Replace("token", "one");
  access_.token.path = Path("token");
  WritePlugin("exec cat /dev/zero >/dev/null\n");
  Make();
  int answers = 0;
  credentials_->WhenReady({}, [&](Status) { ++answers; });
  loop_->RunTurn(clock_.Now());
  credentials_.reset();
  clock_.Advance(Minutes(2));
  EXPECT_TRUE(RunUntil([&] { return !reactor::HasChildren(); }));
  EXPECT_EQ(answers, 0);
}

}  // namespace
}  // namespace denselet::kube
