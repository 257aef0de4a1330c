#include "managers/node/machine_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "managers/node/ip_address.h"
#include "managers/node/network_facts.h"
#include "managers/node/node_config.h"

namespace denselet::node {
namespace {

using testing::ElementsAre;

FileTexts Files() {
  return {{"/sys/devices/system/cpu/online", "0-3,8\n"},
          {"/proc/meminfo", "MemTotal:       1048576 kB\nMemFree: 3 kB\nSwapTotal:     2048 kB\n"},
          {"/proc/sys/kernel/osrelease", "6.1.0-13-amd64\n"},
          {"/proc/sys/kernel/random/boot_id", "b00t\n"},
          {"/proc/stat", "cpu 1 2 3\nbtime 1700000000\nprocesses 5\n"},
          {"/var/lib/dbus/machine-id", "dbus\n"},
          {"/sys/class/dmi/id/product_uuid", "UUID\n"},
          {"/usr/lib/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=d\n"},
          {"/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0\n"},
          {"/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "16\n"}};
}

TEST(MachineFacts, OfATypicalMachine) {
  const Result<MachineFacts> facts = ParseMachineFacts(Files());
  ASSERT_TRUE(facts) << facts.error().message();
  EXPECT_EQ(facts->cpus, 5);
  EXPECT_EQ(facts->memory_bytes, uint64_t{1} << 30);
  EXPECT_EQ(facts->swap_bytes, 2048 * 1024);
  EXPECT_THAT(facts->huge_pages, ElementsAre(HugePages{2048, 16}, HugePages{1048576, 0}));
  EXPECT_EQ(facts->machine_id, "dbus");
  EXPECT_EQ(facts->system_uuid, "UUID");
  EXPECT_EQ(facts->boot_id, "b00t");
  EXPECT_EQ(facts->kernel_version, "6.1.0-13-amd64");
  EXPECT_EQ(facts->os_image, "Debian GNU/Linux 12 (bookworm)");
  EXPECT_EQ(facts->booted_at_seconds, 1'700'000'000);
}

TEST(MachineFacts, WhatIsMissingIsLeftEmpty) {
  FileTexts files = Files();
  for (const char* path : {"/var/lib/dbus/machine-id", "/sys/class/dmi/id/product_uuid",
                           "/usr/lib/os-release", "/proc/stat", "/proc/sys/kernel/osrelease"}) {
    files.erase(path);
  }
  const Result<MachineFacts> facts = ParseMachineFacts(files);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->machine_id, "");
  EXPECT_EQ(facts->system_uuid, "");
  EXPECT_EQ(facts->os_image, "Unknown");
  EXPECT_EQ(facts->kernel_version, "Unknown");
  EXPECT_EQ(facts->booted_at_seconds, 0);
}

TEST(MachineFacts, AnOsWithoutAPrettyNameIsLinux) {
  FileTexts files = Files();
  files["/etc/os-release"] = "NAME=x\n";
  EXPECT_EQ(ParseMachineFacts(files)->os_image, "Linux");
}

TEST(MachineFacts, WithoutCpusOrMemoryThereIsNoNode) {
  for (const char* path : {"/sys/devices/system/cpu/online", "/proc/meminfo"}) {
    FileTexts files = Files();
    files.erase(path);
    EXPECT_FALSE(ParseMachineFacts(files)) << path;
    files[path] = "garbage";
    EXPECT_FALSE(ParseMachineFacts(files)) << path;
  }
  FileTexts files = Files();
  files["/proc/meminfo"] = "MemTotal: 99999999999999999999999 kB\n";
  EXPECT_FALSE(ParseMachineFacts(files));
}

TEST(CpuLists, AreCounted) {
  EXPECT_EQ(*CountCpus("0"), 1);
  EXPECT_EQ(*CountCpus("0-3"), 4);
  EXPECT_EQ(*CountCpus(" 0-1, 1-2 ,7\n"), 4);
  EXPECT_EQ(*CountCpus(""), 0);
  for (const char* bad : {"a", "1-", "-1", "3-1", "1,,2x", "0-99999999999", "1--2"}) {
    EXPECT_FALSE(CountCpus(bad)) << bad;
  }
}

TEST(HugePageFolders, SayTheirSize) {
  EXPECT_EQ(HugePageKib("hugepages-2048kB"), 2048);
  for (const char* bad : {"hugepages-kB", "hugepages-2048", "2048kB", "hugepages-20x48kB",
                          "hugepages-99999999999999999999kB", "hugepages-9223372036854775807kB"}) {
    EXPECT_EQ(HugePageKib(bad), 0) << bad;
  }
}

TEST(Routes, Ipv4) {
  const auto routes = ParseIpv4Routes(
      "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
      "eth0\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"
      "eth1\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n");
  ASSERT_TRUE(routes);
  EXPECT_THAT(*routes, ElementsAre(DefaultRoute{"eth0", IpFamily::kIpv4}));
  EXPECT_FALSE(ParseIpv4Routes("eth0\tnonsense\t00000000\n"));
  EXPECT_FALSE(ParseIpv4Routes("eth0\n"));
}

TEST(Routes, Ipv6) {
  const std::string zero(32, '0');
  const std::string gateway = "fe80" + std::string(27, '0') + "1";
  const std::string rest = " 00000400 00000001 00000000 00000003 ";
  const auto line = [&](const std::string& to, const std::string& via, const std::string& name) {
    return to + " 00 " + zero + " 00 " + via + rest + name + "\n";
  };
  const auto routes = ParseIpv6Routes(line(zero, gateway, "eth0") + line(zero, zero, "lo") +
                                      line(gateway, gateway, "eth1"));
  ASSERT_TRUE(routes) << routes.error().message();
  EXPECT_THAT(*routes, ElementsAre(DefaultRoute{"eth0", IpFamily::kIpv6}));
  EXPECT_FALSE(ParseIpv6Routes("00 01\n"));
}

TEST(IpAddresses, AreReadAndPrintedAsGoDoes) {
  const std::pair<const char*, const char*> cases[] = {
      {"10.0.0.1", "10.0.0.1"},
      {"010.001.0.9", "10.1.0.9"},
      {"::ffff:10.0.0.1", "10.0.0.1"},
      {"::", "::"},
      {"::1", "::1"},
      {"2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"},
      {"1:0:2:0:3:0:4:0", "1:0:2:0:3:0:4:0"},
      {"fe80::1", "fe80::1"},
      {"::1.2.3.4", "::102:304"},
      {"1::", "1::"}};
  for (const auto& [text, printed] : cases) {
    const auto ip = IpAddress::Parse(text);
    ASSERT_TRUE(ip) << text;
    EXPECT_EQ(ip->ToString(), printed);
  }
  for (const char* bad : {"", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.4 ", "a", "1.2.3.-4", "::g",
                          "fe80::1%eth0", "1..2.3"}) {
    EXPECT_FALSE(IpAddress::Parse(bad)) << bad;
  }
}

TEST(IpAddresses, KnowWhatTheyAreFor) {
  const auto ip = [](const char* text) { return *IpAddress::Parse(text); };
  EXPECT_TRUE(ip("127.5.0.1").IsLoopback());
  EXPECT_TRUE(ip("::1").IsLoopback());
  EXPECT_TRUE(ip("239.0.0.1").IsMulticast());
  EXPECT_TRUE(ip("ff02::1").IsMulticast());
  EXPECT_TRUE(ip("169.254.9.9").IsLinkLocalUnicast());
  EXPECT_TRUE(ip("febf::1").IsLinkLocalUnicast());
  EXPECT_TRUE(ip("0.0.0.0").IsUnspecified());
  EXPECT_TRUE(ip("::").IsUnspecified());
  EXPECT_TRUE(ip("10.0.0.1").IsGlobalUnicast());
  EXPECT_TRUE(ip("fd00::1").IsGlobalUnicast());
  for (const char* not_global :
       {"255.255.255.255", "0.0.0.0", "127.0.0.1", "224.0.0.1", "::", "169.254.0.1", "fe80::1"}) {
    EXPECT_FALSE(ip(not_global).IsGlobalUnicast()) << not_global;
  }
}

Result<NodeConfig> ConfigOf(const char* yaml) {
  kube::config::KubeletConfiguration parsed;
  const kube::DecodeReport report = kube::DecodeYaml(yaml, parsed);
  EXPECT_TRUE(report.ok()) << report.ToStatus().error().message();
  return MakeNodeConfig(parsed, {.node_name = "n"});
}

TEST(NodeConfiguration, IsTakenFromTheKubelets) {
  const Result<NodeConfig> config = ConfigOf(
      "{systemReserved: {cpu: 500m, memory: 1Gi}, kubeReserved: {cpu: '1'}, maxPods: 250,"
      " evictionHard: {memory.available: 5%, nodefs.available: 1Gi}, nodeStatusUpdateFrequency: "
      "20s,"
      " nodeLeaseDurationSeconds: 8, providerID: p, registerNode: false,"
      " registerWithTaints: [{key: k, value: v, effect: NoSchedule}]}");
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->system_reserved.at("cpu").ToString(), "500m");
  EXPECT_EQ(config->pods_max, 250);
  EXPECT_EQ(config->memory_eviction->Of(kube::Quantity::FromUnits(1000)).Units(), 50);
  EXPECT_EQ(config->storage_eviction->Of(kube::Quantity::FromUnits(1000)).Units(), 1 << 30);
  EXPECT_EQ(config->HeartbeatTimeMax(), Seconds(8));
  EXPECT_EQ(config->taints.at(0).effect, "NoSchedule");
  EXPECT_FALSE(config->register_node);
}

TEST(NodeConfiguration, ReservedCpusAreTheOnlyOnes) {
  const Result<NodeConfig> config = ConfigOf(
      "{systemReserved: {cpu: 500m}, kubeReserved: {cpu: '1', memory: 1Gi},"
      " reservedSystemCPUs: '0-1,4'}");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->system_reserved.at("cpu").ToString(), "3");
  EXPECT_FALSE(config->kube_reserved.contains("cpu"));
  EXPECT_TRUE(config->kube_reserved.contains("memory"));
}

TEST(NodeConfiguration, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"{systemReserved: {cpu: x}}", "systemReserved \"cpu\""},
      {"{kubeReserved: {memory: '-1'}}", "kubeReserved \"memory\""},
      {"{evictionHard: {memory.available: 101%}}", "evictionHard \"memory.available\""},
      {"{nodeLeaseDurationSeconds: 0}", "nodeLeaseDurationSeconds"},
      {"{nodeStatusReportFrequency: -1s}", "nodeStatusReportFrequency"},
      {"{reservedSystemCPUs: a}", "reservedSystemCPUs"}};
  for (const auto& [yaml, name] : cases) {
    const Result<NodeConfig> config = ConfigOf(yaml);
    ASSERT_FALSE(config) << yaml;
    EXPECT_TRUE(config.error().message().starts_with(name)) << config.error().message();
  }
}

TEST(PathsToLookFor, TheSwapControllerIsLookedForInOurOwnGroup) {
  const auto of = [](const std::string& groups) {
    return PathsToLookFor({{"/proc/self/cgroup", groups}}).swap_control;
  };
  EXPECT_EQ(of("0::/\n"), "/sys/fs/cgroup/memory.swap.max");
  EXPECT_EQ(of("0::/a.slice/b\n"), "/sys/fs/cgroup/a.slice/b/memory.swap.max");
  const std::string v1 = "/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes";
  EXPECT_EQ(of("12:cpu,cpuacct:/x\n4:memory:/x\n0::/x\n"), v1);
  EXPECT_EQ(of("0::/x\n4:memory:/x\n"), v1);
  EXPECT_EQ(of(""), "");
}

}  // namespace
}  // namespace denselet::node
