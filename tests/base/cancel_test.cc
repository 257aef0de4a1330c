#include "base/cancel.h"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace denselet {
namespace {

// What ran, in order: callbacks write their letter.
using Log = std::string;

UniqueFunction<void()> Write(Log& log, char letter) {
  return [&log, letter] { log += letter; };
}

TEST(CancelToken, OfNoSourceIsNeverCancelled) {
  const CancelToken token;
  EXPECT_FALSE(token.cancelled());
}

TEST(CancelToken, OfNoSourceKeepsNoCallback) {
  const CancelToken token;
  const auto capture = std::make_shared<int>(1);
  const CancelRegistration registration = token.OnCancel([capture] { ADD_FAILURE(); });
  EXPECT_EQ(capture.use_count(), 1);
}

TEST(CancelSource, CancelIsSeenByEveryCopyOfItsToken) {
  CancelSource source;
  const CancelToken before = source.token();
  EXPECT_FALSE(before.cancelled());
  source.Cancel();
  const CancelToken after = source.token();
  EXPECT_TRUE(before.cancelled());
  EXPECT_TRUE(after.cancelled());
}

TEST(CancelSource, CancelLeavesOtherSourcesAlone) {
  CancelSource cancelled, other;
  Log log;
  const auto registration = other.token().OnCancel(Write(log, 'a'));
  cancelled.Cancel();
  EXPECT_FALSE(other.token().cancelled());
  EXPECT_EQ(log, "");
}

TEST(CancelSource, CallbacksRunInTheOrderOfTheirRegistration) {
  CancelSource source;
  Log log;
  const auto a = source.token().OnCancel(Write(log, 'a'));
  const auto b = source.token().OnCancel(Write(log, 'b'));
  const auto c = source.token().OnCancel(Write(log, 'c'));
  EXPECT_EQ(log, "");
  source.Cancel();
  EXPECT_EQ(log, "abc");
}

TEST(CancelSource, SecondCancelDoesNothing) {
  CancelSource source;
  Log log;
  const auto a = source.token().OnCancel(Write(log, 'a'));
  source.Cancel();
  source.Cancel();
  EXPECT_EQ(log, "a");
}

TEST(CancelSource, CallbackSeesTheTokenCancelled) {
  CancelSource source;
  bool seen = false;
  const auto registration =
      source.token().OnCancel([&seen, token = source.token()] { seen = token.cancelled(); });
  source.Cancel();
  EXPECT_TRUE(seen);
}

TEST(CancelSource, CallbackMayCancelAgain) {
  CancelSource source;
  Log log;
  const auto a = source.token().OnCancel([&] {
    log += 'a';
    source.Cancel();
  });
  const auto b = source.token().OnCancel(Write(log, 'b'));
  source.Cancel();
  EXPECT_EQ(log, "ab");
}

TEST(CancelSource, CallbackMayForgetALaterOne) {
  CancelSource source;
  Log log;
  CancelRegistration c;
  const auto a = source.token().OnCancel([&] {
    log += 'a';
    c.Forget();
  });
  const auto b = source.token().OnCancel(Write(log, 'b'));
  c = source.token().OnCancel(Write(log, 'c'));
  const auto d = source.token().OnCancel(Write(log, 'd'));
  source.Cancel();
  EXPECT_EQ(log, "abd");
}

TEST(CancelSource, CallbackMayForgetItselfAndThoseThatRan) {
  CancelSource source;
  Log log;
  CancelRegistration a, b;
  a = source.token().OnCancel(Write(log, 'a'));
  // What the callback captured must stay while it runs, also after it forgot itself.
  b = source.token().OnCancel([&, letter = std::make_unique<char>('b')] {
    a.Forget();
    b.Forget();
    log += *letter;
  });
  const auto c = source.token().OnCancel(Write(log, 'c'));
  source.Cancel();
  EXPECT_EQ(log, "abc");
}

TEST(CancelSource, CallbackThatDestroysTheSourceDoesNotStopTheOthers) {
  auto source = std::make_unique<CancelSource>();
  const CancelToken token = source->token();
  Log log;
  const auto a = token.OnCancel([&] {
    log += 'a';
    source.reset();
  });
  const auto b = token.OnCancel(Write(log, 'b'));
  source->Cancel();
  EXPECT_EQ(log, "ab");
  EXPECT_EQ(source, nullptr);
  EXPECT_TRUE(token.cancelled());
}

TEST(CancelSource, CallbackThatRegistersAnotherRegistersNothing) {
  CancelSource source;
  Log log;
  CancelRegistration late;
  const auto a = source.token().OnCancel([&] {
    log += 'a';
    late = source.token().OnCancel(Write(log, 'x'));
  });
  const auto b = source.token().OnCancel(Write(log, 'b'));
  source.Cancel();
  EXPECT_EQ(log, "ab");
}

TEST(CancelSource, CallbackIsReleasedWhenItHasRun) {
  CancelSource source;
  const auto capture = std::make_shared<int>(1);
  const auto registration = source.token().OnCancel([capture] {});
  EXPECT_EQ(capture.use_count(), 2);
  source.Cancel();
  EXPECT_EQ(capture.use_count(), 1);
}

// A token may live on in another shard, whose thread must not be the one that destroys what
// callbacks own.
TEST(CancelSource, ReleasesItsCallbacksWhenItDiesThoughTokensLive) {
  auto source = std::make_unique<CancelSource>();
  const CancelToken token = source->token();
  const auto capture = std::make_shared<int>(1);
  const auto registration = token.OnCancel([capture] { ADD_FAILURE(); });
  source.reset();
  EXPECT_EQ(capture.use_count(), 1);
  EXPECT_FALSE(token.cancelled());
}

TEST(CancelToken, OutlivesItsSource) {
  auto cancelled = std::make_unique<CancelSource>();
  auto silent = std::make_unique<CancelSource>();
  const CancelToken cancelled_token = cancelled->token();
  const CancelToken silent_token = silent->token();
  cancelled->Cancel();
  cancelled.reset();
  silent.reset();
  EXPECT_TRUE(cancelled_token.cancelled());
  EXPECT_FALSE(silent_token.cancelled());
}

TEST(CancelToken, AlreadyCancelledRegistersNothingAndRunsNothing) {
  CancelSource source;
  source.Cancel();
  const auto capture = std::make_shared<int>(1);
  const auto registration = source.token().OnCancel([capture] { ADD_FAILURE(); });
  EXPECT_EQ(capture.use_count(), 1);
}

TEST(CancelRegistration, CallbackOfADeadOneDoesNotRun) {
  CancelSource source;
  Log log;
  { const auto a = source.token().OnCancel(Write(log, 'a')); }
  const auto b = source.token().OnCancel(Write(log, 'b'));
  source.Cancel();
  EXPECT_EQ(log, "b");
}

TEST(CancelRegistration, ForgetStopsTheCallbackAndReleasesIt) {
  CancelSource source;
  const auto capture = std::make_shared<int>(1);
  auto registration = source.token().OnCancel([capture] { ADD_FAILURE(); });
  registration.Forget();
  EXPECT_EQ(capture.use_count(), 1);
  registration.Forget();
  source.Cancel();
}

TEST(CancelRegistration, ForgetStopsOnlyItsOwnCallback) {
  CancelSource source;
  Log log;
  const auto a = source.token().OnCancel(Write(log, 'a'));
  auto b = source.token().OnCancel(Write(log, 'b'));
  const auto c = source.token().OnCancel(Write(log, 'c'));
  b.Forget();
  source.Cancel();
  EXPECT_EQ(log, "ac");
}

TEST(CancelRegistration, DefaultOneForgetsNothing) {
  CancelRegistration registration;
  registration.Forget();
}

TEST(CancelRegistration, OutlivesItsSource) {
  auto source = std::make_unique<CancelSource>();
  auto registration = source->token().OnCancel([] { ADD_FAILURE(); });
  source.reset();
  registration.Forget();
}

TEST(CancelRegistration, MoveTakesTheCallbackAlong) {
  CancelSource source;
  Log log;
  std::optional<CancelRegistration> from = source.token().OnCancel(Write(log, 'a'));
  const CancelRegistration to = std::move(*from);
  from.reset();
  source.Cancel();
  EXPECT_EQ(log, "a");
}

TEST(CancelRegistration, MoveAssignmentForgetsTheOldCallback) {
  CancelSource source;
  Log log;
  CancelRegistration registration = source.token().OnCancel(Write(log, 'a'));
  registration = source.token().OnCancel(Write(log, 'b'));
  source.Cancel();
  EXPECT_EQ(log, "b");
}

TEST(CancelRegistration, SelfMoveKeepsTheCallback) {
  CancelSource source;
  Log log;
  CancelRegistration registration = source.token().OnCancel(Write(log, 'a'));
  CancelRegistration& alias = registration;  // compilers warn when they see it
  registration = std::move(alias);
  source.Cancel();
  EXPECT_EQ(log, "a");
}

// An operation's callback owns another operation, with a registration of its own: forgetting the
// first destroys the second's registration in the middle of forgetting.
TEST(CancelRegistration, ForgetMayDestroyOtherRegistrations) {
  CancelSource source;
  Log log;
  auto owned = std::make_shared<std::array<CancelRegistration, 2>>();
  const auto a = source.token().OnCancel(Write(log, 'a'));
  auto owner = source.token().OnCancel([owned] { ADD_FAILURE(); });
  (*owned)[0] = source.token().OnCancel(Write(log, 'x'));
  const auto b = source.token().OnCancel(Write(log, 'b'));
  (*owned)[1] = source.token().OnCancel(Write(log, 'y'));
  const auto c = source.token().OnCancel(Write(log, 'c'));
  owned.reset();

  owner.Forget();
  source.Cancel();
  EXPECT_EQ(log, "abc");
}

// The same when the registration that is being forgotten belongs to what the callback owns.
TEST(CancelRegistration, ForgetMayDestroyItself) {
  CancelSource source;
  Log log;
  auto owned = std::make_shared<CancelRegistration>();
  CancelRegistration& registration = *owned;
  const auto a = source.token().OnCancel(Write(log, 'a'));
  registration = source.token().OnCancel([owned] { ADD_FAILURE(); });
  const auto b = source.token().OnCancel(Write(log, 'b'));
  const auto c = source.token().OnCancel(Write(log, 'c'));
  owned.reset();

  registration.Forget();
  source.Cancel();
  EXPECT_EQ(log, "abc");
}

TEST(CancelSource, DeathMayDestroyRegistrations) {
  auto source = std::make_unique<CancelSource>();
  auto owned = std::make_shared<std::array<CancelRegistration, 2>>();
  const CancelToken token = source->token();
  (*owned)[0] = token.OnCancel([] { ADD_FAILURE(); });
  const auto owner = token.OnCancel([owned] { ADD_FAILURE(); });
  (*owned)[1] = token.OnCancel([] { ADD_FAILURE(); });
  const std::weak_ptr<std::array<CancelRegistration, 2>> watch = owned;
  owned.reset();
  source.reset();
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace denselet
