#include "kube/api/patch/status_patch.h"

#include <optional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "kube/api/codec/codec.h"
#include "kube/api/patch/strategic_patch.h"
#include "kube/api/types.h"
#include "tests/golden.h"

namespace denselet::kube {
namespace {

template <class T>
T Decoded(std::string_view json) {
  T message;
  EXPECT_TRUE(DecodeJson(json, message).ok()) << json;
  return message;
}

std::string PatchOr(const Result<std::optional<std::string>>& patch) {
  if (!patch) return "error: " + patch.error().message();
  return patch->value_or("none");
}

TEST(StatusPatch, OfAPodIsWhatUpstreamSends) {
  for (const auto& row : tests::ReadGolden("tests/kube/api/patch/golden/status.txt")) {
    if (row.at(0) != "Pod") continue;
    SCOPED_TRACE(row.at(1) + " to " + row.at(2));
    const auto before = Decoded<core::Pod>(row.at(1)), after = Decoded<core::Pod>(row.at(2));
    const auto patch = MakePodStatusPatch("uid-of-the-pod", before.status(), after.status());
    EXPECT_EQ(PatchOr(patch), row.at(3));
  }
}

TEST(StatusPatch, OfANodeIsWhatUpstreamSends) {
  for (const auto& row : tests::ReadGolden("tests/kube/api/patch/golden/status.txt")) {
    if (row.at(0) != "Node") continue;
    SCOPED_TRACE(row.at(1) + " to " + row.at(2));
    const auto before = Decoded<core::Node>(row.at(1)), after = Decoded<core::Node>(row.at(2));
    EXPECT_EQ(PatchOr(MakeNodeStatusPatch(before, after)), row.at(3));
  }
}

TEST(StatusPatch, LeavesTheConditionsOfOthers) {
  const auto before = Decoded<core::Pod>(
      R"({"status":{"conditions":[{"type":"Ready","status":"False","reason":"R"}]}})");
  const auto after =
      Decoded<core::Pod>(R"({"status":{"conditions":[{"type":"Ready","status":"True"}]}})");
  const auto patch = MakePodStatusPatch("u", before.status(), after.status());
  ASSERT_TRUE(patch && *patch);
  auto meanwhile =
      Decoded<core::Pod>(R"({"status":{"conditions":[{"type":"example.com/Gate","status":"True"},)"
                         R"({"type":"Ready","status":"False","reason":"R"}]}})");
  ASSERT_TRUE(ApplyStrategicPatch(meanwhile, **patch));
  ASSERT_EQ(meanwhile.status().conditions_size(), 2);
  EXPECT_EQ(meanwhile.status().conditions(0).type(), "example.com/Gate");
  EXPECT_EQ(meanwhile.status().conditions(1).status(), "True");
  EXPECT_EQ(meanwhile.status().conditions(1).reason(), "");
}

TEST(StatusPatch, AddressesOfTheSameTypeArriveAll) {
  const auto before = Decoded<core::Node>(
      R"({"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.1"}]}})");
  const auto after = Decoded<core::Node>(
      R"({"status":{"addresses":[{"type":"InternalIP","address":"10.0.0.2"},)"
      R"({"type":"InternalIP","address":"fd00::2"},{"type":"Hostname","address":"n"}]}})");
  for (const auto* from : {&before, &after}) {
    const auto& to = from == &before ? after : before;
    const auto patch = MakeNodeStatusPatch(*from, to);
    ASSERT_TRUE(patch && *patch);
    core::Node node = *from;
    ASSERT_TRUE(ApplyStrategicPatch(node, **patch));
    EXPECT_EQ(EncodeJson(node.status()), EncodeJson(to.status()));
  }
}

TEST(StatusPatch, TheUidIsTextLikeAnyOther) {
  core::PodStatus after;
  after.set_phase("Running");
  EXPECT_EQ(PatchOr(MakePodStatusPatch("a\"b<", {}, after)),
            R"({"metadata":{"uid":"a\"b\u003c"},"status":{"phase":"Running"}})");
}

TEST(StatusPatch, NamesTheVersionThatItStartsFromIfThereIsOne) {
  core::PodStatus before, after;
  after.set_phase("Running");
  const auto patch = MakePodStatusPatch("u", before, after, "17");
  ASSERT_TRUE(patch && *patch);
  EXPECT_EQ(**patch,
            R"({"metadata":{"resourceVersion":"17","uid":"u"},"status":{"phase":"Running"}})");
}

}  // namespace
}  // namespace denselet::kube
