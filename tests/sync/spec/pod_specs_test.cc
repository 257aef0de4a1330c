#include "sync/spec/pod_specs.h"

#include <gtest/gtest.h>

#include <string>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "tests/sync/spec/made_specs.h"

namespace denselet::sync {
namespace {

kube::PodRef Pod(const std::string& spec) {
  kube::core::Pod pod;
  const std::string json =
      R"({"metadata":{"name":"p","namespace":"n","uid":"u"},"spec":)" + spec + "}";
  EXPECT_TRUE(kube::DecodeJson(json, pod).ok()) << json;
  return *kube::PodAtRest::FromPod(pod);
}

const char* const kPod = R"j({"hostname":"h","enableServiceLinks":true,
  "initContainers":[{"name":"i","image":"init:1","imagePullPolicy":"Never"}],
  "containers":[{"name":"c","image":"app:1","imagePullPolicy":"Always",
                 "command":["run","$(A)"],"env":[{"name":"A","value":"1"}]}],
  "ephemeralContainers":[{"name":"e","image":"debug:1","imagePullPolicy":"IfNotPresent",
                          "workingDir":"/w","targetContainerName":"c"}]})j";

TEST(PodSpecBuilder, FindsEveryKindOfContainer) {
  MadeSpecs made;
  PodSpecBuilder& specs = made.specs();
  const kube::PodRef pod = Pod(kPod);
  const auto image = [&](const std::string& name) {
    const auto spec = made.Container(pod, {.name = name, .attempt = 2, .image_ref = "ref"});
    return spec ? spec->image_user_specified : spec.error().message();
  };
  EXPECT_EQ(image("i"), "init:1");
  EXPECT_EQ(image("c"), "app:1");
  EXPECT_EQ(image("e"), "debug:1");
  EXPECT_EQ(made.Container(pod, {.name = "x"}).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(specs.Policy(pod, "i"), PullPolicy::kNever);
  EXPECT_EQ(specs.Policy(pod, "c"), PullPolicy::kAlways);
  EXPECT_EQ(specs.Policy(pod, "e"), PullPolicy::kIfNotPresent);
}

TEST(PodSpecBuilder, PassesOnWhatTheWorkerKnows) {
  MadeSpecs made;
  PodSpecBuilder& specs = made.specs();
  const kube::PodRef pod = Pod(kPod);
  const auto container = made.Container(pod, {.name = "c", .attempt = 2, .image_ref = "sha:1"});
  ASSERT_TRUE(container);
  EXPECT_EQ(container->attempt, 2u);
  EXPECT_EQ(container->image, "sha:1");
  EXPECT_EQ(container->command, (std::vector<std::string>{"run", "1"}));
  EXPECT_EQ(container->env, (KeyValues{{"A", "1"}}));
  const auto debug = made.Container(pod, {.name = "e", .pid_target = ContainerId("id-of-c")});
  ASSERT_TRUE(debug);
  EXPECT_EQ(debug->working_dir, "/w");
  EXPECT_EQ(debug->namespaces.pid_target, ContainerId("id-of-c"));
  const auto sandbox = specs.Sandbox(pod, 4);
  ASSERT_TRUE(sandbox);
  EXPECT_EQ(sandbox->attempt, 4u);
  EXPECT_EQ(sandbox->hostname, "h");
}

TEST(PodSpecBuilder, PullSecretsComeInTheirOrderAndThoseThatAreMissingByName) {
  MadeSpecs made;
  for (const char* name : {"b", "a"}) {
    kube::core::Secret secret;
    secret.mutable_metadata()->set_namespace_("n");
    secret.mutable_metadata()->set_name(name);
    made.objects().Put(ObjectKind::kSecret, secret);
  }
  const PullSecrets secrets = made.FetchPullSecrets({"b", "none", "a", "gone"});
  std::vector<std::string> names;
  for (const ObjectBytes& bytes : secrets.secrets) {
    kube::core::Secret secret;
    ASSERT_TRUE(secret.ParseFromString(*bytes));
    names.push_back(secret.metadata().name());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(secrets.missing, (std::vector<std::string>{"none", "gone"}));
}

TEST(PodSpecBuilder, PodsWithoutACgroupOfTheirOwnAreBelowTheRoot) {
  MadeSpecs made({.cgroup_root = "/node"});
  PodSpecBuilder& specs = made.specs();
  const auto sandbox = specs.Sandbox(Pod(kPod), 0);
  ASSERT_TRUE(sandbox);
  EXPECT_EQ(sandbox->cgroup_parent, "/node");
}

// PodSpecBuilder reads the one as the other.
TEST(PodSpecBuilder, EphemeralContainersHaveTheFieldsOfContainers) {
  const auto* common = kube::core::EphemeralContainerCommon::descriptor();
  const auto* container = kube::core::Container::descriptor();
  for (int i = 0; i < common->field_count(); ++i) {
    const auto* field = common->field(i);
    const auto* twin = container->FindFieldByNumber(field->number());
    ASSERT_NE(twin, nullptr) << field->name();
    EXPECT_EQ(twin->name(), field->name());
    EXPECT_EQ(twin->type(), field->type()) << field->name();
    EXPECT_EQ(twin->is_repeated(), field->is_repeated()) << field->name();
  }
}

// A pod of the node's or with addresses of its own, whose container refers to things.
kube::PodRef Needy(const std::string& more, const std::string& container) {
  return Pod(R"({"enableServiceLinks":true,)" + more + R"("containers":[{"name":"c",)" + container +
             R"("image":"app:1"}]})");
}

TEST(PodSpecBuilder, GathersWhatTheEnvironmentRefersTo) {
  MadeSpecs made;
  ASSERT_TRUE(made.disk().MakeDirectories("/var/lib/kubelet/pods/u", 0750));
  kube::core::ConfigMap map;
  map.mutable_metadata()->set_namespace_("n");
  map.mutable_metadata()->set_name("settings");
  (*map.mutable_data())["COLOUR"] = "blue";
  made.objects().Put(ObjectKind::kConfigMap, map);
  made.volumes().files[{"v", "env"}] = "K='from file'\n";
  made.volumes().mounts = std::vector<MountSpec>{{.container_path = "/v", .host_path = "/h"}};
  made.specs().SetNode({.host_ips = {"192.0.2.1"}, .prefers_ipv6 = false});
  const auto spec = made.Container(
      Needy("", R"j("command":["echo","$(COLOUR)"],"envFrom":[{"configMapRef":{"name":"settings"}}],
        "env":[{"name":"F","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"env","key":"K"}}},
               {"name":"IP","valueFrom":{"fieldRef":{"fieldPath":"status.podIP"}}},
               {"name":"HOST","valueFrom":{"fieldRef":{"fieldPath":"status.hostIP"}}}],)j"),
      {.name = "c", .pod_ips = {"10.0.0.1"}});
  ASSERT_TRUE(spec) << spec.error().message();
  EXPECT_EQ(
      spec->env,
      (KeyValues{
          {"COLOUR", "blue"}, {"F", "from file"}, {"HOST", "192.0.2.1"}, {"IP", "10.0.0.1"}}));
  EXPECT_EQ(spec->command, (std::vector<std::string>{"echo", "blue"}));
  EXPECT_EQ(made.volumes().seen_env, spec->env) << "subPathExpr is resolved by it";
  ASSERT_EQ(spec->mounts.size(), 2u);
  EXPECT_EQ(spec->mounts[0].container_path, "/v");
  EXPECT_EQ(spec->mounts[1].container_path, "/etc/hosts");
  EXPECT_EQ(made.specs().gathering(), 0u);
}

TEST(PodSpecBuilder, WhatIsMissingIsToldAsUpstreamDoes) {
  MadeSpecs made;
  const auto why = [&](const std::string& container, bool listed = true) {
    made.objects().listed = listed;
    const auto spec = made.Container(Needy("", container), {.name = "c"});
    return spec ? std::string("made") : spec.error().message();
  };
  EXPECT_EQ(why(R"("envFrom":[{"secretRef":{"name":"x"}}],)"), R"(secret "x" not found)");
  EXPECT_EQ(why(R"("envFrom":[{"secretRef":{"name":"x","optional":true}}],)"), "made");
  EXPECT_EQ(why(R"("env":[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"y","key":"k"}}}],)"),
            R"(configmap "y" not found)");
  EXPECT_EQ(why("", false), "services unlisted");
  made.volumes().mounts = Error(ErrorCode::kInvalid, "cannot find volume \"v\" to mount");
  EXPECT_EQ(why(""), "cannot find volume \"v\" to mount");
  const auto links = made.Container(Pod(R"({"containers":[{"name":"c"}]})"), {.name = "c"});
  ASSERT_FALSE(links);
  EXPECT_EQ(links.error().message(),
            "nil pod.spec.enableServiceLinks encountered, cannot construct envvars");
}

TEST(PodSpecBuilder, StaticPodsDoNotWaitForServices) {
  MadeSpecs made;
  made.objects().listed = false;
  kube::core::Pod pod;
  ASSERT_TRUE(kube::DecodeJson(
                  R"({"metadata":{"name":"p","namespace":"n","uid":"u",
                      "annotations":{"kubernetes.io/config.source":"file"}},
                      "spec":{"enableServiceLinks":true,"containers":[{"name":"c"}]}})",
                  pod)
                  .ok());
  EXPECT_TRUE(made.Container(*kube::PodAtRest::FromPod(pod), {.name = "c"}));
}

TEST(PodSpecBuilder, WritesTheHostsFileOfThePod) {
  MadeSpecs made({.cluster_domain = "c.local", .pods_dir = "/pods"});
  ASSERT_TRUE(made.disk().MakeDirectories("/pods/u", 0750));
  const kube::PodRef pod =
      Needy(R"("subdomain":"s","hostAliases":[{"ip":"192.0.2.7","hostnames":["a","b"]}],)", "");
  const auto text = [&]() -> std::string {
    const auto read = made.disk().ReadFile("/pods/u/etc-hosts", 4096);
    return read ? *read : read.error().message();
  };
  ASSERT_TRUE(made.Container(pod, {.name = "c", .pod_ips = {"10.0.0.1"}}));
  const std::string first = text();
  EXPECT_NE(first.find("10.0.0.1\tp.s.n.svc.c.local\tp\n"), std::string::npos) << first;
  EXPECT_NE(first.find("\n# Entries added by HostAliases.\n192.0.2.7\ta\tb\n"), std::string::npos);
  ASSERT_TRUE(made.Container(pod, {.name = "c", .pod_ips = {"10.0.0.2"}}));
  EXPECT_NE(text().find("10.0.0.2\tp.s"), std::string::npos) << "a new sandbox, a new address";
  const auto without = made.Container(pod, {.name = "c"});
  ASSERT_TRUE(without);
  EXPECT_TRUE(without->mounts.empty()) << "no address, no file";
  const auto own =
      made.Container(Needy("", R"("volumeMounts":[{"name":"v","mountPath":"/etc/hosts"}],)"),
                     {.name = "c", .pod_ips = {"10.0.0.1"}});
  ASSERT_TRUE(own);
  EXPECT_TRUE(own->mounts.empty()) << "the container's own goes first";
}

TEST(PodSpecBuilder, TwoContainersAtOnceDoNotBothFillTheHostsFile) {
  MadeSpecs made({.cluster_domain = "c.local", .pods_dir = "/pods"});
  ASSERT_TRUE(made.disk().MakeDirectories("/pods/u", 0750));
  const kube::PodRef pod = Needy("", "");
  for (int i = 1; i <= 20; ++i) {
    const ContainerWish wish{.name = "c", .pod_ips = {"10.0.0." + std::to_string(i)}};
    int answered = 0;
    for (int other = 0; other < 3; ++other) {
      made.specs().Container({}, pod, wish, [&answered](const Result<ContainerSpec>& spec) {
        if (spec) ++answered;
      });
    }
    ASSERT_TRUE(made.Container(pod, wish));
    EXPECT_EQ(answered, 3);
    const std::string text = *made.disk().ReadFile("/pods/u/etc-hosts", 4096);
    EXPECT_EQ(text.find(wish.pod_ips[0] + "\t"), text.rfind(wish.pod_ips[0] + "\t")) << text;
    EXPECT_EQ(text.find("# Kubernetes-managed"), text.rfind("# Kubernetes-managed")) << text;
  }
  EXPECT_EQ(made.specs().gathering(), 0u);
}

TEST(PodSpecBuilder, SandboxesHaveThePodsDns) {
  MadeSpecs made({.cluster_domain = "c.local",
                  .cluster_dns = {"10.96.0.10"},
                  .resolv_conf_path = "/etc/resolv.conf"});
  const kube::PodRef pod = Pod(R"({"dnsPolicy":"ClusterFirst"})");
  EXPECT_FALSE(made.specs().Sandbox(pod, 0)) << "not before the node's settings are known";
  made.specs().SetResolvConf(std::string("search lab\nnameserver 192.0.2.53\n"));
  const auto sandbox = made.specs().Sandbox(pod, 0);
  ASSERT_TRUE(sandbox);
  EXPECT_EQ(sandbox->dns, (DnsSpec{.servers = {"10.96.0.10"},
                                   .searches = {"n.svc.c.local", "svc.c.local", "c.local", "lab"},
                                   .options = {"ndots:5"}}));
  EXPECT_TRUE(made.specs().Notes(pod).empty());
  EXPECT_EQ(made.specs()
                .Notes(Pod(R"({"dnsConfig":{"nameservers":["1.1.1.1","1.1.1.2","1.1.1.3"]}})"))
                .size(),
            1u);
  made.specs().SetResolvConf(Error(ErrorCode::kNotFound, "open /etc/resolv.conf: gone"));
  EXPECT_EQ(made.specs().Sandbox(pod, 0).error().message(), "open /etc/resolv.conf: gone");
}

}  // namespace
}  // namespace denselet::sync
