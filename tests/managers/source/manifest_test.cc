#include "managers/source/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "kube/api/types.h"
#include "tests/golden.h"
#include "tests/managers/source/manifests.h"
#include "tests/source_dir.h"

namespace denselet::managers {
namespace {

using testing::HasSubstr;
using Kind = kube::StaticPodOrigin::Kind;

Result<std::vector<kube::PodRef>> File(std::string_view text,
                                       ManifestForm form = ManifestForm::kPod) {
  auto manifest =
      DecodeManifest(text, form, "node-1", {.kind = Kind::kFile, .location = "/m/a.yaml"});
  if (!manifest) return manifest.error();
  return std::move(manifest->pods);
}

std::string FaultOf(std::string_view text, ManifestForm form = ManifestForm::kPod) {
  const auto pods = File(text, form);
  EXPECT_FALSE(pods);
  if (pods) return "";
  EXPECT_EQ(pods.error().code(), ErrorCode::kInvalid);
  return pods.error().message();
}

std::string ReadText(const std::string& path) {
  std::ifstream file(tests::SourcePath(path));
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// From the bytes of a manifest to the uid, as a running kubelet gave it.
TEST(Manifest, PodsAreTheOnesThatARunningKubeletMade) {
  int pods = 0;
  for (const auto& row : tests::ReadGolden("tests/kube/api/hash/golden/kubelet_uids.txt")) {
    const std::string name = row[0].substr(row[0].rfind('/') + 1);
    const std::string text = ReadText("tests/kube/api/hash/manifests/" + name);
    const auto decoded = DecodeManifest(text, ManifestForm::kPod, "node-1",
                                        {.kind = Kind::kFile, .location = row[0]});
    // The kubelet names a pod before it refuses it.
    if (!decoded && decoded.error().code() == ErrorCode::kInvalid) continue;
    ASSERT_TRUE(decoded) << name << ": " << decoded.error().message();
    ASSERT_EQ(decoded->pods.size(), 1u);
    EXPECT_EQ(decoded->pods.front()->hot().uid, row[1]) << name;
    EXPECT_EQ(decoded->pods.front()->hot().config_hash, row[1]) << name;
    ++pods;
  }
  EXPECT_GT(pods, 3);
}

TEST(Manifest, YamlAndJsonAreOnePod) {
  const auto yaml = File(PodYaml("web", "app:1"));
  const auto json = File(PodJson("web", "app:1"));
  ASSERT_TRUE(yaml) << yaml.error().message();
  ASSERT_TRUE(json) << json.error().message();
  EXPECT_EQ(yaml->front()->wire(), json->front()->wire());
  const kube::PodHotFields& hot = yaml->front()->hot();
  EXPECT_EQ(hot.name, "web-node-1");
  EXPECT_EQ(hot.ns, "default");
  EXPECT_EQ(hot.node_name, "node-1");
  EXPECT_EQ(hot.phase, kube::PodPhase::kPending);
  EXPECT_EQ(hot.restart_policy, kube::PodRestartPolicy::kAlways);
}

TEST(Manifest, OfSeveralDocumentsTheFirstCounts) {
  const auto pods = File(PodYaml("a", "app:1") + "---\n" + PodYaml("b", "app:1"));
  ASSERT_TRUE(pods) << pods.error().message();
  ASSERT_EQ(pods->size(), 1u);
  EXPECT_EQ(pods->front()->hot().name, "a-node-1");
}

std::string IgnoredIn(const std::string& text, ManifestForm form = ManifestForm::kPod) {
  const auto manifest =
      DecodeManifest(text, form, "node-1", {.kind = Kind::kFile, .location = "/m/a.yaml"});
  EXPECT_TRUE(manifest);
  return manifest && manifest->ignored ? manifest->ignored->message() : "";
}

TEST(Manifest, ASecondDocumentIsTold) {
  EXPECT_EQ(IgnoredIn(PodYaml("a", "app:1") + "---\n" + PodYaml("b", "app:1")),
            "only the first YAML document is read; what begins on line 9 is ignored");
  EXPECT_EQ(IgnoredIn(PodYaml("a", "app:1")), "");
  EXPECT_EQ(IgnoredIn(PodJson("a", "app:1")), "");
}

TEST(Manifest, FieldsThatAPodDoesNotHaveAreToldWithTheirLines) {
  const std::string pod =
      "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  hostnetwork: true\n"
      "  containers:\n  - name: c\n    image: i\n    comand: [x]\n";
  EXPECT_EQ(IgnoredIn(pod),
            "line 5: spec.hostnetwork: unknown field, ignored; "
            "line 9: spec.containers[0].comand: unknown field, ignored");
  EXPECT_THAT(IgnoredIn(pod + "---\n" + pod), HasSubstr("ignored; only the first YAML document"));
  const std::string json = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","nmae":"b"},
"spec":{"containers":[{"name":"c","image":"i"}],"nodename":"n"}})";
  EXPECT_EQ(IgnoredIn(json),
            "line 1: metadata.nmae: unknown field, ignored; "
            "line 2: spec.nodename: unknown field, ignored");
  EXPECT_THAT(IgnoredIn(R"({"apiVersion":"v1","kind":"PodList","items":[)" + json + "]}",
                        ManifestForm::kPodOrList),
              HasSubstr("items[0].spec.nodename: unknown field, ignored"));
  std::string many = pod;
  for (int i = 0; i < 20; ++i) many += "    x" + std::to_string(i) + ": 1\n";
  EXPECT_THAT(IgnoredIn(many), HasSubstr("; and 12 more like these"));
}

TEST(Manifest, AListIsForUrlsOnly) {
  const std::string list = R"({"apiVersion":"v1","kind":"PodList","items":[)" +
                           PodJson("a", "app:1") + "," + PodJson("b", "app:1") + "]}";
  EXPECT_THAT(FaultOf(list), HasSubstr("found kind \"PodList\""));
  const auto pods = File(list, ManifestForm::kPodOrList);
  ASSERT_TRUE(pods) << pods.error().message();
  ASSERT_EQ(pods->size(), 2u);
  EXPECT_EQ(pods->at(1)->hot().name, "b-node-1");
  EXPECT_NE(pods->at(0)->hot().uid, pods->at(1)->hot().uid);
}

TEST(Manifest, OneBadPodOfAListRefusesIt) {
  const std::string list = R"({"apiVersion":"v1","kind":"PodList","items":[)" +
                           PodJson("a", "app:1") + R"(,{"metadata":{"name":"b"}}]})";
  EXPECT_THAT(FaultOf(list, ManifestForm::kPodOrList), HasSubstr("items[1]"));
}

TEST(Manifest, FaultsSayWhatAndWhere) {
  struct Row {
    std::string text, says;
  };
  const std::vector<Row> rows = {
      {"", "empty"},
      {"# nothing\n", "empty"},
      {"apiVersion: v1\nkind: Pod\nmetadata: {name: a\nspec: }\n", "line "},
      {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  hostNetwork: maybe\n", "line 6"},
      {"{\"apiVersion\":\"v1\",\n\"kind\":\"Pod\",\n\"spec\":{\"hostNetwork\":3}}", "line 3"},
      {"{\"apiVersion\":\"v1\",\"kind\":", "line 1"},
      {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", "found kind \"ConfigMap\""},
      {"apiVersion: v2\nkind: Pod\nmetadata: {name: a}\n", "apiVersion \"v2\""},
      {"kind: Pod\nmetadata: {name: a}\n", "wanted a Pod of v1"},
      {"just a text\n", ""},
      {"- apiVersion: v1\n", ""},
      {"apiVersion: v1\nkind: Pod\nspec: {containers: [{name: a, image: b}]}\n", "needs a name"},
      {"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: []}\n",
       "spec.containers"},
      {"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
       "spec: {serviceAccountName: x, containers: [{name: a, image: b}]}\n",
       "static pods may not reference"},
  };
  for (const Row& row : rows) EXPECT_THAT(FaultOf(row.text), HasSubstr(row.says)) << row.text;
}

// What is missing is often there, under a name that nobody knows.
TEST(Manifest, FaultsNameTheFieldsThatWereNotKnown) {
  const std::string begin = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n";
  EXPECT_EQ(FaultOf(begin + "spec:\n  contaners:\n  - name: app\n    image: app:1\n"),
            "line 5: spec.containers: Required value; "
            "line 6: spec.contaners: unknown field, ignored");
  EXPECT_THAT(FaultOf("{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"},\n"
                      "\"spec\":{\"contaners\":[]}}"),
              HasSubstr("line 2: spec.contaners: unknown field"));
  EXPECT_THAT(FaultOf("apiVersion: v1\nkind: Pod\nmetadata:\n  nmae: a\n"),
              HasSubstr("needs a name; line 4: metadata.nmae: unknown field"));
  EXPECT_THAT(FaultOf("apiVersion: v1\nknd: Pod\n"), HasSubstr("line 2: knd: unknown field"));
  EXPECT_THAT(FaultOf("apVersion: v1\nkind: Pod\n"), HasSubstr("line 1: apVersion: unknown field"));
  EXPECT_THAT(FaultOf(begin + "spec:\n  contaners: []\n  hostNetwork: maybe\n"),
              HasSubstr("line 6: spec.contaners: unknown field"));
  EXPECT_THAT(FaultOf("{\"apiVersion\":\"v1\",\"kind\":\"PodList\",\"items\":[\n"
                      "{\"metadata\":{\"name\":\"b\"},\n\"spec\":{\"contaners\":[]}}]}",
                      ManifestForm::kPodOrList),
              HasSubstr("line 3: items[0].spec.contaners: unknown field"));
  // Fields of another kind are not its fault.
  EXPECT_THAT(FaultOf("apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n"),
              testing::Not(HasSubstr("unknown field")));
}

TEST(Manifest, FaultsOfTheContentHaveLinesToo) {
  const std::string yaml =
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n  labels:\n    ok: x\n"
      "    bad label: x\nspec:\n  containers:\n  - name: app\n    image: app:1\n"
      "  - name: App\n    ports:\n    - containerPort: 0\n    image: b\n";
  const std::string fault = FaultOf(yaml);
  EXPECT_THAT(fault, HasSubstr("line 5: metadata.labels: Invalid value: \"bad label\""));
  EXPECT_THAT(fault, HasSubstr("line 12: spec.containers[1].name: Invalid value"));
  EXPECT_THAT(fault, HasSubstr("line 14: spec.containers[1].ports[0].containerPort"));
  const std::string list =
      "{\"apiVersion\":\"v1\",\"kind\":\"PodList\",\"items\":[\n" + PodJson("a", "app:1") +
      ",\n{\"metadata\":{\"name\":\"b\"},\n\"spec\":{\"containers\":[\n{\"image\":\"x\"}]}}]}";
  EXPECT_THAT(FaultOf(list, ManifestForm::kPodOrList),
              HasSubstr("items[1]: line 5: spec.containers[0].name: Required value"));
}

TEST(Manifest, NoBeginningOfAJsonManifestIsAPod) {
  const std::string text = PodJson("web", "app:1");
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(File(text.substr(0, size))) << size;
  }
  EXPECT_TRUE(File(text));
}

}  // namespace
}  // namespace denselet::managers
