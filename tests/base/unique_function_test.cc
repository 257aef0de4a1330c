#include "base/unique_function.h"

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace denselet {
namespace {

using ::testing::HasSubstr;

struct Counts {
  int alive = 0;      // objects, moved-from ones too
  int destroyed = 0;  // objects that still held their value
};

// Counts itself. kBytes decides where a UniqueFunction keeps a callable that holds one.
template <size_t kBytes>
class Tracked {
 public:
  explicit Tracked(Counts& counts) : counts_(&counts) { ++counts_->alive; }
  Tracked(Tracked&& other) noexcept
      : counts_(other.counts_), has_value_(std::exchange(other.has_value_, false)) {
    ++counts_->alive;
  }
  Tracked& operator=(Tracked&&) = delete;
  ~Tracked() {
    --counts_->alive;
    if (has_value_) ++counts_->destroyed;
  }

  bool operator()() const { return has_value_; }

 private:
  Counts* counts_;
  bool has_value_ = true;
  std::array<std::byte, kBytes> padding_{};
};

using Small = Tracked<1>;
using Large = Tracked<200>;

// Says whether it was made by `new`: its own operator new hides the global one, which placement
// does not use.
template <size_t kBytes>
struct Sized {
  static inline int allocated = 0;
  static inline int freed = 0;
  static void* operator new(size_t bytes) {
    ++allocated;
    return ::operator new(bytes);
  }
  static void operator delete(void* p) {
    ++freed;
    ::operator delete(p);
  }

  size_t operator()() const { return padding.size(); }

  std::array<std::byte, kBytes> padding{};
};

template <class Callable>
class UniqueFunctionOwnership : public ::testing::Test {};
using Ownerships = ::testing::Types<Small, Large>;

class OwnershipNames {
 public:
  template <class T>
  static std::string GetName(int) {
    return std::is_same_v<T, Small> ? "Inline" : "Heap";
  }
};
TYPED_TEST_SUITE(UniqueFunctionOwnership, Ownerships, OwnershipNames);

TYPED_TEST(UniqueFunctionOwnership, DestroysItsCallableOnce) {
  Counts counts;
  {
    UniqueFunction<bool()> f = TypeParam(counts);
    EXPECT_EQ(counts.alive, 1);
    EXPECT_EQ(counts.destroyed, 0);
    EXPECT_TRUE(f());
  }
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(counts.destroyed, 1);
}

TYPED_TEST(UniqueFunctionOwnership, MoveConstructionLeavesTheSourceEmpty) {
  Counts counts;
  {
    UniqueFunction<bool()> from = TypeParam(counts);
    UniqueFunction<bool()> to = std::move(from);
    // NOLINTNEXTLINE(bugprone-use-after-move): moved-from is empty
    EXPECT_FALSE(from);
    ASSERT_TRUE(to);
    EXPECT_TRUE(to());
    EXPECT_EQ(counts.alive, 1);
    EXPECT_EQ(counts.destroyed, 0);
  }
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(counts.destroyed, 1);
}

TYPED_TEST(UniqueFunctionOwnership, MoveAssignmentDestroysTheOldCallable) {
  Counts old_counts, new_counts;
  UniqueFunction<bool()> f = TypeParam(old_counts);
  UniqueFunction<bool()> from = TypeParam(new_counts);
  f = std::move(from);
  EXPECT_EQ(old_counts.alive, 0);
  EXPECT_EQ(old_counts.destroyed, 1);
  EXPECT_EQ(new_counts.alive, 1);
  EXPECT_EQ(new_counts.destroyed, 0);
  // NOLINTNEXTLINE(bugprone-use-after-move): moved-from is empty
  EXPECT_FALSE(from);
  EXPECT_TRUE(f());
}

TYPED_TEST(UniqueFunctionOwnership, AssignmentReplacesTheOtherKind) {
  using Other = std::conditional_t<std::is_same_v<TypeParam, Small>, Large, Small>;
  Counts old_counts, new_counts;
  UniqueFunction<bool()> f = TypeParam(old_counts);
  f = Other(new_counts);
  EXPECT_EQ(old_counts.destroyed, 1);
  EXPECT_EQ(new_counts.alive, 1);
  EXPECT_TRUE(f());
}

TYPED_TEST(UniqueFunctionOwnership, AssigningNothingDestroysTheCallable) {
  Counts counts;
  UniqueFunction<bool()> f = TypeParam(counts);
  f = nullptr;
  EXPECT_FALSE(f);
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(counts.destroyed, 1);
}

TYPED_TEST(UniqueFunctionOwnership, SelfMoveKeepsTheCallable) {
  Counts counts;
  {
    UniqueFunction<bool()> f = TypeParam(counts);
    UniqueFunction<bool()>& alias = f;  // compilers warn when they see it
    f = std::move(alias);
    ASSERT_TRUE(f);
    EXPECT_TRUE(f());
    EXPECT_EQ(counts.alive, 1);
    EXPECT_EQ(counts.destroyed, 0);
  }
  EXPECT_EQ(counts.alive, 0);
  EXPECT_EQ(counts.destroyed, 1);
}

TYPED_TEST(UniqueFunctionOwnership, SwapExchangesTheCallables) {
  Counts first_counts, second_counts;
  UniqueFunction<bool()> first = TypeParam(first_counts);
  UniqueFunction<bool()> second = TypeParam(second_counts);
  std::swap(first, second);
  first = nullptr;
  EXPECT_EQ(first_counts.destroyed, 0);
  EXPECT_EQ(second_counts.destroyed, 1);
  EXPECT_TRUE(second());
}

// A chain of continuations: the first owns the second, and is replaced by it.
TYPED_TEST(UniqueFunctionOwnership, CanBeReplacedByAFunctionThatTheOldCallableOwns) {
  Counts counts;
  auto owned = std::make_unique<UniqueFunction<bool()>>(TypeParam(counts));
  UniqueFunction<bool()>& next = *owned;
  UniqueFunction<bool()> f = [owned = std::move(owned)] { return false; };
  f = std::move(next);
  ASSERT_TRUE(f);
  EXPECT_TRUE(f());
  EXPECT_EQ(counts.alive, 1);
  EXPECT_EQ(counts.destroyed, 0);
}

TEST(UniqueFunction, DefaultAndNullAreEmpty) {
  const UniqueFunction<void()> by_default{};
  const UniqueFunction<void()> by_null = nullptr;
  EXPECT_FALSE(by_default);
  EXPECT_FALSE(by_null);
}

TEST(UniqueFunction, MovingAnEmptyOneGivesAnEmptyOne) {
  UniqueFunction<void()> empty;
  UniqueFunction<void()> constructed = std::move(empty);
  EXPECT_FALSE(constructed);

  int calls = 0;
  UniqueFunction<void()> assigned = [&calls] { ++calls; };
  assigned = std::move(constructed);
  EXPECT_FALSE(assigned);
  EXPECT_EQ(calls, 0);
}

TEST(UniqueFunction, MovesAndDoesNotCopy) {
  using Function = UniqueFunction<int(int)>;
  static_assert(!std::is_copy_constructible_v<Function>);
  static_assert(!std::is_copy_assignable_v<Function>);
  static_assert(std::is_nothrow_move_constructible_v<Function>);
  static_assert(std::is_nothrow_move_assignable_v<Function>);
}

TEST(UniqueFunction, TakesOnlyWhatItCanCall) {
  struct Pod {
    int Restarts() const { return 0; }
  };
  static_assert(std::is_constructible_v<UniqueFunction<long()>, int (*)()>);
  static_assert(!std::is_constructible_v<UniqueFunction<void()>, void (*)(int)>);
  static_assert(!std::is_constructible_v<UniqueFunction<int()>, std::string (*)()>);
  static_assert(!std::is_constructible_v<UniqueFunction<int(Pod&)>, int (Pod::*)() const>);
  static_assert(!std::is_constructible_v<UniqueFunction<void()>, int>);
}

// A result that nobody reads may be an error that nobody handles.
TEST(UniqueFunction, DoesNotDropAResult) {
  static_assert(!std::is_constructible_v<UniqueFunction<void()>, int (*)()>);
  static_assert(std::is_constructible_v<UniqueFunction<void()>, void (*)()>);
}

TEST(UniqueFunction, CapturesMayBeMoveOnly) {
  UniqueFunction<int()> f = [value = std::make_unique<int>(7)] { return *value; };
  UniqueFunction<int()> moved = std::move(f);
  EXPECT_EQ(moved(), 7);
}

TEST(UniqueFunction, CallableKeepsItsStateBetweenCallsAndMoves) {
  UniqueFunction<int()> f = [n = 0]() mutable { return ++n; };
  EXPECT_EQ(f(), 1);
  EXPECT_EQ(f(), 2);
  UniqueFunction<int()> moved = std::move(f);
  EXPECT_EQ(moved(), 3);
}

TEST(UniqueFunction, CopiesACallableThatStaysWithTheCaller) {
  const auto next = [n = 0]() mutable { return ++n; };
  UniqueFunction<int()> first = next;
  UniqueFunction<int()> second = next;
  EXPECT_EQ(first(), 1);
  EXPECT_EQ(first(), 2);
  EXPECT_EQ(second(), 1);
}

int Twice(int n) { return 2 * n; }

TEST(UniqueFunction, CallsPlainFunctions) {
  UniqueFunction<int(int)> by_name = Twice;
  UniqueFunction<int(int)> by_address = &Twice;
  EXPECT_EQ(by_name(4), 8);
  EXPECT_EQ(by_address(5), 10);
}

TEST(UniqueFunction, ArgumentsArriveAsTheSignatureSays) {
  UniqueFunction<int(std::unique_ptr<int>)> by_value = [](std::unique_ptr<int> p) { return *p; };
  EXPECT_EQ(by_value(std::make_unique<int>(7)), 7);

  std::string text = "a";
  UniqueFunction<void(std::string&)> by_reference = [](std::string& s) { s += "b"; };
  by_reference(text);
  EXPECT_EQ(text, "ab");

  UniqueFunction<std::string(std::string &&)> by_rvalue = [](std::string&& s) {
    return std::move(s);
  };
  EXPECT_EQ(by_rvalue(std::move(text)), "ab");
}

TEST(UniqueFunction, ResultMayBeAReferenceOrMoveOnly) {
  int n = 1;
  UniqueFunction<int&()> reference = [&n]() -> int& { return n; };
  reference() = 5;
  EXPECT_EQ(n, 5);

  UniqueFunction<std::unique_ptr<int>()> owner = [] { return std::make_unique<int>(7); };
  EXPECT_EQ(*owner(), 7);
}

TEST(UniqueFunction, CallableUpToTheInlineSizeIsNotAllocated) {
  using Callable = Sized<UniqueFunction<size_t()>::kInlineBytes>;
  Callable::allocated = Callable::freed = 0;
  UniqueFunction<size_t()> f = Callable();
  UniqueFunction<size_t()> moved = std::move(f);
  EXPECT_EQ(moved(), 48u);
  moved = nullptr;
  EXPECT_EQ(Callable::allocated, 0);
  EXPECT_EQ(Callable::freed, 0);
}

TEST(UniqueFunction, LargerCallableIsAllocatedOnceAndNotAgainWhenMoved) {
  using Callable = Sized<UniqueFunction<size_t()>::kInlineBytes + 1>;
  Callable::allocated = Callable::freed = 0;
  UniqueFunction<size_t()> f = Callable();
  EXPECT_EQ(Callable::allocated, 1);
  UniqueFunction<size_t()> moved = std::move(f);
  EXPECT_EQ(moved(), 49u);
  EXPECT_EQ(Callable::allocated, 1);
  EXPECT_EQ(Callable::freed, 0);
  moved = nullptr;
  EXPECT_EQ(Callable::freed, 1);
}

// A move that may throw would have to happen inside the noexcept move of the function.
TEST(UniqueFunction, CallableWhoseMoveMayThrowIsAllocated) {
  struct Callable : Sized<1> {
    Callable() = default;
    Callable(Callable&&) noexcept(false) {}
  };
  const int allocated_before = Callable::allocated;
  UniqueFunction<size_t()> f = Callable();
  EXPECT_EQ(Callable::allocated, allocated_before + 1);
  EXPECT_EQ(f(), 1u);
}

TEST(UniqueFunction, OverAlignedCallableStaysAligned) {
  struct alignas(64) Callable {
    bool operator()() const { return reinterpret_cast<uintptr_t>(this) % 64 == 0; }
  };
  static_assert(sizeof(Callable) > UniqueFunction<bool()>::kInlineBytes);
  struct alignas(32) SmallCallable {
    bool operator()() const { return reinterpret_cast<uintptr_t>(this) % 32 == 0; }
  };
  static_assert(sizeof(SmallCallable) <= UniqueFunction<bool()>::kInlineBytes);

  UniqueFunction<bool()> f = Callable();
  UniqueFunction<bool()> moved = std::move(f);
  EXPECT_TRUE(moved());

  // Several, as one could lie well by chance.
  std::array<UniqueFunction<bool()>, 4> small;
  for (auto& function : small) function = SmallCallable();
  for (auto& function : small) EXPECT_TRUE(function());
}

TEST(UniqueFunction, InlineCallableWithTheLargestUsualAlignmentStaysAligned) {
  struct alignas(std::max_align_t) Callable {
    bool operator()() const {
      return reinterpret_cast<uintptr_t>(this) % alignof(std::max_align_t) == 0;
    }
  };
  std::array<UniqueFunction<bool()>, 4> functions;
  for (auto& function : functions) function = Callable();
  for (auto& function : functions) EXPECT_TRUE(function());
}

TEST(UniqueFunction, IsEmptyWhileItsCallableIsDestroyed) {
  struct Probe {
    Probe(UniqueFunction<void()>* f, bool* was_empty) : function(f), empty(was_empty) {}
    Probe(Probe&& other) noexcept
        : function(std::exchange(other.function, nullptr)), empty(other.empty) {}
    ~Probe() {
      if (function != nullptr) *empty = !*function;
    }
    void operator()() const {}

    UniqueFunction<void()>* function;
    bool* empty;
  };
  bool was_empty = false;
  UniqueFunction<void()> f;
  f = Probe(&f, &was_empty);
  f = nullptr;
  EXPECT_TRUE(was_empty);
}

TEST(UniqueFunctionDeathTest, CallingAnEmptyOneFailsACheck) {
  UniqueFunction<void()> empty;
  EXPECT_DEATH(empty(), HasSubstr("CHECK failed at unique_function.h"));
  UniqueFunction<int()> moved_from = [] { return 1; };
  const UniqueFunction<int()> holder = std::move(moved_from);
  // NOLINTNEXTLINE(bugprone-use-after-move): moved-from is empty
  EXPECT_DEATH(moved_from(), HasSubstr("CHECK failed at unique_function.h"));
}

}  // namespace
}  // namespace denselet
