// The file source on virtual time: files are written whole and in pieces, renamed, removed and
// broken while reads fail and hints are lost. No pod is ever made of half a file, and once all is
// quiet the pods are those of the folder.
#include "managers/source/file_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>

#include "kube/api/types.h"
#include "tests/managers/source/manifests.h"
#include "tests/sim/sim_file_system.h"
#include "tests/sim/sim_path_watcher.h"
#include "tests/sim/world.h"

namespace denselet::managers {
namespace {

using reactor::DirectoryEntry;
using reactor::Done;
using reactor::FileInfo;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Reads that fail by chance; of the rest a file source has no need.
class FaultyReads final : public reactor::FileSystem {
 public:
  FaultyReads(reactor::FileSystem& below, reactor::Loop& loop, Random& random)
      : below_(below), loop_(loop), random_(random) {}

  double chance = 0;
  std::set<std::string> broken;  // always

  void ReadFile(Context c, std::string path, size_t max, Done<std::string> done) override {
    if (Fails(path)) return Fail(path, std::move(done));
    below_.ReadFile(c, std::move(path), max, std::move(done));
  }
  void Stat(Context c, std::string path, Done<FileInfo> done) override {
    if (Fails(path)) return Fail(path, std::move(done));
    below_.Stat(c, std::move(path), std::move(done));
  }
  void FindWriter(Context c, std::string path, Done<reactor::WriterInfo> done) override {
    if (Fails(path)) return Fail(path, std::move(done));
    below_.FindWriter(c, std::move(path), std::move(done));
  }
  void List(Context c, std::string path, size_t max,
            Done<std::vector<DirectoryEntry>> done) override {
    if (Fails(path)) return Fail(path, std::move(done));
    below_.List(c, std::move(path), max, std::move(done));
  }

  void ReplaceFile(Context, std::string, std::string, uint32_t, reactor::Durability,
                   Done<Unit>) override {}
  void WriteControl(Context, std::string, std::string, Done<Unit>) override {}
  void Open(Context, std::string, reactor::OpenMode, uint32_t, Done<reactor::FileId>) override {}
  void ReadAt(Context, reactor::FileId, uint64_t, size_t, Done<std::string>) override {}
  void Append(Context, reactor::FileId, std::string, Done<Unit>) override {}
  void Sync(Context, reactor::FileId, Done<Unit>) override {}
  void Close(reactor::FileId) override {}
  void SyncDirectory(Context, std::string, Done<Unit>) override {}
  void Rename(Context, std::string, std::string, Done<Unit>) override {}
  void MakeDirectories(Context, std::string, uint32_t, reactor::Durability, Done<Unit>) override {}
  void Symlink(Context, std::string, std::string, Done<Unit>) override {}
  void ReadLink(Context, std::string, Done<std::string>) override {}
  void Unlink(Context, std::string, Done<Unit>) override {}
  void RemoveDirectory(Context, std::string, Done<Unit>) override {}

 private:
  bool Fails(const std::string& path) { return broken.contains(path) || random_.Unit() < chance; }
  template <class T>
  void Fail(const std::string& path, Done<T> done) {
    loop_.Post([done = std::move(done), path]() mutable {
      done(Error(ErrorCode::kIo, "the disk says no").With("read", path));
    });
  }

  reactor::FileSystem& below_;
  reactor::Loop& loop_;
  Random& random_;
};

class FileSourceSim {
 public:
  explicit FileSourceSim(uint64_t seed = 1)
      : world({.seed = seed, .shards = 1}),
        below(world.loop(0), world.random(), disk),
        files(below, world.loop(0), world.random()),
        watcher(world.loop(0), world.random()) {
    EXPECT_TRUE(disk.MakeDirectories("/m", 0755));
  }

  void Start(std::string path = "/m") {
    FileSourceOptions options;
    options.path = std::move(path);
    options.node_name = "n";
    source = std::make_unique<FileSource>(world.loop(0), files, watcher, options, keeper);
  }
  void Run(Duration time) { world.RunUntil(world.clock().Now() + time); }

  void Put(const std::string& path, const std::string& content) {
    EXPECT_TRUE(disk.ReplaceFile(path, content, 0644, reactor::Durability::kCached,
                                 world.clock().WallNow()));
    watcher.Changed(path);
  }
  void Remove(const std::string& path) {
    EXPECT_TRUE(disk.Unlink(path));
    watcher.Changed(path);
  }

  sim::World world;
  sim::Disk disk;
  sim::SimFileSystem below;
  FaultyReads files;
  sim::SimPathWatcher watcher;
  PodKeeper keeper;
  std::unique_ptr<FileSource> source;
};

TEST(FileSourceSim, AnEmptyFolderIsAnEmptySet) {
  FileSourceSim sim;
  sim.Start("/m/");
  sim.Run(Milliseconds(50));
  EXPECT_EQ(sim.keeper.sets, 1);
  EXPECT_THAT(sim.keeper.Names(), IsEmpty());
  EXPECT_THAT(sim.keeper.troubles, IsEmpty());
}

TEST(FileSourceSim, AFolderThatDoesNotExistIsAnEmptySetAndReported) {
  FileSourceSim sim;
  sim.Start("/none");
  sim.Run(Milliseconds(50));
  EXPECT_EQ(sim.keeper.sets, 1);
  EXPECT_EQ(sim.keeper.troubles.count("/none"), 1u);
  ASSERT_TRUE(sim.disk.MakeDirectories("/none", 0755));
  sim.Put("/none/a.yaml", PodYaml("a", "app:1"));
  sim.Run(Milliseconds(300));
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n"));
  EXPECT_THAT(sim.keeper.troubles, IsEmpty());
}

TEST(FileSourceSim, FilesComeChangeAndGo) {
  FileSourceSim sim;
  sim.Put("/m/a.yaml", PodYaml("a", "app:1"));
  sim.Put("/m/b.json", PodJson("b", "app:1"));
  sim.Put("/m/.hidden.yaml", PodYaml("hidden", "app:1"));
  sim.Start();
  sim.Run(Milliseconds(300));
  EXPECT_EQ(sim.keeper.sets, 1);
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n", "b-n"));
  sim.Put("/m/a.yaml", PodYaml("a", "app:2"));
  sim.Run(Milliseconds(300));
  EXPECT_EQ(sim.keeper.changes, 1);
  EXPECT_EQ(sim.keeper.gone, 1);
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n", "b-n"));
  sim.Remove("/m/b.json");
  sim.Run(Milliseconds(50));
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n"));
}

TEST(FileSourceSim, OneFileIsASourceToo) {
  FileSourceSim sim;
  sim.Put("/m/a.yaml", PodYaml("a", "app:1"));
  sim.Put("/m/b.yaml", PodYaml("b", "app:1"));
  sim.Start("/m/a.yaml");
  sim.Run(Milliseconds(300));
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n"));
  sim.Remove("/m/a.yaml");
  sim.Run(Milliseconds(300));
  EXPECT_THAT(sim.keeper.Names(), IsEmpty());
  EXPECT_EQ(sim.keeper.troubles.count("/m/a.yaml"), 1u);
}

TEST(FileSourceSim, ABadFileIsReportedAndTheOthersGoOn) {
  FileSourceSim sim;
  sim.Put("/m/a.yaml", PodYaml("a", "app:1"));
  sim.Put("/m/bad.yaml", "apiVersion: v1\nkind: Pod\nspec:\n  hostNetwork: maybe\n");
  ASSERT_TRUE(sim.disk.MakeDirectories("/m/folder", 0755));
  sim.Start();
  sim.Run(Seconds(3));
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n"));
  ASSERT_EQ(sim.keeper.troubles.size(), 2u);
  EXPECT_THAT(sim.keeper.troubles.at("/m/bad.yaml"), HasSubstr("line 4"));
  EXPECT_THAT(sim.keeper.troubles.at("/m/folder"), HasSubstr("folder"));
  sim.Put("/m/bad.yaml", PodYaml("good", "app:1"));
  sim.Run(Milliseconds(300));
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n", "good-n"));
  EXPECT_EQ(sim.keeper.troubles.size(), 1u);
}

TEST(FileSourceSim, AFileThatBreaksLosesItsPodAfterAPeriod) {
  FileSourceSim sim;
  sim.Put("/m/a.yaml", PodYaml("a", "app:1"));
  sim.Start();
  sim.Run(Seconds(1));
  sim.Put("/m/a.yaml", "{");
  sim.Run(Seconds(19));
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n"));
  sim.Run(Seconds(3));
  EXPECT_THAT(sim.keeper.Names(), IsEmpty());
}

// Somebody who writes a file in pieces, and takes his time.
class SlowWriter {
 public:
  SlowWriter(FileSourceSim& sim, std::string path) : sim_(sim), path_(std::move(path)) {
    inode_ = *sim_.disk.Open(path_, reactor::OpenMode::kCreateOrTruncate, 0644, Now());
    writer_ = sim::Disk::Write(inode_);
  }
  void Append(const std::string& text) {
    ASSERT_TRUE(sim_.disk.Append(inode_, text, path_, Now()));
    sim_.watcher.Changed(path_);
  }
  void Close() {
    writer_.reset();
    sim_.watcher.Changed(path_);
  }

 private:
  WallTime Now() const { return sim_.world.clock().WallNow(); }

  FileSourceSim& sim_;
  const std::string path_;
  sim::Disk::InodeRef inode_;
  sim::Disk::Writer writer_;
};

TEST(FileSourceSim, HalfAManifestIsNoPodHoweverLongItsWriterPauses) {
  for (const std::string path : {"/m", "/m/a.yaml"}) {
    FileSourceSim sim;
    sim.Start(path);
    sim.Run(Milliseconds(50));
    SlowWriter writer(sim, "/m/a.yaml");
    writer.Append(PodYaml("a", "app:1"));
    sim.Run(Seconds(100));
    EXPECT_THAT(sim.keeper.Names(), IsEmpty()) << path;
    EXPECT_THAT(sim.keeper.troubles["/m/a.yaml"], HasSubstr("open for writing")) << path;
    writer.Append("  hostNetwork: true\n");
    sim.Run(Seconds(100));
    EXPECT_THAT(sim.keeper.Names(), IsEmpty()) << path;
    writer.Close();
    sim.Run(Milliseconds(300));
    ASSERT_THAT(sim.keeper.Names(), ElementsAre("a-n")) << path;
    EXPECT_EQ(sim.keeper.changes + sim.keeper.gone, 1) << path;
    EXPECT_THAT(sim.keeper.troubles, IsEmpty()) << path;
  }
}

TEST(FileSourceSim, AFileThatIsWrittenAnewKeepsItsPodUntilItIsClosed) {
  FileSourceSim sim;
  sim.Put("/m/a.yaml", PodYaml("a", "app:1"));
  sim.Start();
  sim.Run(Milliseconds(300));
  SlowWriter writer(sim, "/m/a.yaml");
  writer.Append(PodYaml("b", "app:2"));
  sim.Run(Seconds(100));
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n"));
  writer.Close();
  sim.Run(Milliseconds(300));
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("b-n"));
}

TEST(FileSourceSim, WhoForgetsToCloseAFileKeepsItsPodBackForTenMinutes) {
  FileSourceSim sim;
  SlowWriter writer(sim, "/m/a.yaml");
  writer.Append(PodYaml("a", "app:1"));
  sim.Start();
  sim.Run(Minutes(9));
  EXPECT_THAT(sim.keeper.Names(), IsEmpty());
  sim.Run(Minutes(2));
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n"));
  EXPECT_THAT(sim.keeper.troubles, IsEmpty());
  // And not at all when the agent starts anew.
  sim.keeper = {};
  sim.Start();
  sim.Run(Milliseconds(300));
  EXPECT_EQ(sim.keeper.sets, 1);
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n"));
}

TEST(FileSourceSim, TheFirstSetWaitsForWhatCannotBeReadYet) {
  FileSourceSim sim;
  sim.Put("/m/a.yaml", PodYaml("a", "app:1"));
  sim.Put("/m/b.yaml", PodYaml("b", "app:1"));
  sim.files.broken = {"/m/b.yaml"};
  sim.Start();
  sim.Run(Milliseconds(1500));
  EXPECT_EQ(sim.keeper.sets, 0);
  EXPECT_EQ(sim.keeper.troubles.count("/m/b.yaml"), 1u);
  sim.files.broken.clear();
  sim.Run(Seconds(3));
  EXPECT_EQ(sim.keeper.sets, 1);
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n", "b-n"));
  EXPECT_THAT(sim.keeper.troubles, IsEmpty());
}

TEST(FileSourceSim, ButForTwoSecondsOnly) {
  FileSourceSim sim;
  sim.Put("/m/a.yaml", PodYaml("a", "app:1"));
  sim.Put("/m/b.yaml", PodYaml("b", "app:1"));
  sim.files.broken = {"/m/b.yaml"};
  sim.Start();
  sim.Run(Milliseconds(2500));
  EXPECT_EQ(sim.keeper.sets, 1);
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n"));
  sim.files.broken.clear();
  sim.Run(Seconds(20));
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n", "b-n"));
}

TEST(FileSourceSim, WhatCannotBecomeAManifestHoldsUpNobody) {
  FileSourceSim sim;
  sim.Put("/m/a.yaml", PodYaml("a", "app:1"));
  sim.Put("/m/large.yaml", std::string(kManifestBytesMax + 1, '#'));
  EXPECT_TRUE(sim.disk.MakeDirectories("/elsewhere", 0755));
  EXPECT_TRUE(sim.disk.Symlink("/elsewhere", "/m/link", sim.world.clock().WallNow()));
  sim.Start();
  sim.Run(Milliseconds(500));
  EXPECT_EQ(sim.keeper.sets, 1);
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n"));
  sim.Run(Seconds(1));
  EXPECT_EQ(sim.keeper.troubles.count("/m/large.yaml"), 1u);
  EXPECT_EQ(sim.keeper.troubles.count("/m/link"), 1u);
}

TEST(FileSourceSim, AFolderThatCannotBeReadStaysAsItWas) {
  FileSourceSim sim;
  sim.Put("/m/a.yaml", PodYaml("a", "app:1"));
  sim.Start();
  sim.Run(Seconds(1));
  sim.files.broken = {"/m"};
  sim.Put("/m/b.yaml", PodYaml("b", "app:1"));
  sim.Run(Minutes(2));
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n"));
  EXPECT_EQ(sim.keeper.troubles.count("/m"), 1u);
  sim.files.broken.clear();
  sim.Run(Seconds(21));
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n", "b-n"));
  EXPECT_THAT(sim.keeper.troubles, IsEmpty());
}

TEST(FileSourceSim, AFileThatIsTooLargeIsReportedAndNotRead) {
  FileSourceSim sim;
  sim.Put("/m/a.yaml", PodYaml("a", "app:1"));
  sim.Put("/m/b.yaml", PodYaml("b", "app:1") + "#" + std::string(kManifestBytesMax, 'x'));
  sim.Start();
  sim.Run(Seconds(45));
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n"));
  EXPECT_THAT(sim.keeper.troubles.at("/m/b.yaml"), HasSubstr("more than"));
}

TEST(FileSourceSim, AChangeThatNobodyHearsIsSeenAtTheNextLook) {
  FileSourceSim sim;
  sim.Start();
  sim.Run(Seconds(1));
  sim.watcher.faults().lost = 1;
  sim.Put("/m/a.yaml", PodYaml("a", "app:1"));
  sim.Run(Seconds(21));
  EXPECT_THAT(sim.keeper.Names(), ElementsAre("a-n"));
}

TEST(FileSourceSim, NothingIsDecodedAgainThatDidNotChange) {
  FileSourceSim sim;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "p" + std::to_string(i);
    sim.Put("/m/" + name, PodYaml(name, "app:1"));
  }
  sim.Start();
  sim.Run(Minutes(5));
  EXPECT_EQ(sim.source->stats().decodes, 20u);
  const uint64_t reads = sim.source->stats().reads;
  sim.Put("/m/p3", PodYaml("p3", "app:2"));
  sim.Run(Seconds(1));
  EXPECT_EQ(sim.source->stats().decodes, 21u);
  EXPECT_LE(sim.source->stats().reads - reads, 30u) << "a hint reads what its times say";
}

TEST(FileSourceSim, IsIdleWhenNothingHappens) {
  FileSourceSim sim;
  sim.Put("/m/a.yaml", PodYaml("a", "app:1"));
  sim.Put("/m/bad.yaml", "{");
  sim.Start();
  sim.Run(Minutes(1));
  const uint64_t scans = sim.source->stats().scans;
  sim.Run(Minutes(10));
  EXPECT_LE(sim.source->stats().scans - scans, 31u);
}

// It was seen once, and before it counted the disk broke: nothing is gained by looking all the
// time.
TEST(FileSourceSim, AFileThatCannotBeReadAnyMoreIsNotLookedAtInATightLoop) {
  FileSourceSim sim;
  sim.Start();
  sim.Run(Seconds(5));
  sim.Put("/m/a.yaml", PodYaml("a", "app:1"));
  for (int i = 0; i < 1000 && sim.source->stats().reads == 0; ++i) sim.Run(Milliseconds(1));
  sim.files.broken.insert("/m/a.yaml");
  const uint64_t before = sim.source->stats().scans;
  sim.Run(Minutes(1));
  EXPECT_LE(sim.source->stats().scans - before, 20u);
  sim.files.broken.clear();
  sim.Run(Seconds(25));
  EXPECT_EQ(sim.keeper.Names().size(), 1u);
}

TEST(FileSourceSim, AThousandManifestsAppearAtOnce) {
  FileSourceSim sim;
  sim.Start();
  sim.Run(Seconds(1));
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "p" + std::to_string(i);
    sim.Put("/m/" + name + ".yaml", PodYaml(name, "app:1"));
  }
  sim.Run(Seconds(10));
  EXPECT_EQ(sim.keeper.pods.size(), 1000u);
  EXPECT_EQ(sim.source->stats().decodes, 1000u);
}

// Somebody who changes the folder in every way there is.
class Vandal {
 public:
  explicit Vandal(FileSourceSim& sim) : sim_(sim) {}

  void Go(Duration time) {
    const TimePoint end = sim_.world.clock().Now() + time;
    while (sim_.world.clock().Now() < end) {
      Act();
      sim_.Run(Milliseconds(static_cast<int64_t>(random().Below(400))));
      CheckPods();
    }
    // What is being written is brought to its end.
    while (!writing_.empty()) WriteOn(writing_.begin()->first);
  }

  // The pods of the folder as it is now.
  std::set<std::string> Wanted() const {
    std::map<std::string, std::string> by_name;  // the last file counts
    for (const auto& [path, what] : content_) {
      if (!what.empty() && path.find("/.") == std::string::npos) by_name[NameIn(what)] = what;
    }
    std::set<std::string> wanted;
    for (const auto& [name, what] : by_name) wanted.insert(what);
    return wanted;
  }

  // Of each pod that the source has: what it was made of.
  static std::set<std::string> Has(const PodKeeper& keeper) {
    std::set<std::string> has;
    for (const auto& [uid, pod] : keeper.pods) {
      const auto parsed = pod->Parse();
      std::string what = (*parsed)->metadata().name();
      for (const auto& container : (*parsed)->spec().containers()) what += " " + container.image();
      has.insert(what);
    }
    return has;
  }

 private:
  SeededRandom& random() { return sim_.world.random(); }

  // A pod with two containers of one image: half of it would have one, or none.
  static std::string Text(const std::string& name, const std::string& image) {
    std::string text = PodYaml(name, image);
    return text + "  - name: second\n    image: " + image + "\n";
  }
  static std::string What(const std::string& name, const std::string& image) {
    return name + "-n " + image + " " + image;
  }
  static std::string NameIn(const std::string& what) { return what.substr(0, what.find(' ')); }

  std::string AnyPath() {
    const uint64_t number = random().Below(8);
    return number == 7 ? "/m/.dot.yaml" : "/m/f" + std::to_string(number) + ".yaml";
  }

  void Act() {
    const std::string path = AnyPath();
    const std::string name = "p" + std::to_string(random().Below(6));
    const std::string image = "app:" + std::to_string(random().Below(50));
    if (writing_.contains(path)) return WriteOn(path);
    switch (random().Below(6)) {
      case 0:
      case 1:
        sim_.Put(path, Text(name, image));
        content_[path] = What(name, image);
        return;
      case 2:  // in place and in pieces
        writing_[path] = {Text(name, image), What(name, image)};
        content_[path] = "";
        Open(path);
        return WriteOn(path);
      case 3:
        if (content_.erase(path) != 0) sim_.Remove(path);
        return;
      case 4:
        sim_.Put(path, "apiVersion: v1\nkind: Pod\nmetadata: [\n");
        content_[path] = "";
        return;
      case 5:
        sim_.files.chance = random().Below(2) == 0 ? 0 : 0.2;
        sim_.watcher.faults().lost = random().Below(2) == 0 ? 0 : 0.5;
        return;
      default:
        return;
    }
  }

  struct Writing {
    std::string rest;
    std::string what;
  };

  void Open(const std::string& path) {
    (void)sim_.disk.Open(path, reactor::OpenMode::kCreateOrTruncate, 0644,
                         sim_.world.clock().WallNow());
    sim_.watcher.Changed(path);
  }
  // All of it, with pauses that a writer may make.
  void WriteOn(const std::string& path) {
    Writing& writing = writing_[path];
    while (!writing.rest.empty()) {
      const size_t size = 1 + static_cast<size_t>(random().Below(writing.rest.size()));
      const WallTime now = sim_.world.clock().WallNow();
      auto inode = sim_.disk.Open(path, reactor::OpenMode::kAppend, 0644, now);
      ASSERT_TRUE(inode);
      (*inode)->content += writing.rest.substr(0, size);
      (*inode)->modified = now;
      writing.rest.erase(0, size);
      sim_.watcher.Changed(path);
      sim_.Run(Milliseconds(static_cast<int64_t>(random().Below(60))));
      CheckPods();
    }
    content_[path] = writing.what;
    writing_.erase(path);
  }

  void CheckPods() const {
    for (const std::string& what : Has(sim_.keeper)) {
      const size_t first = what.find(' ');
      const size_t second = what.find(' ', first + 1);
      ASSERT_NE(second, std::string::npos) << "half a pod: " << what;
      ASSERT_EQ(what.substr(first + 1, second - first - 1), what.substr(second + 1)) << what;
    }
  }

  FileSourceSim& sim_;
  std::map<std::string, std::string> content_;  // by path; empty: no pod
  std::map<std::string, Writing> writing_;
};

TEST(FileSourceSim, OnceAllIsQuietThePodsAreThoseOfTheFolder) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    FileSourceSim sim(seed);
    sim.Start();
    Vandal vandal(sim);
    vandal.Go(Seconds(60));
    sim.files.chance = 0;
    sim.watcher.faults().lost = 0;
    sim.Run(Seconds(65));
    EXPECT_EQ(Vandal::Has(sim.keeper), vandal.Wanted());
    if (testing::Test::HasFailure()) return;
  }
}

TEST(FileSourceSim, MayEndAtAnyTime) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    FileSourceSim sim(seed);
    for (int i = 0; i < 20; ++i) {
      const std::string name = "p" + std::to_string(i);
      sim.Put("/m/" + name, PodYaml(name, "app:1"));
    }
    sim.Start();
    sim.Run(Microseconds(static_cast<int64_t>(sim.world.random().Below(150'000))));
    sim.source.reset();
    const int sets = sim.keeper.sets;
    sim.Run(Minutes(1));
    EXPECT_EQ(sim.keeper.sets, sets);
  }
}

}  // namespace
}  // namespace denselet::managers
