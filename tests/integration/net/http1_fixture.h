// A server of HTTP/1 with a service that does a bit of everything, and peers that speak in raw
// bytes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reactor/net/connect.h"
#include "reactor/net/http1/server.h"
#include "tests/integration/loop_fixture.h"

namespace denselet::net {

inline std::string_view TextOf(std::span<const std::byte> data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

// Says what it is told to say, and keeps what it hears.
class RawPeer final : public StreamUser {
 public:
  explicit RawPeer(std::unique_ptr<Stream> stream) : stream_(std::move(stream)) {
    stream_->Use(*this);
  }

  void Say(std::string_view text) { stream_->Send(std::string(text)); }
  void SayEnd() { stream_->SendEnd(); }
  void Hold() { stream_->Hold(); }
  void Resume() { stream_->Resume(); }
  void Close() { stream_->Close(), over_ = true; }
  size_t unsent() const { return stream_->unsent(); }

  const std::string& heard() const { return heard_; }
  bool ended() const { return ended_; }
  bool over() const { return over_ || ended_; }
  bool Heard(std::string_view text) const { return heard_.find(text) != std::string::npos; }

  void OnReceived(std::span<const std::byte> data) override { heard_ += TextOf(data); }
  void OnReceiveEnd() override { ended_ = true; }
  void OnRoom() override {}
  void OnBroken(const Error&) override { over_ = true; }

 private:
  std::unique_ptr<Stream> stream_;
  std::string heard_;
  bool ended_ = false, over_ = false;
};

// What one exchange of the service below does after its request's head.
class TestCall final : public HttpServerCall {
 public:
  TestCall(HttpRequest request, HttpServerExchange exchange)
      : request_(std::move(request)), exchange_(std::move(exchange)) {
    exchange_.Use(*this);
  }

  // /echo: the body comes back when it is whole. /mirror: as it comes. /count: its size.
  void OnBody(std::span<const std::byte> data) override {
    ++parts;
    bytes += data.size();
    if (request_.target == "/echo") body_ += TextOf(data);
    if (request_.target != "/mirror") return;
    exchange_.Send(TextOf(data));
    if (exchange_.unsent() > Stream::kRoomBytes) exchange_.Hold();
  }
  void OnBodyEnd() override {
    body_ended = true;
    if (request_.target == "/echo") exchange_.Respond(200, "text/plain", body_);
    if (request_.target == "/count") exchange_.Respond(200, "text/plain", std::to_string(bytes));
    if (request_.target == "/mirror") exchange_.End();
  }
  void OnRoom() override {
    if (request_.target == "/mirror") exchange_.Resume();
    if (request_.target == "/flood") Flood();
  }
  void OnClientEnd() override { client_ended = true; }
  void OnGone(const Error& reason) override { gone = reason.message(), is_gone = true; }

  // 16 MB (more than the kernel keeps) in parts, as there is room.
  void Flood() {
    while (flooded_ < kFloodBytes && exchange_.unsent() <= Stream::kRoomBytes) {
      exchange_.Send(std::string(16 * 1024, static_cast<char>('a' + flooded_ / 16384 % 26)));
      flooded_ += 16 * 1024;
    }
    if (flooded_ == kFloodBytes) exchange_.End();
  }

  static constexpr size_t kFloodBytes = 16 * 1024 * 1024;

  HttpServerExchange& exchange() { return exchange_; }
  const HttpRequest& request() const { return request_; }

  size_t bytes = 0, parts = 0;
  bool body_ended = false, client_ended = false, is_gone = false;
  std::string gone;

 private:
  const HttpRequest request_;
  HttpServerExchange exchange_;
  std::string body_;
  size_t flooded_ = 0;
};

class TestService final : public HttpService {
 public:
  explicit TestService(reactor::Loop& loop) : loop_(loop) {}

  void OnRequest(HttpRequest request, HttpServerExchange exchange) override {
    ++requests;
    last = request;
    const std::string target = request.target;
    if (target == "/") return exchange.Respond(200, "text/plain", "hello");
    if (target == "/drop") return;
    if (target == "/nothing") return exchange.Respond(204, "text/plain", "not sent");
    if (target == "/headers") {
      return exchange.Respond(
          {.status = 200,
           .headers = {{"X-One", "1"}, {"X-Bad", "a\r\nb"}, {"Content-Length", "7"}}},
          "x");
    }
    auto call = std::make_unique<TestCall>(std::move(request), std::move(exchange));
    TestCall& kept = *call;
    calls.push_back(std::move(call));
    if (target == "/later") {
      loop_.Post([&kept] { kept.exchange().Respond(200, "text/plain", "later"); });
    } else if (target == "/mirror" || target == "/parts" || target == "/flood") {
      kept.exchange().Begin({.status = 200, .headers = {{"Content-Type", "text/plain"}}});
      if (target == "/flood") kept.Flood();
    } else if (target == "/hold") {
      kept.exchange().Hold();
    } else if (target == "/upgrade") {
      upgraded = kept.exchange().Upgrade({{"Upgrade", "test"}});
    }
  }

  void OnFault(Http1Fault fault, const Error& reason) override {
    faults.push_back(fault);
    reasons.push_back(reason.message());
  }

  size_t requests = 0;
  HttpRequest last;
  std::vector<std::unique_ptr<TestCall>> calls;  // "/wait" and all that are not answered at once
  std::vector<Http1Fault> faults;
  std::vector<std::string> reasons;
  std::unique_ptr<Stream> upgraded;

 private:
  reactor::Loop& loop_;
};

class Http1ServerFixture : public reactor::LoopTest {
 protected:
  Http1ServerFixture() : service_(loop()) {}
  ~Http1ServerFixture() override {
    peers_.clear();
    service_.upgraded.reset();
    server_.reset();
    // Cancelled operations call back, descriptors are closed.
    for (int i = 0; i < 5; ++i) loop_->RunTurn(clock_.Now());
  }

  void Serve(const Http1ServerOptions& options = {}) {
    server_ = std::make_unique<Http1Server>(loop(), service_, options);
    auto address = server_->Listen(*Address::Ip("127.0.0.1", 0));
    ASSERT_TRUE(address) << address.error().message();
    address_ = std::make_unique<Address>(*address);
  }

  std::unique_ptr<Socket> Dial() {
    std::unique_ptr<Socket> socket;
    Connect(loop(), {}, *address_, [&](Result<std::unique_ptr<Socket>> result) {
      EXPECT_TRUE(result) << result.error().message();
      if (result) socket = std::move(*result);
    });
    EXPECT_TRUE(RunUntil([&] { return socket != nullptr; }));
    return socket;
  }

  RawPeer& NewPeer() {
    peers_.push_back(std::make_unique<RawPeer>(Dial()));
    return *peers_.back();
  }

  // Says all of it at once and gives back what was heard by the time `until` was.
  std::string Ask(std::string_view text, std::string_view until) {
    RawPeer& peer = NewPeer();
    peer.Say(text);
    EXPECT_TRUE(RunUntil([&] { return peer.Heard(until) || peer.over(); }));
    return peer.heard();
  }

  // What an honest client gets meanwhile.
  void ExpectServed() {
    const std::string answer = Ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n", "hello");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  }

  TestService service_;
  std::unique_ptr<Http1Server> server_;
  std::unique_ptr<Address> address_;
  std::vector<std::unique_ptr<RawPeer>> peers_;
};

}  // namespace denselet::net
