#include "base/slot_map.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace denselet {
namespace {

// Generations run out after 2^32 removals, which no test can wait for. An explicit instantiation
// may name private members, so a slot can be made old here without a door for it in the class.
auto& SlotsOf(SlotMap<int>& map);
template <auto kSlots>
struct SlotsOpener {
  friend auto& SlotsOf(SlotMap<int>& map) { return map.*kSlots; }
};
template struct SlotsOpener<&SlotMap<int>::slots_>;

TEST(SlotMap, FindsWhatWasInserted) {
  SlotMap<std::string> map(4);
  const auto a = map.Insert("a");
  const auto b = map.Insert("b");
  ASSERT_TRUE(a && b);
  EXPECT_NE(*a, *b);
  ASSERT_NE(map.Find(*a), nullptr);
  EXPECT_EQ(*map.Find(*a), "a");
  ASSERT_NE(map.Find(*b), nullptr);
  EXPECT_EQ(*map.Find(*b), "b");
  EXPECT_EQ(map.size(), 2u);
}

TEST(SlotMap, FoundValueCanBeChanged) {
  SlotMap<std::string> map(4);
  const auto key = map.Insert("a");
  ASSERT_TRUE(key);
  *map.Find(*key) = "changed";
  const SlotMap<std::string>& const_map = map;
  ASSERT_NE(const_map.Find(*key), nullptr);
  EXPECT_EQ(*const_map.Find(*key), "changed");
}

TEST(SlotMap, StartsEmpty) {
  SlotMap<int> map(4);
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.size(), 0u);
}

TEST(SlotMap, DefaultKeyFindsNobody) {
  SlotMap<int> map(4);
  EXPECT_EQ(map.Find(SlotKey{}), nullptr);
  ASSERT_TRUE(map.Insert(1));
  EXPECT_EQ(map.Find(SlotKey{}), nullptr);
  EXPECT_EQ(map.Remove(SlotKey{}), std::nullopt);
  EXPECT_EQ(map.size(), 1u);
}

TEST(SlotMap, KeyOfASlotThatWasNeverUsedFindsNobody) {
  SlotMap<int> map(4);
  ASSERT_TRUE(map.Insert(1));
  for (const uint32_t index : {1u, 3u, 4u, UINT32_MAX}) {
    EXPECT_EQ(map.Find(SlotKey{index, 1}), nullptr) << index;
    EXPECT_EQ(map.Remove(SlotKey{index, 1}), std::nullopt) << index;
  }
}

TEST(SlotMap, KeyOfALaterGenerationFindsNobody) {
  SlotMap<int> map(4);
  const auto key = map.Insert(1);
  ASSERT_TRUE(key);
  EXPECT_EQ(map.Find(SlotKey{key->index, key->generation + 1}), nullptr);
}

TEST(SlotMap, KeyOfARemovedValueFindsNobody) {
  SlotMap<int> map(4);
  const auto key = map.Insert(1);
  ASSERT_TRUE(key);
  EXPECT_EQ(map.Remove(*key), 1);
  EXPECT_EQ(map.Find(*key), nullptr);
  EXPECT_TRUE(map.empty());
}

// Between Remove and reuse the slot carries the next generation already, and must not answer to it.
TEST(SlotMap, KeyOfTheNextGenerationFindsNobodyBeforeTheSlotIsReused) {
  SlotMap<int> map(4);
  const auto key = map.Insert(1);
  ASSERT_TRUE(key);
  EXPECT_EQ(map.Remove(*key), 1);
  const SlotKey next{key->index, key->generation + 1};
  EXPECT_EQ(map.Find(next), nullptr);
  EXPECT_EQ(map.Remove(next), std::nullopt);
  EXPECT_TRUE(map.empty());
}

TEST(SlotMap, KeyOfARemovedValueFindsNobodyAfterItsSlotWasReused) {
  SlotMap<int> map(1);
  const auto first = map.Insert(1);
  ASSERT_TRUE(first);
  EXPECT_EQ(map.Remove(*first), 1);
  const auto second = map.Insert(2);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->index, first->index);
  EXPECT_NE(second->generation, first->generation);
  EXPECT_EQ(map.Find(*first), nullptr);
  EXPECT_EQ(map.Remove(*first), std::nullopt);
  ASSERT_NE(map.Find(*second), nullptr);
  EXPECT_EQ(*map.Find(*second), 2);
}

TEST(SlotMap, RemovingTwiceFreesTheSlotOnce) {
  SlotMap<int> map(2);
  const auto a = map.Insert(1);
  const auto b = map.Insert(2);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(map.Remove(*a), 1);
  EXPECT_EQ(map.Remove(*a), std::nullopt);
  EXPECT_EQ(map.size(), 1u);
  EXPECT_TRUE(map.Insert(3));
  EXPECT_FALSE(map.Insert(4));
}

TEST(SlotMap, FullMapRefusesAndLeavesTheValueWithTheCaller) {
  SlotMap<std::unique_ptr<int>> map(2);
  const auto key = map.Insert(std::make_unique<int>(1));
  ASSERT_TRUE(key);
  ASSERT_TRUE(map.Insert(std::make_unique<int>(2)));

  auto value = std::make_unique<int>(3);
  EXPECT_EQ(map.Insert(std::move(value)), std::nullopt);
  ASSERT_NE(value, nullptr);
  // NOLINTNEXTLINE(bugprone-use-after-move): refused, so not taken
  EXPECT_EQ(*value, 3);
  EXPECT_EQ(map.size(), 2u);

  EXPECT_TRUE(map.Remove(*key));
  EXPECT_TRUE(map.Insert(std::move(value)));
  EXPECT_EQ(value, nullptr);
}

TEST(SlotMap, MapOfNoSlotsRefusesEverything) {
  SlotMap<int> map(0);
  EXPECT_EQ(map.Insert(1), std::nullopt);
  EXPECT_TRUE(map.empty());
}

TEST(SlotMap, FreedSlotsAreUsedBeforeNewOnes) {
  SlotMap<int> map(100);
  std::vector<SlotKey> keys;
  for (int i = 0; i < 10; ++i) keys.push_back(map.Insert(int{i}).value());
  for (const SlotKey key : keys) EXPECT_TRUE(map.Remove(key));
  for (int i = 0; i < 10; ++i) EXPECT_LT(map.Insert(int{i}).value().index, 10u);
  EXPECT_EQ(map.Insert(10).value().index, 10u);
}

TEST(SlotMap, RemoveHandsTheValueToTheCaller) {
  SlotMap<std::shared_ptr<int>> map(1);
  auto value = std::make_shared<int>(7);
  const std::weak_ptr<int> watch = value;
  const auto key = map.Insert(std::move(value));
  ASSERT_TRUE(key);
  {
    const auto removed = map.Remove(*key);
    ASSERT_TRUE(removed);
    EXPECT_EQ(**removed, 7);
    EXPECT_EQ(watch.use_count(), 1);
  }
  EXPECT_TRUE(watch.expired());
}

TEST(SlotMap, DestroysTheValuesItStillHolds) {
  const auto value = std::make_shared<int>(7);
  {
    SlotMap<std::shared_ptr<int>> map(3);
    ASSERT_TRUE(map.Insert(std::shared_ptr<int>(value)));
    ASSERT_TRUE(map.Insert(std::shared_ptr<int>(value)));
    EXPECT_EQ(value.use_count(), 3);
  }
  EXPECT_EQ(value.use_count(), 1);
}

TEST(SlotMap, SlotWhoseGenerationsAreUsedUpIsRetired) {
  SlotMap<int> map(2);
  const auto first = map.Insert(1);
  ASSERT_TRUE(first);
  EXPECT_EQ(map.Remove(*first), 1);
  SlotsOf(map)[0].generation = UINT32_MAX;

  const auto last = map.Insert(2);
  ASSERT_EQ(last, (SlotKey{0, UINT32_MAX}));
  EXPECT_EQ(map.Remove(*last), 2);

  // Only the other slot is left; no old key, nor the key that names nothing, finds the retired one.
  const auto other = map.Insert(3);
  ASSERT_TRUE(other);
  EXPECT_EQ(other->index, 1u);
  EXPECT_EQ(map.Insert(4), std::nullopt);
  for (const uint32_t generation : {0u, 1u, UINT32_MAX}) {
    EXPECT_EQ(map.Find(SlotKey{0, generation}), nullptr) << generation;
    EXPECT_EQ(map.Remove(SlotKey{0, generation}), std::nullopt) << generation;
  }
}

TEST(SlotMap, RetiringASlotKeepsTheOtherFreeSlots) {
  SlotMap<int> map(3);
  std::vector<SlotKey> keys;
  for (int i = 0; i < 3; ++i) keys.push_back(map.Insert(int{i}).value());
  SlotsOf(map)[1].generation = UINT32_MAX;
  EXPECT_TRUE(map.Remove(keys[0]));
  EXPECT_TRUE(map.Remove(SlotKey{1, UINT32_MAX}));
  EXPECT_TRUE(map.Remove(keys[2]));
  EXPECT_TRUE(map.Insert(10));
  EXPECT_TRUE(map.Insert(11));
  EXPECT_EQ(map.Insert(12), std::nullopt);
}

TEST(SlotMap, ForEachVisitsInTheOrderOfTheSlots) {
  SlotMap<char> map(8);
  std::vector<SlotKey> keys;
  for (const char c : {'a', 'b', 'c', 'd'}) keys.push_back(map.Insert(char{c}).value());
  EXPECT_TRUE(map.Remove(keys[2]));
  EXPECT_TRUE(map.Remove(keys[0]));
  keys[0] = map.Insert('A').value();  // the slot freed last

  std::vector<SlotKey> visited_keys;
  std::string visited;
  map.ForEach([&](SlotKey key, char value) {
    visited_keys.push_back(key);
    visited += value;
  });
  EXPECT_EQ(visited, "Abd");
  EXPECT_EQ(visited_keys, (std::vector<SlotKey>{keys[0], keys[1], keys[3]}));
}

TEST(SlotMap, ForEachMayChangeTheValues) {
  SlotMap<int> map(4);
  const auto key = map.Insert(1);
  ASSERT_TRUE(key);
  map.ForEach([](SlotKey, int& value) { value += 10; });
  EXPECT_EQ(*map.Find(*key), 11);
}

TEST(SlotMap, ForEachOfAnEmptyMapVisitsNobody) {
  SlotMap<int> map(4);
  const auto key = map.Insert(1);
  ASSERT_TRUE(key);
  EXPECT_TRUE(map.Remove(*key));
  map.ForEach([](SlotKey, int) { ADD_FAILURE(); });
}

// Keys of live values, and of dead ones to ask again, under a random series of operations.
class ModelledSlotMap {
 public:
  ModelledSlotMap(uint64_t seed, uint32_t slots_max)
      : random_(seed), slots_max_(slots_max), map_(slots_max) {}

  void Insert() {
    const int value = next_value_++;
    const auto key = map_.Insert(int{value});
    ASSERT_EQ(key.has_value(), live_.size() < slots_max_);
    if (!key) return;
    ASSERT_LT(key->index, slots_max_);
    ASSERT_TRUE(live_.emplace(*key, value).second);
  }

  void RemoveLive() {
    if (live_.empty()) return;
    const auto it = std::next(live_.begin(), static_cast<long>(random_.Below(live_.size())));
    ASSERT_EQ(map_.Remove(it->first), it->second);
    dead_.push_back(it->first);
    live_.erase(it);
  }

  void RemoveDead() {
    if (dead_.empty()) return;
    ASSERT_EQ(map_.Remove(dead_[random_.Below(dead_.size())]), std::nullopt);
  }

  void Compare() {
    ASSERT_EQ(map_.size(), live_.size());
    ASSERT_EQ(map_.empty(), live_.empty());
    for (const auto& [key, value] : live_) {
      ASSERT_NE(map_.Find(key), nullptr);
      ASSERT_EQ(*map_.Find(key), value);
    }
    for (const SlotKey key : dead_) ASSERT_EQ(map_.Find(key), nullptr);
    // One live key per slot, so the model's order is that of the slots.
    std::vector<std::pair<SlotKey, int>> visited;
    map_.ForEach([&](SlotKey key, int value) { visited.emplace_back(key, value); });
    ASSERT_EQ(visited, (std::vector<std::pair<SlotKey, int>>(live_.begin(), live_.end())));
  }

  void Step(uint64_t inserts_in_ten) {
    const uint64_t dice = random_.Below(10);
    if (dice < inserts_in_ten) return Insert();
    if (dice < 9) return RemoveLive();
    RemoveDead();
  }

 private:
  SeededRandom random_;
  const uint32_t slots_max_;
  SlotMap<int> map_;
  std::map<SlotKey, int> live_;
  std::vector<SlotKey> dead_;
  int next_value_ = 0;
};

TEST(SlotMap, BehavesLikeAMapThatNeverReusesAKey) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    ModelledSlotMap modelled(seed, static_cast<uint32_t>(1 + seed));
    for (int step = 0; step < 400; ++step) {
      modelled.Step(step / 100 % 2 == 0 ? 6 : 3);  // fills up, runs empty, and again
      modelled.Compare();
      ASSERT_FALSE(HasFatalFailure()) << "step " << step;
    }
  }
}

}  // namespace
}  // namespace denselet
