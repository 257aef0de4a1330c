// The client against a real containerd, inside an instance of containerd.sh: one with events (1.7)
// or without (1.6).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "cri/connection.h"
#include "cri/cri_shard.h"
#include "cri/event_stream.h"
#include "cri/start_check.h"
#include "reactor/real_clock.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/integration/loop_fixture.h"
#include "tests/integration/resources.h"

namespace denselet::cri {
namespace {

using sync::EventStreamState;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string Env(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool HasEvents() { return Env("DENSELET_CONTAINERD_VERSION") != "1.6"; }

// What gRPC's caches may differ by after any number of restarts; one that was kept each time would
// be more.
constexpr size_t kKeptBytesMax = 256 << 10;

struct Listener final : sync::RuntimeEventsUser {
  std::multiset<std::string> hints;
  int lost = 0;
  std::optional<EventStreamState> state;
  void OnPodHint(const sync::PodHint& hint) override { hints.insert(hint.pod.value()); }
  void OnHintsLost() override { ++lost; }
  void OnStreamState(EventStreamState now) override { state = now; }
};

class ContainerdTest : public reactor::ShardTest {
 protected:
  ContainerdTest() {
    auto made = Connection::Make({.runtime_endpoint = Env("CONTAINER_RUNTIME_ENDPOINT")}, clock_);
    EXPECT_TRUE(made) << made.error().message();
    connection_ = *std::move(made);
    cri_ = std::make_unique<CriShard>(shard_, *connection_, random_, Logger(output_));
  }
  ~ContainerdTest() override {
    stream_.reset();
    if (hints_ != nullptr) hints_->Close();
    cri_.reset();
    EXPECT_TRUE(RunUntil([&] { return connection_->runtime().calls_held() == 0; }));
  }

  template <class T, class Start>
  Result<T> Wait(Start start) {
    std::optional<Result<T>> answer;
    start(reactor::Done<T>([&answer](Result<T> result) { answer = std::move(result); }));
    if (!RunUntil([&] { return answer.has_value(); })) return Error(ErrorCode::kBug, "no answer");
    return *std::move(answer);
  }

  void StartStream() {
    hints_ = PodHints::Make(shard_, listener_, cri_->metrics());
    stream_ = std::make_unique<EventStream>(shard_, cri_->runtime_client(), runtime(), random_,
                                            Logger(output_), cri_->metrics(),
                                            std::vector<std::shared_ptr<PodHints>>{hints_});
    stream_->Start();
  }

  sync::SandboxSpec Sandbox(const std::string& pod) {
    return {.pod = {.ref = {.ns = "default", .name = pod}, .uid = PodUid(pod)},
            .hostname = pod,
            .log_directory = Env("DENSELET_CONTAINERD") + "/pods/" + pod,
            .labels = {{"io.kubernetes.pod.name", pod},
                       {"io.kubernetes.pod.namespace", "default"},
                       {"io.kubernetes.pod.uid", pod}},
            .cgroup_parent = Env("DENSELET_CGROUP") + "/" + pod};
  }
  sync::ContainerSpec Container(const std::string& pod, std::vector<std::string> command) {
    return {.pod = PodUid(pod),
            .name = "app",
            .image = Env("DENSELET_IMAGE"),
            .command = std::move(command),
            .labels = {{"io.kubernetes.pod.name", pod},
                       {"io.kubernetes.pod.namespace", "default"},
                       {"io.kubernetes.pod.uid", pod},
                       {"io.kubernetes.container.name", "app"}},
            .annotations = {{"io.kubernetes.container.hash", "8e45cbd0"},
                            {"io.kubernetes.container.restartCount", "0"}},
            .log_path = "app.log"};
  }
  Result<sync::ObservedPod> Read(const std::string& pod) {
    return Wait<sync::ObservedPod>(
        [&](auto done) { runtime().ReadPod({}, PodUid(pod), std::move(done)); });
  }
  Result<ContainerId> StartSleeper(const SandboxId& sandbox, const std::string& pod,
                                   uint32_t attempt) {
    sync::ContainerSpec spec = Container(pod, {"/bin/sleep", "1000"});
    spec.attempt = attempt;
    auto container = Wait<ContainerId>([&](auto done) {
      runtime().CreateContainer({}, sandbox, spec, Sandbox(pod), std::move(done));
    });
    if (!container) return container;
    const auto started =
        Wait<Unit>([&](auto done) { runtime().StartContainer({}, *container, std::move(done)); });
    if (!started) return started.error();
    return container;
  }
  CriRuntime& runtime() { return cri_->runtime(); }

  SeededRandom random_{3};
  LogVerbosity verbosity_;
  CapturingLogSink sink_;
  LogOutput output_{.format = {}, .clock = clock_, .verbosity = verbosity_, .sink = sink_};
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<CriShard> cri_;
  Listener listener_;
  std::shared_ptr<PodHints> hints_;
  std::unique_ptr<EventStream> stream_;
};
INSTANTIATE_LOOP_TEST(ContainerdTest);

TEST_P(ContainerdTest, AnswersTheStartCheck) {
  StartCheck check(loop(), runtime(), cri_->images());
  const auto facts = Wait<StartFacts>([&](auto done) { check.Run({}, std::move(done)); });
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ(facts->version.name, "containerd");
  EXPECT_THAT(facts->version.version, HasSubstr(Env("DENSELET_CONTAINERD_VERSION")));
  const auto status =
      Wait<sync::RuntimeStatus>([&](auto done) { runtime().Status({}, std::move(done)); });
  ASSERT_TRUE(status) << status.error().message();
  EXPECT_TRUE(status->runtime_ready->met);
  EXPECT_TRUE(status->network_ready->met) << status->network_ready->message;
}

TEST_P(ContainerdTest, HasTheImageOfTheArchive) {
  const auto image = Wait<std::optional<sync::ObservedImage>>([&](auto done) {
    cri_->images().Find({}, {.image = Env("DENSELET_IMAGE")}, std::move(done));
  });
  ASSERT_TRUE(image) << image.error().message();
  ASSERT_TRUE(*image);
  EXPECT_GT((*image)->size_bytes, 0u);
  const auto missing = Wait<std::optional<sync::ObservedImage>>(
      [&](auto done) { cri_->images().Find({}, {.image = "localhost/none:1"}, std::move(done)); });
  ASSERT_TRUE(missing) << missing.error().message();
  EXPECT_EQ(*missing, std::nullopt);
}

TEST_P(ContainerdTest, APodLivesAndDies) {
  const std::string pod = "life-" + std::string(reactor::BackendName(GetParam()));
  StartStream();
  ASSERT_TRUE(RunUntil([&] {
    return listener_.state ==
           (HasEvents() ? EventStreamState::kEstablished : EventStreamState::kUnsupported);
  }));
  std::filesystem::create_directories(Sandbox(pod).log_directory);
  const auto sandbox =
      Wait<SandboxId>([&](auto done) { runtime().RunSandbox({}, Sandbox(pod), std::move(done)); });
  ASSERT_TRUE(sandbox) << sandbox.error().message();
  const auto container = Wait<ContainerId>([&](auto done) {
    runtime().CreateContainer({}, *sandbox, Container(pod, {"/bin/sleep", "1000"}), Sandbox(pod),
                              std::move(done));
  });
  ASSERT_TRUE(container) << container.error().message();
  auto read = Read(pod);
  ASSERT_TRUE(read) << read.error().message();
  ASSERT_EQ(read->containers.size(), 1u);
  EXPECT_EQ(read->containers[0].state, sync::ContainerState::kCreated);

  const auto started =
      Wait<Unit>([&](auto done) { runtime().StartContainer({}, *container, std::move(done)); });
  ASSERT_TRUE(started) << started.error().message();
  read = Read(pod);
  ASSERT_TRUE(read && read->containers.size() == 1 && read->sandboxes.size() == 1);
  EXPECT_EQ(read->pod, Sandbox(pod).pod);
  EXPECT_EQ(read->sandboxes[0].state, sync::SandboxState::kReady);
  EXPECT_THAT(read->sandboxes[0].ips, Not(IsEmpty()));  // of the ptp network
  EXPECT_EQ(read->containers[0].state, sync::ContainerState::kRunning);
  EXPECT_EQ(read->containers[0].sandbox, *sandbox);
  EXPECT_EQ(read->containers[0].hash, 0x8e45cbd0u);
  EXPECT_TRUE(read->containers[0].started);

  const auto exec = [&](std::vector<std::string> command, Duration timeout) {
    return Wait<sync::ExecResult>(
        [&](auto done) { runtime().Exec({}, *container, command, timeout, std::move(done)); });
  };
  const auto addresses = exec({"/bin/ip", "addr"}, Seconds(15));
  ASSERT_TRUE(addresses) << addresses.error().message();
  EXPECT_EQ(addresses->exit_code, 0);
  EXPECT_THAT(addresses->output, HasSubstr("inet 127.0.0.1"));  // the loopback plugin
  EXPECT_THAT(addresses->output, HasSubstr("inet " + read->sandboxes[0].ips[0]));
  EXPECT_EQ(exec({"/bin/sh", "-c", "exit 7"}, Seconds(15))->exit_code, 7);
  const auto late = exec({"/bin/sleep", "30"}, Seconds(1));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), ErrorCode::kDeadlineExceeded) << late.error().message();

  const auto stats = Wait<std::vector<sync::ContainerStats>>(
      [&](auto done) { runtime().ListStats({}, *sandbox, std::move(done)); });
  ASSERT_TRUE(stats) << stats.error().message();
  EXPECT_EQ(stats->size(), 1u);

  if (HasEvents()) {
    ASSERT_TRUE(RunUntil([&] { return listener_.hints.contains(pod) || listener_.lost > 0; }));
    listener_.hints.clear();
    listener_.lost = 0;
  }
  const auto stopped = Wait<Unit>(
      [&](auto done) { runtime().StopContainer({}, *container, Seconds(1), std::move(done)); });
  ASSERT_TRUE(stopped) << stopped.error().message();
  if (HasEvents()) {
    ASSERT_TRUE(RunUntil([&] { return listener_.hints.contains(pod); }));
  }
  read = Read(pod);
  ASSERT_TRUE(read && read->containers.size() == 1);
  EXPECT_EQ(read->containers[0].state, sync::ContainerState::kExited);
  EXPECT_EQ(read->containers[0].exit_code, 137);

  EXPECT_TRUE(Wait<Unit>([&](auto done) { runtime().StopSandbox({}, *sandbox, std::move(done)); }));
  EXPECT_TRUE(
      Wait<Unit>([&](auto done) { runtime().RemoveContainer({}, *container, std::move(done)); }));
  EXPECT_TRUE(
      Wait<Unit>([&](auto done) { runtime().RemoveSandbox({}, *sandbox, std::move(done)); }));
  EXPECT_TRUE(
      Wait<Unit>([&](auto done) { runtime().RemoveSandbox({}, *sandbox, std::move(done)); }));
  read = Read(pod);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->empty());
}

TEST_P(ContainerdTest, IsRestartedWhileItStreams) {
  if (!HasEvents()) {
    StartStream();
    ASSERT_TRUE(RunUntil([&] { return listener_.state == EventStreamState::kUnsupported; }));
    return;
  }
  const int restarts = Env("DENSELET_LONG").empty() ? 5 : 20;
  const std::string pod = "restart-" + std::string(reactor::BackendName(GetParam()));
  std::filesystem::create_directories(Sandbox(pod).log_directory);
  const auto sandbox =
      Wait<SandboxId>([&](auto done) { runtime().RunSandbox({}, Sandbox(pod), std::move(done)); });
  ASSERT_TRUE(sandbox) << sandbox.error().message();
  StartStream();
  ASSERT_TRUE(RunUntil([&] { return listener_.state == EventStreamState::kEstablished; }));
  size_t descriptors = 0, bytes = 0;
  for (int i = 0; i < restarts; ++i) {
    const auto container = StartSleeper(*sandbox, pod, static_cast<uint32_t>(i));
    ASSERT_TRUE(container) << container.error().message();
    ASSERT_EQ(std::system(i % 2 == 0 ? "containerd.sh restart"
                                     : "containerd.sh kill && containerd.sh start"),
              0);
    const TimePoint ready = clock_.Now();
    // The loop stood still meanwhile: what it hears first is the end of the old stream.
    ASSERT_TRUE(RunUntil([&] { return stream_->snapshot().established == uint64_t(i) + 2; }));
    EXPECT_LT(clock_.Now() - ready, Seconds(2)) << "restart " << i;
    ASSERT_TRUE(RunUntil([&] { return listener_.state == EventStreamState::kEstablished; }));
    // And it is the real thing. What comes first may concern all, where nothing had proved before
    // that the stream is served; what comes next names its pod.
    listener_.hints.clear();
    listener_.lost = 0;
    ASSERT_TRUE(Wait<Unit>(
        [&](auto done) { runtime().StopContainer({}, *container, {}, std::move(done)); }));
    ASSERT_TRUE(RunUntil([&] { return listener_.hints.contains(pod) || listener_.lost > 0; }));
    EXPECT_LT(clock_.Now() - ready, Seconds(2)) << "event after restart " << i;
    listener_.hints.clear();
    ASSERT_TRUE(
        Wait<Unit>([&](auto done) { runtime().RemoveContainer({}, *container, std::move(done)); }));
    ASSERT_TRUE(RunUntil([&] { return listener_.hints.contains(pod); })) << "restart " << i;
    ASSERT_TRUE(RunUntil([&] { return cri_->under_way() == 1; }));  // the stream
    EXPECT_EQ(connection_->runtime().calls_held(), 1u);
    if (i == 1) {  // both ways to go down were taken once
      descriptors = reactor::OpenDescriptors();
      bytes = reactor::BytesInUse();
    }
  }
  EXPECT_LE(reactor::OpenDescriptors(), descriptors);
  EXPECT_LE(reactor::BytesInUse(), bytes + kKeptBytesMax);
  EXPECT_TRUE(Wait<Unit>([&](auto done) { runtime().StopSandbox({}, *sandbox, std::move(done)); }));
  EXPECT_TRUE(
      Wait<Unit>([&](auto done) { runtime().RemoveSandbox({}, *sandbox, std::move(done)); }));
}

}  // namespace
}  // namespace denselet::cri
