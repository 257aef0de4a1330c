// Where holds, ends, hand-overs and stops of HTTP/1 meet.
#include <sys/socket.h>

#include "tests/integration/net/http1_client_fixture.h"

namespace denselet::net {
namespace {

using State = Http1Client::State;

class Http1EdgesTest : public Http1ClientFixture {
 protected:
  static constexpr char kAnswer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

  HttpRequest UpgradeRequest() {
    HttpRequest request = Get("/u");
    request.headers = {{"Connection", "Upgrade"}, {"Upgrade", "x"}};
    return request;
  }

  void RunTurns(int turns) {
    for (int i = 0; i < turns; ++i) loop_->RunTurn(After(clock_.Now(), Milliseconds(1)));
  }
};
INSTANTIATE_LOOP_TEST(Http1EdgesTest);

TEST_P(Http1EdgesTest, AfterAHeldAnswerTheNextOneIsHeard) {
  Http1Client& client = NewClient();
  TestClientCall call, second;
  exchange_ = client.Start({}, Get("/a"), RequestBody::kNone, call);
  call.on_head = [&] { exchange_->Hold(); };
  server_end().Say(kAnswer);
  ASSERT_TRUE(RunUntil([&] { return call.head.status == 200; }));
  RunTurns(5);
  EXPECT_FALSE(call.over());
  exchange_->Resume();
  ASSERT_TRUE(RunUntil([&] { return call.ended; }));
  EXPECT_EQ(client.state(), State::kIdle);
  exchange_ = client.Start({}, Get("/b"), RequestBody::kNone, second);
  ASSERT_TRUE(RunUntil([&] { return server_end().Heard("/b"); }));
  server_end().Say(kAnswer);
  ASSERT_TRUE(RunUntil([&] { return second.over(); }));
  EXPECT_TRUE(second.ended);
  server_end().Close();
  ASSERT_TRUE(RunUntil([&] { return client.state() == State::kClosed; }));
}

TEST_P(Http1EdgesTest, AHoldIsForTheBodyAndLetsTheHeadIn) {
  Http1Client& client = NewClient();
  TestClientCall call;
  exchange_ = client.Start({}, Get("/a"), RequestBody::kNone, call);
  exchange_->Hold();
  server_end().Say(kAnswer);
  ASSERT_TRUE(RunUntil([&] { return call.head.status == 200; }));
  RunTurns(5);
  EXPECT_EQ(call.body, "");
  EXPECT_FALSE(call.over());
  exchange_->Resume();
  ASSERT_TRUE(RunUntil([&] { return call.ended; }));
  EXPECT_EQ(call.body, "hi");
}

TEST_P(Http1EdgesTest, WhatCameBehindAnUpgradeWaitsForWhoTakesTheStream) {
  Http1Client& client = NewClient();
  TestClientCall call;
  exchange_ = client.Start({}, UpgradeRequest(), RequestBody::kNone, call);
  const std::string behind(1000, 'z');
  server_end().Say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n" +
                   behind);
  ASSERT_TRUE(RunUntil([&] { return call.over(); }));
  ASSERT_EQ(client.state(), State::kUpgraded);
  RunTurns(5);
  RawPeer taker(client.TakeStream());
  ASSERT_TRUE(RunUntil([&] { return taker.heard().size() == behind.size(); }));
  EXPECT_EQ(taker.heard(), behind);
}

TEST_P(Http1EdgesTest, AnExchangeWhoseStreamWasTakenHasNothingUnsent) {
  Http1Client& client = NewClient();
  TestClientCall call;
  exchange_ = client.Start({}, UpgradeRequest(), RequestBody::kNone, call);
  std::unique_ptr<Stream> taken;
  size_t unsent = 1;
  call.on_head = [&] {
    taken = client.TakeStream();
    unsent = exchange_->unsent();
  };
  server_end().Say("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return call.over(); }));
  EXPECT_NE(taken, nullptr);
  EXPECT_EQ(unsent, 0u);
}

TEST_P(Http1EdgesTest, AClientThatEndedBeforeItsUpgradeIsHeardToHaveEnded) {
  Serve();
  RawPeer& peer = NewPeer();
  peer.Say("GET /wait HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
  peer.SayEnd();
  ASSERT_TRUE(RunUntil([&] { return !service_.calls.empty() && service_.calls[0]->client_ended; }));
  RawPeer user(service_.calls[0]->exchange().Upgrade({{"Upgrade", "x"}}));
  EXPECT_TRUE(RunUntil([&] { return user.ended(); }));
}

TEST_P(Http1EdgesTest, WhatWasSurelyNotSentMayBeSentAgain) {
  auto stream = Dial();
  ASSERT_TRUE(RunUntil([&] { return !accepted_.empty(); }));
  auto* const socket = static_cast<Socket*>(stream.get());
  Http1Client client(loop(), std::move(stream), {}, [](State) {});
  // Broken before the request: no byte of it can leave.
  ASSERT_EQ(::shutdown(socket->fd(), SHUT_WR), 0);
  TestClientCall call;
  HttpRequest request = Get("/x");
  request.method = "POST";
  exchange_ = client.Start({}, request, "body", call);
  ASSERT_TRUE(RunUntil([&] { return call.over(); }));
  ASSERT_TRUE(call.error);
  EXPECT_EQ(call.error->code(), ErrorCode::kUnavailable) << call.error->message();
  exchange_.reset();
}

TEST_P(Http1EdgesTest, ARequestWhoseHeadersCannotStandIsRefusedNotTrimmed) {
  Http1Client& client = NewClient();
  TestClientCall call;
  HttpRequest request = Get("/u");
  request.headers = {{"Authorization", "Bearer x\n"}};
  exchange_ = client.Start({}, request, RequestBody::kNone, call);
  ASSERT_TRUE(RunUntil([&] { return call.over(); }));
  ASSERT_TRUE(call.error);
  EXPECT_EQ(call.error->code(), ErrorCode::kInvalid);
}

TEST_P(Http1EdgesTest, WhatIsSentBeforeThereIsAUserDoesNoHarm) {
  auto stream = Dial();
  ASSERT_TRUE(RunUntil([&] { return !accepted_.empty(); }));
  stream->Send(std::string(300'000, 'x'));
  ASSERT_TRUE(RunUntil([&] { return server_end().heard().size() == 300'000; }));
  server_end().Close();
  RunTurns(3);
  stream->Send("to nobody");
  RunTurns(3);
  stream->Send("to nobody");
  RunTurns(3);
  RawPeer user(std::move(stream));
  EXPECT_TRUE(RunUntil([&] { return user.over(); })) << "a break before the first user is told";
}

TEST_P(Http1EdgesTest, AStopEndsAnswersInPartsAfterTheirEnd) {
  Serve();
  RawPeer& peer = NewPeer();
  peer.Say("GET /parts HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return peer.Heard("200 OK"); }));
  bool done = false;
  server_->Stop(Hours(1), [&] { done = true; });
  service_.calls[0]->exchange().Send("x");
  service_.calls[0]->exchange().End();
  EXPECT_TRUE(RunUntil([&] { return peer.over(); }));
  EXPECT_TRUE(service_.faults.empty());
  peers_.clear();
  EXPECT_TRUE(RunUntil([&] { return done; }));
}

TEST_P(Http1EdgesTest, AStopWaitsForTheRestOfABodyThatNobodyWantsAndEnds) {
  Serve();
  RawPeer& peer = NewPeer();
  peer.Say("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
  ASSERT_TRUE(RunUntil([&] { return peer.Heard("hello"); }));
  server_->Stop(Hours(1), [] {});
  peer.Say("defghij");
  EXPECT_TRUE(RunUntil([&] { return peer.over(); }));
}

// Of eight answers in parts, the first that is gone ends all others.
struct Cascade final : HttpService {
  struct Call final : HttpServerCall {
    void OnGone(const Error&) override {
      for (auto& other : owner->calls) other->exchange.Abort();
    }
    Cascade* owner = nullptr;
    HttpServerExchange exchange;
  };
  void OnRequest(HttpRequest, HttpServerExchange exchange) override {
    auto call = std::make_unique<Call>();
    call->owner = this;
    call->exchange = std::move(exchange);
    call->exchange.Use(*call);
    call->exchange.Begin({.status = 200, .headers = {}});
    calls.push_back(std::move(call));
  }
  std::vector<std::unique_ptr<Call>> calls;
};

TEST_P(Http1EdgesTest, WhoHearsOfTheEndMayEndOthers) {
  Cascade service;
  Http1Server server(loop(), service, {});
  *address_ = *server.Listen(*Address::Ip("127.0.0.1", 0));
  for (int i = 0; i < 8; ++i) NewPeer().Say("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return service.calls.size() == 8; }));
  bool done = false;
  server.Stop(Milliseconds(20), [&] { done = true; });
  ASSERT_TRUE(RunUntil([&] { return done; }));
  EXPECT_EQ(server.connections(), 0u);
  peers_.clear();
}

TEST_P(Http1EdgesTest, HostsAndEncodingsThatAreNoneAreRefused) {
  Serve();
  const struct {
    const char *request, *status;
  } rows[] = {
      {"GET / HTTP/1.1\r\nHost: a b/c@d\r\n\r\n", "400"},
      {"GET / HTTP/1.1\r\nHost: user@h\r\n\r\n", "400"},
      {"GET http://@:99 HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"GET http:/// HTTP/1.1\r\nHost: h\r\n\r\n", "400"},
      {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "501"},
      {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", "501"},
      {"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
       "chunked\r\n\r\n0\r\n\r\n",
       "400"},
  };
  for (const auto& row : rows) {
    RawPeer& peer = NewPeer();
    peer.Say(row.request);
    EXPECT_TRUE(RunUntil([&] { return peer.over(); })) << row.request;
    EXPECT_EQ(peer.heard().substr(0, 12), std::string("HTTP/1.1 ") + row.status) << row.request;
  }
  EXPECT_EQ(service_.requests, 0u);
}

}  // namespace
}  // namespace denselet::net
