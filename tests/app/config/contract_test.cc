// docs/compat/config.md and the code say the same: every field, its type, its default.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "app/config/defaults.h"
#include "app/config/document.h"
#include "app/config/support.h"
#include "base/time.h"
#include "kube/api/codec/codec.h"
#include "kube/api/codec/schema.h"
#include "kube/api/types.h"
#include "tests/source_dir.h"

namespace denselet::app {
namespace {

using kube::FieldSchema;
using kube::MessageSchema;
using kube::Repeats;
using kube::Shape;
using kube::config::KubeletConfiguration;

struct Row {
  std::string name, type, default_text, effective;
};

std::string Cell(const std::string& line, size_t index) {
  size_t begin = 0;
  for (size_t i = 0; i <= index; ++i) begin = line.find('|', begin) + 1;
  std::string cell = line.substr(begin, line.find('|', begin) - begin);
  cell.erase(0, cell.find_first_not_of(' '));
  cell.erase(cell.find_last_not_of(' ') + 1);
  return cell;
}

// The rows of the tables of §1.1 to §1.6 and §2.
std::vector<Row> Contract() {
  std::ifstream file(tests::SourcePath("docs/compat/config.md"));
  std::vector<Row> rows;
  std::string section;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) section = line;
    const bool wanted =
        (section.starts_with("### 1.") && section < "### 1.7") || section.starts_with("## 2.");
    if (!wanted || !line.starts_with("| `")) continue;
    std::string name = Cell(line, 0);
    name = name.substr(1, name.rfind('`') - 1);
    rows.push_back(
        {name, Cell(line, 1), Cell(line, 2), section.starts_with("## 2.") ? "Y" : Cell(line, 5)});
  }
  return rows;
}

// The fields that hold values, by path; messages only where the contract names them as a whole.
void Collect(const MessageSchema& schema, const std::string& path,
             std::map<std::string, const FieldSchema*>& into) {
  for (const FieldSchema& field : schema.fields) {
    if (field.inlined) {
      Collect(*field.message, path, into);
      continue;
    }
    const std::string inner = path.empty() ? field.name : path + "." + field.name;
    if (field.shape == Shape::kMessage && field.repeats == Repeats::kOnce) {
      Collect(*field.message, inner, into);
    } else {
      into[inner] = &field;
    }
  }
}

std::map<std::string, const FieldSchema*> Fields() {
  std::map<std::string, const FieldSchema*> fields;
  Collect(kube::SchemaOf(*KubeletConfiguration::descriptor()), "", fields);
  return fields;
}

TEST(ConfigContract, NamesEveryFieldAndNoOther) {
  std::set<std::string> named;
  for (const Row& row : Contract()) named.insert(row.name);
  // Objects whose fields have rows of their own.
  named.erase("logging");
  named.erase("tracing");
  std::set<std::string> present;
  for (const auto& [path, field] : Fields()) present.insert(path);
  EXPECT_EQ(named, present);
}

std::string TypeOf(const FieldSchema& field) {
  if (field.repeats == Repeats::kMap) return "map";
  if (field.repeats == Repeats::kList) return "[]";
  switch (field.shape) {
    case Shape::kBool:
      return "bool";
    case Shape::kInt32:
      return "int32";
    case Shape::kInt64:
      return "int64";
    case Shape::kUint32:
      return "uint32";
    case Shape::kDouble:
      return "float64";
    case Shape::kDuration:
      return "duration";
    case Shape::kTextOrDuration:
      return "string duration or integer nanoseconds";
    case Shape::kQuantity:
      return "quantity";
    case Shape::kString:
      return "string";
    case Shape::kUint64:
    case Shape::kBytes:
    case Shape::kMessage:
    case Shape::kIntOrString:
    case Shape::kTime:
    case Shape::kMicroTime:
    case Shape::kRawJson:
    case Shape::kStringList:
      break;
  }
  return "?";
}

TEST(ConfigContract, TypesAreThoseOfTheCode) {
  const auto fields = Fields();
  for (const Row& row : Contract()) {
    const auto found = fields.find(row.name);
    if (found == fields.end()) continue;
    const FieldSchema& field = *found->second;
    std::string type = row.type;
    // A pointer to a duration is not one to Go's zero value, and the schema does not say.
    const bool pointer = type.starts_with('*');
    if (pointer) type.erase(0, 1);
    if (TypeOf(field) != "duration") {
      EXPECT_EQ(pointer, field.pointer) << row.name;
    }
    EXPECT_TRUE(type.starts_with(TypeOf(field))) << row.name << ": " << type;
  }
}

std::map<std::string, std::string> Defaults() {
  KubeletConfiguration config;
  SetDefaults(FeatureGates(), Enforcement::kAbsent, config);
  std::map<std::string, std::string> values;
  const auto& schema = kube::SchemaOf(*KubeletConfiguration::descriptor());
  for (const auto& value : ReadDocument(kube::EncodeJson(config), &schema).values) {
    if (value.kind == Document::Value::Kind::kScalar) values[value.path] = value.json;
    if (value.kind == Document::Value::Kind::kList) values[value.path] = "list";
  }
  return values;
}

// What the default column says in words is looked at elsewhere: by the kubelet's own output.
std::string DefaultIn(const Row& row) {
  static const std::map<std::string, std::string> kInWords = {
      {"authentication.webhook.enabled", "true"},
      {"authentication.anonymous.enabled", "false"},
      {"authorization.mode", "Webhook"},
      {"readOnlyPort", ""},
      {"serializeImagePulls", "true"},
      {"imagePullCredentialsVerificationPolicy", "NeverVerifyPreloadedImages"},
      {"crashLoopBackOff.maxContainerRestartPeriod", "5m0s"},
      {"enforceNodeAllocatable", "list"},
      {"enableSystemLogQuery", "false"},
      {"nodeStatusReportFrequency", "5m0s"},
      {"podPidsLimit", "-1"},
      {"userNamespaces.idsPerPod", ""},
      {"singleProcessOOMKill", ""},
  };
  if (const auto found = kInWords.find(row.name); found != kInWords.end()) return found->second;
  std::string text = row.default_text;
  if (text.starts_with("zero→")) text.erase(0, std::string("zero→").size());
  std::erase(text, '`');
  text = text.substr(0, text.find(' '));
  if (text == "nil" || text == "\"\"") return "";
  return text;
}

TEST(ConfigContract, DefaultsAreThoseOfTheCode) {
  const auto fields = Fields();
  const auto defaults = Defaults();
  for (const Row& row : Contract()) {
    const auto field = fields.find(row.name);
    if (field == fields.end()) continue;
    const auto found = defaults.find(row.name);
    std::string actual = found == defaults.end() ? "" : found->second;
    std::erase(actual, '"');
    std::string expected = DefaultIn(row);
    if (field->second->shape == Shape::kDuration ||
        field->second->shape == Shape::kTextOrDuration) {
      if (const auto duration = ParseDuration(expected)) expected = FormatDuration(*duration);
    }
    // Zero and false are not written where they are no pointers.
    const bool hidden = found == defaults.end() && (expected == "0" || expected == "false");
    if (hidden) continue;
    EXPECT_EQ(actual, expected) << row.name << ": " << row.default_text;
  }
}

TEST(ConfigContract, DeadFieldsAreThoseOfTheCode) {
  std::set<std::string> dead;
  for (const Row& row : Contract()) {
    if (row.effective == "N") dead.insert(row.name);
  }
  const auto ours = DeadFields();
  EXPECT_EQ(dead, std::set<std::string>(ours.begin(), ours.end()));
  for (const std::string& field : FieldsWeHave()) EXPECT_TRUE(Fields().contains(field)) << field;
}

TEST(ConfigContract, EvictionDefaultsAreThoseOfTheCode) {
  std::ifstream file(tests::SourcePath("docs/compat/config.md"));
  std::map<std::string, std::string> expected, actual;
  std::string section;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) section = line;
    if (!section.starts_with("### 1.7") || !line.starts_with("| `")) continue;
    std::string name = Cell(line, 0);
    std::erase(name, '`');
    if (Cell(line, 1) != "–") expected[name] = Cell(line, 1);
  }
  for (const auto& [signal, threshold] : DefaultEvictionHard())
    actual[std::string(signal)] = threshold;
  EXPECT_EQ(actual, expected);
}

}  // namespace
}  // namespace denselet::app
