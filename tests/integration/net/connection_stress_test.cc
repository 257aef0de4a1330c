// Ten thousand connections, opened, cancelled and closed at random points against a peer in another
// process: no descriptor, no operation and no memory is left.
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "tests/integration/net/net_fixture.h"

namespace denselet::net {
namespace {

// Sends back what it gets. Some connections it resets, some it leaves unread.
class Echo final : public StreamUser, public reactor::Deletable {
 public:
  Echo(reactor::Loop& loop, std::unique_ptr<Stream> stream, uint64_t mood)
      : loop_(loop), stream_(std::move(stream)), mood_(mood) {
    stream_->Use(*this);
    if (mood_ == 1) stream_->Hold();
  }

 private:
  void OnReceived(std::span<const std::byte> data) override {
    if (mood_ == 0) return End();
    stream_->Send({reinterpret_cast<const char*>(data.data()), data.size()});
  }
  void OnReceiveEnd() override { stream_->SendEnd(), End(); }
  void OnRoom() override {}
  void OnBroken(const Error&) override { End(); }

  void End() {
    stream_->Close();
    loop_.DeferDelete(std::move(stream_));
    loop_.DeferDelete(std::unique_ptr<Deletable>(this));
  }

  reactor::Loop& loop_;
  std::unique_ptr<Stream> stream_;
  const uint64_t mood_;
};

// The peer: a process of its own that ends with this one.
class EchoProcess {
 public:
  EchoProcess() {
    int ready[2];
    EXPECT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) Run(ready[1]);
    uint16_t port = 0;
    EXPECT_EQ(::read(ready[0], &port, sizeof port), static_cast<ssize_t>(sizeof port));
    ::close(ready[0]);
    ::close(ready[1]);
    address_ = Address::Ip("127.0.0.1", port);
  }
  ~EchoProcess() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  const Address& address() const { return *address_; }

 private:
  [[noreturn]] static void Run(int ready) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const reactor::RealClock clock;
    const auto loop = *reactor::MakeEventLoop(reactor::Backend::kEpoll, clock);
    SeededRandom random(5);
    auto listener =
        Listener::Open(*loop, *Address::Parse("127.0.0.1:0"), [&](std::unique_ptr<Socket> socket) {
          new Echo(*loop, std::move(socket), random.Below(10));  // ends itself
        });
    const uint16_t port = (*listener)->address().port();
    if (::write(ready, &port, sizeof port) != sizeof port) ::_exit(1);
    loop->Run();
    ::_exit(0);
  }

  pid_t pid_ = -1;
  Result<Address> address_ = Error(ErrorCode::kBug, "");
};

class ConnectionStressTest : public NetTest {
 protected:
  static constexpr int kConnections = 10'000;
  static constexpr size_t kAtOnceMax = 2'000;

  struct Slot {
    enum class State : uint8_t { kFree, kConnecting, kOpen };
    State state = State::kFree;
    std::unique_ptr<CancelSource> cancel;
    Recorder user;
  };

  void Open(Slot& slot, const Address& address) {
    ++opened_;
    slot.state = Slot::State::kConnecting;
    slot.cancel = std::make_unique<CancelSource>();
    slot.user = Recorder();
    Context context;
    context.cancel = slot.cancel->token();
    if (random_.Below(20) == 0) {
      context.deadline = After(loop().Now(), Milliseconds(static_cast<int64_t>(random_.Below(3))));
    }
    Connect(loop(), context, address, [&](Result<std::unique_ptr<Socket>> socket) {
      ASSERT_EQ(slot.state, Slot::State::kConnecting);
      if (!socket) {
        ++failed_;
        slot.state = Slot::State::kFree;
        return;
      }
      slot.state = Slot::State::kOpen;
      ++connected_;
      // Reset on close: thousands of lingering connections would use up the ports.
      const linger hard{.l_onoff = 1, .l_linger = 0};
      ::setsockopt((*socket)->fd(), SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
      slot.user.Take(std::move(*socket));
    });
  }

  void Disturb(Slot& slot) {
    Stream& stream = *slot.user.stream;
    switch (random_.Below(6)) {
      case 0:
      case 1:
        return stream.Send(std::string(1 + random_.Below(5000), 'x'));
      case 2:
        return stream.Hold();
      case 3:
        return stream.Resume();
      case 4:
        return stream.SendEnd();
      case 5:
        stream.Close();
        slot.user.stream.reset();
        slot.state = Slot::State::kFree;
        return;
    }
  }

  void Round(const Address& address) {
    opened_ = connected_ = failed_ = 0;
    std::vector<Slot> slots(kAtOnceMax);
    while (opened_ < kConnections) {
      Slot& slot = slots[random_.Below(slots.size())];
      switch (slot.state) {
        case Slot::State::kFree:
          Open(slot, address);
          break;
        case Slot::State::kConnecting:
          if (random_.Below(4) == 0) slot.cancel->Cancel();
          break;
        case Slot::State::kOpen:
          Disturb(slot);
          break;
      }
      if (random_.Below(16) == 0) loop().RunTurn(loop().Now());
    }
    for (Slot& slot : slots) {
      if (slot.state == Slot::State::kConnecting) slot.cancel->Cancel();
    }
    EXPECT_TRUE(RunUntil([&] { return connected_ + failed_ == opened_; }));
    for (Slot& slot : slots) slot.user.stream.reset();
    EXPECT_TRUE(RunUntil([&] { return loop().operations() == 0; }));
    loop().RunTurn(loop().Now());
  }

  SeededRandom random_{17};
  int opened_ = 0, connected_ = 0, failed_ = 0;
};
INSTANTIATE_NET_TEST(ConnectionStressTest);

TEST_P(ConnectionStressTest, LeavesNoDescriptorOperationOrMemory) {
  const EchoProcess peer;
  Round(peer.address());
  EXPECT_GT(connected_, 1000);
  EXPECT_GT(failed_, 100);
  const size_t descriptors = OpenDescriptors();
  const size_t bytes = ::mallinfo2().uordblks;
  Round(peer.address());
  EXPECT_EQ(OpenDescriptors(), descriptors);
  // Tables may have grown a little further; a leak of a connection would be ten thousand of them.
  EXPECT_LT(::mallinfo2().uordblks, bytes + 256 * 1024);
}

}  // namespace
}  // namespace denselet::net
