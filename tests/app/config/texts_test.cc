// The small things: paths, lists of CPUs, names of images, merge patches, origins.
#include <gtest/gtest.h>

#include <array>

#include "app/config/cpu_list.h"
#include "app/config/document.h"
#include "app/config/image_pattern.h"
#include "app/config/origins.h"
#include "app/config/path_text.h"

namespace denselet::app {
namespace {

TEST(PathText, IsCleanedAsGoDoes) {
  const std::pair<const char*, const char*> rows[] = {
      {"", "."},
      {"/", "/"},
      {"a//b", "a/b"},
      {"a/./b/", "a/b"},
      {"a/../b", "b"},
      {"../a", "../a"},
      {"/../a", "/a"},
      {"a/b/../..", "."},
      {"../../a", "../../a"},
      {"/a/b/../../..", "/"},
      {"./a", "a"},
  };
  for (const auto& [path, cleaned] : rows) EXPECT_EQ(CleanPath(path), cleaned) << path;
  EXPECT_EQ(JoinPath("/a/b", "../c"), "/a/c");
  EXPECT_EQ(FolderOf("/a/b/c.yaml"), "/a/b");
  EXPECT_EQ(FolderOf("c.yaml"), ".");
  EXPECT_EQ(FolderOf("/c.yaml"), "/");
}

TEST(CpuList, CountsEachCpuOnce) {
  EXPECT_EQ(*CountCpus("0-3,8"), 5u);
  EXPECT_EQ(*CountCpus("0-3,2-5,1"), 6u);
  EXPECT_EQ(*CountCpus(""), 0u);
  EXPECT_EQ(*CpusBelow(1024, "8,0-3,2-4"), (std::vector<int>{0, 1, 2, 3, 4, 8}));
  EXPECT_EQ(*CpusBelow(3, "0-9000000000"), (std::vector<int>{0, 1, 2}));
  EXPECT_FALSE(CpusBelow(3, "3-1"));
  for (const char* bad : {"a", "1-", "3-1", "0,,1", ","}) EXPECT_FALSE(CountCpus(bad)) << bad;
}

TEST(Origins, AreInheritedAndForgotten) {
  Origins origins;
  const auto at = [](uint32_t line) {
    return Origin{.kind = Origin::Kind::kFile, .name = "f", .line = line};
  };
  origins.Set("a", at(1));
  origins.Set("a[k.x]", at(2));
  origins.Set("ab", at(3));
  origins.Set("c[0].key", at(4));
  origins.Mention("m", at(5));
  EXPECT_EQ(origins.Of("a[other.y]").line, 1u);
  EXPECT_EQ(origins.Of("a[k.x]").line, 2u);
  EXPECT_EQ(origins.Of("c[0].key").line, 4u);
  EXPECT_EQ(ToString(origins.Of("m.n")), "default");
  EXPECT_EQ(ToString(origins.Nearest("m")), "f:5");
  EXPECT_EQ(ToString(origins.Nearest("m[n]")), "f:5");
  EXPECT_EQ(ToString(origins.Nearest("m.n")), "default") << "somebody wrote something beside it";
  EXPECT_TRUE(origins.Touched("c"));
  EXPECT_FALSE(origins.Touched("m"));
  origins.Forget("a");
  EXPECT_EQ(ToString(origins.Of("a[k.x]")), "default");
  EXPECT_EQ(origins.Of("ab").line, 3u);
}

TEST(Document, KnowsLinesOfYamlAndJson) {
  const Document yaml = ReadDocument("a: 1\nb:\n- x\n- {c: true}\nd: {}\n", nullptr);
  ASSERT_TRUE(yaml.faults.empty());
  EXPECT_EQ(yaml.Find("b[0]")->line, 3u);
  EXPECT_EQ(yaml.Find("b[1].c")->line, 4u);
  EXPECT_EQ(yaml.Find("b[1].c")->json, "true");
  EXPECT_TRUE(yaml.Find("d")->empty);
  EXPECT_EQ(yaml.Find("e"), nullptr);
  const Document json = ReadDocument("{\n\t\"a\": 1,\n\t\"a\": \"x\"\n}", nullptr);
  ASSERT_TRUE(json.faults.empty());
  EXPECT_EQ(json.Find("a")->json, "\"x\"");
  ASSERT_EQ(json.twice.size(), 1u);
  EXPECT_EQ(json.twice[0].line, 3u);
}

}  // namespace
}  // namespace denselet::app
