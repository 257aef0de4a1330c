// Random changes to a tree of files, directories and links, compared with what the watches heard.
#include "tests/integration/path_watcher_fixture.h"

namespace denselet::reactor {
namespace {

// What a reader of a path sees, as far as its watch is to tell: the content of a file; of a
// directory its entries, links among them not followed.
std::string View(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return "file " + Read(path);
  if (!fs::is_directory(path, error)) return "nothing";
  std::map<std::string, std::string> entries;
  for (fs::directory_iterator i(path, error), end; !error && i != end; i.increment(error)) {
    const fs::path entry = i->path();
    const fs::file_type type = fs::symlink_status(entry, error).type();
    std::string& view = entries[entry.filename()] = std::to_string(static_cast<int>(type));
    if (type == fs::file_type::regular) view += Read(entry);
    if (type == fs::file_type::symlink) view += fs::read_symlink(entry, error).string();
  }
  std::string view = "directory";
  for (const auto& [name, content] : entries) view += " " + name + "=" + content;
  return view;
}

// Random operations in a small tree, so that they meet.
class Mischief {
 public:
  Mischief(const fs::path& root, uint64_t seed) : root_(root), random_(seed) {}

  void Act() {
    const fs::path path = SomePath(), other = SomePath();
    std::error_code ignored;
    switch (random_.Below(9)) {
      case 0:
      case 1:
        return Write(path, std::to_string(++version_));
      case 2:
        return Replace(path, std::to_string(++version_));
      case 3:
        return void(fs::remove(path, ignored));
      case 4:
        return void(fs::remove_all(path, ignored));
      case 5:
        return void(fs::create_directories(path, ignored));
      case 6:
        return SwapLink(path, random_.Below(2) == 0 ? other : other.lexically_relative(root_));
      case 7:
        return SwapLink(path, fs::path("..") / other.filename());
      case 8:
        return fs::rename(path, other, ignored);
    }
  }

  fs::path SomePath() {
    fs::path path = root_;
    const uint64_t depth = 1 + random_.Below(3);
    for (uint64_t i = 0; i < depth; ++i) path /= std::string(1, "abc"[random_.Below(3)]);
    return path;
  }

 private:
  const fs::path root_;
  SeededRandom random_;
  int version_ = 0;
};

class PathWatcherStressTest : public PathWatcherTest {
 protected:
  struct Watched {
    fs::path path;
    int heard = 0;
    std::string seen;  // by the watch's owner, who looks when it is called
  };

  PathWatcherStressTest() {
    fs::create_directory(root_);
    for (const char* path : {"a", "b", "a/b", "a/b/c", "b/a/c", "c/c/c", "c/a", "b/b", "c/b/a"}) {
      watched_.push_back({.path = root_ / path, .seen = "nothing"});
    }
    for (Watched& watched : watched_) {
      watcher_->Watch(watched.path, [&watched] {
        ++watched.heard;
        watched.seen = View(watched.path);
      });
    }
  }

  const fs::path root_ = dir_ / "root";
  std::vector<Watched> watched_;
};
INSTANTIATE_LOOP_TEST(PathWatcherStressTest);

TEST_P(PathWatcherStressTest, NoChangeIsMissed) {
  constexpr uint64_t kSeed = 1;
  Mischief mischief(root_, kSeed);
  SeededRandom random(kSeed + 1);
  for (int round = 0; round < 300; ++round) {
    std::vector<int> before;
    std::vector<bool> changed(watched_.size());
    for (const Watched& watched : watched_) before.push_back(watched.heard);
    for (uint64_t ops = 1 + random.Below(4); ops > 0; --ops) {
      std::vector<std::string> views;
      for (const Watched& watched : watched_) views.push_back(View(watched.path));
      mischief.Act();
      for (size_t i = 0; i < watched_.size(); ++i) {
        if (View(watched_[i].path) != views[i]) changed[i] = true;
      }
    }
    Quiesce();
    for (size_t i = 0; i < watched_.size(); ++i) {
      const Watched& watched = watched_[i];
      EXPECT_EQ(watched.seen, View(watched.path)) << watched.path << " in round " << round;
      if (changed[i]) {
        EXPECT_GT(watched.heard, before[i]) << watched.path << " in round " << round;
      }
    }
    ASSERT_FALSE(HasFailure());
  }
}

TEST_P(PathWatcherStressTest, NoChangeIsMissedThatHappensDuringAWalk) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::atomic<bool> done = false;
    std::thread writer([&] {
      Mischief mischief(root_, seed);
      for (int i = 0; i < 200; ++i) mischief.Act();
      done = true;
    });
    EXPECT_TRUE(RunUntil([&] { return done.load(); }));
    writer.join();
    Quiesce();
    for (const Watched& watched : watched_) {
      EXPECT_EQ(watched.seen, View(watched.path)) << watched.path << " with seed " << seed;
    }
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace denselet::reactor
