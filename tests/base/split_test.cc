#include "base/split.h"

#include <gtest/gtest.h>

namespace denselet {
namespace {

TEST(TakeUntil, GivesTheParts) {
  std::string_view text = "a b,,c";
  EXPECT_EQ(TakeUntil(text, ' '), "a");
  EXPECT_EQ(TakeUntil(text, ','), "b");
  EXPECT_EQ(TakeUntil(text, ','), "");
  EXPECT_EQ(TakeUntil(text, ','), "c");
  EXPECT_EQ(text, "");
  EXPECT_EQ(TakeUntil(text, ','), "");
}

}  // namespace
}  // namespace denselet
