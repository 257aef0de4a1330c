// The pool of HTTP/2 connections: spare streams, and connections that are renewed.
#include <gtest/gtest.h>

#include <deque>

#include "reactor/net/connect.h"
#include "reactor/net/http2/client.h"
#include "tests/integration/net/http2_peers.h"
#include "tests/sim/world.h"

namespace denselet::sim {
namespace {

using namespace net;

constexpr uint32_t kRefusedStream = 7;

class Http2PoolSim : public testing::Test {
 protected:
  // Takes requests and answers when it is told to.
  void Make(uint32_t streams_max, const Http2ClientOptions& options) {
    peer_.emplace(world_.loop(0), *Address::Ip("127.0.0.1", 80),
                  [this, streams_max](FrameConnection& connection, const frames::Seen& frame) {
                    using namespace frames;
                    if (frame.type == kSettings && (frame.flags & kAck) == 0) {
                      connection.Send(StreamsMax(streams_max) + SettingsAck());
                    }
                    if (frame.type == kPing && (frame.flags & kAck) == 0) {
                      connection.Send(Frame(kPing, kAck, 0, frame.payload));
                    }
                    if (frame.type != kHeaders) return;
                    if (++open_[&connection] > streams_max) {
                      --open_[&connection];
                      return connection.Send(Reset(frame.stream, kRefusedStream));
                    }
                    asked_.push_back({&connection, frame.stream});
                  });
    client_.emplace(world_.loop(1), world_.random(), options,
                    [this, address = peer_->address()](
                        const Context& context, reactor::Done<std::unique_ptr<Stream>> done) {
                      ++dials_;
                      Connect(world_.loop(1), context, address,
                              [done = std::move(done)](Result<std::unique_ptr<Socket>> r) mutable {
                                if (!r) return done(r.error());
                                done(std::unique_ptr<Stream>(*std::move(r)));
                              });
                    });
  }
  ~Http2PoolSim() override {
    calls_.clear();
    client_.reset();
  }

  Http2Call& Start() {
    Http2Call& call = calls_.emplace_back();
    HttpRequest request;
    request.authority = "test";
    call.exchange = client_->Start(Context{}.WithTimeout(world_.clock().Now(), Hours(1)), request,
                                   RequestBody::kNone, WhenFull::kOpenAnother, call);
    return call;
  }
  void AnswerFirst() {
    const auto [connection, stream] = asked_.front();
    asked_.pop_front();
    --open_[connection];
    connection->Send(frames::Ok200(stream) + frames::Data(stream, "fine", frames::kEndStream));
  }
  void RunFor(Duration time) { world_.RunUntil(After(world_.clock().Now(), time)); }

  World world_{{.seed = 1, .shards = 2}};
  std::optional<FramePeer> peer_;
  std::deque<std::pair<FrameConnection*, uint32_t>> asked_;
  std::map<FrameConnection*, uint32_t> open_;
  std::optional<Http2Client> client_;
  std::deque<Http2Call> calls_;
  int dials_ = 0;
};

TEST_F(Http2PoolSim, AnotherConnectionIsOpenedBeforeStreamsRunOut) {
  Http2ClientOptions options;
  options.connections_max = 3;
  options.spare_streams_min = 2;
  Make(3, options);
  Start();
  RunFor(Seconds(1));
  EXPECT_EQ(client_->counters().connections, 1u) << "two streams are free";
  Start();
  RunFor(Seconds(1));
  EXPECT_EQ(client_->counters().connections, 2u);
  for (int i = 0; i < 3; ++i) Start();
  RunFor(Seconds(1));
  EXPECT_EQ(client_->counters().connections, 3u);
  EXPECT_EQ(asked_.size(), 5u) << "nobody waited";
  for (int i = 0; i < 10; ++i) Start();
  RunFor(Seconds(10));
  EXPECT_EQ(client_->counters().connections, 3u) << "no more than allowed";
  EXPECT_EQ(dials_, 3);
  EXPECT_EQ(asked_.size(), 9u);
}

TEST_F(Http2PoolSim, RequestsGivenToAConnectionTooEarlyGoToOthers) {
  Http2ClientOptions options;
  options.connections_max = 50;
  options.retries_max = 2;
  Make(1, options);
  for (int i = 0; i < 50; ++i) Start();
  RunFor(Seconds(10));
  EXPECT_EQ(asked_.size(), 50u) << "none waits behind another";
  EXPECT_EQ(dials_, 50);
  for (const Http2Call& call : calls_) EXPECT_FALSE(call.ended()) << call.Outcome();
}

TEST_F(Http2PoolSim, SparesOfAPeerWithOneStreamGoWhenNobodyNeedsThem) {
  Http2ClientOptions options;
  options.connections_max = 4;
  options.spare_streams_min = 10;
  Make(1, options);
  Start();
  RunFor(Seconds(1));
  EXPECT_EQ(client_->counters().connections, 4u);
  AnswerFirst();
  RunFor(Minutes(10));
  EXPECT_TRUE(calls_[0].whole) << calls_[0].Outcome();
  EXPECT_EQ(client_->counters().connections, 0u) << "idle ones are closed and stay closed";
  EXPECT_LE(dials_, 8);
  Start();
  RunFor(Seconds(1));
  EXPECT_EQ(asked_.size(), 1u);
}

TEST_F(Http2PoolSim, SparesThatCannotBeHadAreNotDialledInATightLoop) {
  Http2ClientOptions options;
  options.connections_max = 4;
  options.spare_streams_min = 10;
  Make(1, options);
  Start();
  RunFor(Milliseconds(1));
  for (int i = 0; i < 1000 && asked_.empty(); ++i) RunFor(Milliseconds(1));
  ASSERT_EQ(asked_.size(), 1u);
  const int before = dials_;
  const auto connections = std::move(peer_->connections);
  peer_.reset();  // nobody listens any more; the connection stands
  RunFor(Minutes(1));
  EXPECT_LE(dials_ - before, 15);
}

TEST_F(Http2PoolSim, ARenewedConnectionEndsWhatItHasAndGetsNoMore) {
  Make(100, {});
  Http2Call& old_call = Start();
  RunFor(Seconds(1));
  client_->Renew(Http2Client::Renewal::kDrain);
  Http2Call& new_call = Start();
  RunFor(Seconds(1));
  ASSERT_EQ(asked_.size(), 2u);
  EXPECT_NE(asked_[0].first, asked_[1].first);
  EXPECT_EQ(client_->counters().connections, 2u);
  AnswerFirst();
  RunFor(Seconds(1));
  EXPECT_TRUE(old_call.whole) << old_call.Outcome();
  EXPECT_EQ(client_->counters().connections, 1u);
  EXPECT_FALSE(new_call.ended());
  EXPECT_EQ(client_->counters().connections_lost, 0u);
  AnswerFirst();
  RunFor(Seconds(1));
  EXPECT_TRUE(new_call.whole);
}

TEST_F(Http2PoolSim, OnlyIdleConnectionsAreGivenUpAndTheNextRequestOpensAnother) {
  Make(100, {});
  Start();
  RunFor(Seconds(1));
  client_->CloseIdle();
  RunFor(Seconds(1));
  EXPECT_EQ(client_->counters().connections, 1u) << "it carries a request";
  AnswerFirst();
  RunFor(Seconds(1));
  client_->CloseIdle();
  client_->CloseIdle();
  Http2Call& next = Start();
  RunFor(Seconds(1));
  EXPECT_EQ(client_->counters().connections, 1u);
  EXPECT_EQ(dials_, 2);
  EXPECT_EQ(client_->counters().connections_lost, 0u);
  AnswerFirst();
  RunFor(Seconds(1));
  EXPECT_TRUE(next.whole) << next.Outcome();
}

TEST_F(Http2PoolSim, AnIdleConnectionIsRenewedAtOnceAndOnlyWhenSomebodyAsks) {
  Make(100, {});
  Start();
  RunFor(Seconds(1));
  AnswerFirst();
  RunFor(Seconds(1));
  client_->Renew(Http2Client::Renewal::kDrain);
  RunFor(Seconds(1));
  EXPECT_EQ(client_->counters().connections, 0u);
  EXPECT_EQ(dials_, 1);
  Start();
  RunFor(Seconds(1));
  EXPECT_EQ(dials_, 2);
  EXPECT_EQ(asked_.size(), 1u);
}

TEST_F(Http2PoolSim, ABrokenConnectionFailsWhatItHasAndIsReplacedAtOnce) {
  Make(100, {});
  Http2Call& watch = Start();
  RunFor(Seconds(1));
  client_->Renew(Http2Client::Renewal::kBreak);
  EXPECT_FALSE(watch.ended()) << "in a later turn";
  const TimePoint before = world_.clock().Now();
  Http2Call& next = Start();
  while (asked_.size() < 2 && world_.Step()) {
  }
  EXPECT_TRUE(watch.error.has_value());
  EXPECT_LE(world_.clock().Now() - before, Milliseconds(50)) << "no fault, so no pause";
  AnswerFirst();
  AnswerFirst();
  RunFor(Seconds(1));
  EXPECT_TRUE(next.whole) << next.Outcome();
  EXPECT_EQ(client_->counters().connections_lost, 0u);
}

TEST_F(Http2PoolSim, AConnectionThatWasBeingOpenedIsOpenedAnew) {
  Make(100, {});
  Http2Call& call = Start();
  while (client_->counters().dialling == 0 && world_.Step()) {
  }
  client_->Renew(Http2Client::Renewal::kDrain);
  RunFor(Seconds(1));
  EXPECT_EQ(dials_, 2);
  EXPECT_EQ(client_->counters().connections, 1u);
  ASSERT_EQ(asked_.size(), 1u) << "sent once";
  AnswerFirst();
  RunFor(Seconds(1));
  EXPECT_TRUE(call.whole);
}

TEST_F(Http2PoolSim, WhatDrainsIsBrokenByTheNextRenewalThatBreaks) {
  Make(100, {});
  Http2Call& call = Start();
  RunFor(Seconds(1));
  client_->Renew(Http2Client::Renewal::kDrain);
  client_->Renew(Http2Client::Renewal::kDrain);
  RunFor(Seconds(1));
  EXPECT_FALSE(call.ended());
  client_->Renew(Http2Client::Renewal::kBreak);
  RunFor(Seconds(1));
  EXPECT_TRUE(call.ended());
  EXPECT_EQ(client_->counters().connections, 0u);
}

TEST_F(Http2PoolSim, WhoWaitsInVainForAConnectionIsToldSo) {
  client_.emplace(
      world_.loop(1), world_.random(), Http2ClientOptions{},
      [](const Context&, reactor::Done<std::unique_ptr<Stream>>) {});  // a peer that hangs
  Http2Call& call = calls_.emplace_back();
  call.exchange = client_->Start(Context{}.WithTimeout(world_.clock().Now(), Seconds(12)),
                                 HttpRequest{}, RequestBody::kNone, WhenFull::kOpenAnother, call);
  RunFor(Seconds(13));
  EXPECT_EQ(call.Outcome(),
            "deadline exceeded: no connection before the deadline, connecting for 12s");
}

// Each of them ends before a ping would be due.
TEST_F(Http2PoolSim, AConnectionThatFellSilentIsFoundOutByRequestsOfLittlePatience) {
  peer_.emplace(world_.loop(0), *Address::Ip("127.0.0.1", 80),
                [](FrameConnection& connection, const frames::Seen& frame) {
                  const bool settings = frame.type == frames::kSettings;
                  if (!settings || (frame.flags & frames::kAck) != 0) return;
                  connection.Send(frames::StreamsMax(100) + frames::SettingsAck());
                });
  Http2ClientOptions options;
  options.connections_max = 1;
  client_.emplace(world_.loop(1), world_.random(), options,
                  [this, address = peer_->address()](const Context& context,
                                                     reactor::Done<std::unique_ptr<Stream>> done) {
                    Connect(world_.loop(1), context, address,
                            [done = std::move(done)](Result<std::unique_ptr<Socket>> r) mutable {
                              if (!r) return done(r.error());
                              done(std::unique_ptr<Stream>(*std::move(r)));
                            });
                  });
  for (int i = 0; i < 6; ++i) {
    Http2Call& call = calls_.emplace_back();
    HttpRequest request;
    request.authority = "test";
    call.exchange = client_->Start(Context{}.WithTimeout(world_.clock().Now(), Seconds(20)),
                                   request, RequestBody::kNone, WhenFull::kWait, call);
    RunFor(Seconds(21));
  }
  EXPECT_GE(client_->counters().connections_lost, 1u);
}

}  // namespace
}  // namespace denselet::sim
