// Cancel at every point of every I/O operation, a hundred thousand times at random: before it
// began, while it waits, as it completes, inside callbacks. No double completion, no lost one, no
// descriptor and no memory kept. The same for what is built on them stands with each: blocking
// pool, files, batch reader, processes.
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <vector>

#include "base/random.h"
#include "reactor/api/io.h"
#include "tests/integration/loop_fixture.h"
#include "tests/integration/resources.h"

namespace denselet::reactor {
namespace {

class CancelStressTest : public LoopTest {
 protected:
  static constexpr uint64_t kOperations = 100'000;
  static constexpr size_t kUnderWayMax = 64;

  enum class Pair : uint8_t { kSockets, kPipeReader, kPipeWriter };

  // A slot holds one connection or pipe and at most one operation, with everything it was given.
  struct Slot {
    Pair pair = Pair::kSockets;
    int ours = -1, other = -1;
    bool spent = false;  // the other side has ended
    OpId op;
    bool busy = false;
    uint64_t number = 0;
    std::array<std::byte, 256> buffer{};
  };

  // The other side is the test's own and does not wait.
  void Open(Slot& slot) {
    int fds[2];
    slot.pair = static_cast<Pair>(random_.Below(3));
    if (slot.pair == Pair::kSockets) {
      ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    } else {
      ASSERT_EQ(::pipe2(fds, O_CLOEXEC), 0);
    }
    slot.ours = slot.pair == Pair::kPipeWriter ? fds[1] : fds[0];
    slot.other = slot.pair == Pair::kPipeWriter ? fds[0] : fds[1];
    slot.spent = false;
    ASSERT_EQ(::fcntl(slot.other, F_SETFL, O_NONBLOCK), 0);
    io().Adopt(slot.ours);
  }
  void Close(Slot& slot) {
    io().Close(slot.ours);
    ::close(slot.other);
  }

  void Completed(Slot& slot, uint64_t number, int32_t result) {
    ASSERT_TRUE(slot.busy) << "completed twice";
    ASSERT_EQ(slot.number, number) << "completed for another operation";
    slot.busy = false;
    ++completed_;
    if (result == -ECANCELED) ++cancelled_;
    ActInCallback();
    if (!slot.busy && !slot.spent && started_ < wanted_ && random_.Below(4) == 0) StartOne(slot);
  }
  void ActInCallback() {
    if (random_.Below(4) == 0) io().Cancel(slots_[random_.Below(slots_.size())].op);
  }

  IoDone Done(Slot& slot) {
    return [this, &slot, number = slot.number](int32_t result) { Completed(slot, number, result); };
  }
  IoReceived Received(Slot& slot) {
    return [this, &slot, number = slot.number](int32_t result, std::span<const std::byte> data) {
      if (result <= 0) {
        EXPECT_TRUE(data.empty());
        return Completed(slot, number, result);
      }
      ASSERT_TRUE(slot.busy) << "bytes after the end";
      ASSERT_EQ(slot.number, number) << "bytes of another operation";
      ASSERT_EQ(data.size(), static_cast<size_t>(result));
      ++received_;
      ActInCallback();
      if (random_.Below(4) == 0) io().Cancel(slot.op);
    };
  }

  void StartOne(Slot& slot) {
    ++started_;
    ++slot.number;
    slot.busy = true;
    const bool sockets = slot.pair == Pair::kSockets;
    const bool reads = slot.pair == Pair::kPipeReader || (sockets && random_.Below(2) == 0);
    switch (random_.Below(sockets ? 4 : 2)) {
      case 0:
        slot.op = io().Poll(slot.ours, reads ? POLLIN : POLLOUT | POLLIN, Done(slot));
        break;
      case 1:
        slot.op = reads ? io().Read(slot.ours, slot.buffer, Done(slot))
                        : io().Write(slot.ours, slot.buffer, Done(slot));
        break;
      case 2:
        slot.op = reads ? io().Receive(slot.ours, slot.buffer, Done(slot))
                        : io().Send(slot.ours, slot.buffer, Done(slot));
        break;
      case 3:
        slot.op = io().ReceiveStream(slot.ours, Received(slot));
        break;
    }
  }

  // The other side does something that may complete the operation just as it is cancelled.
  void Disturb(Slot& slot) {
    std::array<char, 512> bytes{};
    if (slot.pair != Pair::kPipeWriter && !slot.spent && random_.Below(2) == 0) {
      (void)!::write(slot.other, bytes.data(), 1 + random_.Below(200));
    } else if (slot.pair != Pair::kPipeReader) {
      (void)!::read(slot.other, bytes.data(), bytes.size());
    }
    if (slot.pair == Pair::kSockets && random_.Below(32) == 0) {
      ::shutdown(slot.other, SHUT_WR);
      slot.spent = true;
    }
  }

  void RunStreams(uint64_t operations) {
    slots_ = std::vector<Slot>(kUnderWayMax);
    for (Slot& slot : slots_) Open(slot);
    wanted_ = started_ + operations;
    while (started_ < wanted_ && !HasFatalFailure()) {
      Slot& slot = slots_[random_.Below(slots_.size())];
      if (!slot.busy) {
        StartOne(slot);
      } else if (random_.Below(2) == 0) {
        io().Cancel(slot.op);
        if (random_.Below(8) == 0) io().Cancel(slot.op);
      }
      if (random_.Below(4) == 0) Disturb(slot);
      if (random_.Below(8) == 0) loop_->RunTurn(loop().Now());
      if (!slot.busy && (slot.spent || random_.Below(64) == 0)) {
        Close(slot);
        Open(slot);
      }
    }
    for (Slot& slot : slots_) io().Cancel(slot.op);
    EXPECT_TRUE(RunUntil([&] { return completed_ == started_; }));
    for (Slot& slot : slots_) Close(slot);
    slots_ = {};
  }

  void TestStreams() {
    const size_t before = OpenDescriptors();
    RunStreams(kOperations);
    const size_t bytes_before = BytesInUse();
    RunStreams(kOperations);
    EXPECT_LE(BytesInUse(), bytes_before + kKeptBytesMax);
    EXPECT_GT(cancelled_, completed_ / 10);
    EXPECT_LT(cancelled_, completed_);
    EXPECT_GT(received_, 0u);
    EXPECT_EQ(OpenDescriptors(), before);
  }

  SeededRandom random_{11};
  std::vector<Slot> slots_;
  uint64_t wanted_ = 0, started_ = 0, completed_ = 0, cancelled_ = 0, received_ = 0;
};
INSTANTIATE_LOOP_TEST(CancelStressTest);

TEST_P(CancelStressTest, StreamsPipesAndPolls) { TestStreams(); }

// Where there is io_uring: with epoll it would be the same again.
class CancelStressOldKernelTest : public CancelStressTest {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CancelStressOldKernelTest);
INSTANTIATE_TEST_SUITE_P(Loops, CancelStressOldKernelTest, testing::ValuesIn(UringIfAvailable()),
                         NameOfBackend);

TEST_P(CancelStressOldKernelTest, StreamsPipesAndPolls) {
  loop_ = *MakeEventLoop(GetParam(), clock_, {.multishot_receive = false});
  TestStreams();
}

TEST_P(CancelStressTest, AcceptsAndConnects) {
  const size_t before = OpenDescriptors();
  const int listener = io().Socket(AF_INET, SOCK_STREAM);
  sockaddr_storage address{};
  auto& inet = reinterpret_cast<sockaddr_in&>(address);
  inet.sin_family = AF_INET;
  inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof inet;
  ASSERT_EQ(io().Listen(listener, reinterpret_cast<sockaddr*>(&address), size, 128), 0);
  ASSERT_EQ(io().LocalAddress(listener, address, size), 0);

  constexpr int kConnects = 20'000;
  OpId accept;
  bool accepting = false;
  uint64_t accepted = 0, accepts_cancelled = 0, connected = 0;
  size_t bytes_half_way = 0;
  for (int i = 0; i < kConnects; ++i) {
    if (i == kConnects / 2) bytes_half_way = BytesInUse();
    if (!accepting) {
      accepting = true;
      accept = io().Accept(listener, [&](int32_t result) {
        EXPECT_TRUE(accepting) << "completed twice";
        accepting = false;
        ++(result >= 0 ? accepted : accepts_cancelled);
        if (result >= 0) io().Close(result);
      });
    }
    const int client = io().Socket(AF_INET, SOCK_STREAM);
    ASSERT_GE(client, 0);
    // Reset on close: thousands of lingering connections would use up the ports.
    const linger hard{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(client, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    bool ended = false;
    const OpId op =
        io().Connect(client, reinterpret_cast<sockaddr*>(&address), size, [&](int32_t result) {
          EXPECT_FALSE(ended) << "completed twice";
          ended = true;
          connected += result == 0;
        });
    if (random_.Below(2) == 0) loop_->RunTurn(loop().Now());
    if (random_.Below(2) == 0) io().Cancel(op);
    if (random_.Below(3) == 0) io().Cancel(accept);
    ASSERT_TRUE(RunUntil([&] { return ended; }));
    io().Close(client);
  }
  io().Cancel(accept);
  EXPECT_TRUE(RunUntil([&] { return !accepting; }));
  EXPECT_LE(BytesInUse(), bytes_half_way + kKeptBytesMax);
  EXPECT_GT(connected, 0u);
  EXPECT_GT(accepted, 0u);
  EXPECT_GT(accepts_cancelled, 0u);
  io().Close(listener);
  EXPECT_EQ(OpenDescriptors(), before);
}

}  // namespace
}  // namespace denselet::reactor
