#include "rpc/limiter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"

namespace denselet::rpc {
namespace {

using Ticket = Limiter::Ticket;
using Verdict = Limiter::Verdict;

constexpr TimePoint At(int64_t ms) { return TimePoint(Milliseconds(ms)); }

constexpr LimiterOptions kFour{.limit_min = 1,
                               .limit_max = 8,
                               .limit_start = 4,
                               .queue_max = 6,
                               .slow_after = Milliseconds(100),
                               .stuck_after = Milliseconds(1000)};

Ticket Enter(Limiter& limiter, Priority priority = Priority::kNormal, int64_t at_ms = 0) {
  const Limiter::Entered entered = limiter.Enter(priority, Duration::zero(), At(at_ms));
  EXPECT_TRUE(entered.ticket);
  EXPECT_FALSE(entered.displaced);
  return *entered.ticket;
}

std::vector<Ticket> StartAll(Limiter& limiter, int64_t at_ms = 0) {
  std::vector<Ticket> started;
  while (const auto turn = limiter.StartNext(At(at_ms))) started.push_back(turn->ticket);
  return started;
}

TEST(Limiter, StartsUpToTheLimitInOrderOfArrival) {
  Limiter limiter(kFour);
  std::vector<Ticket> asked;
  for (int i = 0; i < 6; ++i) asked.push_back(Enter(limiter));
  std::vector<Ticket> started = StartAll(limiter);
  EXPECT_EQ(started, std::vector(asked.begin(), asked.begin() + 4));
  EXPECT_EQ(limiter.state().waiting, 2u);
  limiter.End(asked[1], Verdict::kNone, {}, At(1));
  EXPECT_EQ(StartAll(limiter, 1), std::vector{asked[4]});
}

TEST(Limiter, UrgentCallsGoFirst) {
  Limiter limiter({.limit_min = 1, .limit_max = 1, .limit_start = 1, .queue_max = 6});
  const Ticket first = Enter(limiter, Priority::kBackground);
  EXPECT_EQ(StartAll(limiter), std::vector{first});
  const Ticket background = Enter(limiter, Priority::kBackground);
  const Ticket normal = Enter(limiter, Priority::kNormal);
  const Ticket critical = Enter(limiter, Priority::kCritical);
  const Ticket critical2 = Enter(limiter, Priority::kCritical);
  std::vector<Ticket> order;
  Ticket running = first;
  for (int i = 0; i < 4; ++i) {
    limiter.End(running, Verdict::kNone, {}, At(1));
    const auto turn = limiter.StartNext(At(1));
    ASSERT_TRUE(turn);
    order.push_back(running = turn->ticket);
  }
  EXPECT_EQ(order, (std::vector{critical, critical2, normal, background}));
}

TEST(Limiter, AFloodOfUrgentCallsStarvesNobody) {
  Limiter limiter({.limit_min = 1, .limit_max = 1, .limit_start = 1, .queue_max = 100});
  const Ticket patient = Enter(limiter, Priority::kBackground);
  for (int i = 0; i < 50; ++i) Enter(limiter, Priority::kCritical);
  for (uint64_t turns = 1;; ++turns) {
    ASSERT_LE(turns, Limiter::kOldestEvery);
    const auto turn = limiter.StartNext(At(0));
    ASSERT_TRUE(turn);
    if (turn->ticket == patient) break;
    limiter.End(turn->ticket, Verdict::kNone, {}, At(0));
  }
}

TEST(Limiter, AFullQueueRefusesUnlessTheNewcomerIsMoreUrgent) {
  Limiter limiter(kFour);
  std::vector<Ticket> asked;
  for (int i = 0; i < 6; ++i) asked.push_back(Enter(limiter, Priority::kNormal));
  EXPECT_FALSE(limiter.Enter(Priority::kNormal, {}, At(0)).ticket);
  EXPECT_FALSE(limiter.Enter(Priority::kBackground, {}, At(0)).ticket);
  const Limiter::Entered urgent = limiter.Enter(Priority::kCritical, {}, At(0));
  ASSERT_TRUE(urgent.ticket);
  EXPECT_EQ(urgent.displaced, asked.back()) << "the last of the least urgent";
  EXPECT_EQ(limiter.state().waiting, 6u);
  EXPECT_EQ(StartAll(limiter).front(), *urgent.ticket);
}

TEST(Limiter, KnowsHowLongACallHasWaited) {
  Limiter limiter({.limit_min = 1, .limit_max = 1, .limit_start = 1, .queue_max = 6});
  const Ticket first = Enter(limiter, Priority::kNormal, 10);
  EXPECT_EQ(limiter.StartNext(At(10))->waited, Duration::zero());
  const Ticket second = Enter(limiter, Priority::kNormal, 20);
  Enter(limiter, Priority::kCritical, 30);
  EXPECT_EQ(limiter.state().waiting_since, At(20));
  limiter.Withdraw(second);
  EXPECT_EQ(limiter.state().waiting_since, At(30));
  limiter.End(first, Verdict::kNone, {}, At(50));
  EXPECT_EQ(limiter.StartNext(At(50))->waited, Milliseconds(20));
  EXPECT_EQ(limiter.state().waiting_since, kNever);
}

// One round of as many calls as there may be, all answered after `took`.
void Round(Limiter& limiter, int64_t& now_ms, int64_t took_ms, Verdict verdict) {
  const auto wanted = static_cast<size_t>(limiter.state().limit);
  for (size_t i = 0; i < wanted; ++i) Enter(limiter, Priority::kNormal, now_ms);
  const std::vector<Ticket> started = StartAll(limiter, now_ms);
  ASSERT_EQ(started.size(), wanted);
  now_ms += took_ms;
  for (const Ticket& ticket : started) {
    limiter.End(ticket, verdict, Milliseconds(took_ms), At(now_ms));
  }
}

TEST(Limiter, RisesByOneForEachRoundOfAnswersInTime) {
  LimiterOptions options = kFour;
  options.queue_max = 16;
  Limiter limiter(options);
  int64_t now_ms = 0;
  double last = limiter.state().limit;
  for (int i = 0; i < 4; ++i) {
    Round(limiter, now_ms, 10, Verdict::kAnswered);
    // A fraction of a call is not made.
    EXPECT_NEAR(limiter.state().limit, last + 1, 0.3);
    last = limiter.state().limit;
  }
  for (int i = 0; i < 5; ++i) Round(limiter, now_ms, 10, Verdict::kAnswered);
  EXPECT_EQ(limiter.state().limit, 8);
}

TEST(Limiter, FallsByAFactorOnceForCallsThatWereSlowTogether) {
  Limiter limiter(kFour);
  int64_t now_ms = 0;
  Round(limiter, now_ms, 101, Verdict::kAnswered);
  EXPECT_DOUBLE_EQ(limiter.state().limit, 4 * Limiter::kDecrease);
  ++now_ms;
  Round(limiter, now_ms, 1, Verdict::kOverload);
  EXPECT_DOUBLE_EQ(limiter.state().limit, 4 * Limiter::kDecrease * Limiter::kDecrease);
  for (int i = 0; i < 10; ++i) Round(limiter, ++now_ms, 200, Verdict::kAnswered);
  EXPECT_EQ(limiter.state().limit, 1);
}

TEST(Limiter, ALimitThatNobodyNeedsStays) {
  Limiter limiter(kFour);
  for (int i = 0; i < 100; ++i) {
    const Ticket one = Enter(limiter, Priority::kNormal, i);
    ASSERT_EQ(StartAll(limiter, i), std::vector{one});
    limiter.End(one, Verdict::kAnswered, Milliseconds(1), At(i));
  }
  EXPECT_EQ(limiter.state().limit, 4);
}

TEST(Limiter, CallsThatNeverGotThereSayNothing) {
  Limiter limiter(kFour);
  int64_t now_ms = 0;
  for (int i = 0; i < 10; ++i) Round(limiter, now_ms, 500, Verdict::kNone);
  EXPECT_EQ(limiter.state().limit, 4);
}

TEST(Limiter, WhatACallTakesOfItselfIsNotSlow) {
  Limiter limiter(kFour);
  ASSERT_TRUE(limiter.Enter(Priority::kNormal, Seconds(30), At(0)).ticket);
  const auto turn = limiter.StartNext(At(0));
  ASSERT_TRUE(turn);
  Enter(limiter);
  EXPECT_EQ(limiter.NextLook(), At(31'000));
  limiter.End(turn->ticket, Verdict::kAnswered, Milliseconds(30'050), At(30'050));
  EXPECT_EQ(limiter.state().limit, 4);
}

TEST(Limiter, StuckCallsHoldUpNobodyButAreCountedInTheMaximum) {
  Limiter limiter(kFour);  // starts with 4, 8 at most
  for (int i = 0; i < 6; ++i) Enter(limiter);
  const std::vector<Ticket> hung = StartAll(limiter);
  ASSERT_EQ(hung.size(), 4u);
  EXPECT_EQ(limiter.NextLook(), At(1000));
  limiter.Look(At(999));
  EXPECT_EQ(limiter.state().stuck, 0u);
  limiter.Look(At(1000));
  EXPECT_EQ(limiter.state().stuck, 4u);
  EXPECT_DOUBLE_EQ(limiter.state().limit, 4 * Limiter::kDecrease);
  EXPECT_EQ(StartAll(limiter, 1000).size(), 2u) << "others go on";
  for (int i = 0; i < 6; ++i) Enter(limiter, Priority::kNormal, 1000);
  limiter.Look(At(2000));
  EXPECT_EQ(StartAll(limiter, 2000).size(), 1u);
  limiter.Look(At(3000));
  EXPECT_EQ(StartAll(limiter, 3000).size(), 1u);
  limiter.Look(At(4000));
  EXPECT_EQ(StartAll(limiter, 4000).size(), 0u) << "eight are out";
  EXPECT_EQ(limiter.state().running, 8u);
  limiter.End(hung[0], Verdict::kOverload, Milliseconds(4000), At(4000));
  EXPECT_EQ(StartAll(limiter, 4000).size(), 1u);
}

// Any order of calls, answers, stalls and withdrawals: a model counts along.
void RunAtRandom(uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRandom random(seed);
  const auto limit_max = static_cast<uint32_t>(1 + random.Below(20));
  const auto limit_min = static_cast<uint32_t>(1 + random.Below(limit_max));
  const LimiterOptions options{
      .limit_min = limit_min,
      .limit_max = limit_max,
      .limit_start = static_cast<uint32_t>(limit_min + random.Below(limit_max - limit_min + 1)),
      .queue_max = static_cast<uint32_t>(1 + random.Below(50)),
      .slow_after = Milliseconds(100),
      .stuck_after = Milliseconds(1000)};
  Limiter limiter(options);
  std::map<Ticket, int64_t> waiting;       // since
  std::map<Ticket, int64_t> running;       // since
  std::map<Priority, uint64_t> last_turn;  // numbers rise within a priority
  std::map<Ticket, uint64_t> overtaken;    // turns that others had while it waited
  int64_t now_ms = 1;
  bool stalled = false;

  const auto start_all = [&] {
    while (const auto turn = limiter.StartNext(At(now_ms))) {
      const Ticket ticket = turn->ticket;
      ASSERT_TRUE(waiting.contains(ticket));
      ASSERT_EQ(turn->waited, Milliseconds(now_ms - waiting[ticket]));
      ASSERT_GT(ticket.number, last_turn[ticket.priority]) << "not in order of arrival";
      last_turn[ticket.priority] = ticket.number;
      waiting.erase(ticket);
      overtaken.erase(ticket);
      running.emplace(ticket, now_ms);
      if (waiting.empty()) continue;
      const auto oldest = std::ranges::min_element(
          waiting, {}, [](const auto& entry) { return entry.first.number; });
      if (++overtaken[oldest->first] > Limiter::kOldestEvery) FAIL() << "starved";
    }
  };
  for (int step = 0; step < 3000 && !testing::Test::HasFatalFailure(); ++step) {
    now_ms += static_cast<int64_t>(random.Below(20));
    if (random.Below(200) == 0) stalled = !stalled;
    limiter.Look(At(now_ms));
    const uint64_t dice = random.Below(10);
    if (dice < 5) {
      const auto priority = static_cast<Priority>(random.Below(4));
      const Limiter::Entered entered = limiter.Enter(priority, Duration::zero(), At(now_ms));
      if (entered.displaced) {
        ASSERT_LT(priority, entered.displaced->priority);
        ASSERT_EQ(waiting.erase(*entered.displaced), 1u);
        overtaken.erase(*entered.displaced);
      }
      ASSERT_TRUE(entered.ticket || waiting.size() == options.queue_max);
      if (entered.ticket) waiting.emplace(*entered.ticket, now_ms);
    } else if (dice < 9 && !running.empty() && !stalled) {
      const auto which =
          std::next(running.begin(), static_cast<int64_t>(random.Below(running.size())));
      const auto verdict = static_cast<Verdict>(random.Below(3));
      limiter.End(which->first, verdict, Milliseconds(now_ms - which->second), At(now_ms));
      running.erase(which);
    } else if (dice == 9 && !waiting.empty()) {
      const auto which =
          std::next(waiting.begin(), static_cast<int64_t>(random.Below(waiting.size())));
      limiter.Withdraw(which->first);
      overtaken.erase(which->first);
      waiting.erase(which);
    }
    start_all();
    const LimiterState state = limiter.state();
    ASSERT_EQ(state.running, running.size());
    ASSERT_EQ(state.waiting, waiting.size());
    ASSERT_LE(state.running, options.limit_max);
    ASSERT_GE(state.limit, options.limit_min);
    ASSERT_LE(state.limit, options.limit_max);
    ASSERT_LE(state.waiting, options.queue_max);
    // Nobody waits while there is room.
    if (state.waiting > 0 && state.running < options.limit_max) {
      ASSERT_GE(state.running - state.stuck, static_cast<uint32_t>(state.limit));
    }
  }
  // After the stall: everything that is out comes back, and the limit is at its best again.
  for (int i = 0; i < 2000; ++i) {
    ++now_ms;
    limiter.Look(At(now_ms));
    while (!running.empty()) {
      const auto [ticket, since] = *running.begin();
      limiter.End(ticket, Verdict::kAnswered, Milliseconds(1), At(now_ms));
      running.erase(running.begin());
    }
    for (size_t before = SIZE_MAX; running.size() != before;) {
      before = running.size();
      while (waiting.size() < options.queue_max) {
        waiting.emplace(*limiter.Enter(Priority::kNormal, Duration::zero(), At(now_ms)).ticket,
                        now_ms);
      }
      start_all();
    }
  }
  EXPECT_EQ(limiter.state().limit, options.limit_max) << "did not recover";
}

TEST(Limiter, AnySequenceKeepsBoundsOrderAndRecovers) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    RunAtRandom(seed);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace denselet::rpc
