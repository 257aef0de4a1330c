#include "tests/tidy/source_tree.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace denselet::tidy {
namespace {

using Strings = std::vector<std::string>;

// A folder of this test's own, gone when it ends.
class SourceTree : public testing::Test {
 protected:
  SourceTree() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    root_ = testing::TempDir() + "denselet_tidy_" + test->name();
    std::filesystem::remove_all(root_);
  }
  ~SourceTree() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path) {
    const std::filesystem::path file = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << "text of " << path;
  }

  std::string root_;
};

Strings Paths(const std::vector<SourceFile>& files) {
  Strings paths;
  for (const SourceFile& file : files) paths.push_back(file.path);
  return paths;
}

TEST_F(SourceTree, ListsCppFilesSortedByPath) {
  for (const char* path : {"src/b.h", "src/a/z.cc", "src/a.txt", "src/build/x.cc", "tests/t.cc"}) {
    Write(path);
  }
  const std::vector<SourceFile> files = ReadCppFiles(root_, "src");
  EXPECT_EQ(Paths(files), (Strings{"src/a/z.cc", "src/b.h", "src/build/x.cc"}));
  EXPECT_EQ(files.at(0).text, "text of src/a/z.cc");
}

TEST_F(SourceTree, MissingFolderHasNoFiles) {
  EXPECT_TRUE(ReadCppFiles(root_, "bench").empty());
  EXPECT_FALSE(ReadFile(root_, "bench/a.cc"));
}

TEST_F(SourceTree, WithoutGitEveryFileOutsideTheBuildIsTracked) {
  for (const char* path : {"build/x.o", "src/build/x.cc", "README.md", ".ci/run"}) Write(path);
  EXPECT_EQ(Paths(ReadTrackedFiles(root_)), (Strings{".ci/run", "README.md", "src/build/x.cc"}));
}

}  // namespace
}  // namespace denselet::tidy
