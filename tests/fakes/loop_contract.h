// What reactor/api/loop.h and io.h promise, as tests for every Loop: the real ones and the
// simulated one. Only what all three can do: connections are made through Io. A program includes
// this once and says what it has:
//   INSTANTIATE_TEST_SUITE_P(Mine, LoopContract, testing::Values(LoopMaker{...}), NameOfLoop);
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "reactor/api/io.h"
#include "reactor/api/loop.h"
#include "reactor/event_loop.h"

namespace denselet::reactor {

// A loop and what drives it.
class LoopUnderTest {
 public:
  virtual ~LoopUnderTest() = default;
  virtual EventLoop& loop() = 0;
  virtual void RunOneTurn() = 0;
  // False: it does not come true.
  [[nodiscard]] virtual bool RunUntil(const std::function<bool()>& done) = 0;
};

struct LoopMaker {
  std::string name;
  std::function<std::unique_ptr<LoopUnderTest>(const LoopOptions&)> make;
};

inline std::string NameOfLoop(const testing::TestParamInfo<LoopMaker>& info) {
  return info.param.name;
}

class LoopContract : public testing::TestWithParam<LoopMaker> {
 protected:
  struct Pair {
    int a = -1, b = -1;
  };

  Loop& loop() { return made_->loop(); }
  Io& io() { return loop().io(); }
  [[nodiscard]] bool RunUntil(const std::function<bool()>& done) { return made_->RunUntil(done); }
  void Make(const LoopOptions& options) { made_ = GetParam().make(options); }

  static std::span<const std::byte> BytesOf(std::string_view text) {
    return std::as_bytes(std::span(text));
  }
  IoDone Keep(std::optional<int32_t>& result) {
    return [&result](int32_t r) {
      EXPECT_FALSE(result.has_value()) << "called back twice";
      result = r;
    };
  }

  int Listen(sockaddr_storage& address, socklen_t& size) {
    const int listener = io().Socket(AF_INET, SOCK_STREAM);
    auto& inet = reinterpret_cast<sockaddr_in&>(address);
    inet.sin_family = AF_INET;
    inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    size = sizeof inet;
    EXPECT_EQ(io().Listen(listener, reinterpret_cast<sockaddr*>(&address), size, 8), 0);
    EXPECT_EQ(io().LocalAddress(listener, address, size), 0);
    return listener;
  }
  Pair Connect() {
    sockaddr_storage address{};
    socklen_t size = 0;
    const int listener = Listen(address, size);
    Pair pair{.b = io().Socket(AF_INET, SOCK_STREAM)};
    std::optional<int32_t> accepted, connected;
    io().Accept(listener, Keep(accepted));
    io().Connect(pair.b, reinterpret_cast<sockaddr*>(&address), size, Keep(connected));
    EXPECT_TRUE(RunUntil([&] { return accepted && connected; }));
    EXPECT_EQ(connected, 0);
    io().Close(listener);
    pair.a = accepted.value_or(-1);
    EXPECT_GE(pair.a, 0);
    return pair;
  }
  void Close(const Pair& pair) {
    io().Close(pair.a);
    io().Close(pair.b);
  }

  std::unique_ptr<LoopUnderTest> made_ = GetParam().make({});
};

TEST_P(LoopContract, PostedTasksRunInOrderInALaterTurn) {
  std::string order;
  loop().Post([&] {
    order += 'a';
    loop().Post([&] { order += 'c'; });
  });
  loop().Post([&] { order += 'b'; });
  EXPECT_EQ(order, "");
  made_->RunOneTurn();
  EXPECT_EQ(order, "ab");
  made_->RunOneTurn();
  EXPECT_EQ(order, "abc");
}

TEST_P(LoopContract, TimersRunNotBeforeTheirTime) {
  const TimePoint when = After(loop().Now(), Milliseconds(20));
  std::optional<TimePoint> ran;
  loop().Arm(when, [&] { ran = loop().Now(); });
  ASSERT_TRUE(RunUntil([&] { return ran.has_value(); }));
  EXPECT_GE(*ran, when);
}

TEST_P(LoopContract, DisarmedTimersDoNotRun) {
  bool early = false, late = false;
  const TimerId timer = loop().Arm(After(loop().Now(), Milliseconds(1)), [&] { early = true; });
  loop().Arm(After(loop().Now(), Milliseconds(5)), [&] { late = true; });
  EXPECT_TRUE(loop().Disarm(timer));
  EXPECT_FALSE(loop().Disarm(timer));
  ASSERT_TRUE(RunUntil([&] { return late; }));
  EXPECT_FALSE(early);
}

TEST_P(LoopContract, DeferredDeletionWaitsForTheCallbackToReturn) {
  struct Probe : Deletable {
    explicit Probe(bool& dead) : dead_(dead) {}
    ~Probe() override { dead_ = true; }
    bool& dead_;
  };
  bool dead = false, dead_in_callback = true;
  loop().Post([&] {
    loop().DeferDelete(std::make_unique<Probe>(dead));
    dead_in_callback = dead;
  });
  made_->RunOneTurn();
  EXPECT_FALSE(dead_in_callback);
  EXPECT_TRUE(dead);
}

TEST_P(LoopContract, BytesGoThroughAndTheEndIsZeroBytes) {
  const Pair pair = Connect();
  std::array<std::byte, 64> buffer;
  std::optional<int32_t> received, sent;
  io().Receive(pair.a, buffer, Keep(received));
  io().Send(pair.b, BytesOf("h"), Keep(sent));
  EXPECT_FALSE(received || sent) << "called back inside the call that started it";
  ASSERT_TRUE(RunUntil([&] { return received && sent; }));
  EXPECT_EQ(*sent, 1);
  EXPECT_EQ(*received, 1);
  EXPECT_EQ(buffer[0], std::byte{'h'});
  received.reset();
  io().Receive(pair.a, buffer, Keep(received));
  EXPECT_EQ(io().Shutdown(pair.b, SHUT_WR), 0);
  ASSERT_TRUE(RunUntil([&] { return received.has_value(); }));
  EXPECT_EQ(*received, 0);
  Close(pair);
}

TEST_P(LoopContract, AStreamGivesAllBytesAndEndsOnce) {
  const Pair pair = Connect();
  std::string got;
  std::optional<int32_t> ended, sent;
  io().ReceiveStream(pair.a, [&](int32_t result, std::span<const std::byte> data) {
    EXPECT_FALSE(ended) << "called back after the end";
    if (result <= 0) ended = result;
    got.append(reinterpret_cast<const char*>(data.data()), data.size());
  });
  for (const char c : std::string("stream")) {
    sent.reset();
    io().Send(pair.b, BytesOf(std::string_view(&c, 1)), Keep(sent));
    ASSERT_TRUE(RunUntil([&] { return sent.has_value(); }));
  }
  io().Shutdown(pair.b, SHUT_WR);
  ASSERT_TRUE(RunUntil([&] { return ended.has_value(); }));
  EXPECT_EQ(*ended, 0);
  EXPECT_EQ(got, "stream");
  Close(pair);
}

TEST_P(LoopContract, AStreamCancelledInItsOwnCallbackEndsOnceAndAnotherGoesOn) {
  const Pair pair = Connect();
  std::string got;
  OpId op;
  bool in_callback = false;
  std::optional<int32_t> ended, sent;
  const auto receive_until = [&](size_t bytes) {
    ended.reset();
    op = io().ReceiveStream(pair.a, [&, bytes](int32_t result, std::span<const std::byte> data) {
      EXPECT_FALSE(ended || in_callback);
      in_callback = true;
      if (result <= 0) ended = result;
      got.append(reinterpret_cast<const char*>(data.data()), data.size());
      if (got.size() >= bytes) io().Cancel(op);
      in_callback = false;
    });
  };
  // By the first bytes that it gets, and by later ones.
  for (const size_t bytes : {1, 2, 6}) {
    receive_until(bytes);
    while (got.size() < bytes) {
      const std::string next(1, "stream"[got.size()]);
      const size_t before = got.size();
      sent.reset();
      io().Send(pair.b, BytesOf(next), Keep(sent));
      ASSERT_TRUE(RunUntil([&] { return sent && got.size() > before; }));
    }
    ASSERT_TRUE(RunUntil([&] { return ended.has_value(); }));
    EXPECT_EQ(*ended, -ECANCELED);
  }
  EXPECT_EQ(got, "stream");
  Close(pair);
}

TEST_P(LoopContract, CancelEndsAnOperationOnceAndLater) {
  const Pair pair = Connect();
  std::array<std::byte, 8> buffer;
  std::optional<int32_t> received, sent;
  const OpId op = io().Receive(pair.a, buffer, Keep(received));
  io().Send(pair.a, BytesOf("x"), Keep(sent));
  ASSERT_TRUE(RunUntil([&] { return sent.has_value(); }));
  EXPECT_EQ(*sent, 1) << "sending does not wait behind the receive";
  EXPECT_FALSE(received);
  io().Cancel(op);
  io().Cancel(op);
  EXPECT_FALSE(received) << "called back inside Cancel";
  ASSERT_TRUE(RunUntil([&] { return received.has_value(); }));
  EXPECT_EQ(*received, -ECANCELED);
  io().Cancel(op);  // names nothing any more
  made_->RunOneTurn();
  Close(pair);
}

TEST_P(LoopContract, AConnectToNobodyIsRefused) {
  sockaddr_storage address{};
  socklen_t size = 0;
  io().Close(Listen(address, size));
  const int client = io().Socket(AF_INET, SOCK_STREAM);
  std::optional<int32_t> connected;
  io().Connect(client, reinterpret_cast<sockaddr*>(&address), size, Keep(connected));
  ASSERT_TRUE(RunUntil([&] { return connected.has_value(); }));
  EXPECT_EQ(*connected, -ECONNREFUSED);
  io().Close(client);
}

TEST_P(LoopContract, OperationsBeyondTheBoundAreRefusedByTheirCallback) {
  Make({.operations_max = 2});
  const Pair pair = Connect();
  std::array<std::byte, 8> buffer;
  std::optional<int32_t> first, second, third;
  const OpId a = io().Receive(pair.a, buffer, Keep(first));
  const OpId b = io().Receive(pair.b, buffer, Keep(second));
  EXPECT_EQ(io().Poll(pair.a, POLLIN, Keep(third)), OpId{});
  EXPECT_FALSE(third) << "called back inside the call";
  ASSERT_TRUE(RunUntil([&] { return third.has_value(); }));
  EXPECT_EQ(*third, -EBUSY);
  io().Cancel(a);
  io().Cancel(b);
  ASSERT_TRUE(RunUntil([&] { return first && second; }));
  Close(pair);
}

TEST_P(LoopContract, EveryOperationEndsOnceWheneverItIsCancelled) {
  constexpr uint64_t kOperations = 5000;
  struct Side {
    int fd;
    OpId op;
    bool busy = false;
    std::array<std::byte, 64> buffer{};
  };
  std::vector<Pair> pairs;
  std::vector<Side> sides;
  for (int i = 0; i < 4; ++i) {
    pairs.push_back(Connect());
    sides.push_back({.fd = pairs.back().a, .op = {}});
    sides.push_back({.fd = pairs.back().b, .op = {}});
  }
  SeededRandom random(13);
  uint64_t started = 0, ended = 0, cancelled = 0;
  const auto end = [&](Side& side, int32_t result) {
    ASSERT_TRUE(side.busy) << "ended twice";
    side.busy = false;
    ++ended;
    cancelled += result == -ECANCELED;
    if (random.Below(4) == 0) io().Cancel(sides[random.Below(sides.size())].op);
  };
  const auto start = [&](Side& side) {
    ++started;
    side.busy = true;
    const auto done = [&end, &side](int32_t result) { end(side, result); };
    switch (random.Below(4)) {
      case 0:
        side.op = io().Receive(side.fd, side.buffer, done);
        break;
      case 1:
        side.op = io().Send(side.fd, side.buffer, done);
        break;
      case 2:
        side.op = io().Poll(side.fd, POLLIN, done);
        break;
      case 3:
        side.op =
            io().ReceiveStream(side.fd, [&end, &side](int32_t result, std::span<const std::byte>) {
              if (result <= 0) end(side, result);
            });
        break;
    }
  };
  while (started < kOperations) {
    Side& side = sides[random.Below(sides.size())];
    if (!side.busy) {
      start(side);
    } else if (random.Below(2) == 0) {
      io().Cancel(side.op);
    }
    if (random.Below(4) == 0) made_->RunOneTurn();
  }
  for (const Side& side : sides) io().Cancel(side.op);
  ASSERT_TRUE(RunUntil([&] { return ended == started; }));
  EXPECT_GT(cancelled, 0u);
  EXPECT_LT(cancelled, ended);
  for (const Pair& pair : pairs) Close(pair);
}

}  // namespace denselet::reactor
