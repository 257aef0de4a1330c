#include "managers/events/event_correlator.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "base/random.h"
#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "kube/api/validation/names.h"
#include "tests/golden.h"

namespace denselet::events {
namespace {

// As the Go program has it.
constexpr WallTime kStart{Seconds(1'767'366'245) + Duration(678)};

// Of a row of the table.
Event MakeEvent(const tests::GoldenRow& row, WallTime wall) {
  const auto text = [&row](size_t column) { return tests::Unquoted(row[column]); };
  Event event;
  event.mutable_metadata()->set_name(EventName(text(4), wall));
  event.mutable_metadata()->set_namespace_(text(3).empty() ? "default" : text(3));
  auto& object = *event.mutable_involvedobject();
  object.set_kind(text(2));
  object.set_namespace_(text(3));
  object.set_name(text(4));
  object.set_uid(text(5));
  object.set_apiversion("v1");
  object.set_fieldpath(text(6));
  event.set_type(row[7]);
  event.set_reason(row[8]);
  event.set_message(text(9));
  event.set_count(1);
  event.mutable_firsttimestamp()->set_seconds(ToTimestamp(wall).seconds);
  event.mutable_lasttimestamp()->set_seconds(ToTimestamp(wall).seconds);
  event.mutable_source()->set_component("kubelet");
  event.mutable_source()->set_host("node-1");
  event.set_reportingcomponent("kubelet");
  event.set_reportinginstance("node-1");
  return event;
}

std::string NameOf(EventCorrelator::Verdict verdict) {
  switch (verdict) {
    case EventCorrelator::Verdict::kDrop:
      return "drop";
    case EventCorrelator::Verdict::kCreate:
      return "create";
    case EventCorrelator::Verdict::kPatch:
      return "patch";
  }
  return "";
}

TEST(EventCorrelator, DecidesAsUpstreamDoes) {
  std::optional<EventCorrelator> correlator;
  Duration since{};
  int line = 0;
  for (const auto& row : tests::ReadGolden("tests/managers/events/golden/events.txt")) {
    SCOPED_TRACE(++line);
    if (row[0] == "new") {
      correlator.emplace();
      since = Duration::zero();
      continue;
    }
    ASSERT_EQ(row.size(), 14);
    since += Duration(std::stoll(row[1]));
    Event event = MakeEvent(row, kStart + since);
    const EventCorrelator::Decision decision =
        correlator->Correlate(event, {TimePoint(Hours(1)) + since, kStart + since});
    ASSERT_EQ(NameOf(decision.verdict), row[11]);
    if (row[11] == "drop") continue;
    ASSERT_EQ(kube::EncodeJson(event), tests::Unquoted(row[12]));
    ASSERT_EQ(decision.patch, tests::Unquoted(row[13]));
    if (row[10] == "sent") correlator->OnSent(event);
  }
}

TEST(EventNames, AreValidOrUuids) {
  SeededRandom random(3);
  EXPECT_EQ(ValidEventName("web-0", WallTime(Duration(0x1886f23c653db4a6)), random),
            "web-0.1886f23c653db4a6");
  const std::string uuid = ValidEventName("Web_0", kStart, random);
  ASSERT_EQ(uuid.size(), 36);
  EXPECT_EQ(uuid[14], '4');
  EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos);
  EXPECT_TRUE(kube::IsDns1123Subdomain(uuid));
}

TEST(Lru, ForgetsWhatWasNotUsedForLongest) {
  Lru<int> lru(2);
  const Fnv128 a = Fnv1a128("a"), b = Fnv1a128("b"), c = Fnv1a128("c");
  lru.Add(a, 1);
  lru.Add(b, 2);
  ASSERT_NE(lru.Find(a), nullptr);
  lru.Add(c, 3);
  EXPECT_EQ(lru.Find(b), nullptr);
  EXPECT_EQ(*lru.Find(a), 1);
  lru.Add(a, 4);
  EXPECT_EQ(*lru.Find(a), 4);
  EXPECT_EQ(lru.size(), 2);
}

}  // namespace
}  // namespace denselet::events
