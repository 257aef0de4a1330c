// The files of the kernel, through the blocking pool, on every loop.
#include "tests/fakes/file_system_contract.h"

#include <stdlib.h>

#include <filesystem>

#include "reactor/pool_file_system.h"
#include "tests/integration/loop_fixture.h"

namespace denselet::reactor {
namespace {

class PoolFiles final : public FileSystemUnderTest {
 public:
  explicit PoolFiles(Backend backend) : loop_(*MakeEventLoop(backend, clock_)) {
    all_.push_back(&shard_);
    std::string path = testing::TempDir() + "/file_system_contract.XXXXXX";
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
    root_ = path;
  }
  ~PoolFiles() override {
    bool stopped = false;
    files_.Stop([&] { stopped = true; });
    EXPECT_TRUE(RunUntil([&] { return stopped; }));
    std::filesystem::remove_all(root_);
  }

  FileSystem& files() override { return files_; }
  Loop& loop() override { return *loop_; }
  std::string root() const override { return root_; }
  bool RunUntil(const std::function<bool()>& done) override {
    const TimePoint limit = After(clock_.Now(), Seconds(20));
    while (!done() && clock_.Now() < limit) loop_->RunTurn(After(clock_.Now(), Milliseconds(2)));
    return done();
  }
  void RunOneTurn() override { loop_->RunTurn(loop_->Now()); }
  void Settle() override {
    EXPECT_TRUE(RunUntil([&] {
      const BlockingPoolSnapshot snapshot = pool_.Snapshot();
      return snapshot.waiting == 0 && snapshot.running.empty();
    }));
  }

 private:
  RealClock clock_;
  std::unique_ptr<EventLoop> loop_;
  std::vector<Shard*> all_;
  Shard shard_{0, *loop_, 1, MailLimits{}, all_};
  BlockingPool pool_{clock_};
  PoolFileSystem files_{shard_, pool_};
  std::string root_;
};

std::vector<FileSystemMaker> PoolMakers() {
  std::vector<FileSystemMaker> makers;
  for (const Backend backend : AvailableBackends()) {
    makers.push_back({std::string(BackendName(backend)),
                      [backend] { return std::make_unique<PoolFiles>(backend); }});
  }
  return makers;
}

INSTANTIATE_TEST_SUITE_P(Pool, FileSystemContract, testing::ValuesIn(PoolMakers()),
                         NameOfFileSystem);

}  // namespace
}  // namespace denselet::reactor
