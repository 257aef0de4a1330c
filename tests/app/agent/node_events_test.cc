#include "app/agent/node_events.h"

#include <gtest/gtest.h>

namespace denselet::app {
namespace {

TEST(NodeEvents, AChangeOfPlegsModeIsTheNodesAndSaysWhy) {
  const sync::ObjectEvent event =
      EventOf({.mode = sync::PlegMode::kListsLead, .at = {}, .why = "the stream was lost"}, "n1");
  EXPECT_EQ(event.object.kind, "Node");
  EXPECT_EQ(event.object.name, "n1");
  EXPECT_EQ(event.object.uid, "") << "who looks for events of a node knows its name only";
  EXPECT_EQ(event.type, sync::EventType::kNormal);
  EXPECT_EQ(event.reason, "PLEGModeChanged");
  EXPECT_EQ(event.message, "Pods are followed by lists now: the stream was lost");
  EXPECT_EQ(EventOf({sync::PlegMode::kEventsLead, {}, "a list has proved it"}, "n1").message,
            "Pods are followed by events now: a list has proved it");
}

}  // namespace
}  // namespace denselet::app
