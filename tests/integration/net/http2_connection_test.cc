// One connection and its exchanges against a peer made of frames.
#include "tests/integration/net/http2_fixture.h"

namespace denselet::net {
namespace {

using namespace frames;

class Http2ConnectionTest : public Http2Test {
 protected:
  // A peer that only sends SETTINGS and remembers.
  FrameConnection::OnFrame Quiet(std::string first = Settings()) {
    return [first](FrameConnection& c, const Seen& frame) {
      if (frame.type == kSettings && (frame.flags & kAck) == 0) c.Send(first + SettingsAck());
    };
  }
  static size_t Requests(const FramePeer& peer) {
    return peer.connections.empty() ? 0 : peer.connections[0]->Count(kHeaders);
  }
};
INSTANTIATE_LOOP_TEST(Http2ConnectionTest);

TEST_P(Http2ConnectionTest, AnAnswerComesWithItsHeadAndBody) {
  FramePeer peer(loop(), Loopback(), Answering{});
  const auto connection = Open(peer.address());
  EXPECT_EQ(Fetch(*connection), "200 fine");
  EXPECT_EQ(connection->streams(), 0u);
  EXPECT_TRUE(connection->proven());
}

TEST_P(Http2ConnectionTest, FramesOfATurnLeaveTogether) {
  FramePeer peer(loop(), Loopback(), Answering{});
  const auto connection = Open(peer.address());
  std::vector<Http2Call> calls(50);
  for (Http2Call& call : calls) {
    call.exchange = connection->Start({}, Get("/"), RequestBody::kNone, call);
  }
  EXPECT_EQ(connection->streams(), 50u);
  ASSERT_TRUE(RunUntil([&] {
    return std::all_of(calls.begin(), calls.end(), [](const Http2Call& c) { return c.whole; });
  }));
  EXPECT_EQ(Fetch(*connection), "200 fine");
}

TEST_P(Http2ConnectionTest, InterimAnswersAndTrailersAreSkipped) {
  FramePeer peer(loop(), Loopback(), [](FrameConnection& c, const Seen& frame) {
    if (frame.type == kSettings && (frame.flags & kAck) == 0) c.Send(Settings());
    if (frame.type != kHeaders) return;
    const std::string interim = Literal(":status", "103") + Literal("link", "x");
    c.Send(Frame(kHeaders, kEndHeaders, 1, interim) +
           Frame(kHeaders, kEndHeaders, 1, kStatus200 + Literal("a", "b")) + Data(1, "body") +
           Frame(kHeaders, kEndHeaders | kEndStream, 1, Literal("grpc-status", "0")));
  });
  const auto connection = Open(peer.address());
  Http2Call call;
  call.exchange = connection->Start({}, Get("/"), RequestBody::kNone, call);
  ASSERT_TRUE(RunUntil([&] { return call.ended(); }));
  EXPECT_EQ(call.Outcome(), "200");
  EXPECT_EQ(call.head->headers, (Headers{{"a", "b"}}));
  EXPECT_EQ(call.body, "body");
}

TEST_P(Http2ConnectionTest, AnUploadKeepsToTheWindowAndTellsOfRoom) {
  size_t received = 0, in_window = 65535;
  bool overrun = false;
  FrameConnection* server = nullptr;
  FramePeer peer(loop(), Loopback(), [&](FrameConnection& c, const Seen& frame) {
    server = &c;
    if (frame.type == kSettings && (frame.flags & kAck) == 0) c.Send(Settings());
    if (frame.type != kData) return;
    received += frame.payload.size();
    overrun = overrun || received > in_window;
    if ((frame.flags & kEndStream) != 0) c.Send(Ok200(1, kEndStream));
  });
  const auto connection = Open(peer.address());
  Http2Call call;
  call.exchange = connection->Start({}, Get("/"), RequestBody::kStreamed, call);
  call.exchange->SendBody(Pattern(300'000));
  call.exchange->EndBody();
  ASSERT_TRUE(RunUntil([&] { return received == in_window; }));
  EXPECT_EQ(call.exchange->unsent(), 300'000 - in_window);
  EXPECT_EQ(call.rooms, 0);
  in_window = 400'000;
  server->Send(WindowUpdate(0, 400'000 - 65535) + WindowUpdate(1, 400'000 - 65535));
  ASSERT_TRUE(RunUntil([&] { return call.ended(); }));
  EXPECT_EQ(call.Outcome(), "200");
  EXPECT_EQ(call.rooms, 1);
  EXPECT_EQ(received, 300'000u);
  EXPECT_FALSE(overrun);
}

TEST_P(Http2ConnectionTest, AHeldAnswerStopsAtItsWindowAndTheOthersGoOn) {
  const Http2Options options{.stream_window_bytes = 20'000};
  size_t window = 20'000, sent = 0;
  FrameConnection* server = nullptr;
  FramePeer peer(loop(), Loopback(), [&](FrameConnection& c, const Seen& frame) {
    server = &c;
    if (frame.type == kSettings && (frame.flags & kAck) == 0) c.Send(Settings() + SettingsAck());
    if (frame.type == kWindowUpdate && frame.stream == 1) window += ReadNumber(frame.payload);
    if (frame.type == kHeaders && frame.stream == 1) {
      c.Send(Ok200(1) + Data(1, Pattern(10'000)) + Data(1, Pattern(10'000)));
      sent = 20'000;
    }
    if (frame.type == kHeaders && frame.stream != 1) c.Send(Ok200(frame.stream, kEndStream));
  });
  const auto connection = Open(peer.address(), options);
  Http2Call held;
  held.exchange = connection->Start({}, Get("/"), RequestBody::kNone, held);
  held.exchange->Hold();
  EXPECT_EQ(Fetch(*connection), "200 ");
  EXPECT_TRUE(held.head);
  EXPECT_EQ(held.body, "");
  EXPECT_EQ(window, sent) << "nothing was taken, so nothing more may come";
  held.exchange->Resume();
  EXPECT_EQ(held.body, "") << "not inside the call";
  ASSERT_TRUE(RunUntil([&] { return window > sent; }));
  EXPECT_EQ(held.body, Pattern(10'000) + Pattern(10'000));
  server->Send(Data(1, "end", kEndStream));
  ASSERT_TRUE(RunUntil([&] { return held.whole; }));
}

TEST_P(Http2ConnectionTest, AWholeAnswerThatIsHeldSurvivesItsConnection) {
  FramePeer peer(loop(), Loopback(), Answering{});
  Http2Watcher user;
  auto connection = Open(peer.address(), {}, &user);
  Http2Call held;
  held.exchange = connection->Start({}, Get("/"), RequestBody::kNone, held);
  held.exchange->Hold();
  EXPECT_EQ(Fetch(*connection), "200 fine");
  peer.connections[0]->Close();
  ASSERT_TRUE(RunUntil([&] { return user.reason.has_value(); }));
  connection.reset();
  EXPECT_FALSE(held.ended());
  held.exchange->Resume();
  ASSERT_TRUE(RunUntil([&] { return held.whole; }));
  EXPECT_EQ(held.body, "fine");
}

TEST_P(Http2ConnectionTest, DestroyingAnExchangeResetsItsStreamAndCallsNobody) {
  FramePeer peer(loop(), Loopback(), Quiet());
  const auto connection = Open(peer.address());
  Http2Call call;
  call.exchange = connection->Start({}, Get("/"), RequestBody::kNone, call);
  ASSERT_TRUE(RunUntil([&] { return Requests(peer) == 1; }));
  call.exchange.reset();
  ASSERT_TRUE(RunUntil([&] { return peer.connections[0]->Count(kReset) == 1; }));
  EXPECT_EQ(peer.connections[0]->seen().back().payload, Number(8, 4));
  EXPECT_FALSE(call.ended());
  EXPECT_EQ(connection->streams(), 0u);
}

TEST_P(Http2ConnectionTest, ARequestCancelledBeforeItIsSentNeverLeaves) {
  FramePeer peer(loop(), Loopback(), Answering{});
  const auto connection = Open(peer.address());
  Http2Call call;
  connection->Start({}, Get("/"), RequestBody::kNone, call).reset();
  EXPECT_EQ(Fetch(*connection), "200 fine");
  EXPECT_EQ(Requests(peer), 1u);
  EXPECT_FALSE(call.ended());
}

TEST_P(Http2ConnectionTest, TheContextsCancelIsToldOnceAndResets) {
  FramePeer peer(loop(), Loopback(), Quiet());
  const auto connection = Open(peer.address());
  CancelSource source;
  Context context;
  context.cancel = source.token();
  Http2Call call;
  call.exchange = connection->Start(context, Get("/"), RequestBody::kNone, call);
  ASSERT_TRUE(RunUntil([&] { return Requests(peer) == 1; }));
  source.Cancel();
  EXPECT_FALSE(call.ended()) << "not inside the call";
  ASSERT_TRUE(RunUntil([&] { return call.ended() && peer.connections[0]->Count(kReset) == 1; }));
  EXPECT_EQ(call.error->code(), ErrorCode::kCancelled);
}

TEST_P(Http2ConnectionTest, ADeadlineResetsTheStreamWithAnUnknownOutcome) {
  FramePeer peer(loop(), Loopback(), Quiet());
  const auto connection = Open(peer.address());
  Http2Call late, too_late;
  const Context soon = Context{}.WithTimeout(clock_.Now(), Milliseconds(30));
  late.exchange = connection->Start(soon, Get("/"), RequestBody::kNone, late);
  const Context past = Context{}.WithTimeout(loop().Now(), Duration::zero());
  too_late.exchange = connection->Start(past, Get("/"), RequestBody::kNone, too_late);
  ASSERT_TRUE(RunUntil([&] { return late.ended() && too_late.ended(); }));
  EXPECT_EQ(late.Outcome(), "unknown outcome: no whole answer before the deadline");
  EXPECT_EQ(too_late.error->code(), ErrorCode::kDeadlineExceeded);
  ASSERT_TRUE(RunUntil([&] { return peer.connections[0]->Count(kReset) == 1; }));
}

TEST_P(Http2ConnectionTest, TheServersLimitIsKeptWhenItGoesFromOneToNoneToFive) {
  FramePeer peer(loop(), Loopback(), Quiet(StreamsMax(1)));
  Http2Watcher user;
  const auto connection = Open(peer.address(), {}, &user);
  EXPECT_EQ(connection->streams_max(), 100u) << "assumed until the server has spoken";
  ASSERT_TRUE(RunUntil([&] { return connection->streams_max() == 1; }));
  Http2Call first, refused, third;
  first.exchange = connection->Start({}, Get("/1"), RequestBody::kNone, first);
  EXPECT_EQ(connection->free_streams(), 0u);
  refused.exchange = connection->Start({}, Get("/2"), RequestBody::kNone, refused);
  ASSERT_TRUE(RunUntil([&] { return refused.ended() && Requests(peer) == 1; }));
  EXPECT_EQ(refused.error->code(), ErrorCode::kOverloaded);

  FrameConnection& server = *peer.connections[0];
  server.Send(Ok200(1, kEndStream) + StreamsMax(0));
  ASSERT_TRUE(RunUntil([&] { return first.whole && connection->streams_max() == 0; }));
  const int calls = user.streams_calls;
  server.Send(StreamsMax(5));
  ASSERT_TRUE(RunUntil([&] { return user.streams_calls > calls; }));
  EXPECT_EQ(connection->free_streams(), 5u);
  third.exchange = connection->Start({}, Get("/3"), RequestBody::kNone, third);
  ASSERT_TRUE(RunUntil([&] { return Requests(peer) == 2; }));
}

TEST_P(Http2ConnectionTest, GoAwayFailsWhatWasNotSeenAndLetsTheRestFinish) {
  FramePeer peer(loop(), Loopback(), Quiet());
  Http2Watcher user;
  const auto connection = Open(peer.address(), {}, &user);
  Http2Call seen, unseen, after;
  seen.exchange = connection->Start({}, Get("/1"), RequestBody::kNone, seen);
  unseen.exchange = connection->Start({}, Get("/2"), RequestBody::kNone, unseen);
  ASSERT_TRUE(RunUntil([&] { return Requests(peer) == 2; }));
  peer.connections[0]->Send(GoAway(1, 0));
  ASSERT_TRUE(RunUntil([&] { return unseen.ended(); }));
  EXPECT_EQ(unseen.Outcome(),
            "unavailable: the server has not processed the request: GOAWAY (NO_ERROR)");
  EXPECT_TRUE(connection->draining());
  EXPECT_EQ(connection->free_streams(), 0u);
  after.exchange = connection->Start({}, Get("/3"), RequestBody::kNone, after);
  ASSERT_TRUE(RunUntil([&] { return after.ended(); }));
  EXPECT_EQ(after.error->code(), ErrorCode::kUnavailable);
  EXPECT_FALSE(seen.ended());
  peer.connections[0]->Send(Ok200(1, kEndStream));
  ASSERT_TRUE(RunUntil([&] { return seen.whole && user.reason.has_value(); }));
  EXPECT_EQ(user.reason->message(), "the server said GOAWAY (NO_ERROR)");
}

TEST_P(Http2ConnectionTest, ResetsSayWhetherTheRequestMayHaveBeenProcessed) {
  FramePeer peer(loop(), Loopback(), Quiet());
  const auto connection = Open(peer.address());
  Http2Call refused, broken;
  refused.exchange = connection->Start({}, Get("/1"), RequestBody::kNone, refused);
  broken.exchange = connection->Start({}, Get("/2"), RequestBody::kNone, broken);
  ASSERT_TRUE(RunUntil([&] { return Requests(peer) == 2; }));
  peer.connections[0]->Send(Reset(1, 7) + Reset(3, 2));
  ASSERT_TRUE(RunUntil([&] { return refused.ended() && broken.ended(); }));
  EXPECT_EQ(refused.error->code(), ErrorCode::kUnavailable);
  EXPECT_EQ(broken.Outcome(), "unknown outcome: the server reset the stream: INTERNAL_ERROR");
}

TEST_P(Http2ConnectionTest, ASilentServerIsAskedAndThenLost) {
  const Http2Options options{.ping_idle = Milliseconds(20), .ping_timeout = Milliseconds(30)};
  FramePeer silent(loop(), Loopback(), Quiet()), alive(loop(), Loopback(), [&](auto&c, auto&f) {
    if (f.type == kHeaders) return;
    Answering{}(c, f);
  });
  Http2Watcher user;
  const auto connection = Open(silent.address(), options, &user);
  const auto other = Open(alive.address(), options);
  Http2Call call, long_call;
  call.exchange = connection->Start({}, Get("/"), RequestBody::kNone, call);
  long_call.exchange = other->Start({}, Get("/"), RequestBody::kNone, long_call);
  ASSERT_TRUE(RunUntil([&] { return call.ended() && user.reason.has_value(); }));
  EXPECT_EQ(call.Outcome(), "unknown outcome: no answer to ping");
  ASSERT_TRUE(RunUntil([&] { return alive.connections[0]->Count(kPing) >= 3; }));
  EXPECT_FALSE(long_call.ended()) << "a server that answers pings may take its time";
}

TEST_P(Http2ConnectionTest, AWindowThatStaysClosedFailsTheExchangeAlone) {
  const Http2Options options{.progress_timeout = Milliseconds(40)};
  FramePeer peer(loop(), Loopback(), [](FrameConnection& c, const Seen& frame) {
    if (frame.type == kSettings && (frame.flags & kAck) == 0) c.Send(WindowSize(0));
    if (frame.type == kHeaders && (frame.flags & kEndStream) != 0) {
      c.Send(Ok200(frame.stream, kEndStream));
    }
  });
  const auto connection = Open(peer.address(), options);
  Http2Call upload, watch;
  ASSERT_EQ(Fetch(*connection), "200 ");
  upload.exchange = connection->Start({}, Get("/"), RequestBody::kStreamed, upload);
  watch.exchange = connection->Start({}, Get("/"), RequestBody::kStreamed, watch);
  upload.exchange->SendBody("x");
  ASSERT_TRUE(RunUntil([&] { return upload.ended(); }));
  EXPECT_EQ(upload.Outcome(), "unknown outcome: the server does not take the request's body");
  EXPECT_FALSE(watch.ended()) << "has nothing to send";
  EXPECT_EQ(Fetch(*connection), "200 ");
}

TEST_P(Http2ConnectionTest, ARequestThatTheServerNeverAllowsFailsAsNotSent) {
  const Http2Options options{.progress_timeout = Milliseconds(40)};
  FramePeer peer(loop(), Loopback(), Quiet());
  const auto connection = Open(peer.address(), options);
  Http2Call first, second;
  first.exchange = connection->Start({}, Get("/"), RequestBody::kNone, first);
  first.on_last = [&] {
    second.exchange = connection->Start({}, Get("/"), RequestBody::kNone, second);
  };
  ASSERT_TRUE(RunUntil([&] { return Requests(peer) == 1; }));
  peer.connections[0]->Send(Ok200(1, kEndStream) + StreamsMax(0));
  ASSERT_TRUE(RunUntil([&] { return second.ended(); }));
  EXPECT_EQ(second.Outcome(), "unavailable: the server takes fewer streams at a time");
  EXPECT_EQ(Requests(peer), 1u);
}

TEST_P(Http2ConnectionTest, AnAnswerBeforeTheEndOfTheUploadStopsTheUpload) {
  FramePeer peer(loop(), Loopback(), [](FrameConnection& c, const Seen& frame) {
    if (frame.type == kSettings && (frame.flags & kAck) == 0) c.Send(Settings());
    if (frame.type == kHeaders) c.Send(Ok200(frame.stream, kEndStream));
  });
  const auto connection = Open(peer.address());
  Http2Call call;
  call.exchange = connection->Start({}, Get("/"), RequestBody::kStreamed, call);
  call.exchange->SendBody("part");
  ASSERT_TRUE(RunUntil([&] { return call.ended() && peer.connections[0]->Count(kReset) == 1; }));
  EXPECT_EQ(call.Outcome(), "200");
  call.exchange->SendBody("nobody reads this");
  EXPECT_EQ(Fetch(*connection), "200 ");
}

TEST_P(Http2ConnectionTest, AnIdleConnectionIsClosed) {
  const Http2Options options{.idle_timeout = Milliseconds(20)};
  FramePeer peer(loop(), Loopback(), Answering{});
  Http2Watcher user;
  const auto connection = Open(peer.address(), options, &user);
  EXPECT_EQ(Fetch(*connection), "200 fine");
  ASSERT_TRUE(RunUntil([&] { return user.reason.has_value(); }));
  EXPECT_EQ(user.reason->message(), "the connection was idle");
  ASSERT_TRUE(RunUntil([&] { return !peer.connections[0]->open(); }));
}

TEST_P(Http2ConnectionTest, ExchangesMayBeDestroyedInTheirCallsAndOthersInThem) {
  FramePeer peer(loop(), Loopback(), Answering{});
  const auto connection = Open(peer.address());
  std::vector<Http2Call> calls(9);
  int last_calls = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    calls[i].exchange = connection->Start({}, Get("/"), RequestBody::kNone, calls[i]);
    auto destroy = [&, i] {
      calls[i].exchange.reset();
      if (i + 3 < calls.size()) calls[i + 3].exchange.reset();
    };
    if (i % 3 == 0) calls[i].on_body = destroy;
    calls[i].on_last = [&, i, destroy] {
      ++last_calls;
      if (i % 3 == 1) destroy();
    };
  }
  ASSERT_TRUE(RunUntil([&] { return connection->streams() == 0; }));
  EXPECT_EQ(last_calls, 2 + 3);
  EXPECT_EQ(Fetch(*connection), "200 fine");
}

TEST_P(Http2ConnectionTest, AConnectionMayGoInACall) {
  FramePeer peer(loop(), Loopback(), Answering{});
  auto connection = Open(peer.address());
  Http2Call one, two;
  one.exchange = connection->Start({}, Get("/"), RequestBody::kNone, one);
  two.exchange = connection->Start({}, Get("/"), RequestBody::kNone, two);
  one.on_last = [&] { loop().DeferDelete(std::move(connection)); };
  ASSERT_TRUE(RunUntil([&] { return one.ended() && !peer.connections[0]->open(); }));
  one.exchange.reset();
  two.exchange.reset();
}

TEST_P(Http2ConnectionTest, HeadersThatBelongToHttp1AreLeftOutAndBadOnesRefused) {
  std::string head;
  FramePeer peer(loop(), Loopback(), [&](FrameConnection& c, const Seen& frame) {
    if (frame.type == kHeaders) head = frame.payload;
    Answering{}(c, frame);
  });
  const auto connection = Open(peer.address());
  HttpRequest request = Get("/");
  request.headers = {{"Connection", "X-Hop"}, {"X-Hop", "1"}, {"TE", "gzip"}, {"Host", "no"}};
  Http2Call call;
  call.exchange = connection->Start({}, request, RequestBody::kNone, call);
  ASSERT_TRUE(RunUntil([&] { return call.ended(); }));
  EXPECT_EQ(call.Outcome(), "200");
  EXPECT_LT(head.size(), 12u) << "only the pseudo headers";
  for (const Headers& bad : {Headers{{"a b", "c"}}, Headers{{"a", "b\n"}}, Headers{{":path", "/"}},
                             Headers{{"long", std::string(100'000, 'x')}}}) {
    request.headers = bad;
    Http2Call refused;
    refused.exchange = connection->Start({}, request, RequestBody::kNone, refused);
    ASSERT_TRUE(RunUntil([&] { return refused.ended(); }));
    EXPECT_EQ(refused.error->code(), ErrorCode::kInvalid) << refused.Outcome();
  }
  EXPECT_EQ(Fetch(*connection), "200 fine");
}

TEST_P(Http2ConnectionTest, FramesSplitAtEveryByteGiveTheSameAnswer) {
  const std::string answer = Settings(Setting(3, 7)) + SettingsAck() + Ping() +
                             Frame(kHeaders, kNone, 1, kStatus200 + "\x0f") +
                             Frame(kContinuation, kEndHeaders, 1,
                                   "\x0d\x02"
                                   "10") +
                             Data(1, "01234") + Data(1, "56789", kEndStream);
  for (size_t cut = 1; cut < answer.size(); ++cut) {
    FramePeer peer(loop(), Loopback(), [&](FrameConnection& c, const Seen& frame) {
      if (frame.type != kHeaders) return;
      c.Send(answer.substr(0, cut));
      loop().Arm(After(loop().Now(), Milliseconds(1)), [&] { c.Send(answer.substr(cut)); });
    });
    const auto connection = Open(peer.address());
    ASSERT_EQ(Fetch(*connection), "200 0123456789") << "cut at " << cut;
    ASSERT_EQ(connection->streams_max(), 7u);
  }
}

}  // namespace
}  // namespace denselet::net
