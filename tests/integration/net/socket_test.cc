#include "reactor/net/socket.h"

#include <sys/socket.h>
#include <unistd.h>

#include "base/random.h"
#include "tests/integration/net/net_fixture.h"

namespace denselet::net {
namespace {

class SocketTest : public NetTest {
 protected:
  ~SocketTest() override {
    loop_.reset();
    EXPECT_EQ(OpenDescriptors(), descriptors_before_);
  }
};
INSTANTIATE_NET_TEST(SocketTest);

// Different at every place, so that a lost or doubled piece is seen.
std::string Pattern(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i * 7 + i / 251);
  return text;
}

TEST_P(SocketTest, BytesGoBothWaysOverTcpAndUnix) {
  const std::string path = testing::TempDir() + "/socket_test_" + std::to_string(::getpid());
  ::unlink(path.c_str());
  for (const std::string& address : {std::string("127.0.0.1:0"), "unix:" + path}) {
    Recorder client, server;
    MakePair(client, server, *Address::Parse(address));
    client.stream->Send("ping");
    ASSERT_TRUE(RunUntil([&] { return server.received == "ping"; }));
    server.stream->Send("po");
    server.stream->Send("n");
    server.stream->Send("g");
    ASSERT_TRUE(RunUntil([&] { return client.received == "pong"; }));
  }
  ::unlink(path.c_str());
}

TEST_P(SocketTest, OneSideMayEndWhileTheOtherGoesOn) {
  Recorder client, server;
  MakePair(client, server);
  client.stream->Send("all");
  client.stream->SendEnd();
  client.stream->Send("behind the end");
  ASSERT_TRUE(RunUntil([&] { return server.ended; }));
  EXPECT_EQ(server.received, "all");
  server.stream->Send("answer");
  server.stream->SendEnd();
  ASSERT_TRUE(RunUntil([&] { return client.ended; }));
  EXPECT_EQ(client.received, "answer");
}

TEST_P(SocketTest, WhatIsLargeArrivesWholeAndTellsWhenThereIsRoom) {
  Recorder client, server;
  MakePair(client, server);
  const std::string data = Pattern(9'000'000);
  client.stream->Send(data);
  EXPECT_EQ(client.stream->unsent(), data.size());
  ASSERT_TRUE(RunUntil([&] { return server.received.size() == data.size(); }));
  EXPECT_TRUE(server.received == data);
  ASSERT_TRUE(RunUntil([&] { return client.stream->unsent() == 0; }));
  EXPECT_EQ(client.rooms, 1);
}

TEST_P(SocketTest, AHeldReceiverStopsTheSender) {
  Recorder client, server;
  MakePair(client, server);
  server.stream->Hold();
  const std::string data = Pattern(32 << 20);
  client.stream->Send(data);
  size_t unsent = 0;
  // Until nothing moves any more: the kernel's buffers are full.
  do {
    unsent = client.stream->unsent();
    for (int i = 0; i < 20; ++i) loop().RunTurn(After(clock_.Now(), Milliseconds(1)));
  } while (client.stream->unsent() != unsent);
  EXPECT_GT(unsent, size_t{8} << 20);
  EXPECT_EQ(server.received, "");
  server.stream->Resume();
  ASSERT_TRUE(RunUntil([&] { return server.received.size() == data.size(); }));
  EXPECT_TRUE(server.received == data);
}

TEST_P(SocketTest, HoldingAndResumingAtRandomLosesNothing) {
  SeededRandom random(3);
  Recorder client, server;
  MakePair(client, server);
  const std::string data = Pattern(3'000'000);
  bool held = false;
  server.on_received = [&] {
    EXPECT_FALSE(held);
    if (random.Below(3) != 0) return;
    server.stream->Hold();
    held = true;
  };
  size_t sent = 0;
  while (server.received.size() < data.size()) {
    const size_t piece = std::min<size_t>(data.size() - sent, random.Below(40'000));
    client.stream->Send(data.substr(sent, piece));
    sent += piece;
    if (sent == data.size()) client.stream->SendEnd();
    for (uint64_t turns = random.Below(4); turns > 0; --turns) {
      loop().RunTurn(After(clock_.Now(), Microseconds(200)));
    }
    if (held && random.Below(2) == 0) {
      held = false;
      server.stream->Resume();
    }
    if (random.Below(50) == 0) {  // both in one turn
      server.stream->Hold();
      held = true;
    }
  }
  EXPECT_TRUE(server.received == data);
  server.stream->Resume();
  server.on_received = nullptr;
  ASSERT_TRUE(RunUntil([&] { return server.ended; }));
}

TEST_P(SocketTest, NothingIsLostBetweenTwoUsers) {
  Recorder client, server;
  MakePair(client, server);
  Recorder next;
  server.on_received = [&] {
    server.stream->Hold();
    next.Take(std::move(server.stream));
  };
  client.stream->Send("for the first");
  ASSERT_TRUE(RunUntil([&] { return !server.received.empty(); }));
  client.stream->Send(", for the next");
  client.stream->SendEnd();
  ASSERT_TRUE(RunUntil([&] { return next.ended; }));
  EXPECT_EQ(server.received + next.received, "for the first, for the next");
}

TEST_P(SocketTest, AClosedStreamSaysNothingMore) {
  Recorder client, server;
  MakePair(client, server);
  server.on_received = [&] { server.stream->Close(); };
  client.stream->Send(Pattern(2'000'000));
  ASSERT_TRUE(RunUntil([&] { return client.broken.has_value(); }));
  EXPECT_LT(server.received.size(), 2'000'000u);
  EXPECT_FALSE(server.broken);
  server.stream->Send("to nobody");
  server.stream->Close();
  RunTurns(3);
}

TEST_P(SocketTest, AResetIsToldWithItsReason) {
  Recorder client, server;
  MakePair(client, server);
  const linger hard{.l_onoff = 1, .l_linger = 0};
  auto& socket = static_cast<Socket&>(*client.stream);
  ASSERT_EQ(::setsockopt(socket.fd(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard), 0);
  client.stream->Close();
  ASSERT_TRUE(RunUntil([&] { return server.broken.has_value(); }));
  EXPECT_EQ(server.broken->code(), ErrorCode::kUnavailable);
  EXPECT_EQ(server.broken->message(), "receive: Connection reset by peer");
  EXPECT_EQ(static_cast<Socket&>(*server.stream).fd(), -1);
}

TEST_P(SocketTest, DestroyedBeforeItIsUsedItLeavesNothing) {
  Recorder client, server;
  MakePair(client, server);
  client.stream.reset();
  server.stream->Send(Pattern(5'000'000));
  server.stream.reset();
  ASSERT_TRUE(RunUntil([&] { return loop().operations() == 0; }));
}

TEST_P(SocketTest, AnEndMayComeWhileHeldAndIsToldAfterTheBytes) {
  Recorder client, server;
  MakePair(client, server);
  server.stream->Hold();
  client.stream->Send("last words");
  client.stream->SendEnd();
  RunTurns(20);
  EXPECT_FALSE(server.ended);
  EXPECT_EQ(server.received, "");
  server.stream->Resume();
  ASSERT_TRUE(RunUntil([&] { return server.ended; }));
  EXPECT_EQ(server.received, "last words");
  server.stream->Hold();
  server.stream->Resume();
  server.ended = false;
  RunTurns(5);
  EXPECT_FALSE(server.ended) << "told twice";
}

}  // namespace
}  // namespace denselet::net
