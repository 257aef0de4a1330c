#include "kube/api/hash/static_pod.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "kube/api/codec/codec.h"
#include "kube/api/codec/yaml.h"
#include "kube/api/types.h"
#include "tests/golden.h"
#include "tests/source_dir.h"

namespace denselet::kube {
namespace {

using Kind = StaticPodOrigin::Kind;

std::string ReadManifest(const std::string& name) {
  std::ifstream file(tests::SourcePath("tests/kube/api/hash/manifests/" + name));
  std::ostringstream text;
  text << file.rdbuf();
  if (name.ends_with(".json")) return text.str();
  const YamlResult yaml = YamlToJson(text.str());
  EXPECT_TRUE(yaml.faults.empty()) << name;
  return yaml.text.json;
}

WrittenAs FormOf(const std::string& name) {
  return name.ends_with(".json") ? WrittenAs::kJson : WrittenAs::kYaml;
}

core::Pod DecodePod(std::string_view json) {
  core::Pod pod;
  const DecodeReport report = DecodeJson(json, pod);
  EXPECT_TRUE(report.ok()) << report.ToStatus().error().message();
  return pod;
}

// Rows of static_pods.txt: the manifest, seven columns for a file and seven for a URL, the pod with
// its defaults.
constexpr size_t kFileColumn = 1, kUrlColumn = 8, kPodColumn = 15;

std::vector<std::string> Identity(const core::Pod& pod) {
  core::Pod tolerations_only;
  *tolerations_only.mutable_spec()->mutable_tolerations() = pod.spec().tolerations();
  const std::string spec = EncodeJson(tolerations_only.spec());
  const size_t begin = spec.find('['), end = spec.rfind(']');
  return {pod.metadata().uid(),
          pod.metadata().name(),
          pod.metadata().namespace_(),
          pod.spec().nodename(),
          pod.metadata().annotations().at("kubernetes.io/config.hash"),
          pod.status().phase(),
          begin == spec.npos ? "null" : spec.substr(begin, end + 1 - begin)};
}

TEST(StaticPod, IsWhoTheKubeletMakesIt) {
  std::string node, location;
  int pods = 0;
  for (const auto& row : tests::ReadGolden("tests/kube/api/hash/golden/static_pods.txt")) {
    if (row[0] == "!") {
      node = row[1], location = row[2];
      continue;
    }
    ASSERT_EQ(row.size(), kPodColumn + 1);
    const std::string manifest = ReadManifest(row[0]);
    const core::Pod defaulted = DecodePod(row[kPodColumn]);
    for (const Kind kind : {Kind::kFile, Kind::kUrl}) {
      core::Pod pod = defaulted;
      const Status status =
          ApplyStaticPodIdentity(pod, {.json = manifest, .written_as = FormOf(row[0])}, node,
                                 {.kind = kind, .location = location});
      ASSERT_TRUE(status) << row[0] << ": " << status.error().message();
      const auto column = static_cast<ptrdiff_t>(kind == Kind::kFile ? kFileColumn : kUrlColumn);
      const std::vector<std::string> wanted(row.begin() + column, row.begin() + column + 7);
      EXPECT_EQ(Identity(pod), wanted) << row[0];
    }
    ++pods;
  }
  EXPECT_GT(pods, 20);
}

// The tables above are printed by upstream's code in a program of ours; these by the kubelet
// itself.
TEST(StaticPod, UidIsTheOneThatARunningKubeletGave) {
  std::map<std::string, std::string> defaulted;
  for (const auto& row : tests::ReadGolden("tests/kube/api/hash/golden/static_pods.txt")) {
    if (row[0] != "!") defaulted[row[0]] = row.at(kPodColumn);
  }
  for (const auto& row : tests::ReadGolden("tests/kube/api/hash/golden/kubelet_uids.txt")) {
    ASSERT_EQ(row.size(), 2u);
    const std::string name = row[0].substr(row[0].rfind('/') + 1);
    const std::string manifest = ReadManifest(name);
    const auto uid =
        StaticPodUid(DecodePod(defaulted[name]), {.json = manifest, .written_as = FormOf(name)},
                     "node-1", {.kind = Kind::kFile, .location = row[0]});
    ASSERT_TRUE(uid) << name;
    EXPECT_EQ(*uid, row[1]) << name;
  }
}

constexpr std::string_view kPod =
    R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i","args":[]}]}})";

TEST(StaticPod, UidOfAnItemOfAListIsThatOfThePodAlone) {
  const core::Pod pod = DecodePod(kPod);
  const StaticPodOrigin origin{.kind = Kind::kUrl, .location = "http://example/pods"};
  const auto alone = StaticPodUid(pod, {.json = kPod}, "n", origin);
  const std::string list = R"({"items":[{},)" + std::string(kPod) + "]}";
  const auto item = StaticPodUid(pod, {.json = list, .list_item = 1}, "n", origin);
  const auto other = StaticPodUid(pod, {.json = list, .list_item = 0}, "n", origin);
  ASSERT_TRUE(alone && item && other);
  EXPECT_EQ(*alone, *item);
  EXPECT_NE(*alone, *other);  // its args are not the empty list
  EXPECT_FALSE(StaticPodUid(pod, {.json = list, .list_item = 2}, "n", origin));
  EXPECT_FALSE(StaticPodUid(pod, {.json = kPod, .list_item = 0}, "n", origin));
}

TEST(StaticPod, UidDependsOnTheNodeForFilesOnly) {
  const core::Pod pod = DecodePod(kPod);
  const auto uid = [&](Kind kind, std::string_view node, std::string_view location) {
    const auto result =
        StaticPodUid(pod, {.json = kPod}, node, {.kind = kind, .location = location});
    return result ? *result : result.error().message();
  };
  EXPECT_NE(uid(Kind::kFile, "n1", "/x"), uid(Kind::kFile, "n2", "/x"));
  EXPECT_NE(uid(Kind::kFile, "n1", "/x"), uid(Kind::kFile, "n1", "/y"));
  EXPECT_EQ(uid(Kind::kUrl, "n1", "/x"), uid(Kind::kUrl, "n2", "/x"));
  EXPECT_EQ(uid(Kind::kUrl, "n1", "/x").size(), 32u);
}

TEST(StaticPod, NameEndsInTheNodesInLowerCase) {
  EXPECT_EQ(StaticPodName("etcd", "Node-1.Example"), "etcd-node-1.example");
  EXPECT_EQ(StaticPodName("", ""), "-");
}

TEST(StaticPod, IsAsItWasWhenItsManifestIsWrong) {
  const core::Pod before = DecodePod(kPod);
  core::Pod pod = before;
  for (const std::string_view manifest :
       {std::string_view("metadata: {}"),
        std::string_view(R"({"metadata":{"creationTimestamp":"x"}})")}) {
    const Status status = ApplyStaticPodIdentity(pod, {.json = manifest}, "n", {});
    ASSERT_FALSE(status) << manifest;
    EXPECT_EQ(status.error().code(), ErrorCode::kInvalid);
    EXPECT_EQ(EncodeWire(pod), EncodeWire(before));
  }
}

TEST(StaticPod, HasBothNamesOfItsServiceAccount) {
  for (const char* json :
       {R"({"spec":{"serviceAccount":"a"}})", R"({"spec":{"serviceAccountName":"a"}})",
        R"({"spec":{"serviceAccount":"b","serviceAccountName":"a"}})"}) {
    core::Pod pod = DecodePod(json);
    ASSERT_TRUE(ApplyStaticPodIdentity(pod, {.json = json}, "n", {}));
    EXPECT_EQ(pod.spec().serviceaccount(), "a");
    EXPECT_EQ(pod.spec().serviceaccountname(), "a");
  }
}

TEST(StaticPod, TolerationIsAddedOnce) {
  const std::string json =
      R"({"spec":{"tolerations":[{"operator":"Exists","effect":"NoExecute","tolerationSeconds":5}]}})";
  core::Pod pod = DecodePod(json);
  ASSERT_TRUE(ApplyStaticPodIdentity(pod, {.json = json}, "n", {}));
  ASSERT_EQ(pod.spec().tolerations_size(), 1);
  EXPECT_FALSE(pod.spec().tolerations(0).has_tolerationseconds());
}

}  // namespace
}  // namespace denselet::kube
