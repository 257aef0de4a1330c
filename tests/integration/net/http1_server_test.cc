// The server as raw peers see it, byte for byte.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/integration/net/http1_fixture.h"

namespace denselet::net {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class Http1ServerTest : public Http1ServerFixture {};
INSTANTIATE_LOOP_TEST(Http1ServerTest);

std::string BodyOf(const std::string& answer) {
  const size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

TEST_P(Http1ServerTest, AnswersInOneMessageWithDateAndLength) {
  Serve();
  const std::string answer = Ask("GET / HTTP/1.1\r\nHost: h\r\n\r\n", "hello");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200 OK\r\nDate: "));
  EXPECT_THAT(answer,
              HasSubstr(" GMT\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello"));
  EXPECT_THAT(answer, Not(HasSubstr("Connection")));
  EXPECT_EQ(service_.last.authority, "h");
  EXPECT_TRUE(service_.last.headers.empty());
  EXPECT_EQ(server_->connections(), 1u);
}

TEST_P(Http1ServerTest, ServesRequestAfterRequestOnOneConnection) {
  Serve();
  RawPeer& peer = NewPeer();
  for (size_t i = 1; i <= 3; ++i) {
    const size_t before = peer.heard().size();
    peer.Say("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    ASSERT_TRUE(RunUntil([&] { return peer.heard().find("hello", before) != std::string::npos; }));
    EXPECT_EQ(service_.requests, i);
  }
  peer.Close();
  ASSERT_TRUE(RunUntil([&] { return server_->connections() == 0; }));
  EXPECT_TRUE(service_.faults.empty());
}

TEST_P(Http1ServerTest, AnswersPipelinedRequestsInOrderAlsoWhenTheFirstTakesLonger) {
  Serve();
  const std::string answer =
      Ask("GET /later HTTP/1.1\r\nHost: h\r\n\r\n"
          "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc"
          "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
          "hello");
  const size_t later = answer.find("later"), abc = answer.find("abc"), hello = answer.find("hello");
  EXPECT_LT(later, abc);
  EXPECT_LT(abc, hello);
  EXPECT_NE(hello, std::string::npos) << answer;
  ASSERT_TRUE(RunUntil([&] { return peers_[0]->ended(); }));
}

TEST_P(Http1ServerTest, ManyPipelinedRequestsInOneWriteAreAllAnswered) {
  Serve();
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
  text += "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
  RawPeer& peer = NewPeer();
  peer.Say(text);
  ASSERT_TRUE(RunUntil([&] { return peer.over(); }));
  EXPECT_EQ(service_.requests, 3001u);
  size_t answers = 0;
  for (size_t at = 0; (at = peer.heard().find("hello", at)) != std::string::npos; ++at) ++answers;
  EXPECT_EQ(answers, 3001u);
}

TEST_P(Http1ServerTest, TheSameRequestsSplitAtEveryByteGetTheSameAnswers) {
  Serve();
  const std::string text =
      "POST /echo HTTP/1.1\r\nHost: h\r\nX-A: some value\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: x\r\n\r\n"
      "PUT /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nfour";
  const auto body = [](const std::string& answer) {
    std::string rest = answer;
    for (size_t at; (at = rest.find("Date: ")) != std::string::npos;) rest.erase(at, 37);
    return rest;
  };
  const std::string whole = body(Ask(text, "four"));
  EXPECT_THAT(whole, HasSubstr("abcde"));
  for (size_t at = 1; at < text.size(); ++at) {
    RawPeer& peer = NewPeer();
    peer.Say(text.substr(0, at));
    for (int i = 0; i < 3; ++i) loop_->RunTurn(clock_.Now());
    peer.Say(text.substr(at));
    ASSERT_TRUE(RunUntil([&] { return peer.Heard("four"); })) << at;
    ASSERT_EQ(body(peer.heard()), whole) << at;
    peers_.pop_back();
  }
}

TEST_P(Http1ServerTest, HeadGetsTheHeadersOfGetAndNoBody) {
  Serve();
  const std::string answer =
      Ask("HEAD / HTTP/1.1\r\nHost: h\r\n\r\nGET /nothing HTTP/1.1\r\nHost: h\r\n\r\n", "204");
  EXPECT_THAT(answer, HasSubstr("Content-Length: 5\r\n\r\nHTTP/1.1 204 No Content\r\n"));
  EXPECT_THAT(answer, Not(HasSubstr("hello")));
  EXPECT_THAT(answer, Not(HasSubstr("not sent")));
}

TEST_P(Http1ServerTest, HeadersThatWouldBreakTheMessageAreLeftOut) {
  Serve();
  const std::string answer = Ask("GET /headers HTTP/1.1\r\nHost: h\r\n\r\n", "\r\n\r\nx");
  EXPECT_THAT(answer, HasSubstr("X-One: 1\r\nContent-Length: 1\r\n\r\nx"));
  EXPECT_THAT(answer, Not(HasSubstr("X-Bad")));
}

TEST_P(Http1ServerTest, OldClientsGetAClosedConnectionUnlessTheyAskToKeepIt) {
  Serve();
  RawPeer& once = NewPeer();
  once.Say("GET / HTTP/1.0\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return once.ended(); }));
  EXPECT_THAT(once.heard(), HasSubstr("Connection: close\r\n"));
  const std::string kept = Ask("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "hello");
  EXPECT_THAT(kept, HasSubstr("Connection: keep-alive\r\n"));
  RawPeer& parts = NewPeer();
  parts.Say("POST /mirror HTTP/1.0\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nhi");
  ASSERT_TRUE(RunUntil([&] { return parts.ended(); }));
  EXPECT_THAT(parts.heard(), HasSubstr("Connection: close\r\n"));
  EXPECT_EQ(BodyOf(parts.heard()), "hi");
}

TEST_P(Http1ServerTest, TellsAClientThatWaitsToGoOn) {
  Serve();
  RawPeer& peer = NewPeer();
  peer.Say("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return peer.heard() == "HTTP/1.1 100 Continue\r\n\r\n"; }));
  peer.Say("ok");
  ASSERT_TRUE(RunUntil([&] { return peer.Heard("\r\n\r\nok"); }));
}

TEST_P(Http1ServerTest, AnswersAtOnceInsteadOfTellingToGoOn) {
  Serve();
  RawPeer& peer = NewPeer();
  peer.Say("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return peer.ended(); }));
  EXPECT_THAT(peer.heard(), StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(peer.heard(), HasSubstr("Connection: close"));
}

TEST_P(Http1ServerTest, TheRestOfABodyNobodyWantsIsDroppedAndTheConnectionGoesOn) {
  Serve();
  RawPeer& peer = NewPeer();
  peer.Say("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 6\r\n\r\nabc");
  ASSERT_TRUE(RunUntil([&] { return peer.Heard("hello"); }));
  peer.Say("defPOST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nnext");
  ASSERT_TRUE(RunUntil([&] { return peer.Heard("\r\n\r\nnext"); }));
}

TEST_P(Http1ServerTest, ABodyTooLongToBeDroppedEndsTheConnection) {
  Serve({.drain_bytes_max = 1000});
  RawPeer& announced = NewPeer();
  announced.Say("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1001\r\n\r\nabc");
  ASSERT_TRUE(RunUntil([&] { return announced.ended(); }));
  EXPECT_THAT(announced.heard(), HasSubstr("Connection: close"));
  RawPeer& endless = NewPeer();
  endless.Say("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n");
  endless.Say(std::string(1500, 'x'));
  ASSERT_TRUE(RunUntil([&] { return endless.ended(); }));
  EXPECT_THAT(endless.heard(), HasSubstr("hello"));
}

TEST_P(Http1ServerTest, BackPressureStopsTheBodyUntilResumed) {
  constexpr size_t kBytes = 24'000'000;  // more than the kernel keeps
  Serve({.limits = {.body_bytes_max = kBytes}});
  RawPeer& peer = NewPeer();
  peer.Say("POST /hold HTTP/1.1\r\nHost: h\r\nContent-Length: 24000000\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return service_.calls.size() == 1; }));
  TestCall& call = *service_.calls[0];
  peer.Say(std::string(kBytes, 'x'));
  for (int i = 0; i < 100; ++i) loop_->RunTurn(clock_.Now());
  EXPECT_EQ(call.bytes, 0u);
  EXPECT_GT(peer.unsent(), 0u);
  call.exchange().Resume();
  ASSERT_TRUE(RunUntil([&] { return call.body_ended; }));
  EXPECT_EQ(call.bytes, kBytes);
  call.exchange().Respond(200, "text/plain", "done");
  ASSERT_TRUE(RunUntil([&] { return peer.Heard("done"); }));
}

TEST_P(Http1ServerTest, PartsGoOutAsChunksWhenThereIsRoom) {
  Serve();
  RawPeer& peer = NewPeer();
  peer.Say("GET /flood HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return peer.heard().ends_with("\r\n0\r\n\r\n"); }));
  EXPECT_THAT(peer.heard(), HasSubstr("Transfer-Encoding: chunked\r\n\r\n4000\r\naaaa"));
  EXPECT_GT(peer.heard().size(), TestCall::kFloodBytes);
}

TEST_P(Http1ServerTest, ADroppedRequestIsAnsweredAndAHalfAnswerIsCut) {
  Serve();
  EXPECT_THAT(Ask("GET /drop HTTP/1.1\r\nHost: h\r\n\r\n", "dropped"),
              StartsWith("HTTP/1.1 500 Internal Server Error\r\n"));
  RawPeer& peer = NewPeer();
  peer.Say("GET /parts HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return peer.Heard("chunked"); }));
  service_.calls.clear();
  ASSERT_TRUE(RunUntil([&] { return peer.over(); }));
  EXPECT_THAT(peer.heard(), Not(HasSubstr("0\r\n\r\n")));
}

TEST_P(Http1ServerTest, TheServiceIsToldWhenTheClientHasGone) {
  Serve();
  RawPeer& ends = NewPeer();
  ends.Say("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return service_.calls.size() == 1; }));
  ends.SayEnd();
  ASSERT_TRUE(RunUntil([&] { return service_.calls[0]->client_ended; }));
  service_.calls[0]->exchange().Respond(200, "text/plain", "still here");
  ASSERT_TRUE(RunUntil([&] { return ends.ended(); }));
  EXPECT_THAT(ends.heard(), HasSubstr("still here"));

  RawPeer& cut = NewPeer();
  cut.Say("POST /count HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc");
  ASSERT_TRUE(RunUntil([&] { return service_.calls.size() == 2; }));
  cut.Close();
  ASSERT_TRUE(RunUntil([&] { return service_.calls[1]->is_gone; }));
  EXPECT_FALSE(service_.calls[1]->exchange().alive());
  EXPECT_EQ(service_.faults.back(), Http1Fault::kEarlyEnd);
  ASSERT_TRUE(RunUntil([&] { return server_->connections() == 0; }));
}

TEST_P(Http1ServerTest, AnUpgradeHandsOverTheStreamWithWhatCameBehindTheHead) {
  Serve();
  RawPeer& peer = NewPeer();
  peer.Say(
      "GET /upgrade HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\nearly ");
  ASSERT_TRUE(RunUntil([&] { return service_.upgraded != nullptr; }));
  peer.Say("bird");
  ASSERT_TRUE(RunUntil([&] { return peer.Heard("\r\n\r\n"); }));
  EXPECT_EQ(peer.heard(),
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: test\r\nConnection: Upgrade\r\n\r\n");
  EXPECT_EQ(server_->connections(), 0u);
  RawPeer other(std::move(service_.upgraded));
  ASSERT_TRUE(RunUntil([&] { return other.heard() == "early bird"; }));
  other.Say("hi");
  ASSERT_TRUE(RunUntil([&] { return peer.Heard("\r\n\r\nhi"); }));
  peer.Close();
  ASSERT_TRUE(RunUntil([&] { return other.over(); }));
}

TEST_P(Http1ServerTest, AnUpgradeNobodyTakesIsAnOrdinaryRequest) {
  Serve();
  const std::string answer =
      Ask("GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
          "GET /nothing HTTP/1.1\r\nHost: h\r\n\r\n",
          "204");
  EXPECT_THAT(answer, HasSubstr("hello"));
  EXPECT_THAT(answer, HasSubstr("204"));
}

TEST_P(Http1ServerTest, AnAbsoluteTargetNamesTheHost) {
  Serve();
  RawPeer& peer = NewPeer();
  peer.Say("GET http://other:81/wait?a=1 HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return service_.requests == 1; }));
  EXPECT_EQ(service_.last.authority, "other:81");
  EXPECT_EQ(service_.last.target, "/wait?a=1");
}

TEST_P(Http1ServerTest, FurtherConnectionsWaitUntilOneEnds) {
  Serve({.connections_max = 2});
  RawPeer& first = NewPeer();
  RawPeer& second = NewPeer();
  ASSERT_TRUE(RunUntil([&] { return server_->connections() >= 2; }));
  RawPeer& third = NewPeer();
  RawPeer& fourth = NewPeer();
  fourth.Say("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  for (int i = 0; i < 50; ++i) loop_->RunTurn(clock_.Now());
  EXPECT_LE(server_->connections(), 3u);
  EXPECT_EQ(service_.requests, 0u);
  first.Close();
  second.Close();
  third.Close();
  ASSERT_TRUE(RunUntil([&] { return fourth.Heard("hello"); }));
}

TEST_P(Http1ServerTest, StopEndsIdleConnectionsAndLetsRunningOnesFinish) {
  Serve();
  RawPeer& idle = NewPeer();
  RawPeer& running = NewPeer();
  running.Say("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return service_.calls.size() == 1 && server_->connections() == 2; }));
  bool stopped = false;
  server_->Stop(Seconds(10), [&] { stopped = true; });
  ASSERT_TRUE(RunUntil([&] { return idle.ended(); }));
  EXPECT_FALSE(stopped);
  service_.calls[0]->exchange().Respond(200, "text/plain", "last");
  ASSERT_TRUE(RunUntil([&] { return running.ended(); }));
  EXPECT_THAT(running.heard(), HasSubstr("Connection: close\r\n"));
  EXPECT_THAT(running.heard(), HasSubstr("last"));
  idle.Close();
  running.Close();
  ASSERT_TRUE(RunUntil([&] { return stopped; }));
}

TEST_P(Http1ServerTest, StopCutsWhatTakesLongerThanTheLimit) {
  Serve();
  RawPeer& running = NewPeer();
  running.Say("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return service_.calls.size() == 1; }));
  bool stopped = false;
  server_->Stop(Milliseconds(20), [&] { stopped = true; });
  ASSERT_TRUE(RunUntil([&] { return stopped; }));
  EXPECT_TRUE(service_.calls[0]->is_gone);
  EXPECT_EQ(service_.faults.back(), Http1Fault::kStopped);
}

TEST_P(Http1ServerTest, AnExchangeOutlivesItsServer) {
  Serve();
  RawPeer& peer = NewPeer();
  peer.Say("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return service_.calls.size() == 1; }));
  server_.reset();
  EXPECT_FALSE(service_.calls[0]->exchange().alive());
  service_.calls[0]->exchange().Respond(200, "text/plain", "nobody");
  ASSERT_TRUE(RunUntil([&] { return peer.over(); }));
  EXPECT_EQ(peer.heard(), "");
}

TEST_P(Http1ServerTest, ServesAUnixSocketToo) {
  Serve();
  const std::string path = testing::TempDir() + "http1_server_test.sock";
  (void)remove(path.c_str());
  auto unix_address = server_->Listen(*Address::Unix(path));
  ASSERT_TRUE(unix_address);
  address_ = std::make_unique<Address>(*unix_address);
  ExpectServed();
  (void)remove(path.c_str());
}

}  // namespace
}  // namespace denselet::net
