// YAML to JSON and back, against tables that sigs.k8s.io/yaml printed.
#include <gtest/gtest.h>

#include <algorithm>

#include "kube/api/codec/yaml.h"
#include "tests/golden.h"
#include "tests/kube/api/codec/canonical_json.h"

namespace denselet::kube {
namespace {

using tests::CanonicalJson;
using tests::Numbers;

constexpr const char* kToJson = "tests/kube/api/codec/golden/yaml_to_json.txt";
constexpr const char* kToYaml = "tests/kube/api/codec/golden/json_to_yaml.txt";

// Texts on which we differ on purpose, with the reason.
struct Difference {
  const char* yaml;
  const char* reason;
};
constexpr Difference kDifferences[] = {
    {"%YAML 1.2\n---\na: 1", "libyaml takes the newer version's mark; Go refuses the document"},
    {"a: 1\n\ufeffb: 2", "a byte order mark inside the text: Go makes it part of the key"},
    {"[!!str, a]", "Go reads the comma as part of the tag"},
    {"{a?b: 1}", "a question mark within plain text in a flow collection: Go refuses it"},
    {"[a?b]", "the same"},
    {"[ab:]", "a colon right before a bracket or comma: Go takes it into the text, we refuse it"},
    {"{ab:}", "the same"},
    {"[a:]", "the same"},
    {"{a:,b:}", "the same"},
    {"{k: a:}", "the same"},
};

bool DiffersOnPurpose(std::string_view yaml) {
  // An escape of JSON's, which YAML 1.1 does not have: libyaml takes it, Go refuses it.
  if (yaml.find("\\\\\\/\\r") != yaml.npos) return true;
  return std::ranges::any_of(kDifferences, [&](const Difference& d) { return yaml == d.yaml; });
}

std::string Outcome(const YamlResult& result) {
  return result.faults.empty() ? CanonicalJson(result.text.json)
                               : "refused: " + ToString(result.faults[0]);
}

TEST(YamlGolden, TextsBecomeTheJsonThatGoMakesOrAreRefusedAsGoDoes) {
  for (const tests::GoldenRow& row : tests::ReadGolden(kToJson)) {
    if (DiffersOnPurpose(row[0])) continue;
    const YamlResult ours = YamlToJson(row[0]);
    if (row[1] == "ok") {
      EXPECT_EQ(Outcome(ours), CanonicalJson(row[2])) << ::testing::PrintToString(row[0]);
    } else {
      EXPECT_FALSE(ours.faults.empty()) << ::testing::PrintToString(row[0]) << " is "
                                        << ours.text.json << ", Go says: " << row[2];
    }
  }
}

// JSON that Go misreads, since it reads it as YAML: it takes some characters for line breaks, and
// refuses some characters and escapes that JSON has. Ours reads it as JSON, and nothing is lost.
bool IsMisreadByGo(std::string_view json) {
  for (const std::string_view odd :
       {"\u0085", "\u2028", "\\u2028", "\ufeff", "\x7f", "\\/", "\\ud83d"}) {
    if (json.find(odd) != json.npos) return true;
  }
  return false;
}

TEST(YamlGolden, WhatGoMisreadsComesBackAsItWas) {
  int count = 0;
  for (const tests::GoldenRow& row : tests::ReadGolden(kToYaml)) {
    if (!IsMisreadByGo(row[0])) continue;
    ++count;
    const Result<std::string> yaml = JsonToYaml(row[0]);
    ASSERT_TRUE(yaml) << row[0];
    const YamlResult again = YamlToJson(*yaml);
    ASSERT_TRUE(again.faults.empty()) << ToString(again.faults[0]) << "\n" << *yaml;
    EXPECT_EQ(CanonicalJson(again.text.json, Numbers::kAsDoubles),
              CanonicalJson(row[0], Numbers::kAsDoubles));
  }
  EXPECT_GT(count, 50);
}

TEST(YamlGolden, JsonBecomesTheYamlThatGoMakes) {
  for (const tests::GoldenRow& row : tests::ReadGolden(kToYaml)) {
    if (IsMisreadByGo(row[0])) continue;
    const Result<std::string> ours = JsonToYaml(row[0]);
    if (row[1] == "ok") {
      EXPECT_EQ(ours ? *ours : "refused: " + ours.error().message(), row[2]) << row[0];
    } else {
      EXPECT_FALSE(ours) << row[0] << " is " << *ours << ", Go says: " << row[2];
    }
  }
}

}  // namespace
}  // namespace denselet::kube
