#include "app/local_api/pod_json.h"

#include <gtest/gtest.h>

#include <string>

#include "app/ctl/tables.h"

namespace denselet::app {
namespace {

using sync::AdmissionDesk;

std::string RowOf(const std::optional<AdmissionDesk::Report>& asked) {
  const sync::PodIdentity pod{.ref = {"ns", "dns"}, .uid = PodUid("u2")};
  const Moment moment{.now = After(TimePoint(), Seconds(100)),
                      .wall = WallTime(Seconds(1'700'000'000))};
  std::string row;
  AppendWaitingRow(pod, asked, moment, row);
  return row;
}

TEST(WaitingRow, SaysForWhatAndSinceWhen) {
  const AdmissionDesk::Report asked{.stage = AdmissionDesk::Stage::kWaitingForName,
                                    .since = After(TimePoint(), Seconds(90)),
                                    .waits = "wait for the name"};
  EXPECT_EQ(RowOf(asked),
            R"({"namespace":"ns","name":"dns","uid":"u2","status":"Pending","phase":"admission",)"
            R"("waitsFor":"admission: name","waits":"wait for the name",)"
            R"("since":"2023-11-14T22:13:10.000Z","sinceSecondsAgo":10.000})");
}

TEST(WaitingRow, OfOneThatNobodyWasAskedAboutSaysWhy) {
  EXPECT_NE(RowOf(std::nullopt).find(R"("waitsFor":"admission","waits":"wait until it is known)"),
            std::string::npos);
}

const sync::PodIdentity kPod{.ref = {"ns", "web"}, .uid = PodUid("u1")};

TEST(PodJson, APodThatIsHeldBackSaysWhy) {
  std::string row;
  AppendHeldBackRow(kPod, 1, row);
  const std::string all = "{\"pods\":[" + row + "]}";
  const auto rows = ReadPodRows(all);
  ASSERT_TRUE(rows && rows->size() == 1);
  EXPECT_EQ(rows->front().status, "HeldBack");
  EXPECT_EQ(rows->front().fault, "the agent died three times running under its work");
  const auto text = PodText(all);
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("held back: wait until the pod changes"), text->npos) << *text;
  EXPECT_NE(text->find("died three times"), text->npos) << *text;
}

}  // namespace
}  // namespace denselet::app
