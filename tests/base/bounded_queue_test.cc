#include "base/bounded_queue.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace denselet {
namespace {

using ::testing::HasSubstr;

TEST(BoundedQueue, FirstInIsFirstOut) {
  BoundedQueue<int> queue(3);
  EXPECT_TRUE(queue.TryPush(1));
  EXPECT_TRUE(queue.TryPush(2));
  EXPECT_TRUE(queue.TryPush(3));
  EXPECT_EQ(queue.TryPop(), 1);
  EXPECT_EQ(queue.TryPop(), 2);
  EXPECT_EQ(queue.TryPop(), 3);
}

TEST(BoundedQueue, EmptyQueueGivesNothing) {
  BoundedQueue<int> queue(1);
  EXPECT_EQ(queue.TryPop(), std::nullopt);
  EXPECT_TRUE(queue.TryPush(1));
  EXPECT_EQ(queue.TryPop(), 1);
  EXPECT_EQ(queue.TryPop(), std::nullopt);
  EXPECT_TRUE(queue.empty());
}

TEST(BoundedQueue, KnowsHowFullItIs) {
  BoundedQueue<int> queue(2);
  EXPECT_EQ(queue.entries_max(), 2u);
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.full());

  EXPECT_TRUE(queue.TryPush(1));
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_FALSE(queue.empty());
  EXPECT_FALSE(queue.full());

  EXPECT_TRUE(queue.TryPush(2));
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_TRUE(queue.full());

  EXPECT_TRUE(queue.TryPop());
  EXPECT_FALSE(queue.full());
}

TEST(BoundedQueue, KeepsTheOrderWhenItWrapsAround) {
  BoundedQueue<int> queue(3);
  EXPECT_TRUE(queue.TryPush(0));
  EXPECT_TRUE(queue.TryPush(1));
  for (int i = 2; i < 20; ++i) {
    EXPECT_TRUE(queue.TryPush(i));
    EXPECT_TRUE(queue.full());
    EXPECT_EQ(queue.Front(), i - 2);
    EXPECT_EQ(queue.TryPop(), i - 2);
  }
}

TEST(BoundedQueue, QueueOfOneEntryIsFullOrEmpty) {
  BoundedQueue<int> queue(1);
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(queue.TryPush(i));
    EXPECT_FALSE(queue.TryPush(100));
    EXPECT_EQ(queue.TryPop(), i);
  }
}

TEST(BoundedQueue, RefusalLeavesTheValueWithTheCaller) {
  BoundedQueue<std::string> queue(1);
  EXPECT_TRUE(queue.TryPush("first"));
  std::string value = "a text that is too long to be kept inside the string object";
  const std::string copy = value;
  EXPECT_FALSE(queue.TryPush(std::move(value)));
  EXPECT_EQ(value, copy);  // NOLINT(bugprone-use-after-move): refused, so not taken
  EXPECT_EQ(queue.size(), 1u);
  EXPECT_EQ(queue.Front(), "first");

  EXPECT_TRUE(queue.TryPop());
  EXPECT_TRUE(queue.TryPush(std::move(value)));
  EXPECT_EQ(queue.TryPop(), copy);
}

TEST(BoundedQueue, PushOfACopyLeavesTheOriginal) {
  BoundedQueue<std::string> queue(1);
  const std::string value = "pod";
  EXPECT_TRUE(queue.TryPush(value));
  EXPECT_FALSE(queue.TryPush(value));
  EXPECT_EQ(queue.TryPop(), "pod");
  EXPECT_EQ(value, "pod");
}

TEST(BoundedQueue, ValuesMayBeMoveOnly) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  EXPECT_TRUE(queue.TryPush(std::make_unique<int>(1)));

  auto refused = std::make_unique<int>(2);
  EXPECT_FALSE(queue.TryPush(std::move(refused)));
  ASSERT_NE(refused, nullptr);

  const std::optional<std::unique_ptr<int>> popped = queue.TryPop();
  ASSERT_TRUE(popped);
  EXPECT_EQ(**popped, 1);
}

TEST(BoundedQueue, ValuesNeedNoDefault) {
  struct Entry {
    explicit Entry(int number) : n(number) {}
    int n;
  };
  BoundedQueue<Entry> queue(2);
  EXPECT_TRUE(queue.TryPush(Entry(7)));
  EXPECT_EQ(queue.Front().n, 7);
}

TEST(BoundedQueue, FrontCanBeChangedInPlace) {
  BoundedQueue<std::string> queue(2);
  EXPECT_TRUE(queue.TryPush("a"));
  EXPECT_TRUE(queue.TryPush("b"));
  queue.Front() += "!";
  EXPECT_EQ(queue.TryPop(), "a!");
  EXPECT_EQ(queue.Front(), "b");
}

TEST(BoundedQueue, PopKeepsNothingOfTheValue) {
  BoundedQueue<std::shared_ptr<int>> queue(2);
  const auto value = std::make_shared<int>(7);
  EXPECT_TRUE(queue.TryPush(value));
  EXPECT_EQ(value.use_count(), 2);
  EXPECT_EQ(queue.TryPop(), value);
  EXPECT_EQ(value.use_count(), 1);
}

TEST(BoundedQueue, DestroysTheValuesItStillHolds) {
  const auto value = std::make_shared<int>(7);
  {
    BoundedQueue<std::shared_ptr<int>> queue(3);
    EXPECT_TRUE(queue.TryPush(value));
    EXPECT_TRUE(queue.TryPush(value));
    EXPECT_EQ(value.use_count(), 3);
  }
  EXPECT_EQ(value.use_count(), 1);
}

TEST(BoundedQueue, BehavesLikeADequeWithABound) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SeededRandom random(seed);
    BoundedQueue<int> queue(seed);
    std::deque<int> model;
    for (int step = 0; step < 500; ++step) {
      if (random.Below(2) == 0) {
        ASSERT_EQ(queue.TryPush(step), model.size() < seed);
        if (model.size() < seed) model.push_back(step);
      } else {
        const std::optional<int> wanted =
            model.empty() ? std::nullopt : std::optional<int>(model.front());
        ASSERT_EQ(queue.TryPop(), wanted);
        if (!model.empty()) model.pop_front();
      }
      ASSERT_EQ(queue.size(), model.size());
      if (!model.empty()) {
        ASSERT_EQ(queue.Front(), model.front());
      }
    }
  }
}

TEST(BoundedQueueDeathTest, FrontOfAnEmptyQueueFailsACheck) {
  BoundedQueue<int> queue(1);
  EXPECT_DEATH(queue.Front(), HasSubstr("CHECK failed at bounded_queue.h"));
}

TEST(BoundedQueueDeathTest, QueueWithoutEntriesFailsACheck) {
  EXPECT_DEATH(BoundedQueue<int>(0), HasSubstr("CHECK failed at bounded_queue.h"));
}

}  // namespace
}  // namespace denselet
