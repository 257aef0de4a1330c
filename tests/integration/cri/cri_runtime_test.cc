#include "cri/cri_runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cri/start_check.h"
#include "tests/integration/cri/cri_fixture.h"

namespace denselet::cri {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CriRuntimeTest : public CriTest {};
INSTANTIATE_LOOP_TEST(CriRuntimeTest);

grpc::Status Unknown() { return {grpc::StatusCode::UNKNOWN, "failed to create shim"}; }

TEST_P(CriRuntimeTest, APodIsMadeAndReadBack) {
  Connect();
  const sync::SandboxSpec spec = SandboxOf("p1", 2);
  const auto sandbox = Run(spec);
  ASSERT_TRUE(sandbox) << sandbox.error().message();
  const auto first = Create(*sandbox, ContainerOf("p1", "app", 0), spec);
  const auto second = Create(*sandbox, ContainerOf("p1", "app", 1), spec);
  ASSERT_TRUE(first && second);
  ASSERT_TRUE(StartContainer(*second));
  const auto other = Run(SandboxOf("p2"));
  ASSERT_TRUE(other);

  const auto pod = Read("p1");
  ASSERT_TRUE(pod) << pod.error().message();
  EXPECT_EQ(pod->pod, spec.pod);
  ASSERT_EQ(pod->sandboxes.size(), 1u);
  EXPECT_EQ(pod->sandboxes[0].id, *sandbox);
  EXPECT_EQ(pod->sandboxes[0].attempt, 2u);
  EXPECT_THAT(pod->sandboxes[0].ips, ElementsAre("10.0.0.1"));
  ASSERT_EQ(pod->containers.size(), 2u);
  EXPECT_EQ(pod->containers[0].id, *second);
  EXPECT_EQ(pod->containers[0].sandbox, *sandbox);
  EXPECT_EQ(pod->containers[0].state, sync::ContainerState::kRunning);
  EXPECT_EQ(pod->containers[1].state, sync::ContainerState::kCreated);

  // Whoever knows its sandbox gets the same for one question.
  for (const SandboxId& known : {SandboxId(), *sandbox}) {
    const auto one = Wait<sync::ObservedContainer>(
        [&](auto done) { runtime().ReadContainer({}, *second, known, std::move(done)); });
    ASSERT_TRUE(one);
    EXPECT_TRUE(*one == pod->containers[0]);
  }

  const auto read = [&](const SandboxId& id) {
    return Wait<sync::ObservedSandbox>(
        [&](auto done) { runtime().ReadSandbox({}, id, std::move(done)); });
  };
  EXPECT_TRUE(*read(*sandbox) == pod->sandboxes[0]);
  EXPECT_EQ(read(SandboxId("s99")).error().code(), ErrorCode::kNotFound);

  const auto list = List();
  ASSERT_TRUE(list);
  ASSERT_EQ(list->pods.size(), 2u);
  EXPECT_EQ(list->pods[0].pod.uid, PodUid("p1"));
  EXPECT_EQ(list->pods[0].containers.size(), 2u);
  EXPECT_EQ(list->pods[1].pod.uid, PodUid("p2"));
}

TEST_P(CriRuntimeTest, APodThatTheRuntimeDoesNotKnowIsEmpty) {
  Connect();
  const auto pod = Read("nobody");
  ASSERT_TRUE(pod);
  EXPECT_TRUE(pod->empty());
  const auto container = Wait<sync::ObservedContainer>(
      [&](auto done) { runtime().ReadContainer({}, ContainerId("c9"), {}, std::move(done)); });
  EXPECT_EQ(container.error().code(), ErrorCode::kNotFound);
}

TEST_P(CriRuntimeTest, WhatGoesAwayDuringAReadIsLeftOut) {
  Connect();
  const sync::SandboxSpec spec = SandboxOf("p1");
  const auto sandbox = Run(spec);
  ASSERT_TRUE(Create(*sandbox, ContainerOf("p1", "a"), spec));
  ASSERT_TRUE(Create(*sandbox, ContainerOf("p1", "b"), spec));
  int asked = 0;
  server_->SetFaults([&asked](const std::string& method) {
    const bool first = method == "ContainerStatus" && asked++ == 0;
    return first ? Fault{Fault::Kind::kRefuse, {grpc::StatusCode::NOT_FOUND, "gone"}} : Fault{};
  });
  const auto pod = Read("p1");
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->containers.size(), 1u);

  server_->SetFaults(Always("ContainerStatus", {Fault::Kind::kRefuse, Unknown()}));
  const auto failed = Read("p1");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), ErrorCode::kIo);  // nothing to be unknown about a read
  EXPECT_EQ(failed.error().message(), "rpc error: code = Unknown desc = failed to create shim");
}

TEST_P(CriRuntimeTest, ManyContainersAreAskedForAFewAtATime) {
  Connect();
  const sync::SandboxSpec spec = SandboxOf("p1");
  const auto sandbox = Run(spec);
  for (int i = 0; i < 80; ++i) {
    ASSERT_TRUE(Create(*sandbox, ContainerOf("p1", "c" + std::to_string(i)), spec));
  }
  const auto pod = Read("p1");
  ASSERT_TRUE(pod) << pod.error().message();
  EXPECT_EQ(pod->containers.size(), 80u);
}

TEST_P(CriRuntimeTest, WhatCannotBeReadIsCountedWithEachListAndToldOnce) {
  Connect();
  const sync::SandboxSpec spec = SandboxOf("p1");
  const auto sandbox = Run(spec);
  ASSERT_TRUE(Create(*sandbox, ContainerOf("p1", ""), spec));  // a container without a name
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(List());
  EXPECT_EQ(cri_->metrics().Counter(CriMetric::kUnreadable).value(), 20u);
  EXPECT_EQ(std::ranges::count_if(sink_.lines(),
                                  [](const auto& line) {
                                    return line.text.find("not be read") != std::string::npos;
                                  }),
            1);
}

TEST_P(CriRuntimeTest, ListsComeInPartsWhereTheRuntimeCan) {
  Connect();
  ASSERT_TRUE(Run(SandboxOf("p1")));
  ASSERT_TRUE(List());
  EXPECT_EQ(server_->calls("StreamPodSandboxes"), 1);
  EXPECT_EQ(server_->calls("StreamContainers"), 1);
  EXPECT_EQ(server_->calls("ListPodSandbox"), 0);
}

TEST_P(CriRuntimeTest, ARuntimeThatCannotStreamListsIsAskedOnce) {
  server_->SetListStreams(false);
  Connect();
  ASSERT_TRUE(Run(SandboxOf("p1")));
  for (int i = 0; i < 3; ++i) {
    const auto list = List();
    ASSERT_TRUE(list) << list.error().message();
    EXPECT_EQ(list->pods.size(), 1u);
  }
  EXPECT_EQ(server_->calls("StreamPodSandboxes"), 1);
  EXPECT_EQ(server_->calls("StreamContainers"), 1);
  EXPECT_EQ(server_->calls("ListPodSandbox"), 3);
  EXPECT_EQ(server_->calls("ListContainers"), 3);
}

TEST_P(CriRuntimeTest, ARuntimeThatLearnsToStreamListsIsFoundOut) {
  server_->SetListStreams(false);
  Connect({.runtime_endpoint = folder_ + "/s", .stream_retry_pause = Milliseconds(50)});
  ASSERT_TRUE(List());
  ASSERT_EQ(server_->calls("ListContainers"), 1);
  server_->SetListStreams(true);
  ASSERT_TRUE(RunUntil([&] {
    const int plain = server_->calls("ListContainers");
    return static_cast<bool>(List()) && server_->calls("ListContainers") == plain;
  }));
  EXPECT_EQ(server_->calls("StreamContainers"), 2);
}

TEST_P(CriRuntimeTest, WhatAStreamSentBeforeItTurnedOutToBeNoneIsNotCountedTwice) {
  Connect();
  const sync::SandboxSpec spec = SandboxOf("p1");
  const auto sandbox = Run(spec);
  ASSERT_TRUE(Create(*sandbox, ContainerOf("p1", "app"), spec));
  ASSERT_TRUE(Create(*sandbox, ContainerOf("p1", ""), spec));  // a container without a name
  const auto pulled = Wait<std::string>(
      [&](auto done) { cri_->images().Pull({}, {.image = "app"}, {}, spec, std::move(done)); });
  ASSERT_TRUE(pulled) << pulled.error().message();
  server_->SetFaults([](const std::string& method) {
    const grpc::Status unknown(grpc::StatusCode::UNIMPLEMENTED, "unknown");
    return method.starts_with("Stream") ? Fault{Fault::Kind::kLose, unknown} : Fault{};
  });
  const auto list = List();
  ASSERT_TRUE(list) << list.error().message();
  ASSERT_EQ(list->pods.size(), 1u);
  EXPECT_EQ(list->pods[0].sandboxes.size(), 1u);
  EXPECT_EQ(list->pods[0].containers.size(), 1u);
  EXPECT_EQ(cri_->metrics().Counter(CriMetric::kUnreadable).value(), 1u);
  const auto images = Wait<std::vector<sync::ObservedImage>>(
      [&](auto done) { cri_->images().List({}, std::move(done)); });
  ASSERT_TRUE(images) << images.error().message();
  EXPECT_EQ(images->size(), 1u);
  EXPECT_EQ(server_->calls("StreamImages"), 1);
  EXPECT_EQ(server_->calls("ListImages"), 1);
}

TEST_P(CriRuntimeTest, AListWhosePartsAreTooLargeTogetherIsAnErrorAsInOnePiece) {
  Connect({.runtime_endpoint = folder_ + "/s", .list_bytes_max = 1000});
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Run(SandboxOf("p" + std::to_string(i))));
  ASSERT_TRUE(List());
  for (int i = 5; i < 30; ++i) ASSERT_TRUE(Run(SandboxOf("p" + std::to_string(i))));
  const auto list = List();
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().code(), ErrorCode::kOverloaded) << list.error().message();
  EXPECT_EQ(server_->calls("ListPodSandbox"), 0) << "it would not fit there either";
}

TEST_P(CriRuntimeTest, ImagesMayBeServedBySomebodyElse) {
  CriServer other(folder_ + "/images");
  Connect({.runtime_endpoint = folder_ + "/s", .image_endpoint = "unix:" + folder_ + "/images"});
  ASSERT_TRUE(Wait<std::string>([&](auto done) {
    cri_->images().Pull({}, {.image = "app"}, {}, SandboxOf("p1"), std::move(done));
  }));
  ASSERT_TRUE(Run(SandboxOf("p1")));
  EXPECT_EQ(other.calls("PullImage"), 1);
  EXPECT_EQ(other.calls("RunPodSandbox"), 0);
  EXPECT_EQ(server_->calls("PullImage"), 0);
  EXPECT_EQ(server_->calls("RunPodSandbox"), 1);
  // One of them is gone: the other still serves.
  server_.reset();
  EXPECT_TRUE(Wait<std::vector<sync::ObservedImage>>(
      [&](auto done) { cri_->images().List({}, std::move(done)); }));
  EXPECT_FALSE(Run(SandboxOf("p2")));
  cri_.reset();
}

TEST_P(CriRuntimeTest, AnEndpointThatIsNoSocketIsRefusedByName) {
  for (const char* wrong : {"", "relative.sock", "tcp://127.0.0.1:1", "npipe:////./pipe/x"}) {
    const auto made = Connection::Make({.runtime_endpoint = wrong}, clock_);
    ASSERT_FALSE(made) << wrong;
    EXPECT_EQ(made.error().code(), ErrorCode::kInvalid);
  }
  const auto images =
      Connection::Make({.runtime_endpoint = folder_ + "/s", .image_endpoint = "no"}, clock_);
  ASSERT_FALSE(images);
  EXPECT_THAT(images.error().message(), HasSubstr("image service endpoint \"no\""));
}

TEST_P(CriRuntimeTest, AMutatingCallThatTimesOutIsUnknownAndNotRepeated) {
  Connect(Milliseconds(200));
  const sync::SandboxSpec spec = SandboxOf("p1");
  const auto sandbox = Run(spec);
  server_->SetFaults(Always("CreateContainer", {Fault::Kind::kHangDone}));
  const auto created = Create(*sandbox, ContainerOf("p1", "app"), spec);
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code(), ErrorCode::kUnknownOutcome);
  EXPECT_EQ(server_->calls("CreateContainer"), 1);
  // The look that has to follow.
  const auto pod = Read("p1");
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->containers.size(), 1u);
}

TEST_P(CriRuntimeTest, AReadThatTimesOutIsPlainlyLate) {
  Connect(Milliseconds(100));
  server_->SetFaults(Always("Status", {Fault::Kind::kHang}));
  const auto status =
      Wait<sync::RuntimeStatus>([&](auto done) { runtime().Status({}, std::move(done)); });
  EXPECT_EQ(status.error().code(), ErrorCode::kDeadlineExceeded);
}

// Shims that are stuck hold up who asks about their pods, and nobody who asks about the runtime.
TEST_P(CriRuntimeTest, ReadsThatHangDoNotHoldUpTheRuntimesHealth) {
  Connect();
  server_->SetFaults(Always("PodSandboxStatus", {Fault::Kind::kHang}));
  for (int i = 0; i < 80; ++i) {
    runtime().ReadSandbox({}, SandboxId("s1"), [](Result<sync::ObservedSandbox>) {});
  }
  const auto soon = [this] { return Context{}.WithTimeout(loop().Now(), Patiently(Seconds(5))); };
  EXPECT_TRUE(
      Wait<sync::RuntimeStatus>([&](auto done) { runtime().Status(soon(), std::move(done)); }));
  EXPECT_TRUE(
      Wait<sync::RuntimeVersion>([&](auto done) { runtime().Version(soon(), std::move(done)); }));
  EXPECT_EQ(server_->calls("Status"), 1);
}

// Who asks these is on one shard: its share of a small number would be one call.
TEST(CallClasses, HealthAndListsHaveTheirLimitsWholeOnEveryShard) {
  const auto classes = CallClasses(Minutes(2));
  for (const CallClass id : {CallClass::kHealth, CallClass::kList, CallClass::kStats}) {
    const rpc::ClassOptions& of = classes[static_cast<size_t>(id)];
    EXPECT_EQ(rpc::LimitsOn(of, 0, 64).limit_max, 4u) << of.name;
  }
  const rpc::ClassOptions& of = classes[static_cast<size_t>(CallClass::kStatus)];
  EXPECT_EQ(rpc::LimitsOn(of, 0, 4).limit_max, 16u);
}

TEST_P(CriRuntimeTest, ErrorsSayWhatTheyMean) {
  Connect();
  const auto missing = Create(SandboxId("s99"), ContainerOf("p1", "app"), SandboxOf("p1"));
  EXPECT_EQ(missing.error().code(), ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message(), HasSubstr("rpc error: code = NotFound desc = "));
  server_->SetFaults(Always("RunPodSandbox", {Fault::Kind::kRefuse, Unknown()}));
  EXPECT_EQ(Run(SandboxOf("p1")).error().code(), ErrorCode::kUnknownOutcome);
}

TEST_P(CriRuntimeTest, StoppingAndRemovingWhatIsGoneIsFine) {
  Connect();
  const auto fine = [&](auto call) { return static_cast<bool>(Wait<Unit>(call)); };
  EXPECT_TRUE(fine([&](auto done) { runtime().StopSandbox({}, SandboxId("x"), std::move(done)); }));
  EXPECT_TRUE(
      fine([&](auto done) { runtime().RemoveSandbox({}, SandboxId("x"), std::move(done)); }));
  EXPECT_TRUE(fine([&](auto done) {
    runtime().StopContainer({}, ContainerId("x"), Seconds(1), std::move(done));
  }));
  EXPECT_TRUE(
      fine([&](auto done) { runtime().RemoveContainer({}, ContainerId("x"), std::move(done)); }));
  EXPECT_FALSE(
      fine([&](auto done) { runtime().StartContainer({}, ContainerId("x"), std::move(done)); }));
}

TEST_P(CriRuntimeTest, ACommandsOutputAndCodeComeBack) {
  Connect();
  const auto exec = [&](Duration timeout) {
    return Wait<sync::ExecResult>([&](auto done) {
      runtime().Exec({}, ContainerId("c1"), {"true"}, timeout, std::move(done));
    });
  };
  // Half a second must not become "no limit".
  EXPECT_EQ(exec(Milliseconds(500))->output, "out 1 err");
  EXPECT_EQ(exec(Duration::zero())->output, "out 0 err");
  EXPECT_EQ(exec(Seconds(7))->exit_code, 3);
  server_->SetFaults(
      Always("ExecSync", {Fault::Kind::kRefuse, {grpc::StatusCode::DEADLINE_EXCEEDED, "timeout"}}));
  EXPECT_EQ(exec(Seconds(1)).error().code(), ErrorCode::kDeadlineExceeded);
}

TEST_P(CriRuntimeTest, ImagesAreFoundPulledAndListed) {
  Connect();
  CriImages& images = cri_->images();
  int changes = 0;  // told
  images.WhenChanged([&changes] { ++changes; });
  const auto find = [&] {
    return Wait<std::optional<sync::ObservedImage>>(
        [&](auto done) { images.Find({}, {.image = "app"}, std::move(done)); });
  };
  const auto none = find();
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, std::nullopt);
  const auto ref = Wait<std::string>([&](auto done) {
    images.Pull({}, {.image = "app"}, {.username = "me"}, SandboxOf("p1"), std::move(done));
  });
  EXPECT_EQ(*ref, "sha256:app");
  const auto found = find();
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->username, "me");
  const auto list =
      Wait<std::vector<sync::ObservedImage>>([&](auto done) { images.List({}, std::move(done)); });
  ASSERT_TRUE(list);
  EXPECT_EQ(list->size(), 1u);
  EXPECT_EQ(changes, 1);
  server_->SetFaults(Always(
      "PullImage", {Fault::Kind::kRefuse, {grpc::StatusCode::UNKNOWN, "RegistryUnavailable: no"}}));
  const auto failed = Wait<std::string>(
      [&](auto done) { images.Pull({}, {.image = "app"}, {}, SandboxOf("p1"), std::move(done)); });
  EXPECT_EQ(failed.error().message(), "RegistryUnavailable: no");
  EXPECT_EQ(changes, 1);
}

TEST_P(CriRuntimeTest, TheStartCheckNegotiates) {
  Connect();
  StartCheck check(loop(), runtime(), cri_->images());
  const auto facts = Wait<StartFacts>([&](auto done) { check.Run({}, std::move(done)); });
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ(facts->version.name, "records");
  EXPECT_EQ(facts->cgroup_driver, std::nullopt);  // it has no RuntimeConfig
  EXPECT_EQ(cri_->metrics().Gauge(CriMetric::kLosingSupport, "1.37.0").value(), 1);

  server_->SetFaults(Always("ImageFsInfo", {Fault::Kind::kRefuse, Unknown()}));
  StartCheck without(loop(), runtime(), cri_->images());
  const auto failed = Wait<StartFacts>([&](auto done) { without.Run({}, std::move(done)); });
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message(), HasSubstr("image service: rpc error"));
}

TEST_P(CriRuntimeTest, CallsAreCountedByUpstreamsNames) {
  Connect();
  ASSERT_TRUE(Run(SandboxOf("p1")));
  EXPECT_FALSE(StartContainer(ContainerId("c9")));
  MetricSet<CriMetric>& metrics = cri_->metrics();
  EXPECT_EQ(metrics.Counter(CriMetric::kOperations, "run_podsandbox").value(), 1u);
  EXPECT_EQ(metrics.Counter(CriMetric::kErrors, "run_podsandbox").value(), 0u);
  EXPECT_EQ(metrics.Counter(CriMetric::kErrors, "start_container").value(), 1u);
}

// Whatever fails and however, after a list both sides agree on what there is.
TEST_P(CriRuntimeTest, AfterAnyFaultsAListAgreesWithTheRuntime) {
  Connect(Milliseconds(150));
  SeededRandom random(23);
  server_->SetFaults([&random](const std::string&) {
    const grpc::Status lost(grpc::StatusCode::UNAVAILABLE, "going down");
    switch (random.Below(10)) {
      case 0:
        return Fault{Fault::Kind::kRefuse, Unknown()};
      case 1:
        return Fault{Fault::Kind::kLose, lost};
      case 2:
        return Fault{Fault::Kind::kHang};
      case 3:
        return Fault{Fault::Kind::kHangDone};
      default:
        return Fault{};
    }
  });
  SeededRandom choices(29);
  std::vector<SandboxId> sandboxes = {SandboxId("none")};
  std::vector<ContainerId> containers = {ContainerId("none")};
  for (int i = 0; i < 120; ++i) {
    const std::string pod = "p" + std::to_string(choices.Below(4));
    const SandboxId sandbox = sandboxes[choices.Below(sandboxes.size())];
    const ContainerId container = containers[choices.Below(containers.size())];
    switch (choices.Below(6)) {
      case 0:
        if (auto made = Run(SandboxOf(pod))) sandboxes.push_back(*made);
        break;
      case 1:
        if (auto made = Create(sandbox, ContainerOf(pod, "app"), SandboxOf(pod))) {
          containers.push_back(*made);
        }
        break;
      case 2:
        (void)StartContainer(container);
        break;
      case 3:
        (void)Wait<Unit>(
            [&](auto done) { runtime().StopContainer({}, container, {}, std::move(done)); });
        break;
      case 4:
        (void)Wait<Unit>([&](auto done) { runtime().RemoveSandbox({}, sandbox, std::move(done)); });
        break;
      default:
        (void)Read(pod);
    }
  }
  server_->SetFaults({});
  const auto list = List();
  ASSERT_TRUE(list) << list.error().message();
  size_t listed_sandboxes = 0, listed_containers = 0;
  for (const sync::ListedPod& listed : list->pods) {
    listed_sandboxes += listed.sandboxes.size();
    listed_containers += listed.containers.size();
    const auto read = Read(listed.pod.uid.value());
    ASSERT_TRUE(read);
    ASSERT_EQ(read->containers.size(), listed.containers.size());
    for (size_t i = 0; i < listed.containers.size(); ++i) {
      EXPECT_EQ(read->containers[i].id, listed.containers[i].id);
      EXPECT_EQ(read->containers[i].state, listed.containers[i].state);
    }
    EXPECT_EQ(server_->ContainersOf(listed.pod.uid.value()).size(), listed.containers.size());
  }
  EXPECT_EQ(listed_sandboxes, server_->sandboxes());
  EXPECT_EQ(listed_containers, server_->containers());
  EXPECT_EQ(cri_->under_way(), 0u);
}

}  // namespace
}  // namespace denselet::cri
