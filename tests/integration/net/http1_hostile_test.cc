// Peers that mean no good: each loses its own connection for the reason its row names, and an
// honest one is served meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/integration/net/http1_client_fixture.h"

namespace denselet::net {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Repeat(std::string_view text, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += text;
  return out;
}

enum class Then { kWaits, kEnds, kCuts, kNeverReads };

struct Attack {
  std::string name;
  std::string says;
  Http1Fault fault;
  int status;  // 0: no answer
  Then then = Then::kWaits;
  std::string drips = "";  // again and again, until it is over
};

// Short times for those that wait for one; no honest step of a test takes that long.
Http1ServerOptions Impatient() {
  return {.limits = {.head_bytes_max = 4096, .headers_max = 20, .body_bytes_max = 100'000},
          .head_timeout = Milliseconds(150),
          .idle_timeout = Milliseconds(150),
          .body_timeout = Milliseconds(150),
          .transfer_timeout = Milliseconds(150),
          .linger_timeout = Milliseconds(150)};
}

const std::string kGet = "GET / HTTP/1.1\r\nHost: h\r\n";
const std::string kPost = "POST /count HTTP/1.1\r\nHost: h\r\n";
const std::string kChunked = kPost + "Transfer-Encoding: chunked\r\n\r\n";

std::vector<Attack> Attacks() {
  using F = Http1Fault;
  return {
      // Times.
      {"says nothing", "", F::kIdleTimeout, 0},
      {"says nothing more", kGet + "\r\n", F::kIdleTimeout, 200},
      {"slow head", "GET / HT", F::kHeadTimeout, 408},
      {"head byte by byte", "GET /", F::kHeadTimeout, 408, Then::kWaits, "a"},
      {"slow body", kPost + "Content-Length: 10\r\n\r\nabc", F::kBodyTimeout, 408},
      {"slow chunk", kChunked + "5\r\nab", F::kBodyTimeout, 408},
      {"never reads", "GET /flood HTTP/1.1\r\nHost: h\r\n\r\n", F::kTransferTimeout, 0,
       Then::kNeverReads},
      {"pipelines and never reads", Repeat("GET / HTTP/1.1\r\nHost: h\r\n\r\n", 200'000),
       F::kTransferTimeout, 0, Then::kNeverReads},
      // Sizes.
      {"endless target", "GET /" + std::string(5000, 'a'), F::kTargetTooLong, 414},
      {"endless header", kGet + "X: " + std::string(5000, 'a'), F::kHeadTooLarge, 431},
      {"endless header name", kGet + std::string(5000, 'a'), F::kHeadTooLarge, 431},
      {"endless line ends", Repeat("\r\n", 3000), F::kTargetTooLong, 414},
      {"too many headers", kGet + Repeat("A: b\r\n", 30), F::kTooManyHeaders, 431},
      {"body announced too large", kPost + "Content-Length: 100001\r\n\r\n", F::kBodyTooLarge, 413},
      {"chunk too large", kChunked + "186a1\r\n", F::kBodyTooLarge, 413},
      {"chunks too large together", kChunked + "1\r\na\r\n186a0\r\n", F::kBodyTooLarge, 413},
      {"chunk size overflows", kChunked + "fffffffffffffffff\r\n", F::kMalformed, 400},
      {"chunk extension flood", kChunked + "1;" + std::string(9000, 'x') + "\r\na\r\n",
       F::kChunkOverhead, 400},
      {"trailer flood", kChunked + "0\r\n" + Repeat("A: b\r\n", 3000), F::kChunkOverhead, 400},
      {"flood of small chunks with extensions",
       kChunked + Repeat("1;" + std::string(100, 'x') + "\r\na\r\n", 200), F::kChunkOverhead, 400},
      // Two readings.
      {"length and chunks", kPost + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
       F::kMalformed, 400},
      {"chunks and length", kPost + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
       F::kMalformed, 400},
      {"two lengths", kPost + "Content-Length: 3\r\nContent-Length: 4\r\n\r\n", F::kMalformed, 400},
      {"list of lengths", kPost + "Content-Length: 3, 4\r\n\r\n", F::kMalformed, 400},
      {"negative length", kPost + "Content-Length: -1\r\n\r\n", F::kMalformed, 400},
      {"length with a plus", kPost + "Content-Length: +1\r\n\r\n", F::kMalformed, 400},
      {"length overflows", kPost + "Content-Length: 18446744073709551617\r\n\r\n", F::kMalformed,
       400},
      {"length in hex", kPost + "Content-Length: 0x10\r\n\r\n", F::kMalformed, 400},
      {"unknown encoding", kPost + "Transfer-Encoding: gzip\r\n\r\n", F::kUnknownEncoding, 501},
      {"chunked is not last", kPost + "Transfer-Encoding: chunked, gzip\r\n\r\n", F::kMalformed,
       400},
      {"chunked in HTTP/1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
       F::kMalformed, 400},
      {"folded line", kGet + "A: b\r\n c\r\n\r\n", F::kMalformed, 400},
      {"blank before the colon", kGet + "A : b\r\n\r\n", F::kMalformed, 400},
      {"bare LF", "GET / HTTP/1.1\nHost: h\n\n", F::kMalformed, 400},
      {"bare CR in a value", kGet + "A: b\rc\r\n\r\n", F::kMalformed, 400},
      {"NUL in a value", kGet + std::string("A: b\0c\r\n\r\n", 10), F::kMalformed, 400},
      {"NUL in the target", std::string("GET /\0 HTTP/1.1\r\n\r\n", 19), F::kMalformed, 400},
      {"no host", "GET / HTTP/1.1\r\n\r\n", F::kMalformed, 400},
      {"two hosts", kGet + "Host: i\r\n\r\n", F::kMalformed, 400},
      {"bad chunk size", kChunked + "xyz\r\n", F::kMalformed, 400},
      {"negative chunk size", kChunked + "-1\r\n", F::kMalformed, 400},
      {"blank behind a chunk size", kChunked + "1 \r\na\r\n", F::kMalformed, 400},
      {"chunk longer than said", kChunked + "1\r\nab\r\n", F::kMalformed, 400},
      // Other tongues.
      {"garbage", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc", F::kUnknownMethod, 501},
      {"unknown method", "BREW / HTTP/1.1\r\nHost: h\r\n\r\n", F::kUnknownMethod, 501},
      {"method of RTSP", "PLAY / RTSP/1.0\r\n\r\n", F::kUnknownMethod, 501},
      {"preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", F::kVersion, 505},
      {"HTTP/2", "GET / HTTP/2.0\r\nHost: h\r\n\r\n", F::kVersion, 505},
      {"HTTP/0.9", "GET / HTTP/0.9\r\nHost: h\r\n\r\n", F::kVersion, 505},
      {"HTTP/3.7", "GET / HTTP/3.7\r\nHost: h\r\n\r\n", F::kVersion, 505},
      {"expects more", kPost + "Content-Length: 3\r\nExpect: more\r\n\r\n", F::kExpectation, 417},
      // Leaving early.
      {"ends in the target", "GET /a", F::kEarlyEnd, 0, Then::kEnds},
      {"ends in a header", kGet + "A:", F::kEarlyEnd, 0, Then::kEnds},
      {"ends in the body", kPost + "Content-Length: 10\r\n\r\nabc", F::kEarlyEnd, 0, Then::kEnds},
      {"ends in a chunk", kChunked + "5\r\nab", F::kEarlyEnd, 0, Then::kEnds},
      {"ends between chunks", kChunked + "1\r\na\r\n", F::kEarlyEnd, 0, Then::kEnds},
      {"ends in a body nobody wants", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\na",
       F::kEarlyEnd, 200, Then::kEnds},
  };
}

class Http1HostileClientTest : public Http1ServerFixture {};
INSTANTIATE_LOOP_TEST(Http1HostileClientTest);

TEST_P(Http1HostileClientTest, EachLosesItsOwnConnectionForItsReason) {
  Serve(Impatient());
  for (const Attack& attack : Attacks()) {
    SCOPED_TRACE(attack.name);
    service_.faults.clear();
    service_.reasons.clear();
    RawPeer& peer = NewPeer();
    if (attack.then == Then::kNeverReads) peer.Hold();
    peer.Say(attack.says);
    if (attack.then == Then::kEnds) peer.SayEnd();
    ExpectServed();
    ASSERT_TRUE(RunUntil([&] {
      if (!attack.drips.empty()) peer.Say(attack.drips);
      return !service_.faults.empty() && server_->connections() <= 1;
    }));
    EXPECT_EQ(service_.faults[0], attack.fault)
        << Http1FaultName(service_.faults[0]) << ": " << service_.reasons[0];
    peer.Resume();
    ASSERT_TRUE(RunUntil([&] { return peer.over(); }));
    if (attack.status != 0) {
      EXPECT_THAT(peer.heard(), StartsWith("HTTP/1.1 " + std::to_string(attack.status)));
    } else if (attack.then != Then::kNeverReads) {
      EXPECT_EQ(peer.heard(), "");
    }
    peers_.clear();
    ASSERT_TRUE(RunUntil([&] { return server_->connections() == 0; }));
    for (const auto& call : service_.calls) EXPECT_FALSE(call->exchange().alive());
    service_.calls.clear();
  }
}

TEST_P(Http1HostileClientTest, ACutAtAnyByteLeavesNothingBehind) {
  Serve();
  const std::string text = kChunked + "5;x\r\nabcde\r\n0\r\nT: t\r\n\r\n" + kGet + "\r\n";
  for (size_t at = 0; at <= text.size(); ++at) {
    SCOPED_TRACE(at);
    RawPeer& peer = NewPeer();
    peer.Say(text.substr(0, at));
    ASSERT_TRUE(RunUntil([&] { return peer.unsent() == 0; }));
    peer.Close();
    ASSERT_TRUE(RunUntil([&] { return server_->connections() == 0; }));
    peers_.clear();
    service_.calls.clear();
  }
  ExpectServed();
}

// ---- the same from the other side

struct BadServer {
  std::string name;
  std::string says;
  ErrorCode code;
  std::string reason;
  Then then = Then::kWaits;
  std::string method = "GET";
};

Http1ClientOptions ImpatientClient() {
  return {.limits = {.head_bytes_max = 4096, .headers_max = 20, .body_bytes_max = 100'000},
          .interim_max = 4,
          .transfer_timeout = Milliseconds(150),
          .head_timeout = Milliseconds(150),
          .body_timeout = Milliseconds(150)};
}

std::vector<BadServer> BadServers() {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const std::string chunked = ok + "Transfer-Encoding: chunked\r\n\r\n";
  using E = ErrorCode;
  return {
      {"silence", "", E::kUnknownOutcome, "head took too long"},
      {"silence in the head", "HTTP/1.1 200", E::kUnknownOutcome, "head took too long"},
      {"silence after 100", "HTTP/1.1 100 Continue\r\n\r\n", E::kUnknownOutcome, "head took"},
      {"silence in the body", ok + "Content-Length: 5\r\n\r\nab", E::kUnknownOutcome,
       "body stood still"},
      {"silence in a chunk", chunked + "5\r\nab", E::kUnknownOutcome, "body stood still"},
      {"silence before the close", ok + "\r\nab", E::kUnknownOutcome, "body stood still"},
      {"endless status", "HTTP/1.1 200 " + std::string(5000, 'a'), E::kOverloaded,
       "head too large"},
      {"endless head", ok + Repeat("Aaaaa: " + std::string(500, 'b') + "\r\n", 10), E::kOverloaded,
       "head too large"},
      {"too many headers", ok + Repeat("A: b\r\n", 30), E::kOverloaded, "too many headers"},
      {"endless 1xx", Repeat("HTTP/1.1 100 Continue\r\n\r\n", 10), E::kOverloaded, "interim"},
      {"huge chunk", chunked + "fffffff\r\n", E::kOverloaded, "body too large"},
      {"overflowing chunk", chunked + "fffffffffffffffff\r\n", E::kCorrupt, "malformed"},
      {"bad chunk", chunked + "zz\r\n", E::kCorrupt, "malformed"},
      {"chunk longer than said", chunked + "1\r\nab\r\n", E::kCorrupt, "malformed"},
      {"chunk extension flood", chunked + "1;" + std::string(9000, 'x'), E::kOverloaded, "framing"},
      {"body too large", ok + "Content-Length: 100001\r\n\r\n", E::kOverloaded, "body too large"},
      {"endless body", ok + "\r\n" + std::string(100'001, 'x'), E::kOverloaded, "body too large"},
      {"length and chunks", ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
       E::kCorrupt, "malformed"},
      {"two lengths", ok + "Content-Length: 3\r\nContent-Length: 4\r\n\r\n", E::kCorrupt,
       "malformed"},
      {"negative length", ok + "Content-Length: -3\r\n\r\n", E::kCorrupt, "malformed"},
      {"folded line", ok + "A: b\r\n c\r\n\r\n", E::kCorrupt, "malformed"},
      {"bare LF", "HTTP/1.1 200 OK\nA: b\n\n", E::kCorrupt, "malformed"},
      {"NUL", ok + std::string("A: \0\r\n\r\n", 8), E::kCorrupt, "malformed"},
      {"garbage", "SSH-2.0-OpenSSH_9.2\r\n", E::kCorrupt, "malformed"},
      {"HTTP/2", "HTTP/2.0 200 OK\r\n\r\n", E::kCorrupt, "version"},
      {"unasked upgrade", "HTTP/1.1 101 Switching Protocols\r\n\r\n", E::kCorrupt, "nobody asked"},
      {"ends before the answer", "", E::kUnavailable, "before the answer", Then::kEnds},
      {"ends before the answer to POST", "", E::kUnknownOutcome, "before the answer", Then::kEnds,
       "POST"},
      {"ends in the head", "HTTP/1.1 2", E::kUnknownOutcome, "in the middle", Then::kEnds},
      {"ends after 100", "HTTP/1.1 100 Continue\r\n\r\n", E::kUnknownOutcome, "in the middle",
       Then::kEnds},
      {"ends in the body", ok + "Content-Length: 5\r\n\r\nab", E::kUnknownOutcome, "in the middle",
       Then::kEnds},
      {"ends in a chunk", chunked + "5\r\nab", E::kUnknownOutcome, "in the middle", Then::kEnds},
      {"ends between chunks", chunked + "1\r\na\r\n", E::kUnknownOutcome, "in the middle",
       Then::kEnds},
      {"cuts in the body", ok + "Content-Length: 5\r\n\r\nab", E::kUnknownOutcome, "in the middle",
       Then::kCuts},
  };
}

class Http1HostileServerTest : public Http1ClientFixture {};
INSTANTIATE_LOOP_TEST(Http1HostileServerTest);

TEST_P(Http1HostileServerTest, EachFailsItsOwnExchangeForItsReason) {
  for (const BadServer& bad : BadServers()) {
    SCOPED_TRACE(bad.name);
    Http1Client& client = NewClient(ImpatientClient());
    RawPeer& server = server_end();
    TestClientCall call;
    HttpRequest request = Get("/");
    request.method = bad.method;
    exchange_ = client.Start({}, request, RequestBody::kNone, call);
    ASSERT_TRUE(RunUntil([&] { return server.Heard("\r\n\r\n"); }));
    server.Say(bad.says);
    if (bad.then == Then::kEnds) server.SayEnd();
    if (bad.then == Then::kCuts) {
      ASSERT_TRUE(RunUntil([&] { return server.unsent() == 0; }));
      server.Close();
    }

    Http1Client& honest = NewClient(ImpatientClient());
    TestClientCall other;
    const auto kept = honest.Start({}, Get("/"), RequestBody::kNone, other);
    server_end().Say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    ASSERT_TRUE(RunUntil([&] { return call.over() && other.over(); }));
    EXPECT_EQ(other.body, "ok");
    ASSERT_TRUE(call.error.has_value());
    EXPECT_EQ(call.error->code(), bad.code) << call.error->message();
    EXPECT_THAT(call.error->message(), HasSubstr(bad.reason));
    EXPECT_EQ(client.state(), Http1Client::State::kClosed);
    exchange_.reset();
    clients_.clear();
    accepted_.clear();
  }
}

TEST_P(Http1HostileServerTest, AServerThatDoesNotReadEndsTheExchange) {
  Http1Client& client = NewClient(ImpatientClient());
  server_end().Hold();
  TestClientCall call;
  HttpRequest request = Get("/");
  request.method = "POST";
  exchange_ = client.Start({}, request, RequestBody::kStreamed, call);
  exchange_->SendBody(std::string(24'000'000, 'x'));  // more than the kernel keeps
  ASSERT_TRUE(RunUntil([&] { return call.over(); }));
  EXPECT_EQ(call.error->code(), ErrorCode::kDeadlineExceeded);
  EXPECT_THAT(call.error->message(), HasSubstr("does not read"));
}

}  // namespace
}  // namespace denselet::net
