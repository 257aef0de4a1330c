// Cancel at every point of every operation, a hundred thousand times at random: no double
// completion, no lost one, no leaked descriptor.
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <filesystem>
#include <vector>

#include "base/random.h"
#include "reactor/api/io.h"
#include "tests/integration/loop_fixture.h"

namespace denselet::reactor {
namespace {

size_t OpenDescriptors() {
  size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

class CancelStressTest : public LoopTest {
 protected:
  static constexpr int kOperations = 100'000;
  static constexpr size_t kUnderWayMax = 64;

  // A slot holds one connection and at most one operation, with everything it was given.
  struct Slot {
    int a = -1, b = -1;
    OpId op;
    bool busy = false;
    uint64_t number = 0;
    std::array<std::byte, 256> buffer{};
  };

  void Open(Slot& slot) {
    int fds[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    slot.a = fds[0];
    slot.b = fds[1];
    io().Adopt(slot.a);
    io().Adopt(slot.b);
  }
  void Close(Slot& slot) {
    io().Close(slot.a);
    io().Close(slot.b);
  }

  IoDone Done(Slot& slot) {
    slot.busy = true;
    const uint64_t number = ++slot.number;
    return [this, &slot, number](int32_t result) {
      ASSERT_TRUE(slot.busy) << "completed twice";
      ASSERT_EQ(slot.number, number) << "completed for another operation";
      slot.busy = false;
      ++completed_;
      if (result == -ECANCELED) ++cancelled_;
      if (accepting_ && result >= 0) io().Close(result);
    };
  }

  void StartOne(Slot& slot) {
    switch (random_.Below(6)) {
      case 0:
        slot.op = io().Receive(slot.a, slot.buffer, Done(slot));
        break;
      case 1:
        slot.op = io().Send(slot.a, slot.buffer, Done(slot));
        break;
      case 2:
        slot.op = io().Read(slot.a, slot.buffer, Done(slot));
        break;
      case 3:
        slot.op = io().Write(slot.a, slot.buffer, Done(slot));
        break;
      case 4:
        slot.op = io().Poll(slot.a, POLLIN, Done(slot));
        break;
      case 5:
        slot.op = io().Poll(slot.a, POLLOUT | POLLIN, Done(slot));
        break;
    }
  }

  // The other side does something that may complete the operation just as it is cancelled.
  void Disturb(Slot& slot) {
    std::array<char, 512> bytes{};
    if (random_.Below(2) == 0) {
      (void)!::send(slot.b, bytes.data(), 1 + random_.Below(200), MSG_DONTWAIT | MSG_NOSIGNAL);
    } else {
      (void)!::recv(slot.b, bytes.data(), bytes.size(), MSG_DONTWAIT);
    }
  }

  SeededRandom random_{11};
  uint64_t completed_ = 0, cancelled_ = 0;
  bool accepting_ = false;
};
INSTANTIATE_LOOP_TEST(CancelStressTest);

TEST_P(CancelStressTest, StreamsAndPolls) {
  const size_t before = OpenDescriptors();
  std::vector<Slot> slots(kUnderWayMax);
  for (Slot& slot : slots) Open(slot);
  uint64_t started = 0;
  while (started < kOperations) {
    Slot& slot = slots[random_.Below(slots.size())];
    if (!slot.busy) {
      StartOne(slot);
      ++started;
    } else if (random_.Below(2) == 0) {
      io().Cancel(slot.op);
      if (random_.Below(8) == 0) io().Cancel(slot.op);
    }
    if (random_.Below(4) == 0) Disturb(slot);
    if (random_.Below(8) == 0) loop_->RunTurn(loop().Now());
    if (!slot.busy && random_.Below(64) == 0) {
      Close(slot);
      Open(slot);
    }
  }
  for (Slot& slot : slots) io().Cancel(slot.op);
  EXPECT_TRUE(RunUntil([&] { return completed_ == started; }));
  EXPECT_GT(cancelled_, 0u);
  EXPECT_LT(cancelled_, completed_);
  for (Slot& slot : slots) Close(slot);
  EXPECT_EQ(OpenDescriptors(), before);
}

TEST_P(CancelStressTest, AcceptsAndConnects) {
  accepting_ = true;
  const size_t before = OpenDescriptors();
  const int listener = io().Socket(AF_INET, SOCK_STREAM);
  sockaddr_storage address{};
  auto& inet = reinterpret_cast<sockaddr_in&>(address);
  inet.sin_family = AF_INET;
  inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof inet;
  ASSERT_EQ(io().Listen(listener, reinterpret_cast<sockaddr*>(&address), size, 128), 0);
  ASSERT_EQ(io().LocalAddress(listener, address, size), 0);

  constexpr int kConnects = 3000;
  Slot acceptor;
  uint64_t started = 0;
  for (int i = 0; i < kConnects; ++i) {
    if (!acceptor.busy) {
      acceptor.op = io().Accept(listener, Done(acceptor));
      ++started;
    }
    const int client = io().Socket(AF_INET, SOCK_STREAM);
    ASSERT_GE(client, 0);
    // Reset on close: thousands of lingering connections would use up the ports.
    const linger hard{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(client, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    bool connected = false;
    const OpId op = io().Connect(client, reinterpret_cast<sockaddr*>(&address), size, [&](int32_t) {
      EXPECT_FALSE(connected);
      connected = true;
    });
    if (random_.Below(2) == 0) loop_->RunTurn(loop().Now());
    if (random_.Below(2) == 0) io().Cancel(op);
    if (random_.Below(3) == 0) io().Cancel(acceptor.op);
    ASSERT_TRUE(RunUntil([&] { return connected; }));
    io().Close(client);
  }
  io().Cancel(acceptor.op);
  EXPECT_TRUE(RunUntil([&] { return completed_ == started; }));
  io().Close(listener);
  EXPECT_EQ(OpenDescriptors(), before);
}

}  // namespace
}  // namespace denselet::reactor
