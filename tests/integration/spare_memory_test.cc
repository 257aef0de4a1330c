#include "reactor/spare_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>

namespace denselet::reactor {
namespace {

// Kilobytes of files in our page table.
int64_t MappedOfFiles() {
  std::ifstream status("/proc/self/status");
  int64_t kilobytes = -1;
  for (std::string word; status >> word;) {
    if (word == "RssFile:") status >> kilobytes;
  }
  return kilobytes;
}

// Written by the loader: an address, in a part that is read-only since.
const char* const kText = "still here";
const char* const* volatile text = &kText;

TEST(SpareMemory, TheProgramGoesOnWithoutItsPagesAndFetchesWhatItUses) {
  const int64_t before = MappedOfFiles();
  ASSERT_GT(before, 0);
  UnmapProgram();
  const int64_t after = MappedOfFiles();
  EXPECT_GT(after, 0);
  EXPECT_LT(after, before);
  EXPECT_STREQ(*text, "still here");
  UnmapProgram();
  EXPECT_THROW(static_cast<void>(std::string().at(1)), std::out_of_range);
}

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
