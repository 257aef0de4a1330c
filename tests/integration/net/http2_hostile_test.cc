// What a hostile server does: it loses its connection, or its exchange, with a reason that names
// the cause; another connection on the same loop goes on unhurt.
#include "tests/integration/net/http2_fixture.h"

namespace denselet::net {
namespace {

using namespace frames;

enum class Loses { kConnection, kExchange };

struct Hostile {
  const char* name;
  Loses loses;
  ErrorCode code;
  const char* reason;  // a part of it
  // What the server says to the first request; SETTINGS go before unless they are part of it.
  std::function<void(FrameConnection&)> act;
  bool settings = true;
};

std::string Repeat(const std::string& bytes, size_t times) {
  std::string out;
  for (size_t i = 0; i < times; ++i) out += bytes;
  return out;
}

std::function<void(FrameConnection&)> Says(std::string bytes) {
  return [bytes = std::move(bytes)](FrameConnection& c) { c.Send(bytes); };
}

std::function<void(FrameConnection&)> SaysAndCloses(std::string bytes) {
  return [bytes = std::move(bytes)](FrameConnection& c) {
    c.Send(bytes);
    c.End();
  };
}

// Fields that fill HPACK's table with one long entry, then name it again and again.
std::string HpackBomb() {
  std::string block = kStatus200 + "\x40\x01x\x7f\x81\x1e" + std::string(4000, 'v');
  return block + std::string(12'000, '\xbe');
}

std::string OpenHeaders() { return Frame(kHeaders, kNone, 1, kStatus200); }

std::vector<Hostile> HostileRows() {
  constexpr auto kWhole = Loses::kConnection;
  constexpr auto kOne = Loses::kExchange;
  constexpr auto kCorrupt = ErrorCode::kCorrupt;
  constexpr auto kFlood = ErrorCode::kOverloaded;
  constexpr auto kUnknown = ErrorCode::kUnknownOutcome;
  const std::string big_number = Number(0x7fffffff, 4);
  return {
      {"settings flood", kWhole, kFlood, "SETTINGS", Says(Repeat(Settings(), 5000))},
      {"ping flood", kWhole, kFlood, "PING", Says(Repeat(Ping(), 5000))},
      {"reset flood", kWhole, kFlood, "RST_STREAM",
       Says(Ok200(1) + Repeat(Reset(1, 8), 1) + Repeat(Reset(1, 8), 5000))},
      {"empty DATA flood", kWhole, kFlood, "empty DATA",
       Says(Ok200(1) + Repeat(Data(1, ""), 5000))},
      {"padding flood", kWhole, kFlood, "empty DATA",
       Says(Ok200(1) + Repeat(Data(1, Number(9, 1) + std::string(9, '\0'), kPadded), 5000))},
      {"window update flood", kWhole, kFlood, "WINDOW_UPDATE",
       Says(Repeat(WindowUpdate(0, 1), 5000))},
      {"priority flood", kWhole, kFlood, "PRIORITY",
       Says(Repeat(Frame(kPriority, kNone, 1, Number(0, 5)), 5000))},
      {"interim answers flood", kWhole, kFlood, "HEADERS",
       Says(Repeat(Frame(kHeaders, kEndHeaders, 1, Literal(":status", "103")), 5000))},
      {"endless CONTINUATION", kWhole, kCorrupt, "",
       Says(OpenHeaders() + Repeat(Frame(kContinuation, kNone, 1, Literal("a", "b")), 5000))},
      {"empty CONTINUATION flood", kWhole, kCorrupt, "",
       Says(OpenHeaders() + Repeat(Frame(kContinuation, kNone, 1, ""), 5000))},
      {"HPACK bomb", kOne, kFlood, "head is too long",
       Says(Frame(kHeaders, kEndHeaders, 1, HpackBomb()))},
      {"long head", kOne, kFlood, "head is too long",
       Says(Frame(kHeaders, kEndHeaders, 1,
                  kStatus200 + Repeat(Literal("name", std::string(100, 'v')), 130)))},
      {"bad HPACK", kWhole, kCorrupt, "COMPRESSION_ERROR",
       Says(Frame(kHeaders, kEndHeaders, 1, "\xff\xff\xff\xff\xff\xff"))},
      {"window overflow", kWhole, kCorrupt, "FLOW_CONTROL_ERROR",
       Says(Frame(kWindowUpdate, kNone, 0, big_number))},
      {"window update of nothing", kWhole, kCorrupt, "PROTOCOL_ERROR", Says(WindowUpdate(0, 0))},
      {"push", kWhole, kCorrupt, "pushes",
       Says(Frame(kPushPromise, kEndHeaders, 1, Number(2, 4) + kStatus200))},
      {"DATA on stream 0", kWhole, kCorrupt, "PROTOCOL_ERROR", Says(Data(0, "x"))},
      {"HEADERS on an idle stream", kWhole, kCorrupt, "PROTOCOL_ERROR", Says(Ok200(99))},
      {"DATA on an idle stream", kWhole, kCorrupt, "PROTOCOL_ERROR", Says(Data(99, "x"))},
      {"RST_STREAM of an idle stream", kWhole, kCorrupt, "PROTOCOL_ERROR", Says(Reset(99, 1))},
      {"HEADERS on an even stream", kWhole, kCorrupt, "PROTOCOL_ERROR", Says(Ok200(2))},
      {"frame beyond the largest", kWhole, kCorrupt, "FRAME_SIZE_ERROR",
       Says(Ok200(1) + Data(1, std::string(20'000, 'x')))},
      {"PING of the wrong size", kWhole, kCorrupt, "FRAME_SIZE_ERROR",
       Says(Frame(kPing, kNone, 0, "123"))},
      {"SETTINGS of the wrong size", kWhole, kCorrupt, "FRAME_SIZE_ERROR", Says(Settings("12345"))},
      {"bad SETTINGS value", kWhole, kCorrupt, "", Says(Settings(Setting(4, 0x80000000)))},
      {"unasked SETTINGS ACK", kWhole, kCorrupt, "PROTOCOL_ERROR",
       Says(SettingsAck() + SettingsAck() + SettingsAck())},
      {"padding longer than its frame", kWhole, kCorrupt, "PROTOCOL_ERROR",
       Says(Ok200(1) + Data(1, "\xff", kPadded))},
      {"DATA within a header block", kWhole, kCorrupt, "PROTOCOL_ERROR",
       Says(OpenHeaders() + Data(1, "x"))},
      {"CONTINUATION of nothing", kWhole, kCorrupt, "PROTOCOL_ERROR",
       Says(Frame(kContinuation, kEndHeaders, 1, ""))},
      {"DATA before the head", kWhole, kCorrupt, "PROTOCOL_ERROR", Says(Data(1, "x"))},
      {"head without a status", kOne, kCorrupt, "PROTOCOL_ERROR",
       Says(Frame(kHeaders, kEndHeaders, 1, Literal("a", "b")))},
      {"status below 100", kOne, kCorrupt, "status is 051",
       Says(Frame(kHeaders, kEndHeaders, 1, Literal(":status", "051")))},
      {"capitals in a name", kOne, kCorrupt, "PROTOCOL_ERROR",
       Says(Frame(kHeaders, kEndHeaders, 1, kStatus200 + Literal("Connection", "close")))},
      {"shorter than its Content-Length", kOne, kCorrupt, "PROTOCOL_ERROR",
       Says(Frame(kHeaders, kEndHeaders, 1, kStatus200 + Literal("content-length", "5")) +
            Data(1, "1234", kEndStream))},
      {"DATA beyond the window", kOne, kCorrupt, "FLOW_CONTROL_ERROR",
       Says(SettingsAck() + Ok200(1) + Repeat(Data(1, std::string(16'000, 'x')), 5))},
      {"HTTP/1 answer", kWhole, kCorrupt, "does not speak HTTP/2",
       Says("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"), false},
      {"noise", kWhole, kCorrupt, "SETTINGS expected", Says(std::string(300, '\x7f')), false},
      {"another frame first", kWhole, kCorrupt, "SETTINGS expected", Says(Ping()), false},
      {"silence from the start", kWhole, ErrorCode::kUnknownOutcome, "no SETTINGS", Says(""),
       false},
      {"silence later", kWhole, kUnknown, "no answer to ping", Says("")},
      {"GOAWAY, then silence", kWhole, kUnknown, "no answer to ping", Says(GoAway(1, 0))},
      {"end before SETTINGS", kWhole, kUnknown, "closed the connection", SaysAndCloses(""), false},
      {"end before the answer", kWhole, kUnknown, "closed the connection", SaysAndCloses("")},
      {"end within a frame", kWhole, kUnknown, "closed the connection",
       SaysAndCloses(Ok200(1).substr(0, 5))},
      {"end within a header block", kWhole, kUnknown, "closed the connection",
       SaysAndCloses(OpenHeaders())},
      {"end within the body", kWhole, kUnknown, "closed the connection",
       SaysAndCloses(Ok200(1) + Data(1, "x"))},
      {"end after GOAWAY", kWhole, kUnknown,
       "the server closed the connection after GOAWAY (INTERNAL_ERROR, \"out of memory\")",
       SaysAndCloses(GoAway(1, 2, "out of memory"))},
      {"GOAWAY before the request", kWhole, ErrorCode::kUnavailable,
       "the server said GOAWAY (ENHANCE_YOUR_CALM)", Says(GoAway(0, 11))},
  };
}

class Http2HostileTest : public Http2Test {
 protected:
  void Run(const Hostile& row);
};
INSTANTIATE_LOOP_TEST(Http2HostileTest);

void Http2HostileTest::Run(const Hostile& row) {
  SCOPED_TRACE(row.name);
  FramePeer good(loop(), Loopback(), Answering{});
  bool acted = false;
  FramePeer bad(loop(), Loopback(), [&](FrameConnection& c, const Seen& frame) {
    if (frame.type == kSettings && (frame.flags & kAck) == 0 && row.settings) c.Send(Settings());
    if (frame.type == kHeaders && !std::exchange(acted, true)) row.act(c);
    if (frame.type == kHeaders && frame.stream > 1) c.Send(Ok200(frame.stream, kEndStream));
  });
  const Http2Options options{.stream_window_bytes = 65'535,
                             .header_list_bytes_max = 16 * 1024,
                             .settings_timeout = Milliseconds(40),
                             .ping_idle = Milliseconds(60),
                             .ping_timeout = Milliseconds(30)};
  const auto bystander = Open(good.address());
  Http2Watcher watcher;
  const auto victim = Open(bad.address(), options, &watcher);
  Http2Call call;
  call.exchange = victim->Start({}, Get("/"), RequestBody::kNone, call);
  call.exchange->Hold();  // what comes stays: only windows bound it
  ASSERT_TRUE(RunUntil([&] {
    const bool lost = row.loses == Loses::kExchange || watcher.reason.has_value();
    return call.ended() && lost;
  })) << call.Outcome();
  ASSERT_TRUE(call.error);
  if (row.loses == Loses::kConnection) {
    EXPECT_TRUE(victim->closed());
    EXPECT_NE(watcher.reason->message().find(row.reason), std::string::npos)
        << watcher.reason->message();
    // A stream that a flood used as its carrier may have ended before.
    if (std::string_view(row.name) != "reset flood") {
      EXPECT_EQ(call.error->code(), row.code) << call.Outcome();
    }
  } else {
    EXPECT_EQ(call.error->code(), row.code) << call.Outcome();
    EXPECT_NE(call.error->message().find(row.reason), std::string::npos) << call.Outcome();
    EXPECT_EQ(Fetch(*victim), "200 ") << "the rest of the connection goes on";
  }
  EXPECT_EQ(Fetch(*bystander), "200 fine");
}

TEST_P(Http2HostileTest, TheReasonOfAGoAwayIsToldQuotedAndCut) {
  const struct {
    uint32_t error;
    std::string debug_data, told;
  } rows[] = {
      {11, "too_many_pings", "GOAWAY (ENHANCE_YOUR_CALM, \"too_many_pings\")"},
      {1, std::string("a\"b\\\n\0\xff", 7),
       "GOAWAY (PROTOCOL_ERROR, \"a\\\"b\\\\\\x0a\\x00\\xff\")"},
      {13, std::string(128, 'x'), "GOAWAY (HTTP_1_1_REQUIRED, \"" + std::string(128, 'x') + "\")"},
      {14, std::string(16'000, 'x'), "GOAWAY (error 14, \"" + std::string(128, 'x') + "...\")"},
      {0xffffffff, "", "GOAWAY (error 4294967295)"},
  };
  for (const auto& row : rows) {
    FramePeer peer(loop(), Loopback(), [&](FrameConnection& c, const Seen& frame) {
      if (frame.type != kHeaders) return Answering{}(c, frame);
      c.Send(GoAway(0, row.error, row.debug_data));
    });
    Http2Watcher watcher;
    const auto connection = Open(peer.address(), {}, &watcher);
    Http2Call call;
    call.exchange = connection->Start({}, Get("/"), RequestBody::kNone, call);
    ASSERT_TRUE(RunUntil([&] { return watcher.reason.has_value() && call.ended(); }));
    EXPECT_EQ(call.Outcome(), "unavailable: the server has not processed the request: " + row.told);
    EXPECT_EQ(watcher.reason->message(), "the server said " + row.told);
  }
}

TEST_P(Http2HostileTest, UnknownFramesAreSkipped) {
  FramePeer peer(loop(), Loopback(), [&](FrameConnection& c, const Seen& frame) {
    if (frame.type == kHeaders) c.Send(Repeat(Frame(0xee, kNone, 0, "x"), 5000));
    Answering{}(c, frame);
  });
  const auto connection = Open(peer.address());
  EXPECT_EQ(Fetch(*connection), "200 fine");
}

TEST_P(Http2HostileTest, LosesItsConnectionOrExchangeWithAReasonAndHurtsNobodyElse) {
  for (const Hostile& row : HostileRows()) {
    Run(row);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace denselet::net
