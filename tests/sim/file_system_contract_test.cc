// The simulated files, under several seeds.
#include "tests/fakes/file_system_contract.h"

#include "tests/sim/sim_file_system.h"
#include "tests/sim/world.h"

namespace denselet::reactor {
namespace {

class SimFiles final : public FileSystemUnderTest {
 public:
  explicit SimFiles(uint64_t seed) : world_({.seed = seed, .shards = 1}) {
    EXPECT_TRUE(disk_.MakeDirectories(root(), 0755));
  }

  FileSystem& files() override { return files_; }
  Loop& loop() override { return world_.loop(0); }
  std::string root() const override { return "/test"; }
  bool RunUntil(const std::function<bool()>& done) override {
    while (!done() && world_.Step()) {
    }
    return done();
  }
  void RunOneTurn() override { world_.Step(); }
  void Settle() override {
    while (world_.Step()) {
    }
  }

 private:
  sim::World world_;
  sim::Disk disk_;
  sim::SimFileSystem files_{world_.loop(0), world_.random(), disk_};
};

std::vector<FileSystemMaker> SimMakers() {
  std::vector<FileSystemMaker> makers;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    makers.push_back(
        {"seed_" + std::to_string(seed), [seed] { return std::make_unique<SimFiles>(seed); }});
  }
  return makers;
}

INSTANTIATE_TEST_SUITE_P(Simulated, FileSystemContract, testing::ValuesIn(SimMakers()),
                         NameOfFileSystem);

}  // namespace
}  // namespace denselet::reactor
