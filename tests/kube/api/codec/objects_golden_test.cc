// JSON of objects, against a table that the API server's serializer printed.
#include <gtest/gtest.h>

#include <k8s.io/api/coordination/v1/generated.pb.h>

#include <algorithm>
#include <memory>
#include <set>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "tests/golden.h"
#include "tests/kube/api/codec/canonical_json.h"

namespace denselet::kube {
namespace {

using tests::CanonicalJson;
using tests::GoldenRow;

// kind, JSON, "ok" or "error", what was written or said, strict faults
std::vector<GoldenRow> Rows() {
  return tests::ReadGolden("tests/kube/api/codec/golden/objects.txt");
}

std::unique_ptr<google::protobuf::Message> NewObject(std::string_view kind) {
  if (kind == "Pod") return std::make_unique<core::Pod>();
  if (kind == "Node") return std::make_unique<core::Node>();
  if (kind == "Secret") return std::make_unique<core::Secret>();
  if (kind == "ConfigMap") return std::make_unique<core::ConfigMap>();
  if (kind == "Event") return std::make_unique<core::Event>();
  if (kind == "Lease") return std::make_unique<::k8s::io::api::coordination::v1::Lease>();
  ADD_FAILURE() << kind;
  return nullptr;
}

// What is decided differently on purpose, and why.
constexpr std::string_view kDifferences[] = {
    // Go takes a document that is nothing for an empty object.
    "null",
    // Of a field that comes twice Go merges the values, so that the last one wins only in part. The
    // last one counts here, whole, and what came before is not looked at.
    R"({"metadata":{"name":"a"},"metadata":{"uid":"b"}})",
    R"({"metadata":{"labels":{"a":"1"},"labels":{"b":"2"}}})",
    R"({"spec":{"containers":[{"name":"a"}],"containers":[{"image":"b"}]}})",
    R"({"spec":{"nodeName":"a","nodeName":null}})",
    R"({"spec":{"nodeName":5,"nodeName":"a"}})",
    // Protobuf knows no difference between a list that is empty and none, or between bytes that are
    // empty and none; neither does the API server when it keeps an object that way.
    R"({"spec":{"containers":[]}})",
    R"({"status":{"images":[{"names":[]}]}})",
    R"({"data":{"k":null}})",
    // Bytes as a list of numbers: read by Go, written by nobody.
    R"({"data":{"k":[0,1]}})",
    // Beyond 10^28 a quantity is 10^28 here.
    R"({"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1e100"}}}]}})",
    R"({"status":{"capacity":{"cpu":"1e100"}}})",
};

// Bytes that are no UTF-8, and halves of surrogate pairs: Go puts U+FFFD in their place, and with
// it the text has changed; here they are refused.
bool IsNoText(const std::string& json) {
  for (const std::string_view piece : {"\xff", "\xed\xa0", "\"\xc3\"", R"("\ud83d")", R"("\udc00")",
                                       R"("\ud83dx")", R"(\ud83d\ud83d)"}) {
    if (json.find(piece) != json.npos) return true;
  }
  return false;
}

bool DiffersOnPurpose(const GoldenRow& row) {
  return IsNoText(row[1]) || std::ranges::find(kDifferences, row[1]) != std::end(kDifferences);
}

TEST(ObjectsGolden, WhatIsNoTextIsRefused) {
  int count = 0;
  for (const GoldenRow& row : Rows()) {
    if (!IsNoText(row[1])) continue;
    ++count;
    const auto object = NewObject(row[0]);
    EXPECT_FALSE(DecodeJson(row[1], *object).ok()) << row[1];
  }
  EXPECT_EQ(count, 7);
}

TEST(ObjectsGolden, AreReadAndWrittenOrRefusedAsTheApiServerDoes) {
  for (const GoldenRow& row : Rows()) {
    if (DiffersOnPurpose(row)) continue;
    const auto object = NewObject(row[0]);
    const DecodeReport report = DecodeJson(row[1], *object);
    if (row[2] == "ok") {
      EXPECT_EQ(report.ok() ? CanonicalJson(EncodeJson(*object, report.type))
                            : "refused: " + ToString(report.faults[0]),
                CanonicalJson(row[3]))
          << row[1];
    } else {
      EXPECT_FALSE(report.ok()) << row[1] << " is " << EncodeJson(*object, report.type)
                                << ", Go says: " << row[3];
    }
  }
}

// "metadata.labels[k]: duplicate field" as Go says it: duplicate field "metadata.labels.k"
std::string AsGoSays(const Fault& fault) {
  std::string path;
  for (size_t i = 0; i < fault.path.size(); ++i) {
    const bool is_key = fault.path[i] == '[' && std::isdigit(fault.path[i + 1]) == 0;
    if (is_key) {
      path += '.';
    } else if (fault.path[i] != ']' || std::isdigit(fault.path[i - 1]) != 0) {
      path += fault.path[i];
    }
  }
  return fault.message + " \"" + path + "\"";
}

TEST(ObjectsGolden, StrictFaultsAreThoseOfTheApiServer) {
  for (const GoldenRow& row : Rows()) {
    if (DiffersOnPurpose(row) || row[2] != "ok") continue;
    const auto object = NewObject(row[0]);
    const DecodeReport report = DecodeJson(row[1], *object, {.extras = Extras::kRefused});
    std::set<std::string> ours;  // Go names a field once
    for (const Fault& fault : report.faults) ours.insert(AsGoSays(fault));
    std::string joined;
    for (const std::string& fault : ours) joined += (joined.empty() ? "" : ";") + fault;
    EXPECT_EQ(joined, row[4]) << row[1];
  }
}

}  // namespace
}  // namespace denselet::kube
