// The pool: what waits, what goes elsewhere, what is sent again, what comes back after an outage.
#include "tests/integration/net/http2_fixture.h"

namespace denselet::net {
namespace {

using namespace frames;

class Http2ClientTest : public Http2Test {
 protected:
  static constexpr Http2ClientOptions Quick() {
    Http2ClientOptions options;
    options.backoff_min = Milliseconds(2);
    options.backoff_max = Milliseconds(10);
    return options;
  }

  struct Calls {
    explicit Calls(size_t count) : all(count) {}
    bool ended() const {
      return std::all_of(all.begin(), all.end(), [](const Http2Call& c) { return c.ended(); });
    }
    size_t Count(std::string_view outcome) const {
      return static_cast<size_t>(std::count_if(all.begin(), all.end(), [&](const Http2Call& c) {
        return c.Outcome().starts_with(outcome);
      }));
    }
    std::vector<Http2Call> all;
  };

  static void StartAll(Http2Client& client, Calls& calls, WhenFull when_full) {
    for (Http2Call& call : calls.all) {
      call.exchange = client.Start({}, Get("/"), RequestBody::kNone, when_full, call);
    }
  }
};
INSTANTIATE_LOOP_TEST(Http2ClientTest);

TEST_P(Http2ClientTest, ConnectsOnDemandAndReusesTheConnection) {
  FramePeer peer(loop(), Loopback(), Answering{});
  Http2Client client(loop(), random_, Quick(), Dialler(peer.address()));
  RunFor(Milliseconds(5));
  EXPECT_EQ(peer.connections.size(), 0u);
  for (int round = 0; round < 3; ++round) {
    Calls calls(20);
    StartAll(client, calls, WhenFull::kWait);
    ASSERT_TRUE(RunUntil([&] { return calls.ended(); }));
    EXPECT_EQ(calls.Count("200"), 20u);
  }
  EXPECT_EQ(peer.connections.size(), 1u);
  EXPECT_EQ(client.counters().connected, 1u);
  EXPECT_EQ(client.counters().streams, 0u);
}

TEST_P(Http2ClientTest, WhatDoesNotFitWaitsOrIsRefusedOrGoesElsewhereAsAsked) {
  const Answering one_at_a_time{.first = StreamsMax(2)};
  FramePeer peer(loop(), Loopback(), [&](FrameConnection& c, const Seen& frame) {
    if (frame.type != kHeaders) one_at_a_time(c, frame);  // requests stay open
  });
  Http2ClientOptions options = Quick();
  options.connections_max = 2;
  options.waiting_max = 4;
  options.connection.streams_before_settings_max = 1;
  Http2Client client(loop(), random_, options, Dialler(peer.address()));
  Calls first(2), waiting(1), refused(1), elsewhere(3), too_many(1);
  StartAll(client, first, WhenFull::kWait);
  ASSERT_TRUE(RunUntil([&] { return client.counters().streams == 2; }));
  StartAll(client, waiting, WhenFull::kWait);
  StartAll(client, refused, WhenFull::kRefuse);
  ASSERT_TRUE(RunUntil([&] { return refused.ended(); }));
  EXPECT_EQ(refused.Count("overloaded"), 1u);
  EXPECT_EQ(client.counters().waiting, 1u);
  EXPECT_EQ(client.counters().connections, 1u);
  StartAll(client, elsewhere, WhenFull::kOpenAnother);
  StartAll(client, too_many, WhenFull::kWait);
  ASSERT_TRUE(RunUntil([&] { return too_many.ended() && client.counters().streams == 4; }));
  EXPECT_EQ(too_many.Count("overloaded"), 1u);
  EXPECT_EQ(client.counters().connections, 2u);
  EXPECT_EQ(client.counters().waiting, 2u) << "connections_max is reached";
  peer.connections[0]->Send(Ok200(1, kEndStream) + Ok200(3, kEndStream));
  ASSERT_TRUE(RunUntil([&] { return first.ended() && client.counters().waiting == 0; }));
}

TEST_P(Http2ClientTest, UrgentRequestsAreServedFirst) {
  std::vector<std::string> order;
  FramePeer peer(loop(), Loopback(), Answering{.first = StreamsMax(1)});
  Http2ClientOptions options = Quick();
  options.connection.streams_before_settings_max = 1;
  Http2Client client(loop(), random_, options, Dialler(peer.address()));
  Calls calls(3);
  const std::array<Priority, 3> priorities = {Priority::kBackground, Priority::kNormal,
                                              Priority::kCritical};
  for (size_t i = 0; i < 3; ++i) {
    Context context;
    context.priority = priorities[i];
    Http2Call& call = calls.all[i];
    call.on_last = [&order, i] { order.push_back(std::to_string(i)); };
    call.exchange = client.Start(context, Get("/"), RequestBody::kNone, WhenFull::kWait, call);
  }
  ASSERT_TRUE(RunUntil([&] { return calls.ended(); }));
  EXPECT_EQ(order, (std::vector<std::string>{"2", "1", "0"}));
}

TEST_P(Http2ClientTest, WhatWasNotProcessedIsSentAgainWithItsBody) {
  int connections = 0, requests = 0;
  std::string body;
  FramePeer peer(loop(), Loopback(), [&](FrameConnection& c, const Seen& frame) {
    if (frame.type == kSettings && (frame.flags & kAck) == 0) {
      ++connections;
      c.Send(Settings());
    }
    if (frame.type == kHeaders) ++requests, body.clear();
    if (frame.type == kData) body += frame.payload;
    if (frame.type != kData || (frame.flags & kEndStream) == 0) return;
    if (requests == 1) return c.Send(Reset(frame.stream, 7));
    if (requests == 2) return c.Send(GoAway(0, 0));
    c.Send(Ok200(frame.stream, kEndStream));
  });
  Http2Client client(loop(), random_, Quick(), Dialler(peer.address()));
  Http2Call call;
  call.exchange = client.Start({}, Get("/"), RequestBody::kStreamed, WhenFull::kWait, call);
  call.exchange->SendBody("one ");
  call.exchange->SendBody("two");
  call.exchange->EndBody();
  ASSERT_TRUE(RunUntil([&] { return call.ended(); }));
  EXPECT_EQ(call.Outcome(), "200");
  EXPECT_EQ(body, "one two");
  EXPECT_EQ(requests, 3);
  EXPECT_EQ(connections, 2);
  EXPECT_EQ(client.counters().retries, 2u);
}

TEST_P(Http2ClientTest, RepetitionsAreBoundedAndLongBodiesAreNotRepeated) {
  FramePeer peer(loop(), Loopback(), [&](FrameConnection& c, const Seen& frame) {
    if (frame.type != kHeaders) return Answering{}(c, frame);
    c.Send(Reset(frame.stream, 7));
  });
  Http2ClientOptions options = Quick();
  options.replay_bytes_max = 10;
  Http2Client client(loop(), random_, options, Dialler(peer.address()));
  Http2Call call, upload;
  call.exchange = client.Start({}, Get("/"), RequestBody::kNone, WhenFull::kWait, call);
  ASSERT_TRUE(RunUntil([&] { return call.ended(); }));
  EXPECT_EQ(call.error->code(), ErrorCode::kUnavailable);
  EXPECT_EQ(client.counters().retries, options.retries_max);
  upload.exchange = client.Start({}, Get("/"), RequestBody::kStreamed, WhenFull::kWait, upload);
  upload.exchange->SendBody("longer than is kept");
  ASSERT_TRUE(RunUntil([&] { return upload.ended(); }));
  EXPECT_EQ(client.counters().retries, options.retries_max);
}

TEST_P(Http2ClientTest, ComesBackAfterAnOutageWhileSomebodyWaits) {
  auto peer = std::make_unique<FramePeer>(loop(), Loopback(), Answering{});
  const Address address = peer->address();
  Http2Client client(loop(), random_, Quick(), Dialler(address));
  Calls before(1), during(3), late(1), impatient(1);
  StartAll(client, before, WhenFull::kWait);
  ASSERT_TRUE(RunUntil([&] { return before.ended(); }));
  peer.reset();
  ASSERT_TRUE(RunUntil([&] { return client.counters().connections == 0; }));
  StartAll(client, during, WhenFull::kWait);
  StartAll(client, impatient, WhenFull::kRefuse);
  const Context soon = Context{}.WithTimeout(clock_.Now(), Milliseconds(30));
  late.all[0].exchange =
      client.Start(soon, Get("/"), RequestBody::kNone, WhenFull::kWait, late.all[0]);
  ASSERT_TRUE(RunUntil([&] { return late.ended() && client.counters().dials_failed >= 3; }));
  EXPECT_EQ(late.Count("deadline exceeded: no connection before the deadline"), 1u)
      << late.all[0].Outcome();
  EXPECT_NE(late.all[0].Outcome().find(": connect"), std::string::npos) << late.all[0].Outcome();
  EXPECT_EQ(impatient.Count("unavailable"), 1u);
  EXPECT_FALSE(during.ended());
  peer = std::make_unique<FramePeer>(loop(), address, Answering{});
  ASSERT_TRUE(RunUntil([&] { return during.ended(); }));
  EXPECT_EQ(during.Count("200"), 3u);
  const uint64_t failed = client.counters().dials_failed;
  peer.reset();
  RunFor(Milliseconds(30));
  EXPECT_EQ(client.counters().dials_failed, failed) << "nobody waits, nobody dials";
}

TEST_P(Http2ClientTest, ADrainedConnectionIsClosedAndReplaced) {
  FramePeer peer(loop(), Loopback(), [&](FrameConnection& c, const Seen& frame) {
    Answering{}(c, frame);
    if (frame.type == kHeaders) c.Send(GoAway(frame.stream, 0));
  });
  Http2Client client(loop(), random_, Quick(), Dialler(peer.address()));
  for (size_t i = 1; i <= 3; ++i) {
    Calls calls(1);
    StartAll(client, calls, WhenFull::kWait);
    ASSERT_TRUE(RunUntil([&] { return calls.ended() && client.counters().connections == 0; }));
    EXPECT_EQ(calls.Count("200"), 1u);
    EXPECT_EQ(peer.connections.size(), i);
  }
  EXPECT_EQ(client.counters().connections_lost, 0u);
}

TEST_P(Http2ClientTest, StopFailsWhatIsOpenAndWhatWaits) {
  FramePeer peer(loop(), Loopback(), [&](FrameConnection& c, const Seen& frame) {
    if (frame.type != kHeaders) Answering{.first = StreamsMax(1)}(c, frame);
  });
  Http2ClientOptions options = Quick();
  options.connection.streams_before_settings_max = 1;
  Http2Client client(loop(), random_, options, Dialler(peer.address()));
  Calls calls(3), after(1);
  StartAll(client, calls, WhenFull::kWait);
  ASSERT_TRUE(RunUntil([&] { return client.counters().streams == 1; }));
  client.Stop();
  EXPECT_FALSE(calls.ended());
  ASSERT_TRUE(RunUntil([&] { return calls.ended() && !peer.connections[0]->open(); }));
  EXPECT_EQ(calls.Count("cancelled"), 3u);
  StartAll(client, after, WhenFull::kWait);
  ASSERT_TRUE(RunUntil([&] { return after.ended(); }));
  EXPECT_EQ(after.Count("cancelled"), 1u);
}

TEST_P(Http2ClientTest, ACallerThatStartsAgainWhenStoppedFailsOnceInATurn) {
  FramePeer peer(loop(), Loopback(), [&](FrameConnection& c, const Seen& frame) {
    if (frame.type != kHeaders) Answering{}(c, frame);
  });
  Http2Client client(loop(), random_, Quick(), Dialler(peer.address()));
  constexpr size_t kFailuresMax = 1000;  // the end of a loop without end
  std::vector<std::unique_ptr<Http2Call>> calls;
  const std::function<void()> start = [&] {
    calls.push_back(std::make_unique<Http2Call>());
    Http2Call& call = *calls.back();
    call.on_last = [&] {
      if (calls.size() < kFailuresMax) start();
    };
    call.exchange = client.Start({}, Get("/"), RequestBody::kNone, WhenFull::kWait, call);
  };
  start();
  ASSERT_TRUE(RunUntil([&] { return client.counters().streams == 1; }));
  client.Stop();
  for (size_t turn = 1; turn <= 4; ++turn) {
    loop_->RunTurn(clock_.Now());
    EXPECT_LE(calls.size(), 1 + turn);
  }
  ASSERT_TRUE(RunUntil([&] { return calls.size() >= 10; }));
  EXPECT_TRUE(calls[0]->Outcome().starts_with("cancelled")) << calls[0]->Outcome();
}

TEST_P(Http2ClientTest, ACallMayDestroyTheOtherExchangesWhenStopped) {
  FramePeer peer(loop(), Loopback(), [&](FrameConnection& c, const Seen& frame) {
    if (frame.type != kHeaders) Answering{}(c, frame);
  });
  Http2Client client(loop(), random_, Quick(), Dialler(peer.address()));
  Calls calls(6);
  StartAll(client, calls, WhenFull::kWait);
  ASSERT_TRUE(RunUntil([&] { return client.counters().streams == 6; }));
  for (Http2Call& call : calls.all) {
    call.on_last = [&] {
      for (Http2Call& other : calls.all) {
        if (&other != &call) other.exchange.reset();
      }
    };
  }
  client.Stop();
  RunFor(Milliseconds(10));
  EXPECT_EQ(calls.Count("cancelled"), 1u);
  EXPECT_EQ(calls.Count("nothing yet"), 5u);
}

TEST_P(Http2ClientTest, AClientMayGoBeforeItsExchanges) {
  FramePeer peer(loop(), Loopback(), Answering{.first = StreamsMax(1)});
  auto client = std::make_unique<Http2Client>(loop(), random_, Quick(), Dialler(peer.address()));
  Calls calls(300);
  StartAll(*client, calls, WhenFull::kWait);
  ASSERT_TRUE(RunUntil([&] { return calls.Count("200") > 2; }));
  client.reset();
  ASSERT_TRUE(RunUntil([&] { return !peer.connections[0]->open(); }));
  EXPECT_FALSE(calls.ended());
}

TEST_P(Http2ClientTest, ADestroyedClientCallsNobodyWhateverWasOnItsWay) {
  FramePeer peer(loop(), Loopback(), Answering{});
  auto client = std::make_unique<Http2Client>(loop(), random_, Quick(), Dialler(peer.address()));
  Http2Call arrived, invalid, cancelled, late;
  arrived.exchange = client->Start({}, Get("/"), RequestBody::kNone, WhenFull::kWait, arrived);
  arrived.exchange->Hold();
  ASSERT_TRUE(RunUntil([&] { return arrived.head && client->counters().streams == 0; }));

  invalid.exchange =
      client->Start({}, Get("not a path\n"), RequestBody::kNone, WhenFull::kWait, invalid);
  CancelSource source;
  Context context;
  context.cancel = source.token();
  cancelled.exchange =
      client->Start(context, Get("/"), RequestBody::kNone, WhenFull::kWait, cancelled);
  source.Cancel();
  late.exchange = client->Start(Context{}.WithTimeout(clock_.Now(), -Seconds(1)), Get("/"),
                                RequestBody::kNone, WhenFull::kWait, late);
  client.reset();
  arrived.exchange->Resume();
  RunFor(Milliseconds(20));
  EXPECT_EQ(arrived.body, "");
  for (const Http2Call* call : {&arrived, &invalid, &cancelled, &late}) {
    EXPECT_EQ(call->Outcome(), "nothing yet");
  }
}

TEST_P(Http2ClientTest, AClientDestroyedAfterStopCallsNobody) {
  FramePeer peer(loop(), Loopback(), Answering{});
  auto client = std::make_unique<Http2Client>(loop(), random_, Quick(), Dialler(peer.address()));
  Calls calls(2);
  StartAll(*client, calls, WhenFull::kWait);
  client->Stop();
  loop_->RunTurn(clock_.Now());
  ASSERT_EQ(calls.Count("nothing yet"), 2u) << "they are told in the turn after this one";
  Calls after(1);
  StartAll(*client, after, WhenFull::kWait);
  client.reset();
  RunFor(Milliseconds(20));
  EXPECT_EQ(calls.Count("nothing yet") + after.Count("nothing yet"), 3u);
}

}  // namespace
}  // namespace denselet::net
