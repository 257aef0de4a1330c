// Environments, DNS settings and /etc/hosts against the kubelet's own, of random pods:
// golden/*.txt, printed by third_party/peers/podenv.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kube/api/codec/codec.h"
#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "sync/spec/environment.h"
#include "sync/spec/hosts_file.h"
#include "sync/spec/ip_preference.h"
#include "sync/spec/pod_dns.h"
#include "tests/golden.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;

template <class T>
T Decoded(const std::string& json) {
  T object;
  const auto report = kube::DecodeJson(json, object);
  EXPECT_TRUE(report.ok()) << json;
  return object;
}

std::vector<std::string> Ips(const std::string& json) {
  std::vector<std::string> ips;
  const auto status = Decoded<core::PodStatus>(json);
  for (const auto& ip : status.podips()) ips.push_back(ip.ip());
  return ips;
}

template <class List>
std::vector<std::string> Texts(const List& list) {
  return {list.begin(), list.end()};
}

template <class List>
void Give(ObjectKind kind, const List& list, EnvironmentFacts& facts) {
  for (const auto& object : list.items()) {
    facts.objects.insert_or_assign(
        ObjectKey{kind, {object.metadata().namespace_(), object.metadata().name()}},
        std::make_shared<const std::string>(object.SerializeAsString()));
  }
}

TEST(EnvironmentGolden, IsTheKubelets) {
  size_t rows = 0, failed = 0;
  for (const auto& row : tests::ReadGolden("tests/sync/spec/golden/environment.txt")) {
    ASSERT_EQ(row.size(), 8U);
    ++rows;
    SCOPED_TRACE("row " + std::to_string(rows) + ": " + row[0]);
    const auto pod = Decoded<core::Pod>(row[0]);
    const core::Container& container = pod.spec().containers(0);
    EnvironmentFacts facts;
    facts.pod_folder = "POD";
    const EnvironmentNeeds needs = NeedsOf(pod, container);
    for (const ObjectKey& key : needs.objects) {
      const char* word = key.kind == ObjectKind::kSecret ? "secret" : "configmap";
      facts.objects.emplace(key, Error(ErrorCode::kNotFound,
                                       std::string(word) + " \"" + key.ref.name + "\" not found"));
    }
    Give(ObjectKind::kConfigMap, Decoded<core::ConfigMapList>(row[1]), facts);
    Give(ObjectKind::kSecret, Decoded<core::SecretList>(row[2]), facts);
    const auto services = Decoded<core::ServiceList>(row[3]);
    for (const auto& service : services.items()) {
      facts.services.services.push_back(
          std::make_shared<const std::string>(service.SerializeAsString()));
    }
    const auto node = Decoded<core::Node>(row[4]);
    for (const auto& address : node.status().addresses()) {
      if (address.type() != "InternalIP") continue;
      const bool ipv6 = ReadIp(address.address())->ipv6;
      const bool again = !facts.host_ips.empty() && ReadIp(facts.host_ips.front())->ipv6 == ipv6;
      if (!again) facts.host_ips.push_back(address.address());
    }
    for (const auto* entry : kube::Sorted(node.status().allocatable())) {
      facts.allocatable.emplace(entry->first, *kube::Quantity::Parse(entry->second.string()));
    }
    facts.pod_ips = IpsByPreference(Ips(row[5]), ReadIp(facts.host_ips.front())->ipv6);
    const auto files = Decoded<core::ConfigMap>(row[6]);
    for (const EnvFileRef& file : needs.files)
      facts.files.emplace(file, files.data().at(file.path));

    const Result<KeyValues> made = MakeEnvironment(pod, container, facts);
    if (row[7].starts_with("! ")) {
      ++failed;
      ASSERT_FALSE(made);
      std::string why = made.error().message();
      if (const size_t at = why.find("POD/volumes/"); at != std::string::npos) {
        why = why.substr(0, at) + "FOLDER" + why.substr(why.rfind('/'));
      }
      EXPECT_EQ("! " + why, row[7]);
      continue;
    }
    KeyValues wanted;
    const auto answer = Decoded<core::Container>(row[7]);
    for (const auto& variable : answer.env()) {
      wanted.emplace_back(variable.name(), variable.value());
    }
    ASSERT_TRUE(made) << made.error().message();
    EXPECT_EQ(*made, wanted);
  }
  EXPECT_GE(rows, 150U);
  EXPECT_GE(failed, 30U);
}

TEST(DnsGolden, IsTheKubelets) {
  size_t rows = 0, told = 0;
  for (const auto& row : tests::ReadGolden("tests/sync/spec/golden/dns.txt")) {
    ASSERT_EQ(row.size(), 6U);
    ++rows;
    SCOPED_TRACE("row " + std::to_string(rows) + ": " + row[0] + " " + row[3]);
    const auto pod = Decoded<core::Pod>(row[0]);
    const auto cluster = Decoded<core::PodDNSConfig>(row[1]);
    DnsNode node;
    node.cluster_servers = Texts(cluster.nameservers());
    node.cluster_domain = cluster.searches(0);
    DnsSpec host;
    if (row[3] != "-") {
      node.resolv_conf_path = "/etc/resolv.conf";
      const Result<DnsSpec> parsed = ParseResolvConf(row[3]);
      ASSERT_EQ(static_cast<bool>(parsed), !row[4].starts_with("! ")) << row[4];
      if (!parsed) continue;
      host = *parsed;
    }
    const PodDns made = MakePodDns(pod, node, host, Ips(row[2]));
    const auto wanted = Decoded<core::PodDNSConfig>(row[4]);
    EXPECT_EQ(made.dns.servers, Texts(wanted.nameservers()));
    EXPECT_EQ(made.dns.searches, Texts(wanted.searches()));
    std::vector<std::string> options;
    // tidy: allow random-order because a pod has its options as a list
    for (const auto& option : wanted.options()) options.push_back(option.name());
    EXPECT_EQ(made.dns.options, options);
    std::vector<std::string> notes;
    for (const PodNote& note : made.notes) {
      notes.push_back("Warning " + note.reason + " " + note.message);
    }
    EXPECT_EQ(notes, Texts(Decoded<core::PodDNSConfig>(row[5]).searches()));
    told += notes.size();
  }
  EXPECT_GE(rows, 150U);
  EXPECT_GE(told, 30U);
}

TEST(HostsGolden, IsTheKubelets) {
  size_t rows = 0;
  for (const auto& row : tests::ReadGolden("tests/sync/spec/golden/hosts.txt")) {
    ASSERT_EQ(row.size(), 5U);
    ++rows;
    EXPECT_EQ(
        HostsFile(Decoded<core::Pod>(row[0]), {.name = row[2], .domain = row[3]}, Ips(row[1])),
        row[4]);
  }
  EXPECT_GE(rows, 30U);
}

}  // namespace
}  // namespace denselet::sync
