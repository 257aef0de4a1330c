// The machine that the tests run on, as a node sees it.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "managers/node/host_calls.h"
#include "managers/node/host_facts.h"
#include "reactor/blocking_pool.h"
#include "reactor/pool_file_system.h"
#include "tests/integration/loop_fixture.h"

namespace denselet::node {
namespace {

class RealHostTest : public reactor::ShardTest {
 protected:
  ~RealHostTest() override {
    bool stopped = false;
    files_.Stop([&] { stopped = true; });
    EXPECT_TRUE(RunUntil([&] { return stopped; }));
    pool_.Stop();
  }
  template <class T, class Start>
  Result<T> Await(Start start) {
    std::optional<Result<T>> answer;
    start(reactor::Done<T>([&](Result<T> result) { answer.emplace(std::move(result)); }));
    EXPECT_FALSE(answer) << "called back inside the call";
    if (!RunUntil([&] { return answer.has_value(); })) {
      return Error(ErrorCode::kUnavailable, "no answer");
    }
    return *std::move(answer);
  }

  reactor::BlockingPool pool_{clock_};
  reactor::PoolFileSystem files_{shard_, pool_};
  RealHostCalls calls_{shard_, pool_};
};
INSTANTIATE_LOOP_TEST(RealHostTest);

TEST_P(RealHostTest, HasCpusMemoryAndAFileSystem) {
  HostFactsReader reader(loop(), files_, calls_, {.root_folder = "/"});
  const Result<MachineFacts> facts =
      Await<MachineFacts>([&](auto done) { reader.ReadMachine({}, std::move(done)); });
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_GT(facts->cpus, 0);
  EXPECT_GT(facts->memory_bytes, 1 << 20);
  EXPECT_GT(facts->root_fs_bytes, 1 << 20);
  EXPECT_FALSE(facts->boot_id.empty());
  EXPECT_FALSE(facts->kernel_version.empty());
}

TEST_P(RealHostTest, HasALoopbackInterfaceAndALocalName) {
  HostFactsReader reader(loop(), files_, calls_, {.name_to_resolve = "localhost"});
  const Result<NetworkFacts> facts =
      Await<NetworkFacts>([&](auto done) { reader.ReadNetwork({}, std::move(done)); });
  ASSERT_TRUE(facts) << facts.error().message();
  const auto loopback =
      std::ranges::find_if(facts->interfaces, [](const auto& each) { return each.loopback; });
  ASSERT_NE(loopback, facts->interfaces.end());
  EXPECT_TRUE(loopback->up);
  ASSERT_FALSE(facts->of_node_name.empty());
  EXPECT_TRUE(facts->of_node_name.front().IsLoopback());
}

// Returns when the test lets it. Shared: who was abandoned outlives its test.
struct Hung {
  std::atomic<int> calls = 0;
  std::latch released{1};

  template <class T>
  Result<T> Call() {
    ++calls;
    released.wait();
    return T{};
  }
};

// A file server, or a name service, that is gone: asked with every status of the node, for days.
TEST_P(RealHostTest, WhatHangsTakesOneThreadOfEachKindHoweverOftenItIsAsked) {
  const auto hung = std::make_shared<Hung>();
  RealHostCalls calls(
      shard_, pool_,
      {.space = [hung](const std::string&) { return hung->Call<FileSystemSpace>(); },
       .interfaces = [hung] { return hung->Call<std::vector<NetworkInterface>>(); },
       .resolve = [hung](const std::string&) { return hung->Call<std::vector<IpAddress>>(); }});
  int ended = 0;
  const auto ask = [&](const Context& context) {
    const auto failed = [&ended](const auto& answer) {
      EXPECT_FALSE(answer);
      ++ended;
    };
    calls.MeasureFileSystem(context, "/", failed);
    calls.Interfaces(context, failed);
    calls.Resolve(context, "here", failed);
  };
  CancelSource given_up;
  Context first;
  first.cancel = given_up.token();
  ask(first);
  ASSERT_TRUE(RunUntil([&] { return hung->calls == 3; }));
  given_up.Cancel();
  for (int round = 1; round <= 20; ++round) {
    Context context;
    context.priority = Priority::kCritical;
    context.deadline = After(loop().Now(), Milliseconds(2));
    ask(context);
    ASSERT_TRUE(RunUntil([&] { return ended == 3 + 3 * round; }));
  }
  EXPECT_EQ(hung->calls, 3);
  EXPECT_EQ(pool_.Snapshot().abandoned, 3u);
  // All others have the rest of the pool.
  EXPECT_TRUE(Await<FileSystemSpace>(
      [&](auto done) { calls_.MeasureFileSystem({}, "/", std::move(done)); }));
  hung->released.count_down();
  EXPECT_TRUE(Await<FileSystemSpace>([&](auto done) {
    calls.MeasureFileSystem({}, "/", std::move(done));
  })) << "and it is asked again when it has come back";
}

TEST_P(RealHostTest, AFolderThatIsNotThereHasNoFileSystem) {
  const Result<FileSystemSpace> space = Await<FileSystemSpace>(
      [&](auto done) { calls_.MeasureFileSystem({}, "/does/not/exist", std::move(done)); });
  ASSERT_FALSE(space);
  EXPECT_EQ(space.error().code(), ErrorCode::kNotFound);
}

TEST_P(RealHostTest, HasSomethingLeftOfEverything) {
  HostFactsReader reader(loop(), files_, calls_, {.root_folder = "/"});
  const Result<PressureFacts> facts =
      Await<PressureFacts>([&](auto done) { reader.ReadPressure({}, std::move(done)); });
  ASSERT_TRUE(facts) << facts.error().message();
  for (const std::optional<SignalReading>& reading : *facts) {
    ASSERT_TRUE(reading);
    EXPECT_GT(reading->available, 0);
  }
  for (const PressureSignal signal :
       {PressureSignal::kMemoryAvailable, PressureSignal::kNodeFsAvailable,
        PressureSignal::kPidAvailable}) {
    const SignalReading& reading = *(*facts)[static_cast<size_t>(signal)];
    EXPECT_LE(reading.available, reading.capacity);
  }
}

}  // namespace
}  // namespace denselet::node
