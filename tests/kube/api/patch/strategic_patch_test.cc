#include "kube/api/patch/strategic_patch.h"

#include <google/protobuf/message.h>
#include <k8s.io/api/resource/v1/generated.pb.h>
#include <k8s.io/api/storage/v1/generated.pb.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "kube/api/codec/codec.h"
#include "kube/api/patch/json_tree.h"
#include "kube/api/types.h"
#include "tests/golden.h"

namespace denselet::kube {
namespace {

using google::protobuf::Message;

const Message& Prototype(std::string_view kind) {
  static const std::map<std::string, const Message*, std::less<>> kPrototypes = {
      {"Pod", &core::Pod::default_instance()},
      {"Node", &core::Node::default_instance()},
      {"Event", &core::Event::default_instance()},
      {"Service", &core::Service::default_instance()},
      {"ServiceAccount", &core::ServiceAccount::default_instance()},
      {"PersistentVolumeClaim", &core::PersistentVolumeClaim::default_instance()},
      {"ConfigMap", &core::ConfigMap::default_instance()},
      {"ResourceClaim", &k8s::io::api::resource::v1::ResourceClaim::default_instance()},
      {"CSINode", &k8s::io::api::storage::v1::CSINode::default_instance()},
  };
  return *kPrototypes.at(std::string(kind));
}

const MessageSchema& Type(std::string_view kind) {
  return SchemaOf(*Prototype(kind).GetDescriptor());
}

std::unique_ptr<Message> Decoded(std::string_view kind, std::string_view json) {
  std::unique_ptr<Message> message(Prototype(kind).New());
  const DecodeReport report = DecodeJson(json, *message);
  EXPECT_TRUE(report.ok()) << json;
  return message;
}

std::string TextOf(const Result<std::string>& result) {
  return result ? *result : "error: " + result.error().message();
}

// The same value: Go writes numbers with a fraction in its own way, ours stay as they came.
void ExpectJson(const Result<std::string>& found, const std::string& wanted) {
  ASSERT_TRUE(found) << found.error().message();
  const auto found_json = Json::Parse(*found), wanted_json = Json::Parse(wanted);
  ASSERT_TRUE(found_json && wanted_json);
  EXPECT_TRUE(*found_json == *wanted_json)
      << "found  " << *found << "\nwanted " << wanted_json->ToString();
}

bool SaysAll(const Message& message, std::string_view json) {
  const auto encoded = Json::Parse(EncodeJson(message)), given = Json::Parse(json);
  return encoded && given && *encoded == *given;
}

TEST(StrategicPatch, IsMadeAsUpstreamMakesIt) {
  size_t objects = 0, rows = 0;
  for (const auto& row : tests::ReadGolden("tests/kube/api/patch/golden/pairs.txt")) {
    SCOPED_TRACE(row.at(1) + " to " + row.at(2));
    const auto before = Decoded(row.at(0), row.at(1)), after = Decoded(row.at(0), row.at(2));
    const auto patch = MakeStrategicPatch(*before, *after);
    const auto of_text = MakeStrategicPatch(row.at(1), row.at(2), Type(row.at(0)));
    if (row.at(3) == "error") {
      EXPECT_FALSE(patch);
      EXPECT_FALSE(of_text);
      continue;
    }
    ExpectJson(of_text, row.at(3));
    // Texts know empty lists, objects do not.
    ++rows;
    if (!SaysAll(*before, row.at(1)) || !SaysAll(*after, row.at(2))) continue;
    ExpectJson(patch, row.at(3));
    ++objects;
  }
  EXPECT_GT(objects, rows * 3 / 4);
}

TEST(StrategicPatch, IsAppliedAsUpstreamAppliesIt) {
  for (const auto& row : tests::ReadGolden("tests/kube/api/patch/golden/pairs.txt")) {
    if (row.at(3) == "error") continue;
    SCOPED_TRACE(row.at(1) + " and " + row.at(3));
    ExpectJson(ApplyStrategicPatch(row.at(1), row.at(3), Type(row.at(0))), row.at(4));
    const auto object = Decoded(row.at(0), row.at(1)), wanted = Decoded(row.at(0), row.at(4));
    const Status status = ApplyStrategicPatch(*object, row.at(3));
    ASSERT_TRUE(status) << status.error().message();
    ExpectJson(EncodeJson(*object), EncodeJson(*wanted));
  }
}

TEST(StrategicPatch, OfAnotherObjectThanItWasMadeForIsAppliedAsUpstreamAppliesIt) {
  for (const auto& row : tests::ReadGolden("tests/kube/api/patch/golden/apply.txt")) {
    SCOPED_TRACE(row.at(1) + " and " + row.at(2));
    const auto patched = ApplyStrategicPatch(row.at(1), row.at(2), Type(row.at(0)));
    if (row.at(3) == "error") {
      ASSERT_FALSE(patched) << *patched;
      EXPECT_EQ(patched.error().code(), ErrorCode::kInvalid);
    } else {
      ExpectJson(patched, row.at(4));
    }
  }
}

std::string PatchBetween(std::string_view before, std::string_view after) {
  return TextOf(MakeStrategicPatch(before, after, Type("Pod")));
}

TEST(StrategicPatch, OfNothingIsRecognised) {
  const auto pod = Decoded("Pod", R"({"metadata":{"name":"p","finalizers":["b","a"]}})");
  const auto patch = MakeStrategicPatch(*pod, *pod);
  ASSERT_TRUE(patch);
  EXPECT_EQ(*patch, kEmptyPatch);
  EXPECT_TRUE(ApplyStrategicPatch(*pod, kEmptyPatch));
}

// Upstream sorts the old list before it compares.
TEST(StrategicPatch, TheOrderOfScalarsIsToldWhenItChanges) {
  EXPECT_EQ(PatchBetween(R"({"metadata":{"finalizers":["b","a"]}})",
                         R"({"metadata":{"finalizers":["a","b"]}})"),
            R"({"metadata":{"$setElementOrder/finalizers":["a","b"]}})");
}

TEST(StrategicPatch, AScalarThatStaysIsNotDeletedThoughItWasThereTwice) {
  EXPECT_EQ(PatchBetween(R"({"metadata":{"finalizers":["a","a","b"]}})",
                         R"({"metadata":{"finalizers":["a"]}})"),
            R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["b"],)"
            R"("$setElementOrder/finalizers":["a"]}})");
}

std::string Refusal(std::string_view json, std::string_view patch) {
  return TextOf(ApplyStrategicPatch(json, patch, Type("Pod")));
}

TEST(StrategicPatch, AMalformedOneIsRefusedWithThePlace) {
  EXPECT_EQ(Refusal("{}", "7"), "error: read the patch: found a number, wanted an object");
  EXPECT_EQ(Refusal("{}", R"({"$invented":1})"),
            "error: apply a patch: $invented: unknown directive");
  EXPECT_EQ(Refusal(R"({"status":{"conditions":[{"type":"A"}]}})",
                    R"({"status":{"conditions":[{"type":"A","$setElementOrder/x":[]}]}})"),
            "error: apply a patch: status: conditions: \"A\": $setElementOrder/x: "
            "k8s.io.api.core.v1.PodCondition has no such field");
  EXPECT_EQ(Refusal(R"({"metadata":{"finalizers":["a"]}})",
                    R"({"metadata":{"$deleteFromPrimitiveList/finalizers":null}})"),
            "error: apply a patch: metadata: $deleteFromPrimitiveList/finalizers: no list");
  EXPECT_EQ(Refusal(R"({"spec":{"tolerations":[{"key":"a"}]}})",
                    R"({"spec":{"$setElementOrder/tolerations":[{"key":"a"}]}})"),
            "error: apply a patch: spec: $setElementOrder/tolerations: the elements of this list "
            "are not merged");
  EXPECT_EQ(Refusal(R"({"status":{"conditions":[{"type":"A"}]}})",
                    R"({"status":{"conditions":[{"$patch":"keep","type":"A"}]}})"),
            "error: apply a patch: status: conditions: $patch is \"keep\", wanted \"replace\" or "
            "\"delete\"");
}

TEST(StrategicPatch, AnObjectIsAsItWasWhenThePatchIsRefused) {
  const auto pod = Decoded("Pod", R"({"spec":{"nodeName":"n"}})");
  const std::string before = EncodeJson(*pod);
  EXPECT_FALSE(ApplyStrategicPatch(*pod, R"({"spec":{"nodeName":"m","$patch":"x"}})"));
  const Status status =
      ApplyStrategicPatch(*pod, R"({"metadata":{"name":"a"},"spec":{"nodeName":7}})");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message(),
            "read the patched object: line 1: spec.nodeName: found number 7, wanted text");
  EXPECT_EQ(EncodeJson(*pod), before);
}

TEST(StrategicPatch, AMapOfObjectsIsRefusedWhereItDiffers) {
  const auto& type = Type("ResourceClaim");
  const auto claim = [](std::string_view value) {
    return R"({"spec":{"devices":{}},"status":{"invented":{"a":{"b":")" + std::string(value) +
           R"("}}}})";
  };
  EXPECT_EQ(TextOf(MakeStrategicPatch(claim("1"), claim("1"), type)), "{}");
  EXPECT_EQ(TextOf(MakeStrategicPatch(claim("1"), claim("2"), type)),
            "error: make a patch: status: invented: k8s.io.api.resource.v1.ResourceClaimStatus has "
            "no such field");
}

}  // namespace
}  // namespace denselet::kube
