// The node's lease over the real client, while the server goes away for long and comes back: it is
// the first that is renewed.
#include <gtest/gtest.h>

#include <optional>

#include "managers/node/lease.h"
#include "tests/fakes/api_object.h"
#include "tests/fakes/api_objects_for_tests.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/fakes/http_api_pair.h"
#include "tests/sim/seeds.h"
#include "tests/sim/world.h"

namespace denselet::fakes {
namespace {

class LeaseOutageSim : public testing::Test {
 protected:
  void Make(uint64_t seed) {
    lease_.reset();
    pair_.reset();
    world_.emplace(sim::WorldOptions{.seed = seed, .shards = 2});
    output_.emplace(LogOutput{LogFormat{}, world_->clock(), verbosity_, sink_});
    pair_.emplace(world_->loop(0), world_->loop(1), world_->random(), address_);
    kube::core::Node node;
    node.mutable_metadata()->set_name("n1");
    pair_->model.Serve(CreateRequest(kube::kNodes, node, ""), {});
    lease_.emplace(world_->loop(1), world_->random(), Logger(*output_), *pair_->client,
                   node::LeaseOptions{.node_name = "n1"});
    lease_->Start();
  }
  ~LeaseOutageSim() override {
    lease_.reset();
    pair_.reset();
  }

  TimePoint Now() { return world_->clock().Now(); }
  void RunFor(Duration time) { world_->RunUntil(After(Now(), time)); }
  bool RunUntilRenewedSince(TimePoint when, Duration limit) {
    const TimePoint end = After(Now(), limit);
    while (lease_->renewed_at() < when && Now() < end && world_->Step()) {
    }
    return lease_->renewed_at() >= when;
  }

  const net::Address address_ = *net::Address::Ip("127.0.0.1", 6443);
  CapturingLogSink sink_;
  LogVerbosity verbosity_;
  std::optional<sim::World> world_;
  std::optional<LogOutput> output_;
  std::optional<HttpApiPair> pair_;
  std::optional<node::LeaseRenewer> lease_;
};

// Alone it finds out by itself, as soon as the lane of heartbeats connects again.
TEST_F(LeaseOutageSim, IsRenewedSecondsAfterTheServerIsBack) {
  for (const uint64_t seed : sim::Seeds(5)) {
    for (int outage = 40; outage <= 240; outage += 4) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " " + std::to_string(outage) + " s");
      Make(seed);
      RunFor(Seconds(15));
      ASSERT_NE(lease_->renewed_at(), TimePoint{});
      const uint64_t dials = pair_->dials;
      pair_->server.Crash();
      RunFor(Seconds(outage));
      EXPECT_LE(pair_->dials - dials, static_cast<uint64_t>(outage) / 2 + 10);
      pair_->server.Start(address_);
      EXPECT_TRUE(RunUntilRenewedSince(Now(), Milliseconds(3500)));
    }
  }
}

TEST_F(LeaseOutageSim, IsRenewedAtOnceWhenAnybodyHasBeenAnswered) {
  for (const uint64_t seed : sim::Seeds(5)) {
    for (int outage = 40; outage <= 240; outage += 4) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " " + std::to_string(outage) + " s");
      Make(seed);
      RunFor(Seconds(15));
      pair_->server.Crash();
      std::optional<TimePoint> answered;
      pair_->client->Send(Context{}.WithTimeout(Now(), Hours(1)),
                          RequestOf(sync::ApiVerb::kGet, kube::kConfigMaps, {"default", "a"}),
                          [&](const Result<sync::ApiObject>&) { answered = Now(); });
      RunFor(Seconds(outage));
      pair_->server.Start(address_);
      const TimePoint back = Now();
      ASSERT_TRUE(RunUntilRenewedSince(back, Seconds(10)));
      const TimePoint renewed = lease_->renewed_at();
      EXPECT_LE(renewed - answered.value_or(renewed), Milliseconds(500));
    }
  }
}

}  // namespace
}  // namespace denselet::fakes
