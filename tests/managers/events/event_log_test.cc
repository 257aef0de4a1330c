#include "managers/events/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/capturing_log_sink.h"
#include "tests/sim/world.h"

namespace denselet::events {
namespace {

using sync::EventType;
using testing::HasSubstr;

class EventLogTest : public testing::Test {
 protected:
  void Write(EventType type, const std::string& message) {
    events_.Write(now_, {.kind = "Pod", .ns = "ns", .name = "web"}, type, "Failed", message);
  }
  size_t Lines() {
    const size_t count = sink_.lines().size();
    last_ = sink_.Take();
    return count;
  }

  sim::World world_{{.shards = 1}};
  TimePoint now_ = world_.clock().Now();
  CapturingLogSink sink_;
  LogVerbosity verbosity_;
  LogOutput output_{LogFormat{}, world_.clock(), verbosity_, sink_};
  EventLog events_{Logger(output_)};
  std::string last_;
};

TEST_F(EventLogTest, WarningsAreLoggedAndOtherEventsForWhoAsks) {
  Write(EventType::kNormal, "all is well");
  EXPECT_EQ(Lines(), 0u);
  Write(EventType::kWarning, "no such image");
  EXPECT_EQ(Lines(), 1u);
  EXPECT_THAT(last_, HasSubstr(R"(object="ns/web")"));
  EXPECT_THAT(last_, HasSubstr(R"(message="no such image")"));
}

TEST_F(EventLogTest, AFloodIsCutAndCounted) {
  for (uint32_t i = 0; i < EventLog::kWarningsMax + 30; ++i) Write(EventType::kWarning, "again");
  EXPECT_EQ(Lines(), EventLog::kWarningsMax);
  now_ += EventLog::kWindow;
  Write(EventType::kWarning, "later");
  EXPECT_EQ(Lines(), 2u);
  EXPECT_THAT(last_, HasSubstr("count=30"));
  EXPECT_THAT(last_, HasSubstr("later"));
}

}  // namespace
}  // namespace denselet::events
