// Sockets on every kind of loop that this kernel has: epoll, io_uring, and io_uring as on a kernel
// without multishot receive.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reactor/net/connect.h"
#include "reactor/net/listener.h"
#include "tests/integration/loop_fixture.h"
#include "tests/integration/resources.h"

namespace denselet::net {

enum class LoopKind : uint8_t { kEpoll, kUring, kUringWithoutMultishot };

inline std::vector<LoopKind> AvailableLoops() {
  if (reactor::AvailableBackends().size() == 1) return {LoopKind::kEpoll};
  return {LoopKind::kEpoll, LoopKind::kUring, LoopKind::kUringWithoutMultishot};
}

inline std::string NameOfLoop(const testing::TestParamInfo<LoopKind>& info) {
  switch (info.param) {
    case LoopKind::kEpoll:
      return "epoll";
    case LoopKind::kUring:
      return "uring";
    case LoopKind::kUringWithoutMultishot:
      return "uring_without_multishot";
  }
  return "?";
}

using reactor::OpenDescriptors;

// Keeps what a stream tells.
struct Recorder final : StreamUser {
  explicit Recorder(std::unique_ptr<Stream> s = nullptr) { Take(std::move(s)); }

  void Take(std::unique_ptr<Stream> s) {
    stream = std::move(s);
    if (stream != nullptr) stream->Use(*this);
  }

  void OnReceived(std::span<const std::byte> data) override {
    EXPECT_FALSE(broken);
    EXPECT_FALSE(ended);
    received.append(reinterpret_cast<const char*>(data.data()), data.size());
    if (on_received) on_received();
  }
  void OnReceiveEnd() override { ended = true; }
  void OnRoom() override {
    ++rooms;
    if (on_room) on_room();
  }
  void OnBroken(const Error& reason) override {
    EXPECT_FALSE(broken);
    broken = reason;
  }

  std::unique_ptr<Stream> stream;
  std::string received;
  bool ended = false;
  int rooms = 0;
  std::optional<Error> broken;
  UniqueFunction<void()> on_received, on_room;
};

class NetTest : public testing::TestWithParam<LoopKind> {
 protected:
  NetTest() {
    const bool epoll = GetParam() == LoopKind::kEpoll;
    loop_ = *reactor::MakeEventLoop(
        epoll ? reactor::Backend::kEpoll : reactor::Backend::kUring, clock_,
        {.multishot_receive = GetParam() != LoopKind::kUringWithoutMultishot});
  }

  reactor::EventLoop& loop() { return *loop_; }

  template <class Predicate>
  [[nodiscard]] bool RunUntil(Predicate done) {
    return reactor::RunLoopUntil(*loop_, clock_, std::move(done));
  }
  void RunTurns(int turns) {
    for (int i = 0; i < turns; ++i) loop_->RunTurn(loop_->Now());
  }

  Result<std::unique_ptr<Socket>> ConnectNow(const Address& address, const Context& context = {}) {
    std::optional<Result<std::unique_ptr<Socket>>> result;
    Connect(loop(), context, address, [&](Result<std::unique_ptr<Socket>> r) {
      EXPECT_FALSE(result.has_value()) << "called back twice";
      result.emplace(std::move(r));
    });
    EXPECT_FALSE(result.has_value()) << "called back inside the call";
    if (!RunUntil([&] { return result.has_value(); })) std::abort();
    return std::move(*result);
  }

  // Both ends of a connection to `address`.
  void MakePair(Recorder& client, Recorder& server,
                const Address& address = *Address::Parse("127.0.0.1:0")) {
    std::unique_ptr<Socket> accepted;
    auto listener = Listener::Open(loop(), address,
                                   [&](std::unique_ptr<Socket> s) { accepted = std::move(s); });
    ASSERT_TRUE(listener) << listener.error().message();
    auto connected = ConnectNow((*listener)->address());
    ASSERT_TRUE(connected) << connected.error().message();
    ASSERT_TRUE(RunUntil([&] { return accepted != nullptr; }));
    client.Take(std::move(*connected));
    server.Take(std::move(accepted));
  }

  const size_t descriptors_before_ = OpenDescriptors();
  reactor::RealClock clock_;
  std::unique_ptr<reactor::EventLoop> loop_;
};

}  // namespace denselet::net

#define INSTANTIATE_NET_TEST(Fixture)                                                            \
  INSTANTIATE_TEST_SUITE_P(Loops, Fixture, testing::ValuesIn(::denselet::net::AvailableLoops()), \
                           ::denselet::net::NameOfLoop)
