#include "app/local_api/pod_json.h"

#include <gtest/gtest.h>

#include "app/ctl/tables.h"

namespace denselet::app {
namespace {

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
