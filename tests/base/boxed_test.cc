#include "base/boxed.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace denselet {
namespace {

TEST(Boxed, IsEmptyUntilSomethingIsPutIn) {
  Boxed<std::string> text;
  EXPECT_FALSE(text.has_value());
  text = std::string("here");
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "here");
  EXPECT_EQ(text->size(), 4u);
  text.reset();
  EXPECT_FALSE(text);
}

TEST(Boxed, ACopyIsAValueOfItsOwn) {
  Boxed<std::string> one = std::string("one");
  Boxed<std::string> other = one;
  *other = "other";
  EXPECT_EQ(*one, "one");
  one = other;
  other.reset();
  EXPECT_EQ(*one, "other");
  const Boxed<std::string> moved = std::move(one);
  EXPECT_EQ(*moved, "other");
  EXPECT_FALSE(Boxed<std::string>(other));
}

TEST(Boxed, IsComparedByWhatIsInIt) {
  const Boxed<std::string> none, a = std::string("a"), a_again = std::string("a"),
                                 b = std::string("b");
  EXPECT_EQ(none, Boxed<std::string>());
  EXPECT_EQ(a, a_again);
  EXPECT_NE(a, b);
  EXPECT_NE(a, none);
  EXPECT_NE(none, a);
}

}  // namespace
}  // namespace denselet
