#include "base/bytes.h"

#include <gtest/gtest.h>

namespace denselet {
namespace {

TEST(ByteSize, UnitsAreBinary) {
  EXPECT_EQ(KiB(1), Bytes(1024));
  EXPECT_EQ(MiB(3), KiB(3072));
  EXPECT_EQ(GiB(1), MiB(1024));
}

TEST(ByteSize, ComparesAndAdds) {
  EXPECT_LT(KiB(1), MiB(1));
  EXPECT_EQ(KiB(1) + Bytes(1), Bytes(1025));
  EXPECT_EQ(KiB(2) * 3, KiB(6));
}

TEST(ByteSize, WhatDoesNotFitIsTheLargest) {
  EXPECT_EQ(Bytes(UINT64_MAX) + Bytes(1), Bytes(UINT64_MAX));
  EXPECT_EQ(GiB(UINT64_MAX), Bytes(UINT64_MAX));
  EXPECT_EQ(MiB(1) * UINT64_MAX, Bytes(UINT64_MAX));
}

}  // namespace
}  // namespace denselet
