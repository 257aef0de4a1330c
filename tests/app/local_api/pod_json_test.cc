#include "app/local_api/pod_json.h"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace denselet::app
