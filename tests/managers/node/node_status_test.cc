#include "managers/node/node_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/api/codec/codec.h"
#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "managers/node/address_choice.h"
#include "managers/node/declared_features.h"
#include "managers/node/node_object.h"
#include "managers/node/node_resources.h"
#include "managers/node/reconcile.h"
#include "tests/golden.h"

namespace denselet::node {
namespace {

using kube::core::Node;
using testing::ElementsAre;

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    parts.emplace_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

ResourceList ListOf(const std::string& json) {
  kube::core::ResourceRequirements parsed;  // has a map of quantities
  EXPECT_TRUE(kube::DecodeJson(R"({"limits":)" + json + "}", parsed).ok()) << json;
  ResourceList list;
  for (const auto* entry : kube::Sorted(parsed.limits())) {
    list.emplace(entry->first, *kube::Quantity::Parse(entry->second.string()));
  }
  return list;
}

std::optional<EvictionThreshold> Threshold(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return *EvictionThreshold::Parse(text);
}

TEST(NodeResources, AreThoseOfTheKubelet) {
  for (const auto& row : tests::ReadGolden("tests/managers/node/golden/resources.txt")) {
    ASSERT_EQ(row.size(), 12);
    MachineFacts facts{.cpus = std::stoll(row[0]), .memory_bytes = std::stoull(row[1])};
    for (const std::string& size : Split(row[2])) {
      const size_t colon = size.find(':');
      facts.huge_pages.push_back(
          {std::stoull(size.substr(0, colon)), std::stoull(size.substr(colon + 1))});
    }
    facts.root_fs_bytes = std::stoull(row[3]);
    NodeConfig config;
    config.pods_max = std::stoi(row[4]);
    config.pods_per_core_max = std::stoi(row[5]);
    config.system_reserved = ListOf(tests::Unquoted(row[6]));
    config.kube_reserved = ListOf(tests::Unquoted(row[7]));
    config.memory_eviction = Threshold(row[8]);
    config.storage_eviction = Threshold(row[9]);
    kube::core::NodeStatus status;
    ASSERT_TRUE(kube::DecodeJson(tests::Unquoted(row[10]), status).ok());
    SetResources(config, facts, {}, status);
    kube::core::NodeStatus wanted, got;
    ASSERT_TRUE(kube::DecodeJson(tests::Unquoted(row[11]), wanted).ok());
    *got.mutable_capacity() = status.capacity();
    *got.mutable_allocatable() = status.allocatable();
    EXPECT_EQ(kube::EncodeJson(got), kube::EncodeJson(wanted));
  }
}

TEST(NodeResources, OfDevicePlugins) {
  NodeConfig config;
  MachineFacts facts{.cpus = 1, .memory_bytes = 1 << 30, .root_fs_bytes = 1 << 30};
  DeviceInput devices{.capacity = {{"v.com/gpu", kube::Quantity::FromUnits(4)}},
                      .allocatable = {{"v.com/gpu", kube::Quantity::FromUnits(3)}},
                      .removed = {"v.com/nic"}};
  kube::core::NodeStatus status;
  SetResources(config, facts, devices, status);
  EXPECT_EQ(status.capacity().at("v.com/gpu").string(), "4");
  EXPECT_EQ(status.allocatable().at("v.com/gpu").string(), "3");
  EXPECT_EQ(status.capacity().at("v.com/nic").string(), "0");
}

TEST(NodeResources, Extended) {
  for (const char* yes : {"v.com/gpu", "a/b"}) EXPECT_TRUE(IsExtendedResource(yes)) << yes;
  for (const char* no : {"cpu", "hugepages-2Mi", "kubernetes.io/x", "a.kubernetes.io/x", "a/b c",
                         "/x", "x/", "requests.v.com/gpu"}) {
    EXPECT_FALSE(IsExtendedResource(no)) << no;
  }
}

TEST(NodeConditions, SayTheCausesAsTheKubeletDoes) {
  for (const auto& row : tests::ReadGolden("tests/managers/node/golden/ready.txt")) {
    NodeConfig config;
    config.local_storage_isolation = false;
    NodeInputs inputs;
    inputs.runtime.synced_at = TimePoint(Seconds(100));
    inputs.runtime.network_error.reset();
    for (size_t i = 1; i + 1 < row.size(); ++i) {
      inputs.runtime.errors.push_back(tests::Unquoted(row[i]));
    }
    kube::core::NodeStatus status;
    for (const char* name : {"cpu", "memory", "pods"}) (*status.mutable_capacity())[name];
    NodeNotes notes;
    SetConditions(config, inputs, {TimePoint(Seconds(100)), WallTime(Seconds(5))}, status, notes);
    EXPECT_EQ(FindCondition(status, "Ready")->message(), tests::Unquoted(row.back()));
  }
}

class Conditions : public testing::Test {
 protected:
  void Set(int64_t seconds) {
    notes_ = {};
    SetConditions(config_, inputs_, {TimePoint(Seconds(seconds)), WallTime(Seconds(seconds))},
                  status_, notes_);
  }
  std::vector<std::string> Reasons() const {
    std::vector<std::string> reasons;
    for (const NodeEvent& event : notes_.events) reasons.push_back(event.reason);
    return reasons;
  }

  NodeConfig config_{.flags = {.node_name = "n"}};
  NodeInputs inputs_{.pressures = {Pressure::kNo, Pressure::kNo, Pressure::kNo}};
  kube::core::NodeStatus status_;
  NodeNotes notes_;
};

TEST_F(Conditions, StandInOrderWithReadyLast) {
  Set(1);
  std::vector<std::string> types;
  for (const auto& condition : status_.conditions()) types.push_back(condition.type());
  EXPECT_THAT(types, ElementsAre("MemoryPressure", "DiskPressure", "PIDPressure", "Ready"));
  // A new condition of readiness is no change.
  EXPECT_THAT(Reasons(), ElementsAre("NodeHasSufficientMemory", "NodeHasNoDiskPressure",
                                     "NodeHasSufficientPID"));
}

TEST_F(Conditions, KeepTheTimeOfTheLastChange) {
  Set(1);
  Set(20);
  for (const auto& condition : status_.conditions()) {
    EXPECT_EQ(condition.lasttransitiontime().seconds(), 1);
    EXPECT_EQ(condition.lastheartbeattime().seconds(), 20);
  }
  EXPECT_TRUE(notes_.events.empty());
  inputs_.pressures.memory = Pressure::kYes;
  Set(30);
  EXPECT_EQ(FindCondition(status_, "MemoryPressure")->lasttransitiontime().seconds(), 30);
  EXPECT_EQ(FindCondition(status_, "DiskPressure")->lasttransitiontime().seconds(), 1);
  EXPECT_THAT(Reasons(), ElementsAre("NodeHasInsufficientMemory"));
}

TEST_F(Conditions, WhatNobodyCouldMeasureIsUnknown) {
  Set(1);
  inputs_.pressures.disk = Pressure::kUnknown;
  Set(2);
  const auto* condition = FindCondition(status_, "DiskPressure");
  EXPECT_EQ(condition->status(), "Unknown");
  EXPECT_EQ(condition->reason(), "KubeletCannotMeasureDisk");
  EXPECT_EQ(condition->lasttransitiontime().seconds(), 2);
  EXPECT_TRUE(notes_.events.empty());
}

TEST_F(Conditions, SayWhichCapacityIsMissing) {
  inputs_.runtime.synced_at = TimePoint(Seconds(1));
  inputs_.runtime.network_error.reset();
  (*status_.mutable_capacity())["cpu"].set_string("1");
  Set(1);
  EXPECT_EQ(FindCondition(status_, "Ready")->message(),
            "missing node capacity for resources: memory, pods, ephemeral-storage");
}

TEST_F(Conditions, ARuntimeThatIsSilentForHalfAMinuteIsDown) {
  inputs_.runtime.network_error.reset();
  config_.local_storage_isolation = false;
  for (const char* name : {"cpu", "memory", "pods"}) (*status_.mutable_capacity())[name];
  inputs_.runtime.synced_at = TimePoint(Seconds(100));
  Set(129);
  EXPECT_TRUE(IsReady(status_));
  Set(130);
  EXPECT_EQ(FindCondition(status_, "Ready")->message(), "container runtime is down");
  EXPECT_THAT(Reasons(), ElementsAre("NodeNotReady"));
}

TEST_F(Conditions, SoftRequirementsWarnOnly) {
  inputs_.soft_requirements = "no swap accounting";
  Set(1);
  EXPECT_TRUE(
      FindCondition(status_, "Ready")->message().ends_with(". WARNING: no swap accounting"));
}

TEST(NodeAddresses, AreThoseOfTheKubelet) {
  for (const auto& row : tests::ReadGolden("tests/managers/node/golden/addresses.txt")) {
    ASSERT_EQ(row.size(), 8);
    NodeFlags flags{.node_name = "n", .hostname = row[1]};
    for (const std::string& ip : Split(row[0])) flags.node_ips.push_back(*IpAddress::Parse(ip));
    flags.external_cloud_provider = row[2] == "true";
    NetworkFacts network{.interfaces = {{.name = "eth0", .up = true}}};
    for (const std::string& ip : Split(row[3])) {
      network.interfaces[0].addresses.push_back(*IpAddress::Parse(ip));
    }
    Node node;
    if (!row[4].empty()) {
      node.mutable_status()->add_addresses()->set_address(row[4]);
      node.mutable_status()->mutable_addresses(0)->set_type("InternalIP");
    }
    const Status set = SetAddresses(flags, network, node);
    EXPECT_EQ(bool(set), row[7] == "ok");
    std::string found;
    for (const auto& address : node.status().addresses()) {
      found += (found.empty() ? "" : ",") + address.type() + "=" + address.address();
    }
    EXPECT_EQ(found, row[5]) << row[0] << " " << row[1];
    const auto& annotations = node.metadata().annotations();
    const auto annotation = annotations.find("alpha.kubernetes.io/provided-node-ip");
    EXPECT_EQ(annotation == annotations.end() ? "" : annotation->second, row[6]);
  }
}

class Addresses : public testing::Test {
 protected:
  std::string Choose() {
    Node node;
    const Status set = SetAddresses(flags_, network_, node);
    return set ? node.status().addresses(0).address() : "error: " + set.error().message();
  }
  static IpAddress Ip(const char* text) { return *IpAddress::Parse(text); }

  NodeFlags flags_{.node_name = "n", .hostname = "host"};
  NetworkFacts network_{
      .interfaces = {{.name = "lo", .up = true, .loopback = true, .addresses = {Ip("127.0.0.1")}},
                     {.name = "eth0", .up = true, .addresses = {Ip("10.0.0.1"), Ip("fd00::1")}},
                     {.name = "eth1", .up = true, .addresses = {Ip("10.1.0.1")}}},
      .routes_known = true,
      .routes = {{"eth1", IpFamily::kIpv4}, {"eth0", IpFamily::kIpv6}}};
};

TEST_F(Addresses, ByDefaultOfTheDefaultRoute) { EXPECT_EQ(Choose(), "10.1.0.1"); }

TEST_F(Addresses, TheUnspecifiedOneSaysWhichFamily) {
  flags_.node_ips = {Ip("::")};
  EXPECT_EQ(Choose(), "fd00::1");
}

TEST_F(Addresses, WhatTheNameServiceSaysComesFirstIfItIsOfThisMachine) {
  network_.of_node_name = {Ip("127.0.0.1"), Ip("10.99.0.1"), Ip("fd00::1"), Ip("10.0.0.1")};
  EXPECT_EQ(Choose(), "10.0.0.1");
  network_.of_node_name = {Ip("10.99.0.1"), Ip("fd00::1")};
  EXPECT_EQ(Choose(), "fd00::1");
}

TEST_F(Addresses, LoopbackCountsWhereInterfacesHaveNone) {
  network_.interfaces[2].addresses = {Ip("169.254.1.1")};
  network_.interfaces[0].addresses.push_back(Ip("10.7.0.1"));
  EXPECT_EQ(Choose(), "10.7.0.1");
}

TEST_F(Addresses, WithoutRoutesItIsAnError) {
  network_.routes.clear();
  EXPECT_EQ(Choose(),
            "error: can't get ip address of node \"n\": no default routes found in "
            "\"/proc/net/route\" or \"/proc/net/ipv6_route\"");
}

TEST_F(Addresses, WithoutATableOfRoutesTheFirstInterface) {
  network_.routes_known = false;
  EXPECT_EQ(Choose(), "10.0.0.1");
}

TEST_F(Addresses, TheNameServiceIsAskedOnlyWhereItMatters) {
  EXPECT_TRUE(NeedsNameService(flags_));
  flags_.node_ips = {Ip("0.0.0.0")};
  EXPECT_TRUE(NeedsNameService(flags_));
  flags_.node_ips = {Ip("10.0.0.1")};
  EXPECT_FALSE(NeedsNameService(flags_));
  flags_ = {.hostname = "10.0.0.1"};
  EXPECT_FALSE(NeedsNameService(flags_));
  flags_ = {.hostname = "host", .external_cloud_provider = true};
  EXPECT_FALSE(NeedsNameService(flags_));
}

class WholeNode : public testing::Test {
 protected:
  StatusParts Parts(int64_t seconds = 10) const {
    return {config_, facts_, inputs_, {TimePoint(Seconds(seconds)), WallTime(Seconds(seconds))}};
  }
  Node Initial() {
    notes_ = {};
    return InitialNode(Parts(), memory_, notes_);
  }

  NodeConfig config_{.flags = {.node_name = "n", .hostname = "h"}};
  HostFacts facts_{.machine = {.cpus = 1, .memory_bytes = 1 << 30}};
  NodeInputs inputs_;
  NodeMemory memory_;
  NodeNotes notes_;
};

TEST_F(WholeNode, AtCreation) {
  config_.flags.external_cloud_provider = true;
  config_.flags.labels = {{"kubernetes.io/hostname", "mine"}};
  config_.taints = {{"k", "v", "NoExecute"}};
  config_.provider_id = "cloud://1";
  const Node node = Initial();
  EXPECT_EQ(node.metadata().labels().at("kubernetes.io/hostname"), "mine");
  EXPECT_EQ(node.metadata().labels().at("beta.kubernetes.io/arch"), GoArch());
  EXPECT_EQ(node.metadata().labels().at("beta.kubernetes.io/os"), "linux");
  EXPECT_EQ(node.metadata().annotations().at(kAttachDetachAnnotation), "true");
  ASSERT_EQ(node.spec().taints_size(), 2);
  EXPECT_EQ(node.spec().taints(0).key(), "k");
  EXPECT_EQ(node.spec().taints(1).key(), "node.cloudprovider.kubernetes.io/uninitialized");
  EXPECT_EQ(node.spec().providerid(), "cloud://1");
  EXPECT_EQ(node.status().daemonendpoints().kubeletendpoint().port(), 10250);
  EXPECT_EQ(node.status().nodeinfo().operatingsystem(), "linux");
}

TEST_F(WholeNode, ImagesBySizeAndFiveNamesEach) {
  config_.images_max = 2;
  inputs_.images = std::vector<ImageInput>{
      {.id = "a", .tags = {"a:1"}, .bytes = 5},
      {.id = "b", .digests = {"b@1", "b@2"}, .tags = {"1", "2", "3", "4"}, .bytes = 9},
      {.id = "c", .tags = {"c:1"}, .bytes = 5}};
  const Node node = Initial();
  ASSERT_EQ(node.status().images_size(), 2);
  EXPECT_THAT(node.status().images(0).names(), ElementsAre("b@1", "b@2", "1", "2", "3"));
  EXPECT_THAT(node.status().images(1).names(), ElementsAre("c:1"));
}

// The scheduler goes by what an earlier agent told, until the runtime has listed them.
TEST_F(WholeNode, ImagesStayUntilTheyAreKnown) {
  Node node = Initial();
  node.mutable_status()->add_images()->add_names("earlier:1");
  NodeNotes notes;
  (void)UpdateNode(Parts(), node, memory_, notes);
  ASSERT_EQ(node.status().images_size(), 1);
  inputs_.images.emplace();
  EXPECT_TRUE(UpdateNode(Parts(), node, memory_, notes));
  EXPECT_EQ(node.status().images_size(), 0);
}

TEST_F(WholeNode, TheHeartbeatAloneIsNoChange) {
  Node node = Initial();
  NodeNotes notes;
  EXPECT_FALSE(UpdateNode(Parts(500), node, memory_, notes));
  EXPECT_EQ(node.status().conditions(0).lastheartbeattime().seconds(), 500);
  inputs_.runtime.handlers = {{.name = "z"}, {.name = "a", .user_namespaces = true}};
  EXPECT_TRUE(UpdateNode(Parts(500), node, memory_, notes));
  EXPECT_EQ(node.status().runtimehandlers(0).name(), "a");
  EXPECT_TRUE(node.status().runtimehandlers(0).features().has_recursivereadonlymounts());
}

TEST_F(WholeNode, SaysWhatItCanDo) {
  EXPECT_THAT(DeclaredFeatures({}),
              ElementsAre("ExtendWebSocketsToKubelet", "InPlacePodLevelResourcesVerticalScaling",
                          "InPlacePodVerticalScalingInitContainers",
                          "RestartAllContainersOnContainerExits"));
  config_.flags.declared_features =
      DeclaredFeatures({.extend_web_sockets_to_kubelet = false,
                        .container_restart_rules = false,
                        .user_namespaces_host_network_support = true,
                        .runtime_has_user_namespaces_host_network = true});
  EXPECT_THAT(
      Initial().status().declaredfeatures(),
      ElementsAre("InPlacePodLevelResourcesVerticalScaling",
                  "InPlacePodVerticalScalingInitContainers", "UserNamespacesHostNetworkSupport"));
}

TEST_F(WholeNode, VolumesInUseStayUntilTheyAreKnown) {
  Node node = Initial();
  node.mutable_status()->add_volumesinuse("before");
  NodeNotes notes;
  EXPECT_FALSE(UpdateNode(Parts(), node, memory_, notes));
  EXPECT_THAT(node.status().volumesinuse(), ElementsAre("before"));
  inputs_.volumes_in_use.emplace();
  EXPECT_TRUE(UpdateNode(Parts(), node, memory_, notes));
  EXPECT_TRUE(node.status().volumesinuse().empty());
}

TEST_F(WholeNode, AForeignLabelOfTheSystemIsCorrected) {
  Node node = Initial();
  (*node.mutable_metadata()->mutable_labels())["kubernetes.io/os"] = "plan9";
  NodeNotes notes;
  EXPECT_TRUE(UpdateNode(Parts(), node, memory_, notes));
  EXPECT_EQ(node.metadata().labels().at("kubernetes.io/os"), "linux");
}

TEST_F(WholeNode, AnExistingOneThatIsRightNeedsNothing) {
  const Node initial = Initial();
  Node existing = initial;
  (*existing.mutable_metadata()->mutable_labels())["own"] = "x";
  EXPECT_FALSE(ReconcileNode(initial, ExtendedResources::kKeep, existing));
}

TEST_F(WholeNode, AnExistingOneIsPutRight) {
  facts_.machine.huge_pages = {{2048, 4}};
  const Node initial = Initial();
  Node existing = initial;
  auto& status = *existing.mutable_status();
  existing.mutable_metadata()->mutable_annotations()->clear();
  (*status.mutable_capacity())["hugepages-1Gi"].set_string("1Gi");
  (*status.mutable_allocatable())["hugepages-2Mi"].set_string("1Mi");
  (*status.mutable_capacity())["v.com/gpu"].set_string("2");
  EXPECT_TRUE(ReconcileNode(initial, ExtendedResources::kReset, existing));
  EXPECT_EQ(existing.metadata().annotations().at(kAttachDetachAnnotation), "true");
  EXPECT_FALSE(status.capacity().contains("hugepages-1Gi"));
  EXPECT_EQ(status.allocatable().at("hugepages-2Mi").string(), "8Mi");
  EXPECT_EQ(status.capacity().at("v.com/gpu").string(), "0");
  EXPECT_EQ(status.allocatable().at("v.com/gpu").string(), "0");
}

TEST_F(WholeNode, AttachDetachMayBeTurnedOff) {
  Node existing = Initial();
  config_.controller_attach_detach = false;
  const Node initial = Initial();
  EXPECT_TRUE(ReconcileNode(initial, ExtendedResources::kKeep, existing));
  EXPECT_TRUE(existing.metadata().annotations().empty());
}

}  // namespace
}  // namespace denselet::node
