#include "kube/api/codec/codec.h"

#include <gtest/gtest.h>

#include <k8s.io/api/authentication/v1/generated.pb.h>
#include <k8s.io/api/coordination/v1/generated.pb.h>

#include "kube/api/types.h"
#include "kube/api/values/quantity.h"

namespace denselet::kube {
namespace {

core::Pod DecodePod(std::string_view json, DecodeReport* report = nullptr,
                    const DecodeOptions& options = {}) {
  core::Pod pod;
  DecodeReport result = DecodeJson(json, pod, options);
  if (report != nullptr) {
    *report = result;
  } else {
    EXPECT_TRUE(result.ok()) << result.ToStatus().error().message();
  }
  return pod;
}

std::vector<std::string> Texts(const std::vector<Fault>& faults) {
  std::vector<std::string> texts;
  for (const Fault& fault : faults) texts.push_back(ToString(fault));
  return texts;
}

using Lines = std::vector<std::string>;

TEST(Codec, FieldsOfEveryShapeAreReadAndWritten) {
  const std::string json =
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"web","creationTimestamp":"2026-01-02T03:04:05Z",)"
      R"("labels":{"app":"web","tier":"front"},"managedFields":[{"manager":"kubectl","fieldsV1":{"f:spec":{"f:x":1.50}}}]},)"
      R"("spec":{"volumes":[{"name":"data","emptyDir":{"sizeLimit":"1Gi"}}],)"
      R"("containers":[{"name":"a","image":"nginx:1","ports":[{"containerPort":80}],)"
      R"("resources":{"limits":{"cpu":"500m","memory":"64Mi"}},)"
      R"("livenessProbe":{"httpGet":{"path":"/","port":"http"},"periodSeconds":5}}],)"
      R"("terminationGracePeriodSeconds":0,"shareProcessNamespace":false},"status":{}})";
  DecodeReport report;
  const core::Pod pod = DecodePod(json, &report);
  ASSERT_TRUE(report.ok()) << report.ToStatus().error().message();
  EXPECT_EQ(report.type, (TypeMeta{.api_version = "v1", .kind = "Pod"}));
  EXPECT_EQ(pod.spec().volumes(0).volumesource().emptydir().sizelimit().string(), "1Gi");
  EXPECT_EQ(pod.spec().containers(0).livenessprobe().handler().httpget().port().strval(), "http");
  EXPECT_TRUE(pod.spec().has_terminationgraceperiodseconds());
  EXPECT_EQ(EncodeJson(pod, report.type), json);
}

TEST(Codec, WhatGoWritesThoughItIsEmptyIsWritten) {
  EXPECT_EQ(EncodeJson(core::Pod()), R"({"metadata":{},"spec":{"containers":null},"status":{}})");
  core::Pod pod;
  pod.mutable_spec()->add_containers();
  EXPECT_EQ(EncodeJson(pod.spec()), R"({"containers":[{"name":"","resources":{}}]})");
}

TEST(Codec, ZeroOfAPlainFieldIsLeftOutAndZeroOfAPointerIsNot) {
  core::Pod pod;
  pod.mutable_spec()->set_hostnetwork(false);
  pod.mutable_spec()->set_nodename("");
  pod.mutable_spec()->set_priority(0);
  pod.mutable_metadata()->mutable_creationtimestamp();
  EXPECT_EQ(EncodeJson(pod),
            R"({"metadata":{},"spec":{"containers":null,"priority":0},"status":{}})");
}

TEST(Codec, MapsAreWrittenSorted) {
  core::Pod pod;
  auto& labels = *pod.mutable_metadata()->mutable_labels();
  std::string expected;
  for (int i = 0; i < 50; ++i) labels["k" + std::to_string((i * 37) % 50 + 10)] = "";
  for (int i = 10; i < 60; ++i) {
    expected += (i == 10 ? "\"k" : ",\"k") + std::to_string(i) + "\":\"\"";
  }
  EXPECT_EQ(EncodeJson(pod.metadata()), "{\"labels\":{" + expected + "}}");
}

TEST(Codec, UnknownFieldsAreToleratedAndNamedWithPathAndLine) {
  DecodeReport report;
  DecodePod("{\n\"spec\":{\n\"nodeNam\":\"a\",\"containers\":[{\n\"Image\":\"b\"}]}}", &report);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(Texts(report.extras), (Lines{"line 3: spec.nodeNam: unknown field",
                                         "line 4: spec.containers[0].Image: unknown field"}));
}

TEST(Codec, UnknownFieldsAreRefusedWhenTheCallerWantsIt) {
  DecodeReport report;
  DecodePod(R"({"spec":{"nodeNam":"a"}})", &report, {.extras = Extras::kRefused});
  EXPECT_EQ(Texts(report.faults), (Lines{"line 1: spec.nodeNam: unknown field"}));
}

TEST(Codec, JsonIsMergedWhereAFieldComesTwiceAsInGo) {
  DecodeReport report;
  const core::Pod pod = DecodePod(
      R"({"spec":{"nodeName":"x","securityContext":{"runAsUser":1,"runAsGroup":2},)"
      R"("containers":[{"name":"a","image":"i"},{"name":"b"}],"dnsConfig":{"searches":["a"]},)"
      R"("hostNetwork":true,"priority":7,"nodeSelector":{"a":"1","b":"2"}},)"
      R"("spec":{"nodeName":null,"securityContext":{"runAsUser":3},"dnsConfig":null,)"
      R"("containers":[{"name":"c"}],"priority":null,"nodeSelector":{"a":"3"}}})",
      &report);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(pod.spec().nodename(), "x");
  EXPECT_TRUE(pod.spec().hostnetwork());
  EXPECT_EQ(pod.spec().securitycontext().runasuser(), 3);
  EXPECT_EQ(pod.spec().securitycontext().runasgroup(), 2);
  EXPECT_FALSE(pod.spec().has_dnsconfig());
  EXPECT_FALSE(pod.spec().has_priority());
  ASSERT_EQ(pod.spec().containers_size(), 1);
  EXPECT_EQ(pod.spec().containers(0).name(), "c");
  EXPECT_EQ(pod.spec().containers(0).image(), "i");
  EXPECT_EQ(pod.spec().nodeselector().at("a"), "3");
  EXPECT_EQ(pod.spec().nodeselector().at("b"), "2");
  EXPECT_EQ(Texts(report.extras), (Lines{"line 1: spec: duplicate field"}));
  // What is replaced must be right all the same.
  DecodePod(R"({"spec":{"priority":"x","priority":1}})", &report);
  EXPECT_EQ(Texts(report.faults).size(), 1u);
}

TEST(Codec, WhatIsNotAtFaultCanBeHad) {
  core::Pod pod;
  const DecodeReport report = DecodeJson(
      R"({"spec":{"nodeName":5,"hostNetwork":true,"containers":[7,{"name":"b","args":["x",1,"z"]}],)"
      R"("nodeSelector":{"a":1,"b":"c"},"securityContext":[]}})",
      pod, {.remains = Remains::kRest});
  EXPECT_EQ(report.faults.size(), 5u);
  EXPECT_FALSE(pod.spec().has_nodename());
  EXPECT_FALSE(pod.spec().has_securitycontext());
  EXPECT_TRUE(pod.spec().hostnetwork());
  ASSERT_EQ(pod.spec().containers_size(), 2);
  EXPECT_EQ(pod.spec().containers(1).name(), "b");
  ASSERT_EQ(pod.spec().containers(1).args_size(), 3);
  EXPECT_EQ(pod.spec().containers(1).args(2), "z");
  EXPECT_EQ(pod.spec().nodeselector().at("b"), "c");
}

TEST(Codec, OfAFieldThatComesTwiceTheLastCounts) {
  DecodeReport report;
  const core::Pod pod = DecodePod(
      R"({"spec":{"containers":[{"name":"a"},{"name":"b"}],"nodeName":"x","nodeName":"y","containers":[{"name":"c"}]},)"
      R"("metadata":{"labels":{"k":"1","k":"2"}}})",
      &report);
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(pod.spec().containers_size(), 1);
  EXPECT_EQ(pod.spec().containers(0).name(), "c");
  EXPECT_EQ(pod.spec().nodename(), "y");
  EXPECT_EQ(pod.metadata().labels().at("k"), "2");
  EXPECT_EQ(Texts(report.extras), (Lines{"line 1: spec.nodeName: duplicate field",
                                         "line 1: spec.containers: duplicate field",
                                         "line 1: metadata.labels[k]: duplicate field"}));
}

TEST(Codec, EveryFaultIsReportedAtOnce) {
  DecodeReport report;
  DecodePod(R"({"metadata":{"labels":{"a":1},"creationTimestamp":"yesterday"},
"spec":{"hostNetwork":"yes","priority":4294967296,"terminationGracePeriodSeconds":1.5,
"containers":[{"name":["a"],"resources":{"limits":{"cpu":"1x"}}},7],
"volumes":{}}})",
            &report);
  EXPECT_FALSE(report.ok());
  const Lines texts = Texts(report.faults);
  ASSERT_EQ(texts.size(), 9u) << ::testing::PrintToString(texts);
  EXPECT_EQ(texts[0], "line 1: metadata.labels[a]: found number 1, wanted text");
  EXPECT_EQ(texts[2], "line 2: spec.hostNetwork: found text \"yes\", wanted true or false");
  EXPECT_EQ(texts[3],
            "line 2: spec.priority: found number 4294967296, wanted a whole number from "
            "-2147483648 to 2147483647");
  EXPECT_EQ(texts[4],
            "line 2: spec.terminationGracePeriodSeconds: found number 1.5, wanted a whole number");
  EXPECT_EQ(texts[5], "line 3: spec.containers[0].name: found a list, wanted text");
  EXPECT_EQ(texts[7], "line 3: spec.containers[1]: found number 7, wanted an object");
  EXPECT_EQ(texts[8], "line 4: spec.volumes: found an object, wanted a list");
}

TEST(Codec, FaultsHaveABound) {
  std::string json = R"({"spec":{"containers":[1)";
  for (int i = 0; i < 1000; ++i) json += ",1";
  DecodeReport report;
  DecodePod(json + "]}}", &report, {.faults_max = 7});
  EXPECT_EQ(report.faults.size(), 7u);
  EXPECT_EQ(report.further_faults, 994u);
}

TEST(Codec, NullIsAbsentInAnObjectAndEmptyInAList) {
  const core::Pod pod = DecodePod(
      R"({"metadata":{"name":null,"labels":null,"annotations":{"a":null}},"spec":{"containers":[null,{"args":["x",null]}]}})");
  EXPECT_FALSE(pod.metadata().has_name());
  EXPECT_EQ(pod.metadata().annotations().at("a"), "");
  ASSERT_EQ(pod.spec().containers_size(), 2);
  EXPECT_EQ(pod.spec().containers(1).args_size(), 2);
}

TEST(Codec, BrokenJsonNamesItsLine) {
  DecodeReport report;
  DecodePod("{\n\"spec\": {\n\"a\": }\n}", &report);
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_EQ(report.faults[0].line, 3u);
  EXPECT_TRUE(report.faults[0].message.starts_with("not JSON")) << report.faults[0].message;
  DecodePod("[]", &report);
  EXPECT_EQ(Texts(report.faults), (Lines{"found a list, wanted an object"}));
  DecodePod("", &report);
  EXPECT_FALSE(report.ok());
}

TEST(Codec, NumbersOfQuantitiesKeepTheirDigits) {
  const core::Pod pod = DecodePod(
      R"({"spec":{"containers":[{"resources":{"limits":{"a":0.1,"b":1e3,"c":12345678901234567890,"d":"1024Ki"}}}]}})");
  const auto& limits = pod.spec().containers(0).resources().limits();
  EXPECT_EQ(limits.at("a").string(), "100m");
  EXPECT_EQ(limits.at("b").string(), "1e3");
  EXPECT_EQ(limits.at("c").string(), "12345678901234567890");
  EXPECT_EQ(limits.at("d").string(), "1Mi");
}

TEST(Codec, ShortQuantitiesAreWrittenAsTheyWouldBeNormalized) {
  for (const std::string suffix : {"", "m", "Mi", "Gi", "Ki", "k", "M", "G", "Ti", "T", "E", "x"}) {
    for (int number = 0; number < 1030; number += number % 10 == 2 ? 7 : 1) {
      const std::string text = std::to_string(number) + suffix;
      core::Node node;
      const bool ok = DecodeJson(R"({"status":{"capacity":{"cpu":")" + text + R"("}}})", node).ok();
      const Result<std::string> normal = Quantity::Normalize(text);
      ASSERT_EQ(ok, static_cast<bool>(normal)) << text;
      if (!ok) continue;
      ASSERT_EQ(node.status().capacity().at("cpu").string(), *normal) << text;
    }
  }
}

TEST(Codec, AFieldThatComesTwiceInManyObjectsCostsNoMoreThanOnce) {
  DecodeReport report;
  const core::Pod pod = DecodePod(
      R"({"metadata":{"x":1,"name":"a"},"kind":"Pod","spec":{"nodeName":"x","y":2,"containers":[{"name":"b",)"
      R"("livenessProbe":{"periodSeconds":1,"exec":{"command":["1"]},"periodSeconds":2},"name":"c"}],"nodeName":"z"}})",
      &report);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report.type.kind, "Pod");
  EXPECT_EQ(
      EncodeJson(pod),
      R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","resources":{},)"
      R"("livenessProbe":{"exec":{"command":["1"]},"periodSeconds":2}}],"nodeName":"z"},"status":{}})");
  EXPECT_EQ(Texts(report.extras),
            (Lines{"line 1: metadata.x: unknown field", "line 1: spec.y: unknown field",
                   "line 1: spec.nodeName: duplicate field",
                   "line 1: spec.containers[0].name: duplicate field",
                   "line 1: spec.containers[0].livenessProbe.periodSeconds: duplicate field"}));
}

TEST(Codec, TimesDurationsBytesAndListsOfTexts) {
  ::k8s::io::api::coordination::v1::Lease lease;
  const std::string lease_json =
      R"({"metadata":{},"spec":{"holderIdentity":"a","renewTime":"2026-01-02T03:04:05.000006Z"}})";
  ASSERT_TRUE(DecodeJson(lease_json, lease).ok());
  EXPECT_EQ(EncodeJson(lease), lease_json);

  core::Secret secret;
  ASSERT_TRUE(DecodeJson(R"({"data":{"k":"AAEC"}})", secret).ok());
  EXPECT_EQ(secret.data().at("k"), std::string("\0\1\2", 3));
  EXPECT_EQ(EncodeJson(secret), R"({"metadata":{},"data":{"k":"AAEC"}})");

  ::k8s::io::api::authentication::v1::UserInfo user;
  const std::string user_json = R"({"username":"u","extra":{"a":["1","2"],"b":[]}})";
  ASSERT_TRUE(DecodeJson(user_json, user).ok());
  EXPECT_EQ(EncodeJson(user), user_json);

  config::KubeletConfiguration kubelet;
  ASSERT_TRUE(
      DecodeJson(
          R"({"syncFrequency":"90s","logging":{"flushFrequency":5000000000},"staticPodURLHeader":{"a":["b"]}})",
          kubelet)
          .ok());
  EXPECT_EQ(kubelet.syncfrequency().duration(), 90'000'000'000);
  const std::string json = EncodeJson(kubelet);
  EXPECT_NE(json.find(R"("syncFrequency":"1m30s")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("flushFrequency":5000000000)"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("staticPodURLHeader":{"a":["b"]})"), std::string::npos) << json;
}

TEST(Codec, TextIsEscapedAsGoDoes) {
  core::Pod pod;
  pod.mutable_metadata()->set_name("<a>&\"\\\n\x01\xe2\x80\xa8\xff\xc3\xa4");
  EXPECT_EQ(EncodeJson(pod.metadata()),
            "{\"name\":\"\\u003ca\\u003e\\u0026\\\"\\\\\\n\\u0001\\u2028\\ufffd\xc3\xa4\"}");
}

TEST(Codec, RawJsonIsNestedOnlySoDeep) {
  const auto nested = [](size_t depth) {
    return R"({"managedFields":[{"fieldsV1":)" + std::string(depth, '[') + std::string(depth, ']') +
           "}]}";
  };
  meta::ObjectMeta meta;
  EXPECT_TRUE(DecodeJson(nested(1000), meta).ok());
  const DecodeReport report = DecodeJson(nested(1001), meta);
  EXPECT_EQ(Texts(report.faults),
            (Lines{"line 1: managedFields[0].fieldsV1: nested deeper than 1000 levels"}));
}

TEST(Codec, WhatNobodyLooksAtIsNestedOnlySoDeepToo) {
  const auto nested = [](size_t depth) {
    return "{\n\"unknown\":" + std::string(depth, '[') + "\"]]]\\\"[\"" + std::string(depth, ']') +
           "}";
  };
  meta::ObjectMeta meta;
  EXPECT_TRUE(DecodeJson(nested(9'999), meta).ok());
  EXPECT_EQ(Texts(DecodeJson(nested(10'000), meta).faults),
            (Lines{"line 2: nested deeper than 10000 levels"}));
}

TEST(Codec, YamlIsReadWithItsOwnLines) {
  core::Pod pod;
  DecodeReport report = DecodeYaml(
      "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  hostNetwork: yes\n  containers:\n "
      " - name: c\n    "
      "image: 5\n  nodeNam: x\n",
      pod);
  EXPECT_TRUE(pod.metadata().name().empty());
  EXPECT_EQ(Texts(report.faults),
            (Lines{"line 9: spec.containers[0].image: found number 5, wanted text"}));
  EXPECT_EQ(Texts(report.extras), (Lines{"line 10: spec.nodeNam: unknown field"}));
  report = DecodeYaml("kind: Pod\napiVersion: v1\nspec: {hostNetwork: on}\n", pod);
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(pod.spec().hostnetwork());
  EXPECT_EQ(
      *EncodeYaml(pod, report.type),
      "apiVersion: v1\nkind: Pod\nmetadata: {}\nspec:\n  containers: null\n  hostNetwork: true\n"
      "status: {}\n");
}

}  // namespace
}  // namespace denselet::kube
