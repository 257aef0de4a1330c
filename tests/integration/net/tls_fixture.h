// A client and a server of TLS on one loop, and what tests ask them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reactor/net/connect.h"
#include "reactor/net/listener.h"
#include "reactor/net/tls/tls_connect.h"
#include "tests/integration/loop_fixture.h"
#include "tests/tls/certificates.h"
#include "tests/tls/memory_stream.h"
#include "tests/tls/openssl_server.h"
#include "tests/tls/tls_server.h"

namespace denselet::net {

// Keeps what it hears.
class TlsRecorder final : public StreamUser {
 public:
  void OnReceived(std::span<const std::byte> data) override {
    received.append(reinterpret_cast<const char*>(data.data()), data.size());
    ++calls;
    if (hold_after_each) stream->Hold();
    if (close_after_bytes > 0 && received.size() >= close_after_bytes) stream->Close();
  }
  void OnReceiveEnd() override { ++ends; }
  void OnRoom() override { ++rooms; }
  void OnBroken(const Error& reason) override { broken = reason; }

  bool over() const { return ends > 0 || broken.has_value(); }

  std::string received;
  std::optional<Error> broken;
  int calls = 0, ends = 0, rooms = 0;
  Stream* stream = nullptr;
  bool hold_after_each = false;
  size_t close_after_bytes = 0;
};

class TlsTest : public reactor::LoopTest {
 protected:
  using Answer = std::optional<Result<std::unique_ptr<TlsStream>>>;

  TlsClientOptions Trusting(const Identity& authority) const {
    TlsClientOptions options;
    options.authorities = authority.pem;
    return options;
  }

  // A connected pair of sockets: ours, then the server's.
  std::pair<std::unique_ptr<Socket>, std::unique_ptr<Socket>> ConnectedPair() {
    std::unique_ptr<Socket> client, server;
    auto listener = *Listener::Open(loop(), *Address::Ip("127.0.0.1", 0),
                                    [&](std::unique_ptr<Socket> s) { server = std::move(s); });
    Connect(loop(), {}, listener->address(), [&](Result<std::unique_ptr<Socket>> result) {
      EXPECT_TRUE(result) << result.error().message();
      if (result) client = *std::move(result);
    });
    EXPECT_TRUE(RunUntil([&] { return client != nullptr && server != nullptr; }));
    return {std::move(client), std::move(server)};
  }

  std::unique_ptr<Socket> ConnectTo(const Address& address) {
    std::unique_ptr<Socket> client;
    bool answered = false;
    Connect(loop(), {}, address, [&](Result<std::unique_ptr<Socket>> result) {
      answered = true;
      EXPECT_TRUE(result) << result.error().message();
      if (result) client = *std::move(result);
    });
    EXPECT_TRUE(RunUntil([&] { return answered; }));
    return client;
  }

  Answer Handshake(std::unique_ptr<Stream> below, TlsClient& client, const std::string& name,
                   const Context& context = {}) {
    Answer answer;
    TlsConnect(loop(), context, std::move(below), client, name,
               [&](Result<std::unique_ptr<TlsStream>> result) { answer = std::move(result); });
    EXPECT_FALSE(answer) << "called back inside the call";
    EXPECT_TRUE(RunUntil([&] { return answer.has_value(); }));
    return answer;
  }

  // Up, with `user` in use; null when the handshake failed, which fails the test.
  std::unique_ptr<TlsStream> Up(std::unique_ptr<Stream> below, TlsClient& client,
                                const std::string& name, TlsRecorder& user) {
    Answer answer = Handshake(std::move(below), client, name);
    if (!answer || !*answer) {
      ADD_FAILURE() << (answer ? answer->error().message() : "no answer");
      return nullptr;
    }
    std::unique_ptr<TlsStream> stream = **std::move(answer);
    user.stream = stream.get();
    stream->Use(user);
    return stream;
  }

  // Both ends of one connection over a pair of sockets.
  struct Connection {
    std::unique_ptr<TlsServer> server;
    std::unique_ptr<TlsStream> client;
    TlsRecorder user;
  };
  std::unique_ptr<Connection> Connected(TlsClient& client, ssl_ctx_st* context) {
    auto connection = std::make_unique<Connection>();
    auto [ours, theirs] = ConnectedPair();
    connection->server = std::make_unique<TlsServer>(std::move(theirs), context);
    connection->client = Up(std::move(ours), client, "localhost", connection->user);
    EXPECT_TRUE(RunUntil([&] { return connection->server->established(); }));
    return connection;
  }
  // In memory, in pieces of that size.
  std::unique_ptr<Connection> ConnectedInMemory(TlsClient& client, ssl_ctx_st* context,
                                                size_t piece_bytes) {
    auto connection = std::make_unique<Connection>();
    auto [ours, theirs] = MemoryStream::MakePair(loop(), piece_bytes);
    connection->server = std::make_unique<TlsServer>(std::move(theirs), context);
    connection->client = Up(std::move(ours), client, "localhost", connection->user);
    EXPECT_TRUE(RunUntil([&] { return connection->server->established(); }));
    return connection;
  }

  // Turns until what was on its way has arrived.
  void Settle(int turns = 20) {
    for (int i = 0; i < turns; ++i) loop_->RunTurn(After(clock_.Now(), Milliseconds(1)));
  }

  const Identity authority_ = MakeAuthority("Test Authority");
  const Identity server_ = MakeServer(authority_);
};

inline std::string TlsPattern(size_t size) {
  std::string text(size, 0);
  uint32_t state = 12345;
  for (char& c : text) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  return text;
}

}  // namespace denselet::net
