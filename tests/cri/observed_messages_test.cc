#include "cri/observed_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>

#include "cri/messages.h"

namespace denselet::cri {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

pb::ContainerStatus GoodContainer() {
  pb::ContainerStatus status;
  status.set_id("c1");
  status.mutable_metadata()->set_name("app");
  status.mutable_metadata()->set_attempt(4);
  status.set_state(pb::ContainerState::CONTAINER_EXITED);
  status.set_created_at(1'000);
  status.set_started_at(2'000);
  status.set_finished_at(3'000);
  status.set_exit_code(137);
  status.mutable_image()->set_image("app:v1");
  status.set_image_ref("app@sha256:1");
  status.set_image_id("sha256:2");
  return status;
}

pb::PodSandboxStatus GoodSandbox() {
  pb::PodSandboxStatus status;
  status.set_id("s1");
  status.mutable_metadata()->set_name("web");
  status.mutable_metadata()->set_namespace_("default");
  status.mutable_metadata()->set_uid("uid-1");
  status.mutable_metadata()->set_attempt(2);
  status.set_created_at(1'000);
  return status;
}

TEST(ObservedMessages, AContainerIsReadWhole) {
  pb::ContainerStatus status = GoodContainer();
  status.set_reason("OOMKilled");
  status.set_message("out of memory");
  status.set_log_path("/var/log/a");
  status.set_stop_signal(pb::Signal::SIGRTMINPLUS1);
  auto& annotations = *status.mutable_annotations();
  annotations["io.kubernetes.container.hash"] = "8e45cbd0";
  annotations["io.kubernetes.container.restartCount"] = "7";
  annotations["io.kubernetes.container.terminationMessagePath"] = "/dev/termination-log";
  annotations["io.kubernetes.container.terminationMessagePolicy"] = "File";
  annotations["io.kubernetes.pod.terminationGracePeriod"] = "30";
  annotations["io.kubernetes.pod.deletionGracePeriod"] = "15";
  annotations["io.kubernetes.container.preStopHandler"] = "{}";
  annotations["io.kubernetes.container.ports"] = "[]";
  auto& resources = *status.mutable_resources()->mutable_linux();
  resources.set_cpu_shares(512);
  resources.set_cpu_quota(-1);
  resources.set_memory_limit_in_bytes(1 << 20);
  status.mutable_user()->mutable_linux()->set_uid(1000);
  status.mutable_user()->mutable_linux()->add_supplemental_groups(7);
  pb::Mount& mount = *status.add_mounts();
  mount.set_container_path("/data");
  mount.set_host_path("/host");
  mount.set_readonly(true);
  mount.set_recursive_read_only(true);
  mount.mutable_image()->set_image_ref("sha256:3");

  const auto container = ReadContainer(status);
  ASSERT_TRUE(container) << container.error().message();
  const sync::ObservedContainer expected = {
      .id = ContainerId("c1"),
      .name = "app",
      .attempt = 4,
      .state = sync::ContainerState::kExited,
      .created = WallTime(Duration(1'000)),
      .image = "app:v1",
      .image_ref = "app@sha256:1",
      .image_id = "sha256:2",
      .hash = 0x8e45cbd0,
      .restart_count = 7,
      .pod_termination_grace_seconds = 30,
      .pod_deletion_grace_seconds = 15,
      .termination_message_path = "/dev/termination-log",
      .termination_message_policy = "File",
      .pre_stop_json = "{}",
      .ports_json = "[]",
      .started = WallTime(Duration(2'000)),
      .finished = WallTime(Duration(3'000)),
      .exit_code = 137,
      .reason = "OOMKilled",
      .message = "out of memory",
      .log_path = "/var/log/a",
      .stop_signal = "SIGRTMIN+1",
      .resources =
          sync::ObservedResources{
              .cpu_shares = 512, .cpu_quota_us = -1, .memory_limit_bytes = 1 << 20},
      .user = sync::ObservedUser{.uid = 1000, .supplemental_groups = {7}},
      .mounts = {{.container_path = "/data",
                  .host_path = "/host",
                  .read_only = true,
                  .recursive_read_only = true,
                  .image_ref = "sha256:3"}},
  };
  EXPECT_TRUE(*container == expected);
}

TEST(ObservedMessages, AContainerWithoutWhatCountsIsRefused) {
  const struct {
    std::function<void(pb::ContainerStatus&)> spoil;
    const char* reason;
  } kRows[] = {
      {[](auto& status) { status.clear_id(); }, "status.Id is not set"},
      {[](auto& status) { status.clear_metadata(); }, "status.Metadata is not set"},
      {[](auto& status) { status.mutable_metadata()->clear_name(); }, "metadata.Name is not set"},
      {[](auto& status) { status.clear_created_at(); }, "status.CreatedAt is not set"},
      {[](auto& status) { status.clear_image(); }, "status.Image is not set"},
      {[](auto& status) { status.mutable_image()->clear_image(); }, "status.Image is not set"},
      {[](auto& status) { status.clear_image_ref(); }, "status.ImageRef is not set"},
  };
  for (const auto& row : kRows) {
    pb::ContainerStatus status = GoodContainer();
    row.spoil(status);
    const auto container = ReadContainer(status);
    ASSERT_FALSE(container) << row.reason;
    EXPECT_EQ(container.error().code(), ErrorCode::kCorrupt);
    EXPECT_THAT(container.error().message(), HasSubstr(row.reason));
  }
}

TEST(ObservedMessages, AbsurdValuesOfAContainerAreReadAsNothing) {
  pb::ContainerStatus status = GoodContainer();
  status.set_created_at(std::numeric_limits<int64_t>::min());  // Go's zero time, among others
  status.set_started_at(-6'795'364'578'871'345'152);
  status.set_finished_at(0);
  status.set_state(static_cast<pb::ContainerState>(99));
  status.set_stop_signal(static_cast<pb::Signal>(1234));
  auto& annotations = *status.mutable_annotations();
  annotations["io.kubernetes.container.hash"] = "0xff";
  annotations["io.kubernetes.container.restartCount"] = "-1";
  annotations["io.kubernetes.pod.terminationGracePeriod"] = "30s";
  annotations["io.kubernetes.pod.deletionGracePeriod"] = "99999999999999999999";
  const auto container = ReadContainer(status);
  ASSERT_TRUE(container);
  EXPECT_EQ(container->created, WallTime());
  EXPECT_EQ(container->started, std::nullopt);
  EXPECT_EQ(container->finished, std::nullopt);
  EXPECT_EQ(container->state, sync::ContainerState::kUnknown);
  EXPECT_EQ(container->stop_signal, "");
  EXPECT_EQ(container->hash, std::nullopt);
  EXPECT_EQ(container->restart_count, std::nullopt);
  EXPECT_EQ(container->pod_termination_grace_seconds, std::nullopt);
  EXPECT_EQ(container->pod_deletion_grace_seconds, std::nullopt);
}

TEST(ObservedMessages, ASandboxIsReadWhole) {
  pb::PodSandboxStatus status = GoodSandbox();
  status.set_state(pb::PodSandboxState::SANDBOX_READY);
  status.set_runtime_handler("kata");
  status.mutable_network()->set_ip("10.1.2.3");
  status.mutable_network()->add_additional_ips()->set_ip("fd00::1");
  status.mutable_linux()->mutable_namespaces()->mutable_options()->set_network(
      pb::NamespaceMode::NODE);
  const auto sandbox = ReadSandbox(status);
  ASSERT_TRUE(sandbox) << sandbox.error().message();
  EXPECT_TRUE(*sandbox == (sync::ObservedSandbox{.id = SandboxId("s1"),
                                                 .attempt = 2,
                                                 .state = sync::SandboxState::kReady,
                                                 .created = WallTime(Duration(1'000)),
                                                 .runtime_handler = "kata",
                                                 .network = sync::NetworkMode::kNode,
                                                 .ips = {"10.1.2.3", "fd00::1"}}));
}

TEST(ObservedMessages, ASandboxWithoutWhatCountsIsRefused) {
  const std::function<void(pb::PodSandboxStatus&)> kSpoil[] = {
      [](auto& status) { status.clear_id(); },
      [](auto& status) { status.clear_metadata(); },
      [](auto& status) { status.mutable_metadata()->clear_name(); },
      [](auto& status) { status.mutable_metadata()->clear_namespace_(); },
      [](auto& status) { status.mutable_metadata()->clear_uid(); },
      [](auto& status) { status.clear_created_at(); },
  };
  for (const auto& spoil : kSpoil) {
    pb::PodSandboxStatus status = GoodSandbox();
    spoil(status);
    const auto sandbox = ReadSandbox(status);
    ASSERT_FALSE(sandbox);
    EXPECT_EQ(sandbox.error().code(), ErrorCode::kCorrupt);
  }
}

TEST(ObservedMessages, AddressesAreAllGoodOrNone) {
  pb::PodSandboxStatus status = GoodSandbox();
  EXPECT_THAT(ReadSandbox(status)->ips, IsEmpty());
  status.mutable_network()->set_ip("10.1.2.3");
  EXPECT_THAT(ReadSandbox(status)->ips, ElementsAre("10.1.2.3"));
  status.mutable_network()->add_additional_ips()->set_ip("not an address");
  EXPECT_THAT(ReadSandbox(status)->ips, IsEmpty());
  status.mutable_network()->clear_ip();
  status.mutable_network()->mutable_additional_ips(0)->set_ip("fd00::2");
  EXPECT_THAT(ReadSandbox(status)->ips, ElementsAre("fd00::2"));
}

TEST(ObservedMessages, UnknownStateOfASandboxIsNotReady) {
  pb::PodSandboxStatus status = GoodSandbox();
  status.set_state(static_cast<pb::PodSandboxState>(7));
  EXPECT_EQ(ReadSandbox(status)->state, sync::SandboxState::kNotReady);
}

TEST(ObservedMessages, AVersionNamesEverything) {
  pb::VersionResponse response;
  response.set_version("0.1.0");
  response.set_runtime_name("containerd");
  response.set_runtime_version("1.7.24");
  response.set_runtime_api_version("v1");
  EXPECT_TRUE(
      *ReadVersion(response) ==
      (sync::RuntimeVersion{.name = "containerd", .version = "1.7.24", .api_version = "v1"}));
  for (const char* field : {"version", "runtime_name", "runtime_version", "runtime_api_version"}) {
    pb::VersionResponse spoiled = response;
    spoiled.GetReflection()->ClearField(&spoiled, spoiled.GetDescriptor()->FindFieldByName(field));
    EXPECT_EQ(ReadVersion(spoiled).error().code(), ErrorCode::kCorrupt) << field;
  }
  response.set_version("0.2.0");
  EXPECT_EQ(ReadVersion(response).error().code(), ErrorCode::kCorrupt);
}

void AddCondition(pb::StatusResponse& response, const char* type, bool met) {
  auto& condition = *response.mutable_status()->add_conditions();
  condition.set_type(type);
  condition.set_status(met);
  condition.set_reason("Because");
  condition.set_message("of that");
}

TEST(ObservedMessages, AStatusIsReadWhole) {
  pb::StatusResponse response;
  AddCondition(response, "NetworkReady", false);
  AddCondition(response, "Strange", true);
  AddCondition(response, "RuntimeReady", true);
  AddCondition(response, "RuntimeReady", false);  // the first counts
  response.add_runtime_handlers()->set_name("runc");
  auto& unnamed = *response.add_runtime_handlers();
  unnamed.mutable_features()->set_recursive_read_only_mounts(true);
  unnamed.mutable_features()->set_user_namespaces(true);
  response.mutable_features()->set_supplemental_groups_policy(true);
  const auto status = ReadStatus(response);
  ASSERT_TRUE(status);
  EXPECT_TRUE(status->runtime_ready->met);
  EXPECT_FALSE(status->network_ready->met);
  EXPECT_EQ(status->network_ready->reason, "Because");
  EXPECT_EQ(status->network_ready->message, "of that");
  EXPECT_TRUE(status->handlers == (std::vector<sync::RuntimeHandler>{
                                      {.recursive_read_only_mounts = true, .user_namespaces = true},
                                      {.name = "runc"}}));
  EXPECT_TRUE(status->supplemental_groups_policy);
  EXPECT_FALSE(status->user_namespaces_host_network);
}

TEST(ObservedMessages, AStatusNeedsTwoConditions) {
  pb::StatusResponse response;
  EXPECT_FALSE(ReadStatus(response));
  AddCondition(response, "RuntimeReady", true);
  EXPECT_EQ(ReadStatus(response).error().message(),
            "RuntimeReady or NetworkReady condition are not set");
  AddCondition(response, "Strange", true);
  ASSERT_TRUE(ReadStatus(response));
  EXPECT_EQ(ReadStatus(response)->network_ready, std::nullopt);
}

TEST(ObservedMessages, AnImageIsReadWhole) {
  pb::Image image;
  image.set_id("sha256:1");
  image.add_repo_tags("app:v1");
  image.add_repo_digests("app@sha256:2");
  image.set_size(12);
  image.set_username("nobody");
  image.set_pinned(true);
  const sync::ObservedImage expected = {.id = ImageId("sha256:1"),
                                        .repo_tags = {"app:v1"},
                                        .repo_digests = {"app@sha256:2"},
                                        .size_bytes = 12,
                                        .username = "nobody",
                                        .pinned = true};
  EXPECT_TRUE(*ReadFoundImage(image, "app") == expected);
  image.mutable_uid()->set_value(0);
  EXPECT_EQ(ReadImage(image).uid, 0);
  image.clear_size();
  EXPECT_EQ(ReadFoundImage(image, "app").error().message(),
            "Id or size of image \"app\" is not set");
  image.set_size(12);
  image.clear_id();
  EXPECT_EQ(ReadFoundImage(image, "app").error().code(), ErrorCode::kCorrupt);
}

TEST(ObservedMessages, AnEventSaysWhoseItIsAsWellAsItCan) {
  pb::ContainerEventResponse event;
  EXPECT_EQ(OwnerOf(event), std::nullopt);
  event.mutable_pod_sandbox_status()->mutable_metadata()->set_uid("of-metadata");
  EXPECT_EQ(OwnerOf(event), PodUid("of-metadata"));
  (*event.add_containers_statuses()->mutable_labels())["io.kubernetes.pod.uid"] = "of-container";
  EXPECT_EQ(OwnerOf(event), PodUid("of-container"));
  (*event.mutable_pod_sandbox_status()->mutable_labels())["io.kubernetes.pod.uid"] = "of-sandbox";
  EXPECT_EQ(OwnerOf(event), PodUid("of-sandbox"));
}

TEST(ObservedMessages, AHintNamesWhatWasMadeOrStartedAndNothingElse) {
  pb::ContainerEventResponse event;
  EXPECT_FALSE(ReadHint(event));
  event.mutable_pod_sandbox_status()->mutable_metadata()->set_uid("u");
  event.set_container_id("c");
  for (const auto type : {pb::CONTAINER_CREATED_EVENT, pb::CONTAINER_STARTED_EVENT}) {
    event.set_container_event_type(type);
    const std::optional<sync::PodHint> hint = ReadHint(event);
    ASSERT_TRUE(hint);
    EXPECT_EQ(hint->pod, PodUid("u"));
    EXPECT_TRUE(hint->only_begun && hint->begun.count("c") == 1);
  }
  event.set_container_event_type(pb::CONTAINER_STOPPED_EVENT);
  EXPECT_FALSE(ReadHint(event)->only_begun);
  event.set_container_event_type(pb::CONTAINER_STARTED_EVENT);
  event.clear_container_id();
  EXPECT_FALSE(ReadHint(event)->only_begun);
}

TEST(ObservedMessages, JoinedHintsTellOfBothOrOfAnything) {
  const PodUid uid("u");
  sync::PodHint hint(uid, "a");
  hint.Join({uid, "b"});
  EXPECT_TRUE(hint.only_begun);
  EXPECT_EQ(hint.begun.size(), 2u);
  for (size_t i = 0; i < sync::PodHint::kBegunMax; ++i) hint.Join({uid, std::to_string(i)});
  EXPECT_FALSE(hint.only_begun) << "more than anybody wants to compare";
  sync::PodHint other(uid, "a");
  other.Join(uid);
  EXPECT_FALSE(other.only_begun);
  EXPECT_TRUE(other.begun.empty());
}

TEST(ObservedMessages, APodIsSortedWhateverTheRuntimesOrder) {
  sync::ObservedPod pod;
  for (const uint32_t attempt : {1u, 3u, 2u}) {
    pod.sandboxes.push_back({.id = SandboxId("s" + std::to_string(attempt)), .attempt = attempt});
  }
  pod.sandboxes.push_back({.id = SandboxId("r3"), .attempt = 3});
  pod.containers = {{.id = ContainerId("1"), .name = "b", .attempt = 0},
                    {.id = ContainerId("2"), .name = "a", .attempt = 0},
                    {.id = ContainerId("3"), .name = "a", .attempt = 1}};
  Sort(pod);
  std::string order;
  for (const auto& sandbox : pod.sandboxes) order += sandbox.id.value() + " ";
  for (const auto& container : pod.containers) order += container.id.value() + " ";
  EXPECT_EQ(order, "r3 s3 s2 s1 3 2 1 ");
}

}  // namespace
}  // namespace denselet::cri
