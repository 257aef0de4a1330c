#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "reactor/mpsc_queue.h"
#include "reactor/spsc_queue.h"

namespace denselet::reactor {
namespace {

TEST(SpscQueue, KeepsOrderAcrossItsEnd) {
  SpscQueue<int> queue(4);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(queue.TryPush(int{i}));
    EXPECT_FALSE(queue.empty());
    EXPECT_EQ(queue.TryPop(), i);
  }
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.TryPop(), std::nullopt);
}

TEST(SpscQueue, AFullQueueLeavesTheValueWithTheProducer) {
  SpscQueue<std::unique_ptr<int>> queue(2);
  EXPECT_TRUE(queue.TryPush(std::make_unique<int>(1)));
  EXPECT_TRUE(queue.TryPush(std::make_unique<int>(2)));
  auto third = std::make_unique<int>(3);
  EXPECT_FALSE(queue.TryPush(std::move(third)));
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(**queue.TryPop(), 1);
  EXPECT_TRUE(queue.TryPush(std::move(third)));
}

TEST(SpscQueue, IsFullAtItsBoundHoweverManyChunksThatTakes) {
  constexpr int kBound = 4096;
  SpscQueue<std::array<int, 40>> queue(kBound);
  const auto fill = [&queue] {
    int pushed = 0;
    while (queue.TryPush({pushed})) ++pushed;
    return pushed;
  };
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(fill(), kBound);
    for (int i = 0; i < kBound; ++i) ASSERT_EQ((*queue.TryPop())[0], i);
    EXPECT_TRUE(queue.empty());
  }
}

// What waits is destroyed with the queue, in whichever chunk it is.
TEST(SpscQueue, DestroysWhatNobodyTook) {
  const auto counted = std::make_shared<int>(0);
  {
    SpscQueue<std::shared_ptr<int>> queue(1000);
    for (int i = 0; i < 700; ++i) ASSERT_TRUE(queue.TryPush(std::shared_ptr<int>(counted)));
    for (int i = 0; i < 600; ++i) ASSERT_TRUE(queue.TryPop());
    EXPECT_EQ(counted.use_count(), 101);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(SpscQueue, CarriesEverythingBetweenTwoThreads) {
  constexpr int kCount = 100'000;
  SpscQueue<int> queue(1000);  // more than a chunk
  std::thread producer([&] {
    for (int i = 0; i < kCount; ++i) {
      while (!queue.TryPush(int{i})) std::this_thread::yield();
    }
  });
  for (int expected = 0; expected < kCount;) {
    if (const auto value = queue.TryPop()) {
      ASSERT_EQ(*value, expected);
      ++expected;
    } else {
      std::this_thread::yield();
    }
  }
  producer.join();
}

TEST(MpscQueue, RefusesWhenFullAndTakesAgainAfterwards) {
  MpscQueue<int> queue(2);
  EXPECT_TRUE(queue.TryPush(1));
  EXPECT_TRUE(queue.TryPush(2));
  EXPECT_FALSE(queue.TryPush(3));
  EXPECT_EQ(queue.TryPop(), 1);
  EXPECT_TRUE(queue.TryPush(4));
  EXPECT_EQ(queue.TryPop(), 2);
  EXPECT_EQ(queue.TryPop(), 4);
  EXPECT_TRUE(queue.empty());
}

TEST(MpscQueue, LargeValuesAreCarriedAndDestroyedAsSmallOnesAre) {
  struct Large {
    std::shared_ptr<int> counted;
    std::array<int, 40> more = {};
  };
  const auto counted = std::make_shared<int>(0);
  {
    MpscQueue<Large> queue(4);
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(queue.TryPush({counted, {i}}));
    Large fifth{counted, {4}};
    EXPECT_FALSE(queue.TryPush(std::move(fifth)));
    EXPECT_NE(fifth.counted, nullptr);
    EXPECT_EQ(queue.TryPop()->more[0], 0);
    EXPECT_TRUE(queue.TryPush(std::move(fifth)));
    for (int i = 1; i < 4; ++i) EXPECT_EQ(queue.TryPop()->more[0], i);
    EXPECT_EQ(counted.use_count(), 2);
  }
  EXPECT_EQ(counted.use_count(), 1);
}

TEST(MpscQueue, LosesAndDoublesNothingWithManyProducers) {
  constexpr int kProducers = 4, kEach = 20'000;
  MpscQueue<int> queue(128);
  std::vector<std::thread> producers;
  for (int p = 0; p < kProducers; ++p) {
    producers.emplace_back([&, p] {
      for (int i = 0; i < kEach; ++i) {
        while (!queue.TryPush(p * kEach + i)) std::this_thread::yield();
      }
    });
  }
  // Each producer's own values stay in order.
  std::vector<int> next(kProducers, 0);
  for (int got = 0; got < kProducers * kEach;) {
    const auto value = queue.TryPop();
    if (!value) {
      std::this_thread::yield();
      continue;
    }
    const auto producer = static_cast<size_t>(*value / kEach);
    ASSERT_EQ(*value % kEach, next[producer]);
    ++next[producer];
    ++got;
  }
  for (std::thread& producer : producers) producer.join();
}

}  // namespace
}  // namespace denselet::reactor
