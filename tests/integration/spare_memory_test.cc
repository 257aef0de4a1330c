#include "reactor/spare_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace denselet::reactor {
namespace {

TEST(SpareMemory, GivingBackLeavesWhatIsUsedAlone) {
  const std::string kept(100'000, 'x');
  { const std::string dropped(1'000'000, 'y'); }
  EmptyThreadCache();
  ReturnFreePages();
  EXPECT_EQ(kept, std::string(100'000, 'x'));
}

TEST(SpareMemory, CpuTimeGrowsWithWork) {
  const Duration before = CpuTimeUsed();
  volatile uint64_t number = 1;
  while (CpuTimeUsed() == before) {
    for (int i = 0; i < 100'000; ++i) number = number * 3 + 1;
  }
  EXPECT_GT(CpuTimeUsed(), before);
}

}  // namespace
}  // namespace denselet::reactor
