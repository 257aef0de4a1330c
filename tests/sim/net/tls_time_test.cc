// TLS on virtual time: certificates are judged by the loop's clock, and silence ends when it says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "reactor/net/tls/tls_connect.h"
#include "tests/sim/world.h"
#include "tests/tls/memory_stream.h"
#include "tests/tls/tls_server.h"

namespace denselet::net {
namespace {

using testing::HasSubstr;

class SimTlsTest : public testing::Test {
 protected:
  using Answer = std::optional<Result<std::unique_ptr<TlsStream>>>;

  SimTlsTest() : world_({.seed = 1, .shards = 1}) {
    const WallTime now = world_.clock().WallNow();
    authority_ = MakeAuthority("authority");
    identity_ = MakeIdentity(
        {.names = {"DNS:localhost"}, .not_before = now - Hours(1), .not_after = now + Hours(1)},
        &authority_);
    context_ = MakeServerContext(identity_, {.version = TlsVersion::k12});
    TlsClientOptions options;
    options.authorities = authority_.pem;
    client_ = *TlsClient::Make(options);
  }

  Answer Shake() {
    auto pair = MemoryStream::MakePair(world_.loop(0), 1000);
    const TlsServer server(std::move(pair.second), context_.get());
    Answer answer;
    // The loop's time is that of its last turn: it slept since.
    world_.loop(0).Turn();
    world_.loop(0).Post([&, ours = std::move(pair.first)]() mutable {
      TlsConnect(world_.loop(0), {}, std::move(ours), *client_, "localhost",
                 [&](Result<std::unique_ptr<TlsStream>> result) { answer = std::move(result); });
    });
    world_.RunUntil(After(world_.clock().Now(), Seconds(20)));
    return answer;
  }

  sim::World world_;
  Identity authority_, identity_;
  SslContextPtr context_;
  std::optional<TlsClient> client_;
};

TEST_F(SimTlsTest, CertificateExpiresWhenTheLoopsClockSaysSo) {
  Answer answer = Shake();
  ASSERT_TRUE(answer);
  EXPECT_TRUE(*answer) << answer->error().message();
  answer = Shake();
  ASSERT_TRUE(answer);
  ASSERT_TRUE(*answer) << answer->error().message();
  EXPECT_TRUE((**answer)->session_reused());

  // Also for who has a session: it must not outlive the certificate.
  world_.clock().JumpWall(Hours(2));
  answer = Shake();
  ASSERT_TRUE(answer);
  ASSERT_FALSE(*answer);
  EXPECT_THAT(answer->error().message(), HasSubstr("the server's certificate expired on"));

  world_.clock().JumpWall(-Hours(4));
  answer = Shake();
  ASSERT_TRUE(answer);
  ASSERT_FALSE(*answer);
  EXPECT_THAT(answer->error().message(), HasSubstr("is not valid before"));
}

TEST_F(SimTlsTest, SilentServerIsGivenUpAfterTheTimeOfAHandshake) {
  auto [ours, theirs] = MemoryStream::MakePair(world_.loop(0), 1000);
  std::optional<TimePoint> answered;
  const TimePoint began = world_.clock().Now();
  TlsConnect(world_.loop(0), {}, std::move(ours), *client_, "localhost",
             [&](Result<std::unique_ptr<TlsStream>> result) {
               ASSERT_FALSE(result);
               EXPECT_EQ(result.error().code(), ErrorCode::kDeadlineExceeded);
               answered = world_.clock().Now();
             });
  world_.RunUntil(After(began, Hours(1)));
  ASSERT_TRUE(answered);
  EXPECT_GE(*answered - began, Seconds(10));
  EXPECT_LE(*answered - began, Seconds(10) + Milliseconds(10));
}

}  // namespace
}  // namespace denselet::net
