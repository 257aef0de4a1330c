#include "cri/spec_messages.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "cri/messages.h"
#include "tests/cri/specs_for_tests.h"

namespace denselet::cri {
namespace {

namespace proto = ::google::protobuf;

// Fields that are never set, and why. A field of CRI that is neither set by the conversion nor here
// fails the test: somebody has to decide what it is to us.
const std::map<std::string, std::string> kUnused = {
    {"PodSandboxConfig.windows", "Linux only"},
    {"PodSandboxConfig.linux.security_context.apparmor", "the kubelet gives a sandbox none"},
    {"PodSandboxConfig.linux.security_context.seccomp_profile_path", "deprecated for seccomp"},
    {"ContainerConfig.windows", "Linux only"},
    {"ContainerConfig.image.annotations", "the kubelet gives them when it pulls only"},
    {"ContainerConfig.image.image_ref", "an answer of the runtime"},
    {"ContainerConfig.mounts.image.runtime_handler", "the kubelet does not set it"},
    {"ContainerConfig.mounts.image.image_ref", "an answer of the runtime"},
    {"ContainerConfig.linux.security_context.capabilities.add_ambient_capabilities",
     "Kubernetes has no field for them"},
    {"ContainerConfig.linux.security_context.apparmor_profile", "deprecated for apparmor"},
    {"ContainerConfig.linux.security_context.seccomp_profile_path", "deprecated for seccomp"},
};

bool IsSet(const proto::Message& message, const proto::FieldDescriptor& field) {
  const proto::Reflection& reflection = *message.GetReflection();
  return field.is_repeated() ? reflection.FieldSize(message, &field) > 0
                             : reflection.HasField(message, &field);
}

// Visits every field below `message`, of lists the first element.
void Walk(const proto::Message& message, const std::string& path, std::set<std::string>& unset) {
  const proto::Descriptor& type = *message.GetDescriptor();
  for (int i = 0; i < type.field_count(); ++i) {
    const proto::FieldDescriptor& field = *type.field(i);
    const std::string name = path + "." + field.name();
    if (!IsSet(message, field)) {
      unset.insert(name);
      continue;
    }
    if (field.message_type() == nullptr || field.is_map()) continue;
    const proto::Reflection& reflection = *message.GetReflection();
    Walk(field.is_repeated() ? reflection.GetRepeatedMessage(message, &field, 0)
                             : reflection.GetMessage(message, &field),
         name, unset);
  }
}

template <class Message>
void ExpectEveryFieldIsSetOrListed(const Message& message) {
  std::set<std::string> unset;
  Walk(message, message.GetDescriptor()->name(), unset);
  for (const std::string& name : unset) {
    EXPECT_TRUE(kUnused.contains(name)) << name << " is set by nobody";
  }
  for (const auto& [name, why] : kUnused) {
    if (!name.starts_with(message.GetDescriptor()->name() + ".")) continue;
    EXPECT_TRUE(unset.contains(name)) << name << " is set, but listed as unused: " << why;
  }
}

TEST(SpecMessages, EveryFieldOfASandboxIsSetOrDeliberatelyUnused) {
  pb::PodSandboxConfig config;
  Fill(FullSandbox(), config);
  ExpectEveryFieldIsSetOrListed(config);
}

TEST(SpecMessages, EveryFieldOfAContainerIsSetOrDeliberatelyUnused) {
  pb::ContainerConfig config;
  Fill(FullContainer(), config);
  ExpectEveryFieldIsSetOrListed(config);
}

TEST(SpecMessages, EveryFieldOfAnImageAndItsCredentialsIsSet) {
  pb::ImageSpec image;
  Fill(sync::ImageRequest{.image = "app@sha256:1",
                          .user_specified = "app",
                          .runtime_handler = "kata",
                          .annotations = {{"a", "b"}}},
       image);
  std::set<std::string> unset;
  Walk(image, "ImageSpec", unset);
  EXPECT_EQ(unset, std::set<std::string>{"ImageSpec.image_ref"});

  pb::AuthConfig auth;
  Fill(sync::ImageCredentials{.username = "u",
                              .password = "p",
                              .auth = "a",
                              .server_address = "s",
                              .identity_token = "i",
                              .registry_token = "r"},
       auth);
  unset.clear();
  Walk(auth, "AuthConfig", unset);
  EXPECT_EQ(unset, std::set<std::string>{});
}

TEST(SpecMessages, ValuesOfASandboxArriveWhereTheyBelong) {
  pb::PodSandboxConfig config;
  Fill(FullSandbox(), config);
  EXPECT_EQ(config.metadata().name(), "web");
  EXPECT_EQ(config.metadata().namespace_(), "default");
  EXPECT_EQ(config.metadata().uid(), "uid-1");
  EXPECT_EQ(config.metadata().attempt(), 3u);
  EXPECT_EQ(config.port_mappings(0).protocol(), pb::Protocol::SCTP);
  EXPECT_EQ(config.port_mappings(0).container_port(), 80);
  EXPECT_EQ(config.port_mappings(0).host_port(), 8080);
  EXPECT_EQ(config.dns_config().options(0), "ndots:5");
  EXPECT_EQ(config.linux().sysctls().at("net.core.somaxconn"), "1024");
  const auto& security = config.linux().security_context();
  EXPECT_EQ(security.run_as_user().value(), 1000);
  EXPECT_EQ(security.run_as_group().value(), 2000);
  EXPECT_EQ(security.supplemental_groups_size(), 2);
  EXPECT_EQ(security.supplemental_groups_policy(), pb::SupplementalGroupsPolicy::Strict);
  EXPECT_EQ(security.namespace_options().pid(), pb::NamespaceMode::TARGET);
  EXPECT_EQ(security.namespace_options().target_id(), "target");
  EXPECT_EQ(security.namespace_options().userns_options().uids(0).host_id(), 65536u);
  EXPECT_EQ(security.namespace_options().userns_options().gids(0).host_id(), 131072u);
  EXPECT_EQ(security.seccomp().localhost_ref(), "/seccomp/a");
  EXPECT_EQ(config.linux().overhead().oom_score_adj(), -997);
}

TEST(SpecMessages, ValuesOfAContainerArriveWhereTheyBelong) {
  pb::ContainerConfig config;
  Fill(FullContainer(), config);
  EXPECT_EQ(config.image().image(), "sha256:abc");
  EXPECT_EQ(config.image().user_specified_image(), "app:v1");
  EXPECT_EQ(config.envs(1).value(), std::string("\xff\x00z", 3));
  const pb::Mount& mount = config.mounts(0);
  EXPECT_EQ(mount.propagation(), pb::MountPropagation::PROPAGATION_BIDIRECTIONAL);
  EXPECT_EQ(mount.image().image(), "sha256:def");
  EXPECT_EQ(mount.image().user_specified_image(), "volume:v1");
  EXPECT_EQ(mount.image_sub_path(), "sub");
  EXPECT_EQ(config.stop_signal(), pb::Signal::SIGRTMINPLUS3);
  const auto& resources = config.linux().resources();
  EXPECT_EQ(resources.cpu_period(), 100'000);
  EXPECT_EQ(resources.cpu_quota(), 50'000);
  EXPECT_EQ(resources.cpu_shares(), 512);
  EXPECT_EQ(resources.memory_limit_in_bytes(), 1 << 20);
  EXPECT_EQ(resources.memory_swap_limit_in_bytes(), 2 << 20);
  EXPECT_EQ(resources.hugepage_limits(0).limit(), 4u << 20);
  EXPECT_EQ(resources.unified().at("memory.high"), "1000000");
  const auto& security = config.linux().security_context();
  EXPECT_EQ(security.capabilities().add_capabilities(0), "NET_ADMIN");
  EXPECT_EQ(security.capabilities().drop_capabilities(0), "ALL");
  EXPECT_EQ(security.apparmor().profile_type(), pb::SecurityProfile::Localhost);
}

TEST(SpecMessages, WhatIsLeftOpenStaysUnset) {
  pb::PodSandboxConfig sandbox;
  Fill(sync::SandboxSpec{}, sandbox);
  const auto& of_sandbox = sandbox.linux().security_context();
  EXPECT_FALSE(of_sandbox.has_run_as_user());
  EXPECT_FALSE(of_sandbox.has_run_as_group());
  EXPECT_FALSE(of_sandbox.has_selinux_options());
  EXPECT_FALSE(sandbox.linux().has_overhead());
  EXPECT_FALSE(sandbox.linux().has_resources());
  // Told always, as the kubelet does.
  EXPECT_TRUE(of_sandbox.has_seccomp());
  EXPECT_EQ(of_sandbox.namespace_options().userns_options().mode(), pb::NamespaceMode::NODE);
  EXPECT_EQ(of_sandbox.namespace_options().pid(), pb::NamespaceMode::CONTAINER);

  pb::ContainerConfig container;
  Fill(sync::ContainerSpec{.mounts = {{.container_path = "/a", .host_path = "/b"}}}, container);
  EXPECT_FALSE(container.linux().security_context().has_capabilities());
  EXPECT_FALSE(container.linux().security_context().has_apparmor());
  EXPECT_FALSE(container.mounts(0).has_image());
  EXPECT_EQ(container.stop_signal(), pb::Signal::RUNTIME_DEFAULT);
}

TEST(SpecMessages, RootIsAUserLikeAnyOther) {
  pb::ContainerConfig config;
  Fill(sync::ContainerSpec{.run_as_user = 0, .run_as_group = 0}, config);
  EXPECT_TRUE(config.linux().security_context().has_run_as_user());
  EXPECT_TRUE(config.linux().security_context().has_run_as_group());
}

TEST(SpecMessages, SignalsHaveTwoSpellings) {
  EXPECT_EQ(SignalNumber("SIGTERM"), 23);
  EXPECT_EQ(SignalNumber("SIGRTMIN"), 35);  // macros of <signal.h> have these names
  EXPECT_EQ(SignalNumber("SIGRTMIN+15"), pb::Signal::SIGRTMINPLUS15);
  EXPECT_EQ(SignalNumber("SIGRTMAX-14"), pb::Signal::SIGRTMAXMINUS14);
  for (const char* absurd : {"", "TERM", "SIGNOTHING", "SIGRTMIN+99", "SIGRTMIN+", "15"}) {
    EXPECT_EQ(SignalNumber(absurd), 0) << absurd;
  }
  for (int number = 1; number < pb::Signal_ARRAYSIZE; ++number) {
    EXPECT_EQ(SignalNumber(SignalName(number)), number);
  }
  EXPECT_EQ(SignalName(36), "SIGRTMIN+1");
  EXPECT_EQ(SignalName(0), "");
  EXPECT_EQ(SignalName(-1), "");
  EXPECT_EQ(SignalName(4711), "");
}

}  // namespace
}  // namespace denselet::cri
