#include <google/protobuf/message.h>

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "base/random.h"
#include "kube/api/codec/codec.h"
#include "kube/api/codec/json_same.h"
#include "kube/api/patch/json_tree.h"
#include "kube/api/patch/status_patch.h"
#include "kube/api/patch/strategic_patch.h"
#include "kube/api/types.h"
#include "tests/kube/api/patch/random_object.h"

namespace denselet::kube {
namespace {

constexpr uint64_t kSeeds = 400;

// Objects say more than JSON does (an empty text that is there, and one that is not), and write
// their fields in another order then: the values decide.
std::string Sorted(const google::protobuf::Message& message) {
  const auto json = Json::Parse(EncodeJson(message));
  EXPECT_TRUE(json);
  return json ? json->ToString() : "";
}

template <class T>
struct Edit {
  explicit Edit(uint64_t seed) {
    SeededRandom random(seed);
    RandomObject object(random);
    const uint64_t rarity = 2 + seed % 4;
    object.Fill(before, rarity);
    after = before;
    object.Change(after, rarity);
  }

  T before, after;
};

template <class T>
void ExpectPatchesLeadToTheNewObject() {
  size_t empty = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Edit<T> edit(seed);
    const auto patch = MakeStrategicPatch(edit.before, edit.after);
    ASSERT_TRUE(patch) << "seed " << seed << ": " << patch.error().message();
    EXPECT_EQ(*patch == kEmptyPatch, Sorted(edit.before) == Sorted(edit.after));
    empty += *patch == kEmptyPatch;
    const Status status = ApplyStrategicPatch(edit.before, *patch);
    ASSERT_TRUE(status) << "seed " << seed << ": " << status.error().message() << "\n" << *patch;
    ASSERT_EQ(Sorted(edit.before), Sorted(edit.after)) << "seed " << seed;
  }
  EXPECT_LT(empty, kSeeds / 4);
}

TEST(RandomPatch, OfAPodLeadsToTheNewOne) { ExpectPatchesLeadToTheNewObject<core::Pod>(); }

TEST(RandomPatch, OfANodeLeadsToTheNewOne) { ExpectPatchesLeadToTheNewObject<core::Node>(); }

TEST(RandomPatch, OfAPodsStatusLeadsToTheNewOne) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Edit<core::PodStatus> edit(seed);
    core::Pod pod;
    pod.mutable_metadata()->set_uid("u");
    *pod.mutable_status() = edit.before;
    const auto patch = MakePodStatusPatch("u", edit.before, edit.after);
    ASSERT_TRUE(patch) << "seed " << seed << ": " << patch.error().message();
    EXPECT_EQ(!patch->has_value(), Sorted(edit.before) == Sorted(edit.after));
    if (!*patch) continue;
    const Status status = ApplyStrategicPatch(pod, **patch);
    ASSERT_TRUE(status) << "seed " << seed << ": " << status.error().message();
    ASSERT_EQ(Sorted(pod.status()), Sorted(edit.after)) << "seed " << seed;
    EXPECT_EQ(pod.metadata().uid(), "u");
  }
}

TEST(RandomPatch, OfANodesStatusLeadsToTheNewOneAndLeavesTheSpec) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    Edit<core::Node> edit(seed);
    // Twice the same type: that is what makes addresses special.
    for (core::Node* node : {&edit.before, &edit.after}) {
      if (seed % 2 == 0 || node->status().addresses_size() == 0) continue;
      *node->mutable_status()->add_addresses() = node->status().addresses(0);
    }
    const auto patch = MakeNodeStatusPatch(edit.before, edit.after);
    ASSERT_TRUE(patch) << "seed " << seed << ": " << patch.error().message();
    *edit.after.mutable_spec() = edit.before.spec();
    EXPECT_EQ(!patch->has_value(), Sorted(edit.before) == Sorted(edit.after));
    if (!*patch) continue;
    const Status status = ApplyStrategicPatch(edit.before, **patch);
    ASSERT_TRUE(status) << "seed " << seed << ": " << status.error().message();
    ASSERT_EQ(Sorted(edit.before), Sorted(edit.after)) << "seed " << seed;
  }
}

// What its JSON says decides, not its bytes: through JSON and back an object loses what is empty.
template <class T>
void ExpectSameIsWhatJsonSays() {
  size_t same = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Edit<T> edit(seed);
    T read;
    ASSERT_TRUE(DecodeJson(EncodeJson(edit.before), read).ok());
    EXPECT_TRUE(SameJson(edit.before, read)) << "seed " << seed;
    EXPECT_EQ(SameJson(edit.after, read), Sorted(edit.after) == Sorted(read)) << "seed " << seed;
    EXPECT_EQ(SameJson(read, edit.after), Sorted(edit.after) == Sorted(read)) << "seed " << seed;
    same += EncodeWire(edit.before) == EncodeWire(read) ? 1 : 0;
  }
  EXPECT_LT(same, kSeeds);  // or nothing was empty
}

TEST(SameJson, OfAPodIsWhatItsJsonSays) { ExpectSameIsWhatJsonSays<core::Pod>(); }

TEST(SameJson, OfAStatusIsWhatItsJsonSays) { ExpectSameIsWhatJsonSays<core::PodStatus>(); }

TEST(SameJson, OfANodeIsWhatItsJsonSays) { ExpectSameIsWhatJsonSays<core::Node>(); }

TEST(RandomPatch, IsTheSameTextEveryTime) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const Edit<core::Pod> first(seed), second(seed);
    EXPECT_EQ(*MakeStrategicPatch(first.before, first.after),
              *MakeStrategicPatch(second.before, second.after));
  }
}

}  // namespace
}  // namespace denselet::kube
