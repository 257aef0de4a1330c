#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace denselet {
namespace {

// The examples of RFC 3720, B.4, and the usual check value.
TEST(Crc32c, HasThePublishedValues) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  std::string rising;
  for (char c = 0; c < 32; ++c) rising += c;
  EXPECT_EQ(Crc32c(rising), 0x46dd794eu);
}

TEST(Crc32c, OfPartsIsThatOfTheWhole) {
  std::string data;
  for (int i = 0; i < 100; ++i) data += static_cast<char>(i * 37);
  const std::string_view all = data;
  for (size_t cut = 0; cut <= all.size(); ++cut) {
    EXPECT_EQ(Crc32c(all.substr(cut), Crc32c(all.substr(0, cut))), Crc32c(all)) << cut;
  }
}

}  // namespace
}  // namespace denselet
