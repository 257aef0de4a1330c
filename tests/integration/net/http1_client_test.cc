// The client against a server whose every byte the test chooses, and against ours.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "reactor/net/http1/fetch.h"
#include "reactor/net/http1/proxy.h"
#include "tests/integration/net/http1_client_fixture.h"

namespace denselet::net {
namespace {

using State = Http1Client::State;
using testing::ElementsAre;
using testing::HasSubstr;

class Http1ClientTest : public Http1ClientFixture {};
INSTANTIATE_LOOP_TEST(Http1ClientTest);

TEST_P(Http1ClientTest, AsksAgainOnAConnectionThatTheServerKeeps) {
  Http1Client& client = NewClient();
  for (size_t i = 1; i <= 2; ++i) {
    TestClientCall call;
    exchange_ = client.Start({}, Get("/a"), RequestBody::kNone, call);
    EXPECT_EQ(client.state(), State::kBusy);
    ASSERT_TRUE(RunUntil([&] {
      return server_end().heard().size() ==
             i * std::string("GET /a HTTP/1.1\r\nHost: h\r\n\r\n").size();
    }));
    server_end().Say("HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 2\r\n\r\nhi");
    ASSERT_TRUE(RunUntil([&] { return call.over(); }));
    EXPECT_TRUE(call.ended);
    EXPECT_EQ(call.head.status, 200);
    EXPECT_EQ(*call.head.headers.Find("x"), "y");
    EXPECT_EQ(call.body, "hi");
    EXPECT_EQ(client.state(), State::kIdle);
  }
  EXPECT_THAT(states_, ElementsAre(State::kIdle, State::kIdle));
  server_end().Close();
  ASSERT_TRUE(RunUntil([&] { return client.state() == State::kClosed; }));
  EXPECT_EQ(states_.back(), State::kClosed);
  TestClientCall late;
  exchange_ = client.Start({}, Get("/"), RequestBody::kNone, late);
  ASSERT_TRUE(RunUntil([&] { return late.over(); }));
  EXPECT_EQ(late.error->code(), ErrorCode::kUnavailable);
}

struct Ending {
  const char* name;
  std::string_view method, answer, body;
  State after;
  bool server_closes = false;
};

TEST_P(Http1ClientTest, KnowsWhereAnAnswerEnds) {
  const Ending endings[] = {
      {"length", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", "abc", State::kIdle},
      {"chunks", "GET",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n", "abc",
       State::kIdle},
      {"close", "GET", "HTTP/1.1 200 OK\r\n\r\nabc", "abc", State::kClosed, true},
      {"HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", "", State::kIdle},
      {"HEAD chunked", "HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "",
       State::kIdle},
      {"204", "GET", "HTTP/1.1 204 No Content\r\n\r\n", "", State::kIdle},
      {"304", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n", "", State::kIdle},
      {"said to close", "GET",
       "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc", "abc",
       State::kClosed},
      {"HTTP/1.0", "GET", "HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", "abc", State::kClosed},
      {"interim", "GET",
       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
       "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
       "abc", State::kIdle},
      {"more than its length", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd", "abc",
       State::kClosed},
  };
  for (const Ending& ending : endings) {
    SCOPED_TRACE(ending.name);
    Http1Client& client = NewClient();
    TestClientCall call;
    HttpRequest request = Get("/");
    request.method = ending.method;
    exchange_ = client.Start({}, request, RequestBody::kNone, call);
    server_end().Say(ending.answer);
    if (ending.server_closes) server_end().SayEnd();
    ASSERT_TRUE(RunUntil([&] { return call.over(); }));
    ASSERT_TRUE(call.ended) << call.error->message();
    EXPECT_EQ(call.body, ending.body);
    EXPECT_EQ(client.state(), ending.after);
  }
}

TEST_P(Http1ClientTest, AnAnswerSplitAtEveryByteIsTheSame) {
  const std::string answer =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nA-Name: a value\r\n"
      "Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: t\r\n\r\n";
  for (size_t at = 1; at < answer.size(); ++at) {
    Http1Client& client = NewClient();
    TestClientCall call;
    exchange_ = client.Start({}, Get("/"), RequestBody::kNone, call);
    server_end().Say(answer.substr(0, at));
    for (int i = 0; i < 3; ++i) loop_->RunTurn(clock_.Now());
    server_end().Say(answer.substr(at));
    ASSERT_TRUE(RunUntil([&] { return call.over(); }));
    ASSERT_TRUE(call.ended) << at << call.error->message();
    ASSERT_EQ(call.head, (HttpResponseHead{201, {{"A-Name", "a value"}}})) << at;
    ASSERT_EQ(call.body, "abcde") << at;
    ASSERT_EQ(client.state(), State::kIdle) << at;
    exchange_.reset();
    clients_.clear();
    accepted_.clear();
  }
}

TEST_P(Http1ClientTest, SendsABodyInChunksOrOfAGivenLength) {
  Http1Client& client = NewClient();
  TestClientCall chunked, sized, whole;
  HttpRequest request = Get("/");
  request.method = "POST";
  exchange_ = client.Start({}, request, RequestBody::kStreamed, chunked);
  exchange_->SendBody("abc");
  exchange_->SendBody("defghijklmnopqrs");
  exchange_->EndBody();
  ASSERT_TRUE(RunUntil([&] { return server_end().heard().ends_with("\r\n0\r\n\r\n"); }));
  EXPECT_EQ(server_end().heard(),
            "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            "3\r\nabc\r\n10\r\ndefghijklmnopqrs\r\n0\r\n\r\n");
  server_end().Say("HTTP/1.1 204 No Content\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return chunked.ended; }));

  request.headers.Add("Content-Length", "5");
  exchange_ = client.Start({}, request, RequestBody::kStreamed, sized);
  exchange_->SendBody("ab");
  exchange_->SendBody("cde");
  exchange_->EndBody();
  ASSERT_TRUE(RunUntil([&] { return server_end().heard().ends_with("\r\n\r\nabcde"); }));
  server_end().Say("HTTP/1.1 204 No Content\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return sized.ended; }));

  exchange_ = client.Start({}, request, "all of it", whole);
  ASSERT_TRUE(RunUntil(
      [&] { return server_end().heard().ends_with("Content-Length: 9\r\n\r\nall of it"); }));
  server_end().Say("HTTP/1.1 204 No Content\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return whole.ended; }));
  EXPECT_EQ(client.state(), State::kIdle);
}

TEST_P(Http1ClientTest, AnAnswerBeforeTheEndOfTheRequestEndsTheConnectionAfterIt) {
  Http1Client& client = NewClient();
  TestClientCall call;
  HttpRequest request = Get("/");
  request.method = "POST";
  exchange_ = client.Start({}, request, RequestBody::kStreamed, call);
  exchange_->SendBody("abc");
  server_end().Say("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno");
  ASSERT_TRUE(RunUntil([&] { return call.over(); }));
  EXPECT_TRUE(call.ended);
  EXPECT_EQ(call.body, "no");
  EXPECT_EQ(client.state(), State::kClosed);
  exchange_->SendBody("is ignored");
}

TEST_P(Http1ClientTest, BackPressureStopsTheAnswerUntilResumed) {
  Http1Client& client = NewClient();
  TestClientCall call;
  exchange_ = client.Start({}, Get("/"), RequestBody::kNone, call);
  constexpr size_t kBytes = 24'000'000;  // more than the kernel keeps
  call.on_body = [&] { exchange_->Hold(); };
  server_end().Say("HTTP/1.1 200 OK\r\nContent-Length: 24000000\r\n\r\n");
  server_end().Say(std::string(kBytes, 'x'));
  ASSERT_TRUE(RunUntil([&] { return !call.body.empty(); }));
  for (int i = 0; i < 200; ++i) loop_->RunTurn(clock_.Now());
  EXPECT_LT(call.body.size(), 1'000'000u);
  EXPECT_GT(server_end().unsent(), 0u);
  call.on_body = nullptr;
  exchange_->Resume();
  ASSERT_TRUE(RunUntil([&] { return call.over(); }));
  EXPECT_EQ(call.body.size(), kBytes);
}

TEST_P(Http1ClientTest, RequestsThatCannotStandOnTheWireAreNotSent) {
  for (const auto& [method, target, authority] : {std::tuple{"GET", "/a b", "h"},
                                                  {"GET", "/\r\nX: y", "h"},
                                                  {"G T", "/", "h"},
                                                  {"GET", "/", "h\r\nX: y"},
                                                  {"GET", "/", ""},
                                                  {"GET", "", "h"}}) {
    Http1Client& client = NewClient();
    TestClientCall call;
    HttpRequest request{.method = method, .authority = authority, .target = target, .headers = {}};
    exchange_ = client.Start({}, request, RequestBody::kNone, call);
    ASSERT_TRUE(RunUntil([&] { return call.over(); }));
    EXPECT_EQ(call.error->code(), ErrorCode::kInvalid);
    EXPECT_EQ(server_end().heard(), "");
  }
}

TEST_P(Http1ClientTest, DroppingAnExchangeClosesTheConnectionWithoutACall) {
  Http1Client& client = NewClient();
  TestClientCall call;
  exchange_ = client.Start({}, Get("/"), RequestBody::kNone, call);
  call.on_head = [&] { exchange_.reset(); };
  server_end().Say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  ASSERT_TRUE(RunUntil([&] { return server_end().over(); }));
  EXPECT_FALSE(call.over());
  EXPECT_EQ(call.body, "");
  EXPECT_EQ(client.state(), State::kClosed);
  EXPECT_THAT(states_, ElementsAre(State::kClosed));
}

TEST_P(Http1ClientTest, CancelAndDeadlineEndAnExchange) {
  {
    NewClient();
    CancelSource source;
    TestClientCall call;
    Context context;
    context.cancel = source.token();
    exchange_ = clients_.back()->Start(context, Get("/"), RequestBody::kNone, call);
    source.Cancel();
    EXPECT_FALSE(call.over());  // not inside the call
    ASSERT_TRUE(RunUntil([&] { return call.over(); }));
    EXPECT_EQ(call.error->code(), ErrorCode::kCancelled);
  }
  {
    NewClient();
    TestClientCall call;
    Context context;
    context.deadline = After(loop().Now(), Milliseconds(10));
    exchange_ = clients_.back()->Start(context, Get("/"), RequestBody::kNone, call);
    ASSERT_TRUE(RunUntil([&] { return call.over(); }));
    EXPECT_EQ(call.error->code(), ErrorCode::kUnknownOutcome);
  }
  {
    NewClient();
    TestClientCall call;
    Context context;
    context.deadline = loop().Now();
    exchange_ = clients_.back()->Start(context, Get("/"), RequestBody::kNone, call);
    ASSERT_TRUE(RunUntil([&] { return call.over(); }));
    EXPECT_EQ(call.error->code(), ErrorCode::kDeadlineExceeded);
  }
}

TEST_P(Http1ClientTest, AnUpgradeHandsOverTheStream) {
  Http1Client& client = NewClient();
  TestClientCall call;
  HttpRequest request = Get("/exec");
  request.headers = {{"Connection", "Upgrade"}, {"Upgrade", "test"}};
  exchange_ = client.Start({}, request, RequestBody::kNone, call);
  ASSERT_TRUE(RunUntil([&] { return server_end().heard().ends_with("\r\n\r\n"); }));
  EXPECT_THAT(server_end().heard(), HasSubstr("Connection: Upgrade\r\nUpgrade: test\r\n"));
  server_end().Say("HTTP/1.1 101 Switching Protocols\r\nUpgrade: test\r\n\r\nearly ");
  ASSERT_TRUE(RunUntil([&] { return call.over(); }));
  EXPECT_EQ(call.head.status, 101);
  EXPECT_EQ(client.state(), State::kUpgraded);
  RawPeer other(client.TakeStream());
  server_end().Say("bird");
  ASSERT_TRUE(RunUntil([&] { return other.heard() == "early bird"; }));
  other.Say("hi");
  ASSERT_TRUE(RunUntil([&] { return server_end().heard().ends_with("hi"); }));
}

TEST_P(Http1ClientTest, ATunnelThroughAProxyCarriesBytes) {
  std::unique_ptr<Stream> tunnel;
  ConnectThroughProxy(loop(), {}, Dial(), "far:443", {{"Proxy-Authorization", "Basic eA=="}},
                      [&](Result<std::unique_ptr<Stream>> r) { tunnel = std::move(*r); });
  ASSERT_TRUE(
      RunUntil([&] { return !accepted_.empty() && server_end().heard().ends_with("\r\n\r\n"); }));
  EXPECT_EQ(server_end().heard(),
            "CONNECT far:443 HTTP/1.1\r\nHost: far:443\r\nProxy-Authorization: Basic eA==\r\n\r\n");
  server_end().Say("HTTP/1.1 200 Connection established\r\n\r\nbanner");
  ASSERT_TRUE(RunUntil([&] { return tunnel != nullptr; }));
  RawPeer far(std::move(tunnel));
  ASSERT_TRUE(RunUntil([&] { return far.heard() == "banner"; }));
}

TEST_P(Http1ClientTest, AProxyThatRefusesSaysSo) {
  for (const auto& [answer, code] :
       {std::pair{"HTTP/1.1 407 Who?\r\nContent-Length: 0\r\n\r\n", ErrorCode::kPermission},
        {"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 3\r\n\r\nno\n", ErrorCode::kUnavailable},
        {"garbage\r\n\r\n", ErrorCode::kCorrupt}}) {
    std::optional<Error> error;
    const size_t before = accepted_.size();
    ConnectThroughProxy(loop(), {}, Dial(), "far:443", {},
                        [&](Result<std::unique_ptr<Stream>> r) { error = r.error(); });
    ASSERT_TRUE(RunUntil([&] { return accepted_.size() > before; }));
    server_end().Say(answer);
    ASSERT_TRUE(RunUntil([&] { return error.has_value(); }));
    EXPECT_EQ(error->code(), code) << error->message();
    EXPECT_THAT(error->message(), HasSubstr("far:443"));
  }
}

// ---- whole answers, from our own server

class FetchTest : public Http1ServerFixture {
 protected:
  Result<HttpResponse> Get(const std::string& target, const FetchOptions& options = {}) {
    HttpRequest request;
    request.authority = "h";
    request.target = target;
    return Ask(request, "", options);
  }
  Result<HttpResponse> Ask(const HttpRequest& request, std::string body,
                           const FetchOptions& options = {}) {
    std::optional<Result<HttpResponse>> result;
    Fetch(loop(), context_, *address_, request, std::move(body), options,
          [&](Result<HttpResponse> r) { result = std::move(r); });
    EXPECT_TRUE(RunUntil([&] { return result.has_value(); }));
    return std::move(*result);
  }
  Context context_;
};
INSTANTIATE_LOOP_TEST(FetchTest);

TEST_P(FetchTest, GetsAWholeAnswerAndCloses) {
  Serve();
  const auto answer = Get("/");
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "hello");
  EXPECT_EQ(*answer->headers.Find("connection"), "close");
  ASSERT_TRUE(RunUntil([&] { return server_->connections() == 0; }));
}

TEST_P(FetchTest, SendsABody) {
  Serve();
  HttpRequest request;
  request.method = "POST";
  request.authority = "h";
  request.target = "/echo";
  const auto answer = Ask(request, std::string(100'000, 'x'));
  ASSERT_TRUE(answer) << answer.error().message();
  EXPECT_EQ(answer->body, std::string(100'000, 'x'));
}

TEST_P(FetchTest, BoundsTheAnswer) {
  Serve();
  const auto fails = Get("/flood");
  ASSERT_FALSE(fails);
  EXPECT_EQ(fails.error().code(), ErrorCode::kOverloaded);
  const auto cut = Get("/flood", {.body_bytes_max = 10'000, .long_body = LongBody::kIsCut});
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->body, std::string(10'000, 'a'));
  const auto fits = Get("/flood", {.body_bytes_max = TestCall::kFloodBytes});
  ASSERT_TRUE(fits);
  EXPECT_EQ(fits->body.size(), TestCall::kFloodBytes);
}

TEST_P(FetchTest, SaysWhyThereIsNoAnswer) {
  Serve();
  context_.deadline = After(loop().Now(), Milliseconds(30));
  const auto late = Get("/wait");
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), ErrorCode::kUnknownOutcome);
  context_.deadline = kNever;
  server_.reset();
  const auto refused = Get("/");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace denselet::net
