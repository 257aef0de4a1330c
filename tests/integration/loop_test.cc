// What only real loops can do; what they share with the simulated one is in loop_contract.h.
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "reactor/api/io.h"
#include "reactor/unique_fd.h"
#include "tests/integration/loop_fixture.h"
#include "tests/integration/resources.h"

namespace denselet::reactor {
namespace {

std::span<const std::byte> BytesOf(std::string_view text) { return std::as_bytes(std::span(text)); }

class RealLoopTest : public LoopTest {
 protected:
  struct Pair {
    UniqueFd a, b;
  };
  Pair SocketPair() {
    int fds[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    io().Adopt(fds[0]);
    io().Adopt(fds[1]);
    return {UniqueFd(fds[0]), UniqueFd(fds[1])};
  }

  // A callback that keeps the result and counts its calls.
  IoDone Keep(std::optional<int32_t>& result) {
    return [this, &result](int32_t r) {
      ++calls_;
      EXPECT_FALSE(result.has_value()) << "called back twice";
      result = r;
    };
  }
  int calls_ = 0;
};
INSTANTIATE_LOOP_TEST(RealLoopTest);

TEST_P(RealLoopTest, BytesGoThroughASocketPair) {
  Pair pair = SocketPair();
  std::array<std::byte, 64> buffer;
  std::optional<int32_t> received, sent;
  io().Receive(pair.a.get(), buffer, Keep(received));
  io().Send(pair.b.get(), BytesOf("hello"), Keep(sent));
  EXPECT_EQ(calls_, 0) << "called back inside the call that started it";
  ASSERT_TRUE(RunUntil([&] { return received && sent; }));
  EXPECT_EQ(*sent, 5);
  EXPECT_EQ(*received, 5);
  EXPECT_EQ(std::string(reinterpret_cast<char*>(buffer.data()), 5), "hello");
}

TEST_P(RealLoopTest, TheOtherSidesEndIsZeroBytes) {
  Pair pair = SocketPair();
  std::array<std::byte, 8> buffer;
  std::optional<int32_t> received;
  io().Receive(pair.a.get(), buffer, Keep(received));
  pair.b.Reset();
  ASSERT_TRUE(RunUntil([&] { return received.has_value(); }));
  EXPECT_EQ(*received, 0);
}

TEST_P(RealLoopTest, SendingToAClosedPeerIsAnErrorAndNoSignal) {
  Pair pair = SocketPair();
  pair.b.Reset();
  std::optional<int32_t> sent;
  io().Send(pair.a.get(), BytesOf("x"), Keep(sent));
  ASSERT_TRUE(RunUntil([&] { return sent.has_value(); }));
  EXPECT_EQ(*sent, -EPIPE);
}

TEST_P(RealLoopTest, AFullSocketMakesTheSenderWait) {
  Pair pair = SocketPair();
  const std::string block(1 << 16, 'x');
  size_t sent = 0;
  bool blocked = false;
  std::optional<int32_t> last;
  while (!blocked) {
    last.reset();
    io().Send(pair.a.get(), BytesOf(block), Keep(last));
    for (int turn = 0; turn < 3 && !last; ++turn) loop_->RunTurn(loop().Now());
    blocked = !last.has_value();
    if (last) sent += static_cast<size_t>(*last);
  }
  std::string received(sent + block.size(), '\0');
  size_t got = 0;
  while (!last || got < sent + static_cast<size_t>(*last)) {
    std::optional<int32_t> chunk;
    io().Receive(pair.b.get(), std::as_writable_bytes(std::span(received)).subspan(got),
                 Keep(chunk));
    ASSERT_TRUE(RunUntil([&] { return chunk.has_value(); }));
    ASSERT_GT(*chunk, 0);
    got += static_cast<size_t>(*chunk);
    loop_->RunTurn(loop().Now());
  }
  EXPECT_GT(*last, 0);
}

TEST_P(RealLoopTest, SendingDoesNotWaitBehindAReceiveOnTheSameSocket) {
  Pair pair = SocketPair();
  std::array<std::byte, 8> buffer;
  std::optional<int32_t> received, sent;
  const OpId waiting = io().Receive(pair.a.get(), buffer, Keep(received));
  io().Send(pair.a.get(), BytesOf("x"), Keep(sent));
  ASSERT_TRUE(RunUntil([&] { return sent.has_value(); }));
  EXPECT_EQ(*sent, 1);
  EXPECT_FALSE(received);
  io().Cancel(waiting);
  ASSERT_TRUE(RunUntil([&] { return received.has_value(); }));
  EXPECT_EQ(*received, -ECANCELED);
}

TEST_P(RealLoopTest, CancelEndsAnOperationOnceAndLater) {
  Pair pair = SocketPair();
  std::array<std::byte, 8> buffer;
  std::optional<int32_t> received;
  const OpId op = io().Receive(pair.a.get(), buffer, Keep(received));
  loop_->RunTurn(loop().Now());
  io().Cancel(op);
  io().Cancel(op);
  EXPECT_FALSE(received) << "called back inside Cancel";
  ASSERT_TRUE(RunUntil([&] { return received.has_value(); }));
  EXPECT_EQ(*received, -ECANCELED);
  io().Cancel(op);  // names nothing any more
  loop_->RunTurn(loop().Now());
  EXPECT_EQ(calls_, 1);
}

TEST_P(RealLoopTest, ConnectAndAcceptMeet) {
  UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  io().Adopt(listener.get());
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener.get(), 8), 0);
  ASSERT_EQ(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);

  UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  io().Adopt(client.get());
  std::optional<int32_t> accepted, connected;
  io().Accept(listener.get(), Keep(accepted));
  io().Connect(client.get(), reinterpret_cast<sockaddr*>(&address), size, Keep(connected));
  ASSERT_TRUE(RunUntil([&] { return accepted && connected; }));
  EXPECT_EQ(*connected, 0);
  ASSERT_GE(*accepted, 0);
  UniqueFd server(*accepted);
  EXPECT_TRUE(::fcntl(server.get(), F_GETFD) & FD_CLOEXEC);

  std::array<std::byte, 8> buffer;
  std::optional<int32_t> received, sent;
  io().Receive(server.get(), buffer, Keep(received));
  io().Send(client.get(), BytesOf("hi"), Keep(sent));
  ASSERT_TRUE(RunUntil([&] { return received && sent; }));
  EXPECT_EQ(*received, 2);
}

TEST_P(RealLoopTest, AConnectToNobodyIsRefused) {
  UniqueFd bound(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(bound.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::getsockname(bound.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  UniqueFd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  io().Adopt(client.get());
  std::optional<int32_t> connected;
  io().Connect(client.get(), reinterpret_cast<sockaddr*>(&address), size, Keep(connected));
  ASSERT_TRUE(RunUntil([&] { return connected.has_value(); }));
  EXPECT_EQ(*connected, -ECONNREFUSED);
}

TEST_P(RealLoopTest, PollTellsWhichEventsHold) {
  Pair pair = SocketPair();
  std::optional<int32_t> readable, writable;
  const OpId waiting = io().Poll(pair.a.get(), POLLIN, Keep(readable));
  io().Poll(pair.a.get(), POLLOUT, Keep(writable));
  ASSERT_TRUE(RunUntil([&] { return writable.has_value(); }));
  EXPECT_EQ(*writable, POLLOUT);
  EXPECT_FALSE(readable);
  std::optional<int32_t> sent;
  io().Send(pair.b.get(), BytesOf("x"), Keep(sent));
  ASSERT_TRUE(RunUntil([&] { return readable.has_value(); }));
  EXPECT_TRUE(*readable & POLLIN);
  io().Cancel(waiting);
}

TEST_P(RealLoopTest, PipesAreReadAndWritten) {
  int fds[2];
  ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  UniqueFd reader(fds[0]), writer(fds[1]);
  io().Adopt(reader.get());
  io().Adopt(writer.get());
  std::array<std::byte, 16> buffer;
  std::optional<int32_t> got, put;
  io().Read(reader.get(), buffer, Keep(got));
  io().Write(writer.get(), BytesOf("through"), Keep(put));
  ASSERT_TRUE(RunUntil([&] { return got && put; }));
  EXPECT_EQ(*got, 7);
}

TEST_P(RealLoopTest, ABadDescriptorIsAnErrorOfTheOperation) {
  std::array<std::byte, 8> buffer;
  std::optional<int32_t> negative, closed;
  io().Read(-1, buffer, Keep(negative));
  UniqueFd fd(::eventfd(0, EFD_CLOEXEC));
  const int number = fd.get();
  fd.Reset();
  io().Read(number, buffer, Keep(closed));
  ASSERT_TRUE(RunUntil([&] { return negative && closed; }));
  EXPECT_EQ(*negative, -EBADF);
  EXPECT_EQ(*closed, -EBADF);
}

TEST_P(RealLoopTest, ADescriptorNumberThatIsUsedAgainIsANewDescriptor) {
  for (int round = 0; round < 20; ++round) {
    Pair pair = SocketPair();
    std::array<std::byte, 8> buffer;
    std::optional<int32_t> received, sent;
    const OpId op = io().Receive(pair.a.get(), buffer, Keep(received));
    loop_->RunTurn(loop().Now());
    if (round % 2 == 0) {
      io().Cancel(op);
    } else {
      io().Send(pair.b.get(), BytesOf("x"), Keep(sent));
    }
    ASSERT_TRUE(RunUntil([&] { return received.has_value(); }));
    EXPECT_EQ(*received, round % 2 == 0 ? -ECANCELED : 1);
    if (round % 2 != 0) {
      ASSERT_TRUE(RunUntil([&] { return sent.has_value(); }));
    }
  }
}

TEST_P(RealLoopTest, OperationsBeyondTheBoundAreRefusedByTheirCallback) {
  loop_ = *MakeEventLoop(GetParam(), clock_, {.operations_max = 2});
  Pair pair = SocketPair();
  std::array<std::byte, 8> buffer;
  std::optional<int32_t> first, second, third;
  const OpId a = io().Receive(pair.a.get(), buffer, Keep(first));
  const OpId b = io().Receive(pair.b.get(), buffer, Keep(second));
  EXPECT_EQ(io().Receive(pair.a.get(), buffer, Keep(third)), OpId{});
  ASSERT_TRUE(RunUntil([&] { return third.has_value(); }));
  EXPECT_EQ(*third, -EBUSY);
  io().Cancel(a);
  io().Cancel(b);
  ASSERT_TRUE(RunUntil([&] { return first && second; }));
}

TEST_P(RealLoopTest, ALongTurnIsReportedWithItsName) {
  loop_ = *MakeEventLoop(GetParam(), clock_, {.stall_threshold = Milliseconds(2)});
  std::optional<Stall> stall;
  std::string doing;
  loop_->OnStall([&](const Stall& s) {
    stall = s;
    doing = s.doing;
  });
  loop().Post([&] {
    ActivityScope scope(loop().activity(), "counting sheep");
    const TimePoint end = After(clock_.Now(), Milliseconds(4));
    while (clock_.Now() < end) {
    }
  });
  ASSERT_TRUE(RunUntil([&] { return stall.has_value(); }));
  EXPECT_EQ(doing, "counting sheep");
  EXPECT_GE(stall->took, Milliseconds(4));
  EXPECT_EQ(loop_->stats().stalls, 1u);
}

TEST_P(RealLoopTest, ALongTurnIsNamedByItsLongestPiece) {
  loop_ = *MakeEventLoop(GetParam(), clock_, {.stall_threshold = Milliseconds(2)});
  std::vector<std::string> doing;
  loop_->OnStall([&](const Stall& s) { doing.emplace_back(s.doing); });
  const auto work = [this](Duration length) {
    const TimePoint end = After(clock_.Now(), length);
    while (clock_.Now() < end) {
    }
  };
  loop().Post([&] {
    ActivityScope scope(loop().activity(), "relist");
    work(Milliseconds(4));
  });
  loop().Post([&] { ActivityScope scope(loop().activity(), "trifle"); });
  ASSERT_TRUE(RunUntil([&] { return doing.size() == 1; }));
  EXPECT_EQ(doing[0], "relist");

  struct Slow final : Deletable {
    UniqueFunction<void()> end;
    ~Slow() override { end(); }
  };
  auto slow = std::make_unique<Slow>();
  slow->end = [&] { work(Milliseconds(4)); };
  loop().DeferDelete(std::move(slow));
  ASSERT_TRUE(RunUntil([&] { return doing.size() == 2; }));
  EXPECT_EQ(doing[1], "deferred deletion");
}

TEST_P(RealLoopTest, ATimerIsNotLateByTheTurnBeforeTheSleep) {
  // A machine that does much else makes some late, but not every one.
  Duration late = Duration::max();
  for (int i = 0; i < 5 && late >= Milliseconds(20); ++i) {
    TimePoint due, ran;
    loop().Post([&] {
      due = After(clock_.Now(), Milliseconds(40));
      loop().Arm(due, [&] { ran = clock_.Now(); });
      const TimePoint end = After(clock_.Now(), Milliseconds(36));
      while (clock_.Now() < end) {
      }
    });
    loop_->RunTurn(clock_.Now());
    // Sleeps until the timer is due, or a little less; unless that was long ago.
    if (ran == TimePoint()) loop_->RunTurn(kNever);
    ASSERT_TRUE(RunUntil([&] { return ran != TimePoint(); }));
    late = ran - due;
  }
  EXPECT_LT(late, Milliseconds(20));
}

TEST_P(RealLoopTest, WhatATimerOwnsMayUseTheLoopWhenBothEnd) {
  int fds[2];
  ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
  struct Owner {
    Loop& loop;
    OpId op;
    ~Owner() {
      loop.io().Cancel(op);
      loop.Post([] {});
      loop.Arm(kNever, [] {});
    }
  };
  std::array<std::byte, 8> buffer;
  io().Adopt(fds[0]);
  auto owner = std::make_unique<Owner>(Owner{loop(), {}});
  owner->op = io().Read(fds[0], buffer, [](int32_t) {});
  loop().Arm(kNever, [owner = std::move(owner)] {});
  loop_.reset();
  ::close(fds[0]);
  ::close(fds[1]);
}

TEST_P(RealLoopTest, WhatWasAcceptedAndNotToldIsClosedWithTheLoop) {
  loop_.reset();
  const size_t before = OpenDescriptors();
  loop_ = *MakeEventLoop(GetParam(), clock_);
  const int listener = io().Socket(AF_INET, SOCK_STREAM);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  sockaddr_storage bound{};
  socklen_t size = sizeof address;
  ASSERT_EQ(io().Listen(listener, reinterpret_cast<sockaddr*>(&address), size, 8), 0);
  ASSERT_EQ(io().LocalAddress(listener, bound, size), 0);
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::connect(client, reinterpret_cast<sockaddr*>(&bound), size), 0);
  // Accepted when the operation is submitted or tried, told in the next turn, which never comes.
  io().Accept(listener, [](int32_t) { ADD_FAILURE(); });
  loop_.reset();
  ::close(client);
  ::close(listener);
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_P(RealLoopTest, ASleepingLoopIsWokenByAnotherThread) {
  struct Box final : Inbox {
    std::atomic<int> mail = 0;
    int delivered = 0;
    bool HasMail() const override { return mail.load() != 0; }
    size_t Deliver(size_t) override {
      const int n = mail.exchange(0);
      delivered += n;
      return static_cast<size_t>(n);
    }
  } box;
  loop_->AddInbox(box);
  constexpr int kRounds = 200;
  std::thread sender([&] {
    for (int i = 0; i < kRounds; ++i) {
      box.mail.fetch_add(1);
      loop_->Notify();
      if (i % 7 == 0) std::this_thread::yield();
    }
  });
  EXPECT_TRUE(RunUntil([&] { return box.delivered == kRounds; }));
  sender.join();
}

// One wake-up at a time, each to a loop that has seen the one before: none is lost or left over.
TEST_P(RealLoopTest, EverySleepIsEndedByItsOwnWakeUp) {
  static constexpr int kRounds = 1000;
  struct Box final : Inbox {
    bool HasMail() const override { return sent.load() != delivered.load(); }
    size_t Deliver(size_t) override {
      if (!HasMail()) return 0;
      ++delivered;
      return 1;
    }
    std::atomic<int> sent = 0, delivered = 0;
  } box;
  loop_->AddInbox(box);
  std::thread sender([&] {
    for (int i = 1; i <= kRounds; ++i) {
      box.sent = i;
      loop_->Notify();
      while (box.delivered != i) std::this_thread::yield();
    }
  });
  const TimePoint begun = clock_.Now();
  while (box.delivered != kRounds) {
    // The turn that delivers the last one sleeps, too, and nobody is left to wake it.
    const bool ends_soon = kRounds - box.delivered < 10;
    loop_->RunTurn(After(clock_.Now(), ends_soon ? Milliseconds(1) : kPatience));
  }
  sender.join();
  EXPECT_LT(clock_.Now() - begun, kPatience) << "a sleep went on to its limit";
}

TEST_P(RealLoopTest, StartingOperationsIsNoReasonToSpin) {
  struct SlowClock final : Clock {
    TimePoint Now() const override { return now += step; }
    WallTime WallNow() const override { return {}; }
    mutable TimePoint now{Seconds(1)};
    Duration step{};
  } clock;
  struct Box final : Inbox {
    bool HasMail() const override { return ++looks == comes_at; }
    size_t Deliver(size_t) override { return 0; }
    mutable int looks = 0;
    int comes_at = 0;
  } box;
  const UniqueFd ready(::eventfd(1, EFD_CLOEXEC));
  auto loop = *MakeEventLoop(GetParam(), clock);
  loop->AddInbox(box);
  box.comes_at = box.looks + 2;  // not yet there before the sleep, there right after it
  loop->RunTurn(After(clock.now, Milliseconds(1)));
  ASSERT_EQ(box.looks, 2);
  clock.step = Milliseconds(1);
  for (int i = 0; i < 20; ++i) {
    loop->io().Poll(ready.get(), POLLIN, [](int32_t) {});
    loop->RunTurn(After(clock.now, Seconds(1)));
  }
  EXPECT_LE(loop->stats().spins, 4u) << "it never tires of looking for mail that does not come";
}

TEST_P(RealLoopTest, ALoopCanGoWithOperationsUnderWay) {
  Pair pair = SocketPair();
  auto buffer = std::make_unique<std::array<std::byte, 8>>();
  io().Receive(pair.a.get(), *buffer, [](int32_t) { FAIL() << "the loop is gone"; });
  loop().Post([] {});
  loop().Arm(After(loop().Now(), Seconds(100)), [] {});
  loop_->RunTurn(loop().Now());
  loop_.reset();
  buffer.reset();
  EXPECT_EQ(::send(pair.b.get(), "late", 4, MSG_NOSIGNAL), 4);
}

}  // namespace
}  // namespace denselet::reactor
