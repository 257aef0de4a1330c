// Clients of HTTP/1 against a server that says exactly what a test tells it to say.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "reactor/net/http1/client.h"
#include "tests/integration/net/http1_fixture.h"

namespace denselet::net {

// Keeps what the exchange says.
class TestClientCall final : public HttpClientCall {
 public:
  void OnHead(HttpResponseHead its_head) override {
    head = std::move(its_head);
    if (on_head) on_head();
  }
  void OnBody(std::span<const std::byte> data) override {
    body += TextOf(data);
    if (on_body) on_body();
  }
  void OnEnd() override {
    EXPECT_FALSE(over());
    ended = true;
  }
  void OnFailed(const Error& reason) override {
    EXPECT_FALSE(over());
    error = reason;
  }
  void OnRoom() override {
    if (on_room) on_room();
  }

  bool over() const { return ended || error.has_value(); }

  HttpResponseHead head{.status = 0, .headers = {}};
  std::string body;
  bool ended = false;
  std::optional<Error> error;
  UniqueFunction<void()> on_head, on_body, on_room;
};

class Http1ClientFixture : public Http1ServerFixture {
 protected:
  Http1ClientFixture() {
    auto listener =
        Listener::Open(loop(), *Address::Ip("127.0.0.1", 0), [this](std::unique_ptr<Socket> s) {
          accepted_.push_back(std::make_unique<RawPeer>(std::move(s)));
        });
    listener_ = std::move(*listener);
    address_ = std::make_unique<Address>(listener_->address());
  }
  ~Http1ClientFixture() override {
    exchange_.reset();
    clients_.clear();
    accepted_.clear();
    listener_.reset();
  }

  Http1Client& NewClient(const Http1ClientOptions& options = {}) {
    const size_t before = accepted_.size();
    clients_.push_back(std::make_unique<Http1Client>(
        loop(), Dial(), options, [this](Http1Client::State state) { states_.push_back(state); }));
    EXPECT_TRUE(RunUntil([&] { return accepted_.size() > before; }));
    return *clients_.back();
  }
  // The server's end of the newest client.
  RawPeer& server_end() { return *accepted_.back(); }

  static HttpRequest Get(std::string target) {
    HttpRequest request;
    request.authority = "h";
    request.target = std::move(target);
    return request;
  }

  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<RawPeer>> accepted_;
  std::vector<std::unique_ptr<Http1Client>> clients_;
  std::vector<Http1Client::State> states_;
  std::unique_ptr<HttpExchange> exchange_;
};

}  // namespace denselet::net
