// The file source on real loops, with inotify and a real folder.
#include "managers/source/file_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include "base/random.h"
#include "reactor/inotify_watcher.h"
#include "reactor/pool_file_system.h"
#include "tests/integration/loop_fixture.h"
#include "tests/managers/source/manifests.h"

namespace denselet::managers {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FileSourceTest : public reactor::ShardTest {
 protected:
  FileSourceTest() {
    std::string name = testing::TempDir() + "file_source.XXXXXX";
    root_ = ::mkdtemp(name.data());
    folder_ = root_ / "manifests";
    pool_ = std::make_unique<reactor::BlockingPool>(clock_);
    files_ = std::make_unique<reactor::PoolFileSystem>(shard_, *pool_);
    watcher_ = *reactor::InotifyWatcher::Make(loop(), {});
  }
  ~FileSourceTest() override {
    source_.reset();
    watcher_.reset();
    bool stopped = false;
    files_->Stop([&] { stopped = true; });
    EXPECT_TRUE(RunUntil([&] { return stopped; }));
    files_.reset();
    pool_.reset();
    fs::remove_all(root_);
  }

  void Start() {
    FileSourceOptions options;
    options.path = folder_;
    options.node_name = "n";
    // What is heard is heard by inotify: the slow look comes too late for any test.
    options.check_period = Hours(1);
    source_ = std::make_unique<FileSource>(loop(), *files_, *watcher_, options, keeper_);
  }
  void Await(const std::vector<std::string>& names) {
    ASSERT_TRUE(RunUntil([&] { return keeper_.sets > 0 && keeper_.Names() == names; }))
        << testing::PrintToString(keeper_.Names());
  }
  static void Write(const fs::path& path, std::string_view content) {
    std::ofstream(path) << content;
  }

  fs::path root_, folder_;
  PodKeeper keeper_;
  std::unique_ptr<reactor::BlockingPool> pool_;
  std::unique_ptr<reactor::PoolFileSystem> files_;
  std::unique_ptr<reactor::InotifyWatcher> watcher_;
  std::unique_ptr<FileSource> source_;
};
INSTANTIATE_LOOP_TEST(FileSourceTest);

TEST_P(FileSourceTest, FilesComeChangeAndGo) {
  Start();
  Await({});
  fs::create_directory(folder_);
  Write(folder_ / "a.yaml", PodYaml("a", "app:1"));
  Await({"a-n"});
  Write(folder_ / ".hidden", PodYaml("hidden", "app:1"));
  Write(folder_ / "fresh.tmp", PodJson("b", "app:1"));
  Await({"a-n", "b-n"});
  fs::rename(folder_ / "fresh.tmp", folder_ / "b.json");
  const std::string uid = keeper_.pods.begin()->first;
  Write(folder_ / "a.yaml", PodYaml("c", "app:1"));
  Await({"b-n", "c-n"});
  fs::remove(folder_ / "b.json");
  Await({"c-n"});
  fs::remove_all(folder_);
  Await({});
  EXPECT_EQ(keeper_.troubles.count(folder_), 1u);
}

TEST_P(FileSourceTest, HalfAManifestIsNoPodWhileItIsOpen) {
  fs::create_directory(folder_);
  Start();
  Await({});
  std::ofstream file(folder_ / "a.yaml");
  file << PodYaml("a", "app:1") << std::flush;
  ASSERT_TRUE(RunUntil([&] { return !keeper_.troubles.empty(); }));
  EXPECT_THAT(keeper_.troubles.at(folder_ / "a.yaml"), HasSubstr("open for writing"));
  EXPECT_THAT(keeper_.Names(), IsEmpty());
  file.close();
  Await({"a-n"});
  EXPECT_THAT(keeper_.troubles, IsEmpty());
}

TEST_P(FileSourceTest, ABadFileIsReportedWithItsLine) {
  fs::create_directory(folder_);
  Write(folder_ / "a.yaml", PodYaml("a", "app:1"));
  Write(folder_ / "bad.yaml", "apiVersion: v1\nkind: Pod\nspec:\n  hostNetwork: maybe\n");
  fs::create_directory(folder_ / "folder");
  Start();
  Await({"a-n"});
  ASSERT_TRUE(RunUntil([&] { return keeper_.troubles.size() == 2; }));
  EXPECT_THAT(keeper_.troubles.at(folder_ / "bad.yaml"), HasSubstr("line 4"));
  Write(folder_ / "bad.yaml", PodYaml("b", "app:1"));
  Await({"a-n", "b-n"});
  EXPECT_EQ(keeper_.troubles.size(), 1u);
}

TEST_P(FileSourceTest, LinksAreFollowedAlsoWhenTheyAreSwapped) {
  // As a volume of a ConfigMap looks.
  fs::create_directory(folder_);
  fs::create_directory(folder_ / "..one");
  fs::create_directory(folder_ / "..two");
  Write(folder_ / "..one" / "a.yaml", PodYaml("a", "app:1"));
  Write(folder_ / "..two" / "a.yaml", PodYaml("b", "app:1"));
  fs::create_symlink("..one", folder_ / "..data");
  fs::create_symlink("..data/a.yaml", folder_ / "a.yaml");
  fs::create_symlink("nowhere", folder_ / "dangling.yaml");
  Start();
  Await({"a-n"});
  fs::create_symlink("..two", folder_ / "..fresh");
  fs::rename(folder_ / "..fresh", folder_ / "..data");
  Await({"b-n"});
  const std::string dangling = folder_ / "dangling.yaml";
  ASSERT_TRUE(RunUntil([&] { return keeper_.troubles.contains(dangling); }));
  EXPECT_EQ(keeper_.troubles.size(), 1u);
  fs::remove(dangling);
  ASSERT_TRUE(RunUntil([&] { return keeper_.troubles.empty(); }));
}

TEST_P(FileSourceTest, AFolderBehindALinkIsAFolder) {
  fs::create_directory(root_ / "real");
  Write(root_ / "real" / "a.yaml", PodYaml("a", "app:1"));
  fs::create_symlink("real", folder_);
  Start();
  Await({"a-n"});
  Write(root_ / "real" / "b.yaml", PodYaml("b", "app:1"));
  Await({"a-n", "b-n"});
}

TEST_P(FileSourceTest, ASingleFileIsASourceToo) {
  Write(folder_, PodYaml("a", "app:1"));
  Start();
  Await({"a-n"});
  Write(folder_, PodYaml("b", "app:1"));
  Await({"b-n"});
  fs::remove(folder_);
  Await({});
}

TEST_P(FileSourceTest, AThousandManifestsAppearAtOnce) {
  fs::create_directory(root_ / "staged");
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "p" + std::to_string(i);
    Write(root_ / "staged" / (name + ".yaml"), PodYaml(name, "app:1"));
  }
  Start();
  Await({});
  fs::rename(root_ / "staged", folder_);
  ASSERT_TRUE(RunUntil([&] { return keeper_.pods.size() == 1000; })) << keeper_.pods.size();
  EXPECT_EQ(source_->stats().decodes, 1000u);
}

TEST_P(FileSourceTest, WhateverHappensTheLastContentCounts) {
  fs::create_directory(folder_);
  Start();
  Await({});
  SeededRandom random(7);
  std::map<std::string, std::string> content;  // name of the pod by file
  for (int i = 0; i < 300; ++i) {
    const std::string file = "f" + std::to_string(random.Below(10));
    const std::string pod = "p" + std::to_string(random.Below(1000));
    switch (random.Below(4)) {
      case 0:
        Write(folder_ / file, PodYaml(pod, "app:1"));
        content[file] = pod;
        break;
      case 1:
        Write(folder_ / ".fresh", PodYaml(pod, "app:1"));
        fs::rename(folder_ / ".fresh", folder_ / file);
        content[file] = pod;
        break;
      case 2:
        fs::remove(folder_ / file);
        content.erase(file);
        break;
      default:
        loop_->RunTurn(After(clock_.Now(), Milliseconds(1)));
        break;
    }
  }
  std::set<std::string> names;
  for (const auto& [file, pod] : content) names.insert(pod + "-n");
  Await({names.begin(), names.end()});
}

}  // namespace
}  // namespace denselet::managers
