// Connections to peers on the loopback, on the test's own loop.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/random.h"
#include "reactor/net/connect.h"
#include "reactor/net/http2/client.h"
#include "reactor/net/http2/connection.h"
#include "tests/integration/loop_fixture.h"
#include "tests/integration/net/http2_peers.h"

namespace denselet::net {

// Remembers why a connection ended.
struct Http2Watcher final : Http2ConnectionUser {
  void OnStreams() override { ++streams_calls; }
  void OnClosed(const Error& error) override {
    CHECK(!reason);
    reason = error;
  }

  int streams_calls = 0;
  std::optional<Error> reason;
};

class Http2Test : public reactor::LoopTest {
 protected:
  static Address Loopback() { return *Address::Ip("127.0.0.1", 0); }

  std::unique_ptr<Stream> Dial(const Address& address) {
    std::optional<Result<std::unique_ptr<Socket>>> result;
    Connect(loop(), Context{}, address,
            [&](Result<std::unique_ptr<Socket>> r) { result = std::move(r); });
    CHECK(RunUntil([&] { return result.has_value(); }));
    CHECK(bool(*result));
    return *std::move(*result);
  }

  std::unique_ptr<Http2Connection> Open(const Address& address, const Http2Options& options = {},
                                        Http2ConnectionUser* user = nullptr) {
    return std::make_unique<Http2Connection>(loop(), Dial(address), options, user);
  }

  Http2Client::Dial Dialler(const Address& address) {
    return [this, address](const Context& context, reactor::Done<std::unique_ptr<Stream>> done) {
      Connect(loop(), context, address,
              [done = std::move(done)](Result<std::unique_ptr<Socket>> r) mutable {
                if (!r) return done(r.error());
                done(std::unique_ptr<Stream>(*std::move(r)));
              });
    };
  }

  static HttpRequest Get(std::string target) {
    HttpRequest request;
    request.authority = "test";
    request.target = std::move(target);
    return request;
  }

  // Runs for a while of real time: for what must not happen.
  void RunFor(Duration d) {
    bool over = false;
    loop().Arm(After(clock_.Now(), d), [&] { over = true; });
    ASSERT_TRUE(RunUntil([&] { return over; }));
  }

  // A whole GET on the connection.
  std::string Fetch(Http2Connection& connection, std::string target = "/") {
    Http2Call call;
    call.exchange = connection.Start({}, Get(std::move(target)), RequestBody::kNone, call);
    EXPECT_TRUE(RunUntil([&] { return call.ended(); }));
    return call.Outcome() + " " + call.body;
  }

  SeededRandom random_{1};
};

}  // namespace denselet::net
