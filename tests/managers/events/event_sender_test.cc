#include "managers/events/event_sender.h"

#include <gtest/gtest.h>

#include "tests/managers/manager_fixture.h"

namespace denselet::events {
namespace {

using sync::ApiVerb;
using sync::EventType;
using Stage = EventSender::Stage;
using tests::Answer;
using tests::Refuse;
using tests::Serve;
using tests::ServeAndLose;

class EventSenderTest : public tests::ManagerTest {
 protected:
  void Tell(std::string message, std::string_view reason = "Started") {
    sender_.Record(
        {.kind = "Pod", .ns = "ns", .name = "web", .uid = "u1", .field_path = "spec.containers{a}"},
        EventType::kNormal, reason, std::move(message));
  }
  std::vector<kube::core::Event> Created() const {
    std::vector<kube::core::Event> events;
    for (const auto& each : api_.seen) {
      if (each.request.verb != ApiVerb::kCreate) continue;
      events.emplace_back().ParseFromString(each.request.body);
    }
    return events;
  }

  EventSender sender_{world_.loop(0), random_, log(), api_, {.host = "n1"}};
};

TEST_F(EventSenderTest, AnEventSaysWhatHappenedToWhat) {
  sender_.RecordWithAnnotations(
      {.kind = "Pod", .ns = "ns", .name = "web", .uid = "u1", .field_path = "spec.containers{a}"},
      EventType::kWarning, "Evicted", "why", {{"a", "b"}});
  RunFor(Seconds(1));
  ASSERT_EQ(Created().size(), 1);
  const kube::core::Event event = Created().front();
  EXPECT_EQ(event.metadata().namespace_(), "ns");
  EXPECT_TRUE(event.metadata().name().starts_with("web."));
  EXPECT_EQ(event.metadata().annotations().at("a"), "b");
  EXPECT_EQ(event.involvedobject().uid(), "u1");
  EXPECT_EQ(event.involvedobject().fieldpath(), "spec.containers{a}");
  EXPECT_EQ(event.type(), "Warning");
  EXPECT_EQ(event.reason(), "Evicted");
  EXPECT_EQ(event.source().host(), "n1");
  EXPECT_EQ(event.reportingcomponent(), "kubelet");
  EXPECT_EQ(event.count(), 1);
  EXPECT_FALSE(event.has_eventtime());
  EXPECT_EQ(api_.seen.front().request.traffic, sync::ApiTraffic::kEvents);
}

TEST_F(EventSenderTest, OfTheNodeGoesToTheDefaultNamespace) {
  sender_.Record(sync::NodeEventObject("n1"), EventType::kNormal, "Starting", "Starting kubelet.");
  RunFor(Seconds(1));
  const kube::core::Event event = Created().at(0);
  EXPECT_EQ(event.metadata().namespace_(), "default");
  EXPECT_EQ(event.involvedobject().kind(), "Node");
  EXPECT_FALSE(event.involvedobject().has_uid());
  EXPECT_FALSE(event.involvedobject().has_namespace_());
}

TEST_F(EventSenderTest, ARepeatIsCountedByAPatch) {
  Tell("again");
  Tell("again");
  Tell("again");
  RunFor(Seconds(1));
  EXPECT_EQ(Created().size(), 1);
  EXPECT_EQ(api_.Count(ApiVerb::kPatch, "events"), 2);
  const auto stored = api_.Find<kube::core::Event>({"ns", Created()[0].metadata().name()});
  EXPECT_EQ(stored->count(), 3);
  EXPECT_TRUE(api_.seen.back().request.subresource.empty());
}

TEST_F(EventSenderTest, OneThatTheServerForgotIsCreatedAgainWithItsCount) {
  Tell("again");
  RunFor(Seconds(1));
  api_.Remove<kube::core::Event>({"ns", Created()[0].metadata().name()});
  Tell("again");
  RunFor(Seconds(1));
  ASSERT_EQ(Created().size(), 2);
  EXPECT_EQ(Created()[1].count(), 2);
  EXPECT_EQ(Created()[1].metadata().name(), Created()[0].metadata().name());
}

TEST_F(EventSenderTest, EventsOfOneMomentHaveDifferentNames) {
  Tell("a");
  Tell("b");
  RunFor(Seconds(1));
  ASSERT_EQ(Created().size(), 2);
  EXPECT_NE(Created()[0].metadata().name(), Created()[1].metadata().name());
  EXPECT_EQ(sender_.rejected(), 0);
}

TEST_F(EventSenderTest, OneAfterTheOther) {
  api_.latency = Seconds(1);
  for (int i = 0; i < 5; ++i) Tell("message " + std::to_string(i));
  RunFor(Milliseconds(3500));
  EXPECT_EQ(api_.seen.size(), 4);
  for (size_t i = 1; i < api_.seen.size(); ++i) {
    EXPECT_GE(api_.seen[i].at - api_.seen[i - 1].at, Seconds(1));
  }
}

TEST_F(EventSenderTest, AServerThatIsAwayIsTriedTwelveTimesTenSecondsApart) {
  api_.fate = [](const sync::ApiRequest&) { return Refuse(ErrorCode::kUnavailable); };
  Tell("a");
  RunFor(Minutes(3));
  ASSERT_EQ(api_.seen.size(), 12);
  EXPECT_LE(api_.seen[1].at - api_.seen[0].at, Seconds(11));
  for (size_t i = 2; i < api_.seen.size(); ++i) {
    EXPECT_GE(api_.seen[i].at - api_.seen[i - 1].at, Seconds(10));
  }
  EXPECT_EQ(sender_.rejected(), 1);
  EXPECT_EQ(sender_.stage(), Stage::kIdle);
  const std::string told = sink_.Take();
  EXPECT_NE(told.find("Unable to write event (retry limit exceeded!)"), std::string::npos);
  EXPECT_EQ(told.find("Server rejected"), std::string::npos) << "it was never reached";
  api_.fate = [](const sync::ApiRequest&) { return Serve(); };
  Tell("b");
  RunFor(Seconds(1));
  EXPECT_EQ(Created().back().message(), "b");
}

TEST_F(EventSenderTest, WhatTheServerRejectsIsNotSentAgain) {
  api_.fate = [](const sync::ApiRequest&) { return Refuse(ErrorCode::kPermission); };
  Tell("a");
  RunFor(Minutes(3));
  EXPECT_EQ(api_.seen.size(), 1);
  EXPECT_EQ(sender_.rejected(), 1);
}

TEST_F(EventSenderTest, WhateverTheServerAnswersHoldsUpNoOtherEvent) {
  for (const ErrorCode code :
       {ErrorCode::kUnavailable, ErrorCode::kOverloaded, ErrorCode::kUnknownOutcome}) {
    SCOPED_TRACE(ErrorCodeName(code));
    api_.seen.clear();
    const uint64_t rejected = sender_.rejected();
    api_.fate = [&](const sync::ApiRequest&) {
      return api_.seen.size() == 1 ? Answer(code) : Serve();
    };
    const std::string name(ErrorCodeName(code));
    Tell("bad", "Bad " + name);
    Tell("good", "Good " + name);
    RunFor(Seconds(1));
    EXPECT_EQ(api_.seen.size(), 2);
    EXPECT_EQ(Created().back().message(), "good");
    EXPECT_EQ(sender_.rejected(), rejected + 1);
  }
}

TEST_F(EventSenderTest, ANamespaceThatIsBeingDeletedIsNoFault) {
  sink_.Take();
  api_.fate = [](const sync::ApiRequest&) { return Answer(ErrorCode::kConflict); };
  Tell("a");
  RunFor(Seconds(1));
  EXPECT_EQ(sender_.rejected(), 1);
  EXPECT_EQ(sink_.Take().find("rejected"), std::string::npos);
}

TEST_F(EventSenderTest, OneThatArrivedAfterAllIsNotThereTwice) {
  int sent = 0;
  api_.fate = [&](const sync::ApiRequest&) { return sent++ == 0 ? ServeAndLose() : Serve(); };
  Tell("a");
  RunFor(Minutes(1));
  EXPECT_EQ(api_.seen.size(), 2);
  EXPECT_EQ(sender_.stage(), Stage::kIdle);
  EXPECT_TRUE(api_.Find<kube::core::Event>({"ns", Created()[0].metadata().name()}));
}

TEST_F(EventSenderTest, AFullQueueDropsWhatComes) {
  for (int i = 0; i < 1100; ++i) Tell("m", "Reason" + std::to_string(i));
  EXPECT_EQ(sender_.waiting(), EventSender::kQueueMax);
  EXPECT_EQ(sender_.dropped(), 100);
  const std::string log = sink_.Take();
  EXPECT_THAT(log, testing::HasSubstr("Reason1000"));
  EXPECT_THAT(log, testing::Not(testing::HasSubstr("Reason1001"))) << "of many one is named";
  // Of one object: what the spam filter lets through.
  RunFor(Minutes(1));
  EXPECT_EQ(api_.seen.size(), SpamFilter::kBurst);
  EXPECT_EQ(sender_.waiting(), 0);
  Tell("m");
  EXPECT_THAT(sink_.Take(), testing::HasSubstr("now there is room again\" dropped=100"));
}

TEST_F(EventSenderTest, CanGoWhileOneIsSent) {
  auto sender = std::make_unique<EventSender>(loop(), random_, log(), api_, EventSenderOptions{});
  sender->Record({.kind = "Pod", .ns = "ns", .name = "p"}, EventType::kNormal, "R", "m");
  RunFor(Milliseconds(1));
  sender.reset();
  RunFor(Minutes(1));
  EXPECT_EQ(api_.seen.size(), 1);
}

}  // namespace
}  // namespace denselet::events
