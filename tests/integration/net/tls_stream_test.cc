// Bytes both ways: all of them, in order, bounded, whatever the sizes of the pieces; and ends.
#include <gmock/gmock.h>

#include <malloc.h>
#include <sys/socket.h>

#include <fstream>

#include "tests/integration/net/tls_fixture.h"

namespace denselet::net {
namespace {

using testing::HasSubstr;

class TlsStreamTest : public TlsTest {
 protected:
  TlsStreamTest() : client_(*TlsClient::Make(Trusting(authority_))) {}

  static TlsServerOptions With(TlsVersion version) {
    TlsServerOptions options;
    options.version = version;
    return options;
  }

  TlsClient client_;
};
INSTANTIATE_LOOP_TEST(TlsStreamTest);

constexpr TlsVersion kVersions[] = {TlsVersion::k12, TlsVersion::k13};

TEST_P(TlsStreamTest, LargeDataComesBackUnchanged) {
  const std::string data = TlsPattern(3'000'000);
  for (const TlsVersion version : kVersions) {
    const auto context = MakeServerContext(server_, With(version));
    auto connection = Connected(client_, context.get());
    ASSERT_NE(connection->client, nullptr);
    EXPECT_EQ(connection->client->version(), version);
    connection->server->echo = true;
    connection->client->Send(data);
    EXPECT_GE(connection->client->unsent(), data.size());
    ASSERT_TRUE(RunUntil([&] { return connection->user.received.size() >= data.size(); }));
    EXPECT_TRUE(connection->user.received == data);
    EXPECT_EQ(connection->client->unsent(), 0u);
    EXPECT_EQ(connection->user.rooms, 1);
  }
}

TEST_P(TlsStreamTest, FileOfARealServerArrivesWhole) {
  for (const char* version : {"-tls1_2", "-tls1_3"}) {
    const OpensslServer server(server_, {"-WWW", version});
    ASSERT_TRUE(server.started());
    const std::string data = TlsPattern(2'000'000);
    std::ofstream(server.folder() / "data.bin", std::ios::binary) << data;
    TlsRecorder user;
    const auto stream = Up(ConnectTo(server.address()), client_, "localhost", user);
    ASSERT_NE(stream, nullptr);
    stream->Send("GET /data.bin HTTP/1.0\r\n\r\n");
    ASSERT_TRUE(RunUntil([&] { return user.over(); }));
    EXPECT_FALSE(user.broken) << user.broken->message();
    const size_t head = user.received.find("\r\n\r\n");
    ASSERT_NE(head, user.received.npos);
    EXPECT_TRUE(user.received.substr(head + 4) == data);
  }
}

TEST_P(TlsStreamTest, RealServerAnswersAndReusesSessions) {
  for (const char* version : {"-tls1_2", "-tls1_3"}) {
    const OpensslServer server(server_, {"-rev", version});
    ASSERT_TRUE(server.started());
    client_ = *TlsClient::Make(Trusting(authority_));
    for (const bool reused : {false, true}) {
      TlsRecorder user;
      const auto stream = Up(ConnectTo(server.address()), client_, "localhost", user);
      ASSERT_NE(stream, nullptr);
      EXPECT_EQ(stream->session_reused(), reused);
      stream->Send("abc\n");
      ASSERT_TRUE(RunUntil([&] { return user.received == "cba\n"; }));
    }
  }
}

TEST_P(TlsStreamTest, UserThatHoldsMakesTheServerWait) {
  for (const TlsVersion version : kVersions) {
    const auto context = MakeServerContext(server_, With(version));
    auto connection = Connected(client_, context.get());
    ASSERT_NE(connection->client, nullptr);
    const std::string data = TlsPattern(20'000'000);  // more than two sockets hold
    connection->client->Hold();
    connection->server->Write(data);
    Settle(50);
    EXPECT_EQ(connection->user.received.size(), 0u);
    const size_t waiting = connection->server->below().unsent();
    EXPECT_GT(waiting, data.size() / 2);
    Settle(50);
    EXPECT_EQ(connection->server->below().unsent(), waiting) << "somebody reads on";
    connection->client->Resume();
    ASSERT_TRUE(RunUntil([&] { return connection->user.received.size() >= data.size(); }));
    EXPECT_TRUE(connection->user.received == data);
  }
}

TEST_P(TlsStreamTest, OneRecordAtATimeLosesNothing) {
  const auto context = MakeServerContext(server_);
  auto connection = Connected(client_, context.get());
  ASSERT_NE(connection->client, nullptr);
  TlsRecorder& user = connection->user;
  user.hold_after_each = true;
  const std::string data = TlsPattern(1'000'000);
  connection->server->Write(data);
  connection->server->WriteEnd();
  int seen = 0;
  ASSERT_TRUE(RunUntil([&] {
    EXPECT_LE(user.calls, seen + 1) << "a call while held";
    seen = user.calls;
    connection->client->Resume();
    return user.over();
  }));
  EXPECT_TRUE(user.received == data);
  EXPECT_EQ(user.ends, 1);
}

TEST_P(TlsStreamTest, RecordsSplitAtEveryByteAreOneStream) {
  for (const TlsVersion version : kVersions) {
    for (const size_t piece : {size_t{1}, size_t{2}, size_t{3}, size_t{5}, size_t{1000}}) {
      client_ = *TlsClient::Make(Trusting(authority_));
      const auto context = MakeServerContext(server_, With(version));
      auto connection = ConnectedInMemory(client_, context.get(), piece);
      ASSERT_NE(connection->client, nullptr);
      connection->server->echo = true;
      const std::string data = TlsPattern(2'000);
      connection->client->Send(data.substr(0, 1));
      connection->client->Send(data.substr(1));
      ASSERT_TRUE(RunUntil([&] { return connection->user.received.size() >= data.size(); }));
      EXPECT_EQ(connection->user.received, data);
      connection->server->WriteEnd();
      ASSERT_TRUE(RunUntil([&] { return connection->user.over(); }));
      EXPECT_EQ(connection->user.ends, 1);
    }
  }
}

TEST_P(TlsStreamTest, EitherSideMayEndFirstAndTheOtherGoesOn) {
  for (const TlsVersion version : kVersions) {
    const auto context = MakeServerContext(server_, With(version));
    auto ours = Connected(client_, context.get());
    ASSERT_NE(ours->client, nullptr);
    ours->client->Send("last words");
    ours->client->SendEnd();
    ours->client->Send("too late");
    ASSERT_TRUE(RunUntil([&] { return ours->server->ended(); }));
    EXPECT_EQ(ours->server->Received(), "last words");
    ours->server->Write("answer");
    ours->server->WriteEnd();
    ASSERT_TRUE(RunUntil([&] { return ours->user.over(); }));
    EXPECT_EQ(ours->user.received, "answer");
    EXPECT_EQ(ours->user.ends, 1);

    auto theirs = Connected(client_, context.get());
    ASSERT_NE(theirs->client, nullptr);
    theirs->server->Write("that was all");
    theirs->server->WriteEnd();
    ASSERT_TRUE(RunUntil([&] { return theirs->user.over(); }));
    EXPECT_EQ(theirs->user.ends, 1);
    theirs->client->Send("thanks");
    theirs->client->SendEnd();
    ASSERT_TRUE(RunUntil([&] { return theirs->server->ended(); }));
    EXPECT_EQ(theirs->server->Received(), "thanks");
    EXPECT_FALSE(theirs->user.broken);
  }
}

TEST_P(TlsStreamTest, EndWithoutCloseNotifyIsTruncation) {
  for (const TlsVersion version : kVersions) {
    const auto context = MakeServerContext(server_, With(version));
    auto connection = Connected(client_, context.get());
    ASSERT_NE(connection->client, nullptr);
    connection->server->Write("half of it");
    connection->server->EndRaw();
    ASSERT_TRUE(RunUntil([&] { return connection->user.over(); }));
    ASSERT_TRUE(connection->user.broken);
    EXPECT_EQ(connection->user.received, "half of it");
    EXPECT_EQ(connection->user.ends, 0);
    EXPECT_EQ(connection->user.broken->code(), ErrorCode::kCorrupt);
    EXPECT_THAT(connection->user.broken->message(), HasSubstr("truncated"));
  }
}

TEST_P(TlsStreamTest, TruncationIsToldAfterResume) {
  const auto context = MakeServerContext(server_);
  auto connection = Connected(client_, context.get());
  ASSERT_NE(connection->client, nullptr);
  connection->client->Hold();
  connection->server->Write("half of it");
  connection->server->EndRaw();
  Settle();
  EXPECT_FALSE(connection->user.over());
  connection->client->Resume();
  ASSERT_TRUE(RunUntil([&] { return connection->user.over(); }));
  EXPECT_EQ(connection->user.received, "half of it");
  EXPECT_TRUE(connection->user.broken);
}

TEST_P(TlsStreamTest, DataThatCameWithTheHandshakeWaitsForTheUser) {
  for (const TlsVersion version : kVersions) {
    const auto context = MakeServerContext(server_, With(version));
    auto [ours, theirs] = ConnectedPair();
    TlsServer server(std::move(theirs), context.get());
    Answer answer = Handshake(std::move(ours), client_, "localhost");
    ASSERT_TRUE(answer && *answer);
    ASSERT_TRUE(RunUntil([&] { return server.established(); }));
    server.Write("early");
    Settle();
    const std::unique_ptr<TlsStream> stream = **std::move(answer);
    TlsRecorder first, second;
    stream->Use(first);
    EXPECT_EQ(first.received, "") << "called inside Use";
    ASSERT_TRUE(RunUntil([&] { return first.received == "early"; }));
    stream->Use(second);
    server.Write("later");
    ASSERT_TRUE(RunUntil([&] { return second.received == "later"; }));
    EXPECT_EQ(first.received, "early");
  }
}

TEST_P(TlsStreamTest, ChangeOfKeysIsFollowedAndAnswered) {
  const auto context = MakeServerContext(server_);
  auto connection = Connected(client_, context.get());
  ASSERT_NE(connection->client, nullptr);
  for (int i = 0; i < 40; ++i) {
    connection->server->UpdateKeys();
    connection->server->Write("x");
  }
  ASSERT_TRUE(
      RunUntil([&] { return connection->user.received.size() == 40 || connection->user.over(); }));
  ASSERT_FALSE(connection->user.broken) << connection->user.broken->message();
  connection->client->Send("y");
  ASSERT_TRUE(RunUntil([&] { return connection->server->Received() == "y"; }));
  EXPECT_FALSE(connection->server->broken()) << connection->server->failure();
}

TEST_P(TlsStreamTest, RenegotiationIsRefusedAndTheConnectionGoesOn) {
  const auto context = MakeServerContext(server_, With(TlsVersion::k12));
  auto connection = Connected(client_, context.get());
  ASSERT_NE(connection->client, nullptr);
  connection->server->AskToRenegotiate();
  connection->client->Send("hello");
  // The server itself gives up when it is refused; what counts is that it saw the refusal.
  ASSERT_TRUE(RunUntil(
      [&] { return connection->server->broken() || connection->server->Received() == "hello"; }));
  EXPECT_FALSE(connection->user.broken) << connection->user.broken->message();
}

// With small records a ticket comes in several; in between OpenSSL will not write.
TEST_P(TlsStreamTest, SendingWhileHalfATicketHasComeIsOnlyDelayed) {
  const Identity own = MakeIdentity({.common_name = std::string(60, 'n')}, &authority_);
  TlsClientOptions options = Trusting(authority_);
  options.certificate = own.pem;
  options.key = own.key_pem;
  TlsServerOptions small;
  small.client_authority = authority_.pem;  // tickets hold the client's certificate
  small.record_bytes_max = 512;
  const auto context = MakeServerContext(server_, small);
  for (const bool held : {false, true}) {
    auto client = TlsClient::Make(options);
    ASSERT_TRUE(client);
    auto [ours, theirs] = MemoryStream::MakePair(loop(), 16384);
    TlsServer server(std::move(theirs), context.get());
    std::string rest;
    server.tamper = [&](std::string bytes) {
      if (!server.established()) return bytes;
      rest += bytes.substr(600);
      return bytes.substr(0, 600);  // the first record of the first ticket, and a part of another
    };
    TlsRecorder user;
    const auto stream = Up(std::move(ours), *client, "localhost", user);
    ASSERT_NE(stream, nullptr);
    ASSERT_TRUE(RunUntil([&] { return rest.size() > 100; }));
    server.tamper = nullptr;
    Settle();
    if (held) stream->Hold();
    stream->Send("delayed");
    stream->SendEnd();
    Settle();
    EXPECT_EQ(server.Received(), "");
    EXPECT_EQ(stream->unsent(), 7u);
    server.WriteRaw(rest);
    ASSERT_TRUE(RunUntil([&] { return server.ended(); }));
    EXPECT_EQ(server.Received(), "delayed");
    EXPECT_EQ(stream->unsent(), 0u);
    server.Write("answer");
    if (held) {
      Settle();
      EXPECT_EQ(user.received, "");
      stream->Resume();
    }
    ASSERT_TRUE(RunUntil([&] { return user.received == "answer"; }));
  }
}

TEST_P(TlsStreamTest, UserMayCloseInTheMiddleOfWhatItHears) {
  const auto context = MakeServerContext(server_);
  auto connection = Connected(client_, context.get());
  ASSERT_NE(connection->client, nullptr);
  connection->user.close_after_bytes = 20'000;
  connection->server->Write(TlsPattern(200'000));
  ASSERT_TRUE(RunUntil([&] { return connection->server->broken(); }));
  EXPECT_LT(connection->user.received.size(), 40'000u);
  EXPECT_FALSE(connection->user.over());
  connection->client->Send("nobody hears");
  connection->client->SendEnd();
  connection->client->Hold();
  connection->client->Resume();
  EXPECT_EQ(connection->client->unsent(), 0u);
  Settle();
  EXPECT_FALSE(connection->user.over());
}

TEST_P(TlsStreamTest, ServerThatDisappearsBreaksTheStream) {
  const auto context = MakeServerContext(server_);
  auto connection = Connected(client_, context.get());
  ASSERT_NE(connection->client, nullptr);
  connection->server->CloseRaw();
  ASSERT_TRUE(RunUntil([&] {
    connection->client->Send("anybody?");
    return connection->user.over();
  }));
  EXPECT_TRUE(connection->user.broken);
}

// What the stream and OpenSSL keep for a connection that was used and is silent now. OpenSSL's own
// objects are most of it (connection, two ciphers, the server's certificates); ours are below 1 kB.
// Not with sanitizers, which have an allocator of their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_P(TlsStreamTest, IdleConnectionHoldsNoBuffers) {
  constexpr size_t kConnections = 50;
  constexpr size_t kIdleBytesMax = 20'000;
  const auto context = MakeServerContext(server_);
  std::vector<std::unique_ptr<Connection>> connections;
  for (size_t i = 0; i < kConnections; ++i) {
    connections.push_back(ConnectedInMemory(client_, context.get(), 16384));
    ASSERT_NE(connections.back()->client, nullptr);
    connections.back()->server->echo = true;
    connections.back()->client->Send(TlsPattern(30'000));
    ASSERT_TRUE(RunUntil([&] { return connections.back()->user.received.size() == 30'000; }));
    connections.back()->user.received = {};
  }
  Settle();
  const size_t before = ::mallinfo2().uordblks;
  for (const auto& connection : connections) connection->client.reset();
  const size_t each = (before - ::mallinfo2().uordblks) / kConnections;
  RecordProperty("bytes", std::to_string(each));
  EXPECT_LT(each, kIdleBytesMax);
}
#endif

TEST_P(TlsStreamTest, StreamOverAStreamIsAStream) {
  const auto context = MakeServerContext(server_);
  auto outer = Connected(client_, context.get());
  ASSERT_NE(outer->client, nullptr);
  // What the outer server receives is carried to the inner server, and back.
  auto [inner_server_side, carrier] = MemoryStream::MakePair(loop(), 700);
  TlsServer inner(std::move(inner_server_side), context.get());
  inner.echo = true;
  struct Back final : StreamUser {
    void OnReceived(std::span<const std::byte> data) override {
      server->Write({reinterpret_cast<const char*>(data.data()), data.size()});
    }
    void OnReceiveEnd() override {}
    void OnRoom() override {}
    void OnBroken(const Error&) override {}
    TlsServer* server = nullptr;
  } back;
  back.server = outer->server.get();
  carrier->Use(back);
  size_t carried = 0;
  Answer answer;
  TlsConnect(loop(), {}, std::move(outer->client), client_, "localhost",
             [&](Result<std::unique_ptr<TlsStream>> result) { answer = std::move(result); });
  const auto carry = [&] {
    const std::string all = outer->server->Received();
    if (all.size() > carried) carrier->Send(all.substr(carried));
    carried = all.size();
  };
  ASSERT_TRUE(RunUntil([&] {
    carry();
    return answer.has_value();
  }));
  ASSERT_TRUE(*answer) << answer->error().message();
  TlsRecorder user;
  const std::unique_ptr<TlsStream> stream = **std::move(answer);
  stream->Use(user);
  const std::string data = TlsPattern(100'000);
  stream->Send(data);
  ASSERT_TRUE(RunUntil([&] {
    carry();
    return user.received.size() >= data.size();
  }));
  EXPECT_TRUE(user.received == data);
}

TEST_P(TlsStreamTest, ABreakBeforeThereIsAUserIsToldWhenOneComes) {
  auto client = *TlsClient::Make(Trusting(authority_));
  auto context = MakeServerContext(server_, {.version = TlsVersion::k12});
  auto [ours, theirs] = ConnectedPair();
  const int fd = theirs->fd();
  auto server = std::make_unique<TlsServer>(std::move(theirs), context.get());
  Answer answer = Handshake(std::move(ours), client, "localhost");
  ASSERT_TRUE(answer && *answer);
  ASSERT_TRUE(RunUntil([&] { return server->established(); }));
  const linger hard{.l_onoff = 1, .l_linger = 0};
  ASSERT_EQ(::setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard), 0);
  server.reset();
  Settle();
  std::unique_ptr<TlsStream> stream = **std::move(answer);
  TlsRecorder user;
  stream->Use(user);
  EXPECT_FALSE(user.over()) << "not inside the call";
  EXPECT_TRUE(RunUntil([&] { return user.over(); }));
  stream->Send("lost");
  EXPECT_EQ(stream->unsent(), 0u) << "nothing is counted once the user knows";
}

}  // namespace
}  // namespace denselet::net
