#include <gtest/gtest.h>
#include <netinet/in.h>

#include <array>
#include <cerrno>
#include <optional>
#include <string>

#include "tests/sim/world.h"

namespace denselet::sim {
namespace {

class SimLoopTest : public testing::Test {
 protected:
  SimLoopTest() { address_.sin_family = AF_INET; }

  void RunFor(Duration d) { world_.RunUntil(world_.clock().Now() + d); }
  reactor::Io& io(uint32_t shard) { return world_.loop(shard).io(); }
  const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&address_); }

  // A connection between shard 0 (accepted) and shard 1 (connected).
  void ConnectPair() {
    listener_ = io(0).Socket(AF_INET, SOCK_STREAM);
    address_.sin_port = htons(80);
    ASSERT_EQ(io(0).Listen(listener_, address(), sizeof address_, 1), 0);
    client_ = io(1).Socket(AF_INET, SOCK_STREAM);
    io(0).Accept(listener_, [this](int32_t fd) { server_ = fd; });
    io(1).Connect(client_, address(), sizeof address_,
                  [](int32_t result) { EXPECT_EQ(result, 0); });
    RunFor(Seconds(1));
    ASSERT_GT(server_, 0);
  }

  World world_{WorldOptions{.seed = 7, .shards = 2}};
  sockaddr_in address_{};
  int listener_ = -1, client_ = -1, server_ = -1;
};

TEST_F(SimLoopTest, TimeStandsStillWhileThereIsWorkAndJumpsWhenThereIsNone) {
  std::optional<TimePoint> ran;
  const TimePoint when = world_.clock().Now() + Hours(1000);
  world_.loop(0).Arm(when, [&] { ran = world_.loop(0).Now(); });
  int posts = 0;
  world_.loop(1).Post([&] { ++posts; });
  RunFor(Milliseconds(1));
  EXPECT_EQ(posts, 1);
  EXPECT_FALSE(ran);
  while (!ran && world_.Step()) {
  }
  EXPECT_EQ(ran, when);
  EXPECT_FALSE(world_.Step()) << "nothing is left to do";
}

TEST_F(SimLoopTest, MessagesCrossShardsWithTheTimeTheyWaited) {
  std::optional<Duration> waited;
  world_.loop(0).Post([&] {
    EXPECT_TRUE(world_.shard(0).Send(1, Context{}, [&](const QueuedContext& queued) {
      waited = queued.Waited(world_.loop(1).Now());
    }));
  });
  RunFor(Seconds(1));
  EXPECT_EQ(waited, Duration::zero());
}

TEST_F(SimLoopTest, BytesArriveLaterAndInOrder) {
  ConnectPair();
  world_.network().faults().delay_max = Milliseconds(50);
  const std::string text = "a long enough text to be cut into pieces on the way";
  size_t sent = 0;
  std::string got;
  std::array<std::byte, 16> buffer;
  UniqueFunction<void()> send_rest = [&] {
    io(1).Send(client_, std::as_bytes(std::span(text)).subspan(sent), [&](int32_t n) {
      sent += static_cast<size_t>(n);
      if (sent < text.size()) send_rest();
    });
  };
  UniqueFunction<void()> receive = [&] {
    io(0).Receive(server_, buffer, [&](int32_t n) {
      got.append(reinterpret_cast<char*>(buffer.data()), static_cast<size_t>(n));
      if (n > 0) receive();
    });
  };
  send_rest();
  receive();
  RunFor(Seconds(1));
  EXPECT_EQ(got, text);
  io(1).Close(client_);
  RunFor(Seconds(1));
  io(0).Close(server_);
}

TEST_F(SimLoopTest, AFullWindowHoldsTheSenderUntilTheReceiverReads) {
  ConnectPair();
  const std::string block(Network::kWindowBytes, 'x');
  size_t sent = 0;
  int sends = 0;
  UniqueFunction<void()> send = [&] {
    io(1).Send(client_, std::as_bytes(std::span(block)), [&](int32_t n) {
      sent += static_cast<size_t>(n);
      if (++sends < 1000) send();
    });
  };
  send();
  RunFor(Seconds(1));
  EXPECT_EQ(sent, Network::kWindowBytes);
  std::array<std::byte, 1000> buffer;
  io(0).Receive(server_, buffer, [](int32_t) {});
  RunFor(Seconds(1));
  EXPECT_EQ(sent, Network::kWindowBytes + buffer.size());
}

TEST_F(SimLoopTest, TheEndOfTheOtherSideIsZeroBytes) {
  ConnectPair();
  std::array<std::byte, 8> buffer;
  std::optional<int32_t> result;
  io(0).Receive(server_, buffer, [&](int32_t n) { result = n; });
  io(1).Shutdown(client_, SHUT_WR);
  RunFor(Seconds(1));
  EXPECT_EQ(result, 0);
}

TEST_F(SimLoopTest, ABrokenConnectionFailsOnBothSides) {
  ConnectPair();
  world_.network().faults().reset = 1;
  std::array<std::byte, 8> buffer;
  std::optional<int32_t> received, sent;
  io(0).Receive(server_, buffer, [&](int32_t n) { received = n; });
  io(1).Send(client_, std::as_bytes(std::span("x")), [&](int32_t n) { sent = n; });
  RunFor(Seconds(1));
  EXPECT_EQ(received, -ECONNRESET);
  EXPECT_EQ(sent, -ECONNRESET);
}

TEST_F(SimLoopTest, ASilentConnectionDeliversNothing) {
  ConnectPair();
  world_.network().faults().silence = 1;
  std::array<std::byte, 8> buffer;
  std::optional<int32_t> received, sent;
  const reactor::OpId op = io(0).Receive(server_, buffer, [&](int32_t n) { received = n; });
  io(1).Send(client_, std::as_bytes(std::span("x")), [&](int32_t n) { sent = n; });
  RunFor(Seconds(10));
  EXPECT_TRUE(sent);
  EXPECT_FALSE(received);
  io(0).Cancel(op);
  RunFor(Seconds(1));
  EXPECT_EQ(received, -ECANCELED);
}

TEST_F(SimLoopTest, AConnectToNobodyIsRefused) {
  const int fd = io(0).Socket(AF_INET, SOCK_STREAM);
  address_.sin_port = htons(81);
  std::optional<int32_t> result;
  io(0).Connect(fd, address(), sizeof address_, [&](int32_t r) { result = r; });
  RunFor(Seconds(1));
  EXPECT_EQ(result, -ECONNREFUSED);
}

TEST_F(SimLoopTest, TwoListenersCannotShareAnAddress) {
  const int a = io(0).Socket(AF_INET, SOCK_STREAM), b = io(0).Socket(AF_INET, SOCK_STREAM);
  address_.sin_port = htons(82);
  EXPECT_EQ(io(0).Listen(a, address(), sizeof address_, 1), 0);
  EXPECT_EQ(io(0).Listen(b, address(), sizeof address_, 1), -EADDRINUSE);
  io(0).Close(a);
  EXPECT_EQ(io(0).Listen(b, address(), sizeof address_, 1), 0);
}

}  // namespace
}  // namespace denselet::sim
