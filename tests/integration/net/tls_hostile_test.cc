// Peers that are silent, wrong or malicious, at each point of a connection: they lose it, with a
// reason that names the cause; and callers that leave at each point.
#include <gmock/gmock.h>

#include "tests/integration/net/tls_fixture.h"

namespace denselet::net {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

class TlsHostileTest : public TlsTest {
 protected:
  TlsHostileTest() : client_(*TlsClient::Make(Trusting(authority_))) {}

  // Starts without waiting for the answer.
  void Begin(std::unique_ptr<Stream> below, const Context& context = {}) {
    answer_.reset();
    answers_ = 0;
    TlsConnect(loop(), context, std::move(below), client_, "localhost",
               [this](Result<std::unique_ptr<TlsStream>> result) {
                 ++answers_;
                 answer_ = std::move(result);
               });
  }
  Error Failure() {
    EXPECT_TRUE(RunUntil([&] { return answer_.has_value(); }));
    EXPECT_EQ(answers_, 1);
    if (!answer_ || *answer_) return Error(ErrorCode::kBug, "it was accepted");
    return answer_->error();
  }

  TlsClient client_;
  Answer answer_;
  int answers_ = 0;
};
INSTANTIATE_LOOP_TEST(TlsHostileTest);

std::string Record(char type, size_t length, const std::string& body) {
  return std::string({type, 3, 3, static_cast<char>(length >> 8), static_cast<char>(length)}) +
         body;
}

TEST_P(TlsHostileTest, PeersThatDoNotSpeakTlsAreNamed) {
  struct Case {
    std::string bytes;
    std::string words;
  };
  const Case cases[] = {
      {"HTTP/1.1 400 Bad Request\r\n\r\n", "the server speaks plain HTTP, not TLS"},
      {"SSH-2.0-OpenSSH_9.2p1\r\n", "the server does not speak TLS: it began with \"SSH-2\""},
      {std::string(100, '\0'), "does not speak TLS"},
      {std::string(100, '\xff'), "does not speak TLS"},
      {Record(22, 0xffff, std::string(70'000, 'x')), "the server broke the TLS protocol"},
      {Record(22, 20'000, std::string(20'000, 'x')), "the server broke the TLS protocol"},
      {Record(22, 4, std::string("\x02\xff\xff\xff", 4)), "the server broke the TLS protocol"},
      {Record(22, 4, std::string("\x02\0\0\0", 4)), "the server broke the TLS protocol"},
      {Record(23, 5, "hello"), "the server broke the TLS protocol"},
      {Record(21, 2, std::string("\x02\x28", 2)), "the server refused our terms: handshake fail"},
      {Record(21, 2, std::string("\x02\x46", 2)), "the server refused our terms: protocol vers"},
      {Record(21, 2, std::string("\x02\x50", 2)), "the server gave up: internal error"},
      {Record(21, 2, std::string("\x02\x99", 2)), "alert"},
      {Record(21, 2, std::string("\x07\x99", 2)), "the server broke the TLS protocol"},
      {Record(20, 1, std::string("\x01", 1)) + Record(20, 1, std::string("\x02", 1)),
       "the server broke the TLS protocol"},
      {Record(22, 0, "") + Record(22, 0, "") + std::string(400, '\x16'), "server"},
  };
  for (const Case& c : cases) {
    auto [ours, theirs] = ConnectedPair();
    TlsRecorder server;
    theirs->Use(server);
    theirs->Send(c.bytes);
    theirs->SendEnd();
    Begin(std::move(ours));
    const Error error = Failure();
    EXPECT_THAT(error.message(), HasSubstr(c.words));
    EXPECT_THAT(error.message(), HasSubstr("TLS with \"localhost\""));
    EXPECT_THAT(error.code(),
                AnyOf(ErrorCode::kCorrupt, ErrorCode::kUnsupported, ErrorCode::kUnavailable));
    EXPECT_TRUE(RunUntil([&] { return server.over(); })) << "the connection was not given up";
  }
}

// The n-th byte of what the server says in the handshake is damaged, or the connection ends there.
TEST_P(TlsHostileTest, HandshakeDamagedOrCutAtAnyByteFails) {
  for (const TlsVersion version : {TlsVersion::k12, TlsVersion::k13}) {
    const auto context = MakeServerContext(server_, {.version = version});
    for (const bool cut : {false, true}) {
      size_t length = 1000;  // known after the first round
      for (size_t at = 0; at < length; at += 1 + at / 15) {
        client_ = *TlsClient::Make(Trusting(authority_));
        auto [ours, theirs] = MemoryStream::MakePair(loop(), 16384);
        TlsServer server(std::move(theirs), context.get());
        size_t sent = 0;
        server.tamper = [&](std::string bytes) {
          const size_t begin = std::exchange(sent, sent + bytes.size());
          if (at < begin || at >= sent) return at < begin && cut ? std::string() : bytes;
          if (cut) return bytes.substr(0, at - begin);
          bytes[at - begin] = static_cast<char>(bytes[at - begin] ^ 0x5a);
          return bytes;
        };
        Begin(std::move(ours));
        Settle(5);
        if (!answer_) server.EndRaw();
        ASSERT_TRUE(RunUntil([&] { return answer_.has_value(); }));
        length = std::max<size_t>(sent, 600);
        if (*answer_) {
          if (at == 2) continue;  // the first record's minor version, which means nothing
          // Behind the server's Finished are tickets. Those are damaged for the stream.
          EXPECT_GT(at, 600u) << "accepted what was damaged at " << at;
          break;
        }
        EXPECT_FALSE(answer_->error().message().empty());
        EXPECT_EQ(answers_, 1);
      }
    }
  }
}

TEST_P(TlsHostileTest, GarbageOnAConnectionThatIsUpBreaksIt) {
  struct Case {
    std::string bytes;
    std::string words;
  };
  const Case cases[] = {
      {"HTTP/1.1 400 Bad Request\r\n\r\n", "the server broke the TLS protocol"},
      {Record(23, 100, std::string(100, 'x')), "the server broke the TLS protocol"},
      {Record(23, 0xffff, std::string(100, 'x')), "the server broke the TLS protocol"},
      {Record(22, 50, std::string(50, 'x')), "the server broke the TLS protocol"},
      {Record(23, 0, ""), "the server broke the TLS protocol"},
      {Record(99, 30, std::string(30, 'x')), "the server broke the TLS protocol"},
  };
  for (const TlsVersion version : {TlsVersion::k12, TlsVersion::k13}) {
    const auto context = MakeServerContext(server_, {.version = version});
    for (const Case& c : cases) {
      auto connection = Connected(client_, context.get());
      ASSERT_NE(connection->client, nullptr);
      connection->server->Write("good");
      connection->server->WriteRaw(c.bytes);
      ASSERT_TRUE(RunUntil([&] { return connection->user.over(); }));
      ASSERT_TRUE(connection->user.broken);
      EXPECT_EQ(connection->user.received, "good");
      EXPECT_EQ(connection->user.broken->code(), ErrorCode::kCorrupt);
      EXPECT_THAT(connection->user.broken->message(), HasSubstr(c.words));
      EXPECT_TRUE(RunUntil([&] { return connection->server->broken(); }));
    }
  }
}

TEST_P(TlsHostileTest, ReplayedRecordBreaksTheConnection) {
  for (const TlsVersion version : {TlsVersion::k12, TlsVersion::k13}) {
    const auto context = MakeServerContext(server_, {.version = version});
    auto connection = Connected(client_, context.get());
    ASSERT_NE(connection->client, nullptr);
    connection->server->tamper = [](std::string bytes) { return bytes + bytes; };
    connection->server->Write("once");
    ASSERT_TRUE(RunUntil([&] { return connection->user.over(); }));
    EXPECT_EQ(connection->user.received, "once");
    EXPECT_TRUE(connection->user.broken);
  }
}

// Every answer is a few bytes of ours: a server that asks without end and reads nothing must not
// fill our memory with them.
TEST_P(TlsHostileTest, ServerThatAsksForNewKeysAndDoesNotReadThemIsLeft) {
  const auto context = MakeServerContext(server_);
  auto connection = ConnectedInMemory(client_, context.get(), 16384);
  ASSERT_NE(connection->client, nullptr);
  connection->server->below().Hold();
  int asked = 0;
  for (; asked < 200 && !connection->user.over(); ++asked) {
    connection->server->UpdateKeys();
    connection->server->Write("x");
    Settle(2);
  }
  ASSERT_TRUE(connection->user.broken);
  EXPECT_EQ(connection->user.broken->code(), ErrorCode::kCorrupt);
  EXPECT_THAT(connection->user.broken->message(), HasSubstr("does not read the answers"));
  EXPECT_GT(asked, 10);

  // One that reads may ask as often as it likes.
  auto honest = ConnectedInMemory(client_, context.get(), 16384);
  ASSERT_NE(honest->client, nullptr);
  for (int i = 0; i < 200; ++i) {
    honest->server->UpdateKeys();
    honest->server->Write("x");
    Settle(2);
  }
  EXPECT_FALSE(honest->user.over());
  EXPECT_EQ(honest->user.received.size(), 200u);
}

TEST_P(TlsHostileTest, DataAfterTheEndIsNotHeard) {
  const auto context = MakeServerContext(server_);
  auto connection = Connected(client_, context.get());
  ASSERT_NE(connection->client, nullptr);
  connection->server->WriteEnd();
  ASSERT_TRUE(RunUntil([&] { return connection->user.over(); }));
  connection->server->WriteRaw(std::string(100'000, 'x'));
  connection->server->EndRaw();
  Settle();
  EXPECT_EQ(connection->user.ends, 1);
  EXPECT_EQ(connection->user.received, "");
  EXPECT_FALSE(connection->user.broken);
}

TEST_P(TlsHostileTest, SilentServerCostsNoMoreThanTheDeadline) {
  auto [ours, theirs] = ConnectedPair();
  TlsRecorder server;
  theirs->Use(server);
  const Context context = Context{}.WithTimeout(loop().Now(), Milliseconds(30));
  Begin(std::move(ours), context);
  const Error error = Failure();
  EXPECT_EQ(error.code(), ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(error.message(), HasSubstr("the handshake did not end before the deadline"));
  EXPECT_TRUE(RunUntil([&] { return server.over(); }));
}

TEST_P(TlsHostileTest, ClientHasALimitOfItsOwn) {
  TlsClientOptions options = Trusting(authority_);
  options.handshake_time_max = Milliseconds(30);
  client_ = *TlsClient::Make(options);
  auto [ours, theirs] = ConnectedPair();
  Begin(std::move(ours));
  EXPECT_EQ(Failure().code(), ErrorCode::kDeadlineExceeded);
}

TEST_P(TlsHostileTest, DeadlineThatHasPassedSendsNothing) {
  auto [ours, theirs] = ConnectedPair();
  TlsRecorder server;
  theirs->Use(server);
  Context context;
  context.deadline = loop().Now();
  Begin(std::move(ours), context);
  EXPECT_EQ(Failure().code(), ErrorCode::kDeadlineExceeded);
  EXPECT_TRUE(RunUntil([&] { return server.over(); }));
  EXPECT_EQ(server.received, "");
}

TEST_P(TlsHostileTest, ServerThatLeavesDuringTheHandshakeIsUnavailable) {
  auto [ours, theirs] = ConnectedPair();
  TlsRecorder server;
  theirs->Use(server);
  theirs->SendEnd();
  Begin(std::move(ours));
  const Error error = Failure();
  EXPECT_EQ(error.code(), ErrorCode::kUnavailable);
  EXPECT_THAT(error.message(), HasSubstr("closed the connection during the handshake"));
}

// The caller leaves after so many turns: before anything was sent, in the handshake, at its end.
TEST_P(TlsHostileTest, CancelAtEveryStageAnswersOnceAndLeavesNothing) {
  for (const TlsVersion version : {TlsVersion::k12, TlsVersion::k13}) {
    const auto context = MakeServerContext(server_, {.version = version});
    for (int turns = 0; turns < 40; ++turns) {
      auto [ours, theirs] = MemoryStream::MakePair(loop(), 200);
      TlsServer server(std::move(theirs), context.get());
      CancelSource source;
      if (turns == 0) source.Cancel();
      Context wanted;
      wanted.cancel = source.token();
      Begin(std::move(ours), wanted);
      Settle(turns);
      const bool answered = answer_.has_value();
      source.Cancel();
      EXPECT_EQ(answer_.has_value(), answered) << "called back inside Cancel";
      ASSERT_TRUE(RunUntil([&] { return answer_.has_value(); }));
      Settle(3);
      EXPECT_EQ(answers_, 1);
      if (*answer_) continue;
      EXPECT_EQ(answer_->error().code(), ErrorCode::kCancelled);
      EXPECT_TRUE(RunUntil([&] { return server.broken(); }));
    }
    EXPECT_TRUE(*answer_) << "the last round was to be over before the cancel";
  }
}

TEST_P(TlsHostileTest, StreamMayBeDestroyedInTheAnswer) {
  const auto context = MakeServerContext(server_);
  auto [ours, theirs] = ConnectedPair();
  TlsServer server(std::move(theirs), context.get());
  bool answered = false;
  TlsConnect(loop(), {}, std::move(ours), client_, "localhost",
             [&](Result<std::unique_ptr<TlsStream>> result) {
               answered = true;
               EXPECT_TRUE(result);
             });
  ASSERT_TRUE(RunUntil([&] { return answered && server.broken(); }));
}

TEST_P(TlsHostileTest, StreamMayGoWhenItIsBroken) {
  struct Owner final : StreamUser {
    void OnReceived(std::span<const std::byte>) override {}
    void OnReceiveEnd() override {}
    void OnRoom() override {}
    void OnBroken(const Error&) override { loop->DeferDelete(std::move(stream)); }
    reactor::Loop* loop = nullptr;
    std::unique_ptr<TlsStream> stream;
  } owner;
  const auto context = MakeServerContext(server_);
  auto [ours, theirs] = ConnectedPair();
  TlsServer server(std::move(theirs), context.get());
  Begin(std::move(ours));
  ASSERT_TRUE(RunUntil([&] { return answer_.has_value() && server.established(); }));
  owner.loop = &loop();
  owner.stream = **std::move(answer_);
  owner.stream->Use(owner);
  server.WriteRaw("no record at all");
  ASSERT_TRUE(RunUntil([&] { return owner.stream == nullptr && server.broken(); }));
}

}  // namespace
}  // namespace denselet::net
