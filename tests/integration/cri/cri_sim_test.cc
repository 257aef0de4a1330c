// The client against the simulated runtime (bench/cri_sim), in this process, with the faults that
// it can do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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
  void OnPodHint(const sync::PodHint& hint) override { hints.insert(hint.pod.value()); }
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
    options.message_bytes_max = 64 << 20;  // more than a client takes
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

TEST_P(CriSimTest, ARuntimeThatLostItsStateIsSeenEmpty) {
  StartBoth();
  StartStream();
  ASSERT_TRUE(RunUntil([&] { return listener_.state == EventStreamState::kEstablished; }));
  const sync::SandboxSpec spec = Sandbox("p1", 0);
  const auto sandbox = Run(spec);
  ASSERT_TRUE(sandbox);
  ASSERT_TRUE(Create(*sandbox, Container("p1", "app", 0), spec));
  EXPECT_THAT(host_->Run(R"({"do":"crash","downtime":"10ms","keepState":false})"),
              HasSubstr("\"ok\":true"));
  ASSERT_TRUE(RunUntil([&] { return stream_->snapshot().established == 2; }));
  const auto list = List();
  ASSERT_TRUE(list) << list.error().message();
  EXPECT_TRUE(list->pods.empty());
  const auto pod = Read("p1");
  ASSERT_TRUE(pod) << pod.error().message();
  EXPECT_TRUE(pod->empty());
  EXPECT_EQ(StartContainer(ContainerId("none")).error().code(), ErrorCode::kNotFound);
  // And it takes new ones.
  ASSERT_TRUE(Run(Sandbox("p1", 1)));
  ExpectAgreement();
}

// Events are hints: whichever are lost, late, doubled or swapped, a read tells what is.
TEST_P(CriSimTest, BadEventsAreHintsAllTheSame) {
  StartBoth();
  StartStream();
  ASSERT_TRUE(RunUntil([&] { return listener_.state == EventStreamState::kEstablished; }));
  Set(R"({"events":{"lose":0.2,"duplicate":0.3,"reorder":0.3,"late":0.3,
          "lateness":"uniform 1ms 20ms"}})");
  for (int i = 0; i < 20; ++i) {
    const std::string pod = "p" + std::to_string(i);
    const sync::SandboxSpec spec = Sandbox(pod, 0);
    const auto sandbox = Run(spec);
    ASSERT_TRUE(sandbox);
    const auto container = Create(*sandbox, Container(pod, "app", 0), spec);
    ASSERT_TRUE(container);
    ASSERT_TRUE(StartContainer(*container));
  }
  // What was held back comes out behind these.
  Set(R"({"events":{"lose":0,"duplicate":0,"reorder":0,"late":0}})");
  ASSERT_TRUE(Run(Sandbox("last", 0)));
  ASSERT_TRUE(RunUntil([&] { return listener_.hints.contains("last"); }));
  EXPECT_GT(listener_.hints.size(), 10u);
  for (const std::string& pod : listener_.hints) {
    const auto read = Read(pod);
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->sandboxes.size(), 1u) << pod;
    if (pod == "last") continue;
    ASSERT_EQ(read->containers.size(), 1u) << pod;
    EXPECT_EQ(read->containers[0].state, sync::ContainerState::kRunning) << pod;
  }
  ExpectAgreement();
}

TEST_P(CriSimTest, ACrashLoopIsSeenAttemptByAttempt) {
  StartBoth();
  StartStream();
  ASSERT_TRUE(RunUntil([&] { return listener_.state == EventStreamState::kEstablished; }));
  const sync::SandboxSpec spec = Sandbox("p1", 0);
  const auto sandbox = Run(spec);
  ASSERT_TRUE(sandbox);
  for (uint32_t attempt = 0; attempt < 5; ++attempt) {
    sync::ContainerSpec looping = Container("p1", "app", attempt);
    looping.command = {"sh", "-c", "exit " + std::to_string(attempt + 1)};
    const auto container = Create(*sandbox, looping, spec);
    ASSERT_TRUE(container) << container.error().message();
    ASSERT_TRUE(StartContainer(*container));
    std::optional<sync::ObservedContainer> newest;
    ASSERT_TRUE(RunUntil([&] {
      const auto read = Read("p1");
      if (!read || read->containers.size() != attempt + 1) return false;
      newest = read->containers[0];  // the highest attempt comes first
      return newest->state == sync::ContainerState::kExited;
    }));
    EXPECT_EQ(newest->attempt, attempt);
    EXPECT_EQ(newest->exit_code, static_cast<int32_t>(attempt) + 1);
  }
  ASSERT_TRUE(RunUntil([&] { return listener_.hints.contains("p1"); }));
  ExpectAgreement();
}

TEST_P(CriSimTest, APullTakesItsTimeAndCanBeGivenUp) {
  StartBoth(Milliseconds(100));
  Set(R"({"images":{"present":false,"size":1000000,"bandwidth":4000000}})");
  CriImages& images = cri_->images();
  const auto pull = [&](const std::string& image, const Context& context) {
    return Wait<std::string>([&](auto done) {
      images.Pull(context, {.image = image}, {}, Sandbox("p1", 0), std::move(done));
    });
  };
  // A quarter of a second: longer than any other call may take.
  const TimePoint begun = clock_.Now();
  const auto pulled = pull("app:1", {});
  ASSERT_TRUE(pulled) << pulled.error().message();
  EXPECT_GE(clock_.Now() - begun, Milliseconds(200));
  Set(R"({"images":{"bandwidth":1000}})");
  const auto given_up = pull("app:2", Context{}.WithTimeout(loop().Now(), Milliseconds(100)));
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().code(), ErrorCode::kDeadlineExceeded);
  ASSERT_TRUE(RunUntil([&] { return connection_->images().calls_held() == 0; }));
  const auto found = Wait<std::optional<sync::ObservedImage>>(
      [&](auto done) { images.Find({}, {.image = "app:2"}, std::move(done)); });
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(*found, std::nullopt);
}

TEST_P(CriSimTest, StatisticsAndMetricsOfPodsAreTheSameInBothForms) {
  StartBoth();
  EXPECT_THAT(host_->Run(R"({"do":"populate","pods":600,"containers":2})"),
              HasSubstr("\"ok\":true"));
  const auto stats = [&](const std::optional<SandboxId>& only = {}) {
    return Wait<std::vector<sync::PodStats>>(
        [&](auto done) { runtime().ListPodStats({}, only, std::move(done)); });
  };
  const auto metrics = [&] {
    return Wait<std::vector<sync::PodMetrics>>(
        [&](auto done) { runtime().ListPodMetrics({}, std::move(done)); });
  };
  const auto streamed = stats();
  const auto streamed_metrics = metrics();
  ASSERT_TRUE(streamed && streamed_metrics);
  ASSERT_EQ(streamed->size(), 600u);
  ASSERT_EQ(streamed_metrics->size(), 600u);
  EXPECT_EQ((*streamed)[7].containers.size(), 2u);
  EXPECT_EQ((*streamed)[7].processes, 3u);
  EXPECT_EQ((*streamed)[7].network->primary->name, "eth0");
  ASSERT_EQ((*streamed_metrics)[7].containers.size(), 2u);
  const auto one = stats((*streamed)[7].id);
  ASSERT_TRUE(one);
  ASSERT_EQ(one->size(), 1u);
  EXPECT_EQ((*one)[0].pod, (*streamed)[7].pod);

  Set(R"({"randomOrder":true,"streamingLists":false})");
  const auto plain = stats();
  ASSERT_TRUE(plain) << plain.error().message();
  const auto same_pod = [](const auto& a, const auto& b) { return a.pod == b.pod; };
  EXPECT_TRUE(std::ranges::equal(*plain, *streamed, same_pod));
  ASSERT_TRUE(metrics());
  const auto descriptors = Wait<std::vector<sync::MetricDescriptor>>(
      [&](auto done) { runtime().ListMetricDescriptors({}, std::move(done)); });
  ASSERT_TRUE(descriptors);
  ASSERT_EQ(descriptors->size(), 2u);
  EXPECT_EQ((*descriptors)[0].label_keys.size(), 1u);
}

TEST_P(CriSimTest, StatisticsThatHangDoNotHoldUpTheList) {
  StartBoth();
  ASSERT_TRUE(Run(Sandbox("p1", 0)));
  Set(R"({"methods":{"StreamContainerStats":{"hang":{"probability":1,"side":"before"}}}})");
  for (int i = 0; i < 8; ++i) {
    runtime().ListStats({}, std::nullopt, [](Result<std::vector<sync::ContainerStats>>) {});
  }
  const auto list = Wait<sync::RuntimeList>([&](auto done) {
    runtime().ListAll(Context{}.WithTimeout(loop().Now(), Patiently(Seconds(5))), std::move(done));
  });
  ASSERT_TRUE(list) << list.error().message();
  EXPECT_EQ(list->pods.size(), 1u);
}

// A list that does not fit into one message: in parts it does.
TEST_P(CriSimTest, AListBeyondTheMessageLimitComesInParts) {
  StartBoth();
  EXPECT_THAT(host_->Run(R"({"do":"populate","pods":10000,"containers":2})"),
              HasSubstr("\"ok\":true"));
  const auto list = List();
  ASSERT_TRUE(list) << list.error().message();
  EXPECT_EQ(list->pods.size(), 10'000u);
  Set(R"({"streamingLists":false})");
  const auto plain = List();
  ASSERT_FALSE(plain);
  EXPECT_EQ(plain.error().code(), ErrorCode::kOverloaded) << plain.error().message();
}

TEST_P(CriSimTest, ARuntimeWithoutEventsIsFoundOut) {
  StartBoth();
  Set(R"({"events":{"enabled":false}})");
  StartStream();
  ASSERT_TRUE(RunUntil([&] { return listener_.state == EventStreamState::kUnsupported; }));
}

}  // namespace
}  // namespace denselet::cri
