#include "bench/cri_sim/log_writer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace denselet::cri_sim {
namespace {

constexpr WallTime kNow = WallTime(Hours(490'000));

class LogWriterTest : public testing::Test {
 protected:
  LogWriterTest() {
    std::string pattern = testing::TempDir() + "/logs.XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~LogWriterTest() override { std::filesystem::remove_all(folder_); }
  static std::string Read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::string folder_;
  LogWriter writer_;
};

TEST_F(LogWriterTest, LinesAreInTheFormatOfCri) {
  const std::string path = folder_ + "/main/0.log";
  ASSERT_TRUE(writer_.Write(path, kNow, "stdout", "hello"));
  EXPECT_EQ(Read(path), FormatRfc3339(kNow, 9) + " stdout F hello\n");
}

TEST_F(LogWriterTest, ARotatedFileIsWrittenOnUntilReopened) {
  const std::string path = folder_ + "/0.log", rotated = folder_ + "/0.log.old";
  ASSERT_TRUE(writer_.Write(path, kNow, "stdout", "one"));
  std::filesystem::rename(path, rotated);
  ASSERT_TRUE(writer_.Write(path, kNow, "stdout", "two"));
  EXPECT_FALSE(std::filesystem::exists(path));
  ASSERT_TRUE(writer_.Reopen(path));
  EXPECT_TRUE(std::filesystem::exists(path));
  ASSERT_TRUE(writer_.Write(path, kNow, "stdout", "three"));
  EXPECT_EQ(Read(rotated).find("three"), std::string::npos);
  EXPECT_NE(Read(rotated).find("two"), std::string::npos);
  EXPECT_NE(Read(path).find("three"), std::string::npos);
}

TEST_F(LogWriterTest, KeepsABoundedNumberOfFilesOpen) {
  for (size_t i = 0; i < LogWriter::kOpenMax + 10; ++i) {
    ASSERT_TRUE(writer_.Write(folder_ + "/" + std::to_string(i), kNow, "stdout", "x"));
  }
  EXPECT_EQ(writer_.open(), LogWriter::kOpenMax);
  ASSERT_TRUE(writer_.Write(folder_ + "/0", kNow, "stdout", "y"));
  EXPECT_NE(Read(folder_ + "/0").find("F y"), std::string::npos);
}

}  // namespace
}  // namespace denselet::cri_sim
