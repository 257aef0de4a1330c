#include "base/base64.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/golden.h"

namespace denselet {
namespace {

TEST(Base64, ReadsAndWritesAsGoDoes) {
  for (const auto& row : tests::ReadGolden("tests/base/golden/base64.txt")) {
    SCOPED_TRACE(row.at(0));
    const auto bytes = Base64Decode(row.at(0));
    if (row.at(1) == "error") {
      ASSERT_FALSE(bytes);
      EXPECT_EQ(bytes.error(), Error(ErrorCode::kInvalid, row.at(2)));
      continue;
    }
    ASSERT_TRUE(bytes) << bytes.error().message();
    EXPECT_EQ(*bytes, row.at(2));
    EXPECT_EQ(Base64Encode(*bytes), row.at(3));
  }
}

TEST(Base64, EveryByteAtEveryPlaceComesBack) {
  for (size_t size = 1; size <= 7; ++size) {
    for (int byte = 0; byte < 256; ++byte) {
      const std::string bytes(size, static_cast<char>(byte));
      const auto again = Base64Decode(Base64Encode(bytes));
      ASSERT_TRUE(again);
      EXPECT_EQ(*again, bytes);
    }
  }
}

}  // namespace
}  // namespace denselet
