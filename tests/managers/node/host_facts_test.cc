#include "managers/node/host_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/sim/disk.h"
#include "tests/sim/sim_file_system.h"
#include "tests/sim/world.h"

namespace denselet::node {
namespace {

using testing::ElementsAre;

struct FakeCalls final : HostCalls {
  explicit FakeCalls(reactor::Loop& l) : loop(l) {}
  void MeasureFileSystem(const Context&, std::string path,
                         reactor::Done<FileSystemSpace> done) override {
    EXPECT_EQ(path, "/var/lib/kubelet");
    if (hangs) {
      hanging = std::move(done);
    } else {
      loop.Post([this, done = std::move(done)]() mutable { done(space); });
    }
  }
  void Interfaces(const Context&, reactor::Done<std::vector<NetworkInterface>> done) override {
    loop.Post([this, done = std::move(done)]() mutable { done(interfaces); });
  }
  void Resolve(const Context&, std::string name,
               reactor::Done<std::vector<IpAddress>> done) override {
    asked = name;
    loop.Post([this, done = std::move(done)]() mutable { done(names); });
  }

  reactor::Loop& loop;
  bool hangs = false;
  reactor::Done<FileSystemSpace> hanging;
  Result<FileSystemSpace> space =
      FileSystemSpace{.bytes = 77, .bytes_available = 7, .inodes = 100, .inodes_free = 3};
  Result<std::vector<NetworkInterface>> interfaces =
      std::vector<NetworkInterface>{{.name = "eth0", .up = true}};
  Result<std::vector<IpAddress>> names = std::vector<IpAddress>{*IpAddress::Parse("10.0.0.1")};
  std::string asked;
};

class HostFactsTest : public testing::Test {
 protected:
  void Put(const std::string& path, std::string text) {
    ASSERT_TRUE(disk_.MakeDirectories(path.substr(0, path.rfind('/')), 0755));
    ASSERT_TRUE(disk_.ReplaceFile(path, std::move(text), 0644, reactor::Durability::kSynced, {}));
  }
  void PutMachine() {
    Put("/sys/devices/system/cpu/online", "0-1\n");
    Put("/proc/meminfo", "MemTotal: 1024 kB\nSwapTotal: 0 kB\n");
    Put("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "3\n");
  }
  template <class T, class Start>
  Result<T> Await(Start start) {
    std::optional<Result<T>> answer;
    start(reactor::Done<T>([&](Result<T> result) { answer.emplace(std::move(result)); }));
    EXPECT_FALSE(answer) << "called back inside the call";
    world_.RunUntil(After(world_.clock().Now(), Seconds(60)));
    if (!answer) return Error(ErrorCode::kUnavailable, "no answer");
    return *std::move(answer);
  }
  Result<MachineFacts> Machine() {
    return Await<MachineFacts>([&](auto done) { reader_.ReadMachine({}, std::move(done)); });
  }
  Result<PressureFacts> Pressure() {
    return Await<PressureFacts>([&](auto done) { reader_.ReadPressure({}, std::move(done)); });
  }
  Result<NetworkFacts> Network() {
    return Await<NetworkFacts>([&](auto done) { reader_.ReadNetwork({}, std::move(done)); });
  }

  sim::World world_{{.seed = 1, .shards = 1}};
  SeededRandom random_{1};
  sim::Disk disk_;
  sim::SimFileSystem files_{world_.loop(0), random_, disk_};
  FakeCalls calls_{world_.loop(0)};
  HostFactsReader reader_{world_.loop(0), files_, calls_, {.name_to_resolve = "n1"}};
};

TEST_F(HostFactsTest, OfTheMachine) {
  PutMachine();
  const Result<MachineFacts> facts = Machine();
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ(facts->cpus, 2);
  EXPECT_EQ(facts->root_fs_bytes, 77);
  EXPECT_THAT(facts->huge_pages, ElementsAre(HugePages{2048, 3}));
}

TEST_F(HostFactsTest, WhatIsThereTellsOfTheMachineToo) {
  PutMachine();
  Put("/sys/devices/system/cpu/possible", "0-10\n");
  Put("/proc/self/cgroup", "0::/system.slice/kubelet.service\n");
  EXPECT_FALSE(Machine()->swap_controller);
  EXPECT_THAT(Machine()->thermal_throttle_paths, ElementsAre());
  Put("/sys/fs/cgroup/system.slice/kubelet.service/memory.swap.max", "max\n");
  for (const char* cpu : {"cpu2", "cpu10", "cpu11"}) {
    Put("/sys/devices/system/cpu/" + std::string(cpu) + "/thermal_throttle/core_throttle_count",
        "0\n");
  }
  EXPECT_TRUE(Machine()->swap_controller);
  EXPECT_THAT(Machine()->thermal_throttle_paths,
              ElementsAre("/sys/devices/system/cpu/cpu2/thermal_throttle",
                          "/sys/devices/system/cpu/cpu10/thermal_throttle"));
}

TEST_F(HostFactsTest, AFileSystemThatDoesNotAnswerIsNotKnown) {
  PutMachine();
  calls_.space = Error(ErrorCode::kUnknownOutcome, "hangs");
  EXPECT_EQ(Machine()->root_fs_bytes, 0);
}

TEST_F(HostFactsTest, AMachineThatCannotBeReadIsAnError) { EXPECT_FALSE(Machine()); }

TEST_F(HostFactsTest, OfPressure) {
  Put("/proc/meminfo", "MemTotal: 1000 kB\nMemFree: 100 kB\nInactive(file): 50 kB\n");
  Put("/proc/loadavg", "0.1 0.2 0.3 1/40 999\n");
  Put("/proc/sys/kernel/pid_max", "100\n");
  Put("/proc/sys/kernel/threads-max", "90\n");
  PressureFacts facts = *Pressure();
  EXPECT_EQ(At(facts, PressureSignal::kMemoryAvailable), (SignalReading{150 * 1024, 1000 * 1024}));
  EXPECT_EQ(At(facts, PressureSignal::kPidAvailable), (SignalReading{50, 90}));
  EXPECT_EQ(At(facts, PressureSignal::kNodeFsAvailable), (SignalReading{7, 77}));
  EXPECT_EQ(At(facts, PressureSignal::kNodeFsInodesFree), (SignalReading{3, 100}));
  calls_.space = Error(ErrorCode::kUnknownOutcome, "hangs");
  facts = *Pressure();
  EXPECT_FALSE(At(facts, PressureSignal::kNodeFsAvailable));
  EXPECT_TRUE(At(facts, PressureSignal::kMemoryAvailable));
}

TEST_F(HostFactsTest, StopWaitsForQuestionsOnTheirWayAndRefusesNewOnes) {
  PutMachine();
  calls_.hangs = true;
  std::optional<Result<MachineFacts>> answer;
  reader_.ReadMachine({}, [&](Result<MachineFacts> facts) { answer = std::move(facts); });
  bool stopped = false;
  reader_.Stop([&] { stopped = true; });
  world_.RunUntil(After(world_.clock().Now(), Seconds(60)));
  EXPECT_FALSE(stopped);
  EXPECT_EQ(Network().error().code(), ErrorCode::kCancelled);
  std::exchange(calls_.hanging, nullptr)(FileSystemSpace{.bytes = 5});
  ASSERT_TRUE(answer);
  EXPECT_EQ((*answer)->root_fs_bytes, 5);
  world_.RunUntil(After(world_.clock().Now(), Seconds(1)));
  EXPECT_TRUE(stopped);
}

TEST_F(HostFactsTest, OfTheNetwork) {
  Put("/proc/net/route", "Iface\tDestination\tGateway\neth0\t00000000\t0100A8C0\n");
  const Result<NetworkFacts> facts = Network();
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_TRUE(facts->routes_known);
  EXPECT_THAT(facts->routes, ElementsAre(DefaultRoute{"eth0", IpFamily::kIpv4}));
  EXPECT_EQ(facts->of_node_name.size(), 1);
  EXPECT_EQ(calls_.asked, "n1");
}

TEST_F(HostFactsTest, RoutesAndNamesMayBeMissing) {
  calls_.names = Error(ErrorCode::kNotFound, "no such name");
  const Result<NetworkFacts> facts = Network();
  ASSERT_TRUE(facts);
  EXPECT_FALSE(facts->routes_known);
  EXPECT_TRUE(facts->of_node_name.empty());
  calls_.interfaces = Error(ErrorCode::kIo, "refused");
  EXPECT_FALSE(Network());
}

}  // namespace
}  // namespace denselet::node
