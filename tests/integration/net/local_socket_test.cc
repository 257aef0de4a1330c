#include "reactor/net/local_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>

#include "reactor/net/http1/server.h"
#include "reactor/unique_fd.h"
#include "tests/integration/net/net_fixture.h"

namespace denselet::net {
namespace {

class LocalSocketTest : public testing::Test {
 protected:
  LocalSocketTest() {
    std::string folder = testing::TempDir() + "/local_socket_XXXXXX";
    folder_ = ::mkdtemp(folder.data());
    path_ = folder_ + "/agent.sock";
  }
  ~LocalSocketTest() override {
    for (const char* const name : {"", ".lock", ".new"}) ::unlink((path_ + name).c_str());
    ::rmdir(folder_.c_str());
  }

  std::optional<struct stat> Look(const std::string& path) const {
    struct stat found = {};
    if (::lstat(path.c_str(), &found) != 0) return std::nullopt;
    return found;
  }
  // What a client gets: 0, or errno.
  int TryToConnect() const {
    const reactor::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
    const Address address = *Address::Unix(path_);
    return ::connect(fd.get(), address.get(), address.size()) == 0 ? 0 : errno;
  }
  // A socket file that nobody listens on, as one leaves behind who was killed.
  void LeaveStale(const std::string& path) const {
    const reactor::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM, 0));
    const Address address = *Address::Unix(path);
    ASSERT_EQ(::bind(fd.get(), address.get(), address.size()), 0);
  }

  std::string folder_, path_;
};

TEST_F(LocalSocketTest, IsForItsOwnerOnlyWhateverTheUmask) {
  for (const mode_t mask : {0, 022, 077}) {
    const mode_t before = ::umask(mask);
    const auto socket = LocalSocket::Open(path_);
    ::umask(before);
    ASSERT_TRUE(socket) << socket.error().message();
    const auto found = Look(path_);
    ASSERT_TRUE(found);
    EXPECT_TRUE(S_ISSOCK(found->st_mode));
    EXPECT_EQ(found->st_mode & 0777, 0600u);
    EXPECT_EQ(TryToConnect(), 0);
    EXPECT_FALSE(Look(path_ + ".new"));
  }
}

TEST_F(LocalSocketTest, LeavesNothingThatLooksAlive) {
  {
    const auto socket = LocalSocket::Open(path_);
    ASSERT_TRUE(socket);
  }
  EXPECT_FALSE(Look(path_));
  EXPECT_EQ(TryToConnect(), ENOENT);
}

TEST_F(LocalSocketTest, ReplacesWhatADeadOneLeft) {
  LeaveStale(path_);
  LeaveStale(path_ + ".new");
  EXPECT_EQ(TryToConnect(), ECONNREFUSED);
  const auto socket = LocalSocket::Open(path_);
  ASSERT_TRUE(socket) << socket.error().message();
  EXPECT_EQ(TryToConnect(), 0);
}

TEST_F(LocalSocketTest, NeverReplacesOneThatSomebodyListensOn) {
  // Of somebody who knows nothing of our lock.
  const reactor::UniqueFd theirs(::socket(AF_UNIX, SOCK_STREAM, 0));
  const Address address = *Address::Unix(path_);
  ASSERT_EQ(::bind(theirs.get(), address.get(), address.size()), 0);
  ASSERT_EQ(::listen(theirs.get(), 0), 0);
  const auto before = Look(path_);
  // Also when its line of connections is full.
  const reactor::UniqueFd first(::socket(AF_UNIX, SOCK_STREAM, 0));
  ASSERT_EQ(::connect(first.get(), address.get(), address.size()), 0);
  for (int i = 0; i < 3; ++i) {
    const auto socket = LocalSocket::Open(path_);
    ASSERT_FALSE(socket);
    EXPECT_EQ(socket.error().code(), ErrorCode::kAlreadyExists);
    EXPECT_EQ(Look(path_)->st_ino, before->st_ino);
  }
}

TEST_F(LocalSocketTest, IsHeldByOneAtATime) {
  std::optional<LocalSocket> first;
  first.emplace(*LocalSocket::Open(path_));
  const auto second = LocalSocket::Open(path_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code(), ErrorCode::kAlreadyExists);
  EXPECT_EQ(TryToConnect(), 0);
  first.reset();
  EXPECT_TRUE(LocalSocket::Open(path_));
}

TEST_F(LocalSocketTest, RemovesNothingThatIsNoSocket) {
  std::ofstream(path_) << "mine";
  const auto socket = LocalSocket::Open(path_);
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error().code(), ErrorCode::kAlreadyExists);
  EXPECT_TRUE(S_ISREG(Look(path_)->st_mode));
}

TEST_F(LocalSocketTest, LeavesWhatSomebodyElsePutInItsPlace) {
  {
    const auto socket = LocalSocket::Open(path_);
    ASSERT_TRUE(socket);
    ASSERT_EQ(::unlink(path_.c_str()), 0);
    std::ofstream(path_) << "mine";
  }
  EXPECT_TRUE(Look(path_));
}

TEST_F(LocalSocketTest, RefusesAPathThatIsTooLong) {
  const auto socket = LocalSocket::Open(folder_ + "/" + std::string(120, 'x'));
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error().code(), ErrorCode::kInvalid);
}

// The server takes over a socket that listens already.
class ListenOnTest : public NetTest {
 protected:
  struct Service final : HttpService {
    void OnRequest(HttpRequest request, HttpServerExchange exchange) override {
      exchange.Respond(200, "text/plain", request.target);
    }
  };
};
INSTANTIATE_NET_TEST(ListenOnTest);

TEST_P(ListenOnTest, ServesAConnectionThatCameBeforeTheServer) {
  const std::string path = testing::TempDir() + "/listen_on_" + std::to_string(::getpid());
  auto socket = LocalSocket::Open(path);
  ASSERT_TRUE(socket) << socket.error().message();
  Recorder client;
  Connect(*loop_, {}, socket->address(),
          [&](Result<std::unique_ptr<Socket>> connected) { client.Take(*std::move(connected)); });
  ASSERT_TRUE(RunUntil([&] { return client.stream != nullptr; }));
  client.stream->Send("GET /early HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  Service service;
  Http1Server server(*loop_, service, {});
  server.ListenOn(socket->Take(), socket->address());
  ASSERT_TRUE(RunUntil([&] { return client.ended; }));
  EXPECT_NE(client.received.find("/early"), std::string::npos) << client.received;
  ::unlink((path + ".lock").c_str());
}

}  // namespace
}  // namespace denselet::net
