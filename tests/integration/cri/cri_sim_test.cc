// The client against the simulated runtime (bench/cri_sim), in this process, with the faults that
// it can do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <vector>

#include "tests/integration/cri/cri_sim_fixture.h"
#include "tests/integration/resources.h"

namespace denselet::cri {
namespace {

using sync::EventStreamState;
using testing::HasSubstr;

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

// What a thousand pods of two containers take of the agent, as they are listed and as they are
// read.
TEST_P(CriSimTest, AThousandPodsFitIntoAFewMegabytes) {
  StartBoth();
  EXPECT_THAT(host_->Run(R"({"do":"populate","pods":1000,"containers":2})"),
              HasSubstr("\"ok\":true"));
  ASSERT_TRUE(List());  // what client and server keep of a first call
  const auto in_use = [] { return static_cast<int64_t>(reactor::BytesInUse()); };
  const int64_t before = in_use();
  const auto list = List();
  ASSERT_TRUE(list) << list.error().message();
  ASSERT_EQ(list->pods.size(), 1000u);
  const int64_t listed = in_use();
  std::vector<sync::ObservedPod> pods;
  for (size_t i = 0; i < 250; ++i) {  // a quarter: each is a look through all in the runtime
    auto read = Read(list->pods[i].pod.uid.value());
    ASSERT_TRUE(read) << read.error().message();
    pods.push_back(*std::move(read));
  }
  const int64_t read = in_use();
  if (before == 0) GTEST_SKIP() << "malloc does not count under a sanitizer";
  EXPECT_LT(listed - before, 2 << 20);
  EXPECT_LT(4 * (read - listed), 4 << 20);
}

// One story of calls, and faults of every kind that the simulated runtime has.
class CriSimFaultsTest : public CriSimTest {
 protected:
  struct Made {
    std::string pod;
    SandboxId id;
  };

  // Which code, on which side of the effect; the same for hanging.
  void SetFaults(SeededRandom& random) {
    static constexpr const char* kCodes[] = {"UNAVAILABLE",        "UNKNOWN", "INTERNAL",
                                             "RESOURCE_EXHAUSTED", "ABORTED", "DEADLINE_EXCEEDED",
                                             "FAILED_PRECONDITION"};
    const auto side = [&random] { return random.Below(2) == 0 ? "before" : "after"; };
    Set(std::string(R"({"methods":{"*":{"latency":"uniform 0ms 3ms","error":{"code":")") +
        kCodes[random.Below(std::size(kCodes))] + R"(","message":"no","probability":0.1,"side":")" +
        side() + R"("},"hang":{"probability":0.03,"side":")" + side() +
        R"("}}},"randomOrder":true})");
  }
  void Step(SeededRandom& choices, uint32_t step) {
    const std::string pod = "p" + std::to_string(choices.Below(4));
    const auto [owner, sandbox] = sandboxes_[choices.Below(sandboxes_.size())];
    const ContainerId container = containers_[choices.Below(containers_.size())];
    switch (choices.Below(8)) {
      case 0:
        if (auto made = Run(Sandbox(pod, step))) sandboxes_.push_back({pod, *made});
        break;
      case 1:
        if (auto made = Create(sandbox, Container(owner, "app", step), Sandbox(owner, 0))) {
          containers_.push_back(*made);
        }
        break;
      case 2:
        (void)StartContainer(container);
        break;
      case 3:
        (void)Wait<Unit>([&](auto done) { runtime().StopSandbox({}, sandbox, std::move(done)); });
        break;
      case 4:
        if (choices.Below(10) != 0) break;
        EXPECT_THAT(host_->Run(R"({"do":"crash","downtime":"20ms","keepState":true})"),
                    HasSubstr("\"ok\":true"));
        break;
      case 5:
        (void)Wait<Unit>(
            [&](auto done) { runtime().RemoveContainer({}, container, std::move(done)); });
        break;
      case 6:
        (void)Wait<Unit>(
            [&](auto done) { runtime().StopContainer({}, container, {}, std::move(done)); });
        break;
      default:
        (void)Read(pod);
    }
  }

  std::vector<Made> sandboxes_ = {{"p0", SandboxId("none")}};
  std::vector<ContainerId> containers_ = {ContainerId("none")};
};
INSTANTIATE_LOOP_TEST(CriSimFaultsTest);

TEST_P(CriSimFaultsTest, AnyFaultsLeaveBothSidesAgreeing) {
  StartBoth(Milliseconds(200));
  const uint64_t seeds = std::getenv("DENSELET_LONG") == nullptr ? 4 : 40;
  uint32_t step = 0;
  for (uint64_t seed = 31; seed < 31 + seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SeededRandom choices(seed);
    for (int round = 0; round < 3; ++round) {
      SetFaults(choices);
      for (int i = 0; i < 20; ++i) Step(choices, ++step);
    }
    Set(R"({"methods":{"*":{}}})");
    host_->Run(R"({"do":"release"})");
    // The breaker of a runtime that was away closes by itself.
    ASSERT_TRUE(RunUntil([&] {
      return static_cast<bool>(
          Wait<sync::RuntimeVersion>([&](auto done) { runtime().Version({}, std::move(done)); }));
    }));
    ExpectAgreement();
    // A read that was given up at its first error leaves its other calls to their deadlines.
    EXPECT_TRUE(RunUntil([&] { return cri_->under_way() == 0; }));
    ASSERT_FALSE(HasFailure());
  }
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
