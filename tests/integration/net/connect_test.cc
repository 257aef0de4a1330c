#include "reactor/net/connect.h"

#include <netinet/in.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/integration/net/net_fixture.h"

namespace denselet::net {
namespace {

using ConnectTest = NetTest;
INSTANTIATE_NET_TEST(ConnectTest);

// A listener that accepts nobody, its queue full: further connects wait for an answer that does not
// come.
class FullListener {
 public:
  FullListener() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 0), 0);
    sockaddr_storage bound{};
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&bound), &size), 0);
    address_ = Address::From(bound, size);
    for (int& fd : waiting_) {
      fd = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      (void)::connect(fd, address_->get(), address_->size());
    }
  }
  ~FullListener() {
    for (const int fd : waiting_) ::close(fd);
    ::close(listener_);
  }
  const Address& address() const { return *address_; }

 private:
  const int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  Result<Address> address_ = Error(ErrorCode::kBug, "");
  std::array<int, 4> waiting_{};
};

TEST_P(ConnectTest, ARefusalNamesTheAddress) {
  Address nobody = *Address::Parse("127.0.0.1:1");
  {
    auto listener = Listener::Open(loop(), *Address::Parse("127.0.0.1:0"), [](auto) {});
    nobody = (*listener)->address();
  }
  ASSERT_TRUE(RunUntil([&] { return loop().operations() == 0; }));
  const auto refused = ConnectNow(nobody);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(refused.error().message(),
            "connect to \"" + nobody.ToString() + "\": connect: Connection refused");
}

TEST_P(ConnectTest, ADeadlineEndsTheWait) {
  const FullListener full;
  const size_t before = OpenDescriptors();
  const auto late =
      ConnectNow(full.address(), Context{}.WithTimeout(clock_.Now(), Milliseconds(30)));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), ErrorCode::kDeadlineExceeded);
  EXPECT_TRUE(RunUntil([&] { return OpenDescriptors() == before; }));
  const auto at_once = ConnectNow(full.address(), Context{}.WithTimeout(loop().Now(), {}));
  EXPECT_EQ(at_once.error().code(), ErrorCode::kDeadlineExceeded);
}

TEST_P(ConnectTest, ACancelEndsTheWait) {
  const FullListener full;
  const size_t before = OpenDescriptors();
  CancelSource source;
  std::optional<ErrorCode> code;
  Context context;
  context.cancel = source.token();
  Connect(loop(), context, full.address(),
          [&](Result<std::unique_ptr<Socket>> result) { code = result.error().code(); });
  RunTurns(3);
  EXPECT_FALSE(code);
  source.Cancel();
  EXPECT_FALSE(code) << "called back inside the call";
  ASSERT_TRUE(RunUntil([&] { return code.has_value(); }));
  EXPECT_EQ(code, ErrorCode::kCancelled);
  EXPECT_TRUE(RunUntil([&] { return OpenDescriptors() == before; }));
  EXPECT_EQ(ConnectNow(full.address(), context).error().code(), ErrorCode::kCancelled);
}

TEST_P(ConnectTest, AUnixListenerWithAFullQueueIsWaitedFor) {
  const std::string path = testing::TempDir() + "/connect_test_" + std::to_string(::getpid());
  ::unlink(path.c_str());
  const Address address = *Address::Unix(path);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(listener, address.get(), address.size()), 0);
  ASSERT_EQ(::listen(listener, 0), 0);
  const auto first = ConnectNow(address);
  ASSERT_TRUE(first);
  std::optional<bool> connected;
  Connect(loop(), {}, address, [&](auto result) { connected = static_cast<bool>(result); });
  for (int i = 0; i < 5; ++i) loop().RunTurn(After(clock_.Now(), Milliseconds(5)));
  EXPECT_FALSE(connected);
  ::close(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
  ASSERT_TRUE(RunUntil([&] { return connected.has_value(); }));
  EXPECT_TRUE(*connected);
  ::close(listener);
  ::unlink(path.c_str());
}

TEST_P(ConnectTest, WithoutDescriptorsTheListenerWaitsAndGoesOn) {
  int accepted = 0;
  auto listener = Listener::Open(loop(), *Address::Parse("127.0.0.1:0"), [&](auto) { ++accepted; });
  ASSERT_TRUE(listener);
  const auto client = ConnectNow((*listener)->address());
  ASSERT_TRUE(RunUntil([&] { return accepted == 1; }));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int raw = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const Address& address = (*listener)->address();
  EXPECT_EQ(::connect(raw, address.get(), address.size()), 0);
  const uint64_t turns = loop().stats().turns;
  const TimePoint until = After(clock_.Now(), Milliseconds(50));
  while (clock_.Now() < until) loop().RunTurn(until);
  EXPECT_LT(loop().stats().turns - turns, 100u) << "it spins";
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(accepted, 1);
  EXPECT_TRUE(RunUntil([&] { return accepted == 2; }));
  ::close(raw);
}

TEST_P(ConnectTest, AHeldListenerAcceptsNobody) {
  int accepted = 0;
  auto listener = Listener::Open(loop(), *Address::Parse("127.0.0.1:0"), [&](auto) { ++accepted; });
  ASSERT_TRUE(listener);
  (*listener)->Hold();
  RunTurns(3);
  const auto client = ConnectNow((*listener)->address());
  RunTurns(10);
  EXPECT_EQ(accepted, 0);
  (*listener)->Resume();
  EXPECT_TRUE(RunUntil([&] { return accepted == 1; }));
}

TEST_P(ConnectTest, AnAddressInUseIsNamed) {
  auto first = Listener::Open(loop(), *Address::Parse("127.0.0.1:0"), [](auto) {});
  ASSERT_TRUE(first);
  const auto second = Listener::Open(loop(), (*first)->address(), [](auto) {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message(),
            "listen on " + (*first)->address().ToString() + ": Address already in use");
}

}  // namespace
}  // namespace denselet::net
