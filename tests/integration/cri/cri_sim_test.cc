// The client against the simulated runtime (bench/cri_sim), in this process, with the faults that
// it can do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bench/cri_sim/host.h"
#include "cri/event_stream.h"
#include "tests/integration/cri/cri_fixture.h"

namespace denselet::cri {
namespace {

using sync::EventStreamState;
using testing::HasSubstr;

struct Listener final : sync::RuntimeEventsUser {
  std::set<std::string> hints;
  int lost = 0;
  EventStreamState state = EventStreamState::kConnecting;
  void OnPodHint(const PodUid& pod) override { hints.insert(pod.value()); }
  void OnHintsLost() override { ++lost; }
  void OnStreamState(EventStreamState now) override { state = now; }
};

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class CriSimTest : public CriTest {
 protected:
  ~CriSimTest() override {
    stream_.reset();
    if (hints_ != nullptr) hints_->Close();
    hints_.reset();
    cri_.reset();
    host_.reset();  // before the connection: calls that hang end
  }

  void StartBoth(Duration request_timeout = Minutes(2)) {
    server_.reset();
    cri_sim::HostOptions options;
    options.socket = folder_ + "/s";
    options.control_socket = folder_ + "/c";
    options.identity.image_folder = folder_;
    options.print_violations = false;
    options.settings.images_present = true;
    auto started = cri_sim::Host::Start(std::move(options));
    ASSERT_TRUE(started) << started.error().message();
    host_ = *std::move(started);
    Connect(request_timeout);
  }
  void Set(const std::string& settings) {
    EXPECT_THAT(host_->Run(R"({"do":"set","settings":)" + settings + "}"),
                HasSubstr("\"ok\":true"));
  }
  void StartStream() {
    hints_ = PodHints::Make(shard_, listener_, cri_->metrics());
    stream_ = std::make_unique<EventStream>(shard_, cri_->runtime_client(), runtime(), random_,
                                            log(), cri_->metrics(),
                                            std::vector<std::shared_ptr<PodHints>>{hints_});
    stream_->Start();
  }
  sync::SandboxSpec Sandbox(const std::string& pod, uint32_t attempt) {
    sync::SandboxSpec spec = SandboxOf(pod, attempt);
    spec.log_directory = folder_ + "/" + pod;
    return spec;
  }
  sync::ContainerSpec Container(const std::string& pod, const std::string& name, uint32_t attempt) {
    sync::ContainerSpec spec = ContainerOf(pod, name, attempt);
    spec.image = "busybox";
    spec.log_path = name + "/" + std::to_string(attempt) + ".log";
    return spec;
  }
  // What we list, read and what is there are the same.
  void ExpectAgreement() {
    const auto list = List();
    ASSERT_TRUE(list) << list.error().message();
    const std::string pods = host_->Run(R"({"do":"pods"})");
    size_t containers = 0, sandboxes = 0;
    for (const sync::ListedPod& listed : list->pods) {
      const auto read = Read(listed.pod.uid.value());
      ASSERT_TRUE(read) << read.error().message();
      ASSERT_EQ(read->containers.size(), listed.containers.size());
      for (size_t i = 0; i < listed.containers.size(); ++i) {
        EXPECT_EQ(read->containers[i].id, listed.containers[i].id);
        EXPECT_EQ(read->containers[i].state, listed.containers[i].state);
        EXPECT_THAT(pods, HasSubstr(listed.containers[i].id.value()));
      }
      sandboxes += listed.sandboxes.size();
      containers += listed.containers.size();
    }
    EXPECT_EQ(Count(pods, "\"exitCode\""), containers);
    EXPECT_EQ(Count(pods, "\"healthy\""), sandboxes);
  }

  std::unique_ptr<cri_sim::Host> host_;
  Listener listener_;
  std::shared_ptr<PodHints> hints_;
  std::unique_ptr<EventStream> stream_;
};
INSTANTIATE_LOOP_TEST(CriSimTest);

TEST_P(CriSimTest, APodsLifeBreaksNoRuleOfTheProtocol) {
  StartBoth();
  const sync::SandboxSpec spec = Sandbox("p1", 0);
  const auto sandbox = Run(spec);
  ASSERT_TRUE(sandbox) << sandbox.error().message();
  const auto container = Create(*sandbox, Container("p1", "app", 0), spec);
  ASSERT_TRUE(container) << container.error().message();
  ASSERT_TRUE(StartContainer(*container));
  ExpectAgreement();
  ASSERT_TRUE(Wait<Unit>(
      [&](auto done) { runtime().StopContainer({}, *container, Seconds(2), std::move(done)); }));
  ASSERT_TRUE(Wait<Unit>([&](auto done) { runtime().StopSandbox({}, *sandbox, std::move(done)); }));
  ASSERT_TRUE(
      Wait<Unit>([&](auto done) { runtime().RemoveContainer({}, *container, std::move(done)); }));
  ASSERT_TRUE(
      Wait<Unit>([&](auto done) { runtime().RemoveSandbox({}, *sandbox, std::move(done)); }));
  EXPECT_THAT(host_->Run(R"({"do":"violations"})"), HasSubstr("\"total\":0"));
}

TEST_P(CriSimTest, AThousandPodsAreTheSameInAnyOrderAndInAnyParts) {
  StartBoth();
  EXPECT_THAT(host_->Run(R"({"do":"populate","pods":1000,"containers":2})"),
              HasSubstr("\"ok\":true"));
  const auto streamed = List();
  ASSERT_TRUE(streamed) << streamed.error().message();
  EXPECT_EQ(streamed->pods.size(), 1000u);
  EXPECT_EQ(streamed->pods[500].containers.size(), 2u);
  Set(R"({"randomOrder":true,"streamingLists":false})");
  const auto plain = List();
  ASSERT_TRUE(plain) << plain.error().message();
  EXPECT_TRUE(streamed->pods == plain->pods);
}

TEST_P(CriSimTest, AnyFaultsLeaveBothSidesAgreeing) {
  StartBoth(Milliseconds(200));
  Set(R"({"methods":{"*":{"latency":"uniform 0ms 3ms",
          "error":{"code":"UNAVAILABLE","message":"no","probability":0.1,"side":"after"},
          "hang":{"probability":0.05,"side":"before"}}},"randomOrder":true})");
  SeededRandom choices(31);
  struct Made {
    std::string pod;
    SandboxId id;
  };
  std::vector<Made> sandboxes = {{"p0", SandboxId("none")}};
  std::vector<ContainerId> containers = {ContainerId("none")};
  for (uint32_t i = 0; i < 100; ++i) {
    const std::string pod = "p" + std::to_string(choices.Below(4));
    const auto& [owner, sandbox] = sandboxes[choices.Below(sandboxes.size())];
    const ContainerId container = containers[choices.Below(containers.size())];
    switch (choices.Below(6)) {
      case 0:
        if (auto made = Run(Sandbox(pod, i))) sandboxes.push_back({pod, *made});
        break;
      case 1:
        if (auto made = Create(sandbox, Container(owner, "app", i), Sandbox(owner, 0))) {
          containers.push_back(*made);
        }
        break;
      case 2:
        (void)StartContainer(container);
        break;
      case 3:
        (void)Wait<Unit>([&](auto done) { runtime().StopSandbox({}, sandbox, std::move(done)); });
        break;
      case 4:
        if (choices.Below(10) == 0) {
          EXPECT_THAT(host_->Run(R"({"do":"crash","downtime":"20ms","keepState":true})"),
                      HasSubstr("\"ok\":true"));
        }
        break;
      default:
        (void)Read(pod);
    }
  }
  Set(R"({"methods":{"*":{}}})");
  host_->Run(R"({"do":"release"})");
  // The breaker of a runtime that was away opens by itself.
  ASSERT_TRUE(RunUntil([&] {
    return static_cast<bool>(
        Wait<sync::RuntimeVersion>([&](auto done) { runtime().Version({}, std::move(done)); }));
  }));
  ExpectAgreement();
  EXPECT_EQ(cri_->under_way(), 0u);
}

TEST_P(CriSimTest, EventsAreBackAfterACrash) {
  StartBoth();
  StartStream();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(RunUntil([&] { return listener_.state == EventStreamState::kEstablished; }));
    listener_.hints.clear();
    listener_.lost = 0;
    const std::string pod = "p" + std::to_string(i);
    ASSERT_TRUE(Run(Sandbox(pod, 0)));
    ASSERT_TRUE(RunUntil([&] { return listener_.hints.contains(pod) || listener_.lost > 0; }));
    const uint64_t established = stream_->snapshot().established;
    EXPECT_THAT(host_->Run(R"({"do":"crash","downtime":"50ms","keepState":true})"),
                HasSubstr("\"ok\":true"));
    ASSERT_TRUE(RunUntil([&] { return stream_->snapshot().established > established; }));
  }
  EXPECT_EQ(connection_->runtime().calls_held(), 1u);
}

TEST_P(CriSimTest, ARuntimeWithoutEventsIsFoundOut) {
  StartBoth();
  Set(R"({"events":{"enabled":false}})");
  StartStream();
  ASSERT_TRUE(RunUntil([&] { return listener_.state == EventStreamState::kUnsupported; }));
}

}  // namespace
}  // namespace denselet::cri
