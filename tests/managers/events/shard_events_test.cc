#include "managers/events/shard_events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/fakes/capturing_log_sink.h"
#include "tests/sim/world.h"

namespace denselet::events {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Recorded final : sync::EventRecorder {
  void RecordWithAnnotations(const sync::EventObject& object, sync::EventType,
                             std::string_view reason, std::string message,
                             const sync::EventAnnotations& annotations) override {
    told.push_back(object.name + " " + std::string(reason) + " " + message);
    last_annotations = annotations;
  }
  std::vector<std::string> told;
  sync::EventAnnotations last_annotations;
};

class ShardEventsTest : public testing::Test {
 protected:
  // What happens on a shard happens in one of its turns.
  void On(uint32_t shard, UniqueFunction<void()> work) { world_.loop(shard).Post(std::move(work)); }
  void Run() { world_.RunUntil(After(world_.clock().Now(), Seconds(1))); }
  void Tell(const std::string& message) {
    events_->RecordWithAnnotations({.kind = "Pod", .ns = "ns", .name = "web"},
                                   sync::EventType::kNormal, "Started", message, {{"a", "b"}});
  }

  sim::World world_{{.seed = 1, .shards = 2}};
  LogVerbosity verbosity_;
  CapturingLogSink sink_;
  LogOutput output_{.format = {}, .clock = world_.clock(), .verbosity = verbosity_, .sink = sink_};
  Recorded recorded_;
  std::optional<EventInlet> inlet_{std::in_place, world_.shard(0), recorded_};
  std::optional<ShardEvents> events_{std::in_place, world_.shard(1), Logger(output_),
                                     inlet_->ticket()};
};

TEST_F(ShardEventsTest, ArriveOnTheApiShardInTheirOrder) {
  On(1, [&] {
    Tell("one");
    Tell("two");
    EXPECT_THAT(recorded_.told, ElementsAre()) << "not inside the call";
  });
  Run();
  EXPECT_THAT(recorded_.told, ElementsAre("web Started one", "web Started two"));
  EXPECT_EQ(recorded_.last_annotations, (sync::EventAnnotations{{"a", "b"}}));
  EXPECT_EQ(events_->under_way(), 0);
}

TEST_F(ShardEventsTest, WhatIsTooMuchIsDroppedAndTold) {
  On(1, [&] {
    for (size_t i = 0; i < ShardEvents::kUnderWayMax + 7; ++i) Tell("x");
  });
  Run();
  EXPECT_EQ(recorded_.told.size(), ShardEvents::kUnderWayMax);
  EXPECT_EQ(events_->dropped(), 7);
  const std::string log = sink_.Take();
  EXPECT_THAT(log, HasSubstr("Unable to record event, dropped it"));
  EXPECT_THAT(log, HasSubstr("now there is room again\" dropped=7"));
  On(1, [&] { Tell("later"); });
  Run();
  EXPECT_EQ(recorded_.told.size(), ShardEvents::kUnderWayMax + 1);
}

TEST_F(ShardEventsTest, EitherEndMayGoWhileEventsAreUnderWay) {
  On(1, [&] { Tell("one"); });
  On(0, [&] { inlet_.reset(); });
  Run();
  On(1, [&] { Tell("two"); });
  Run();
  EXPECT_EQ(events_->under_way(), 0) << "they found nobody, and that is an end, too";
  const size_t told = recorded_.told.size();
  EXPECT_LE(told, 1);
  On(1, [&] {
    Tell("three");
    events_.reset();
  });
  Run();
  EXPECT_EQ(recorded_.told.size(), told);
}

}  // namespace
}  // namespace denselet::events
