#include "app/config/support.h"

#include <algorithm>
#include <map>
#include <set>

#include "app/config/defaults.h"
#include "app/config/document.h"
#include "kube/api/codec/codec.h"
#include "kube/api/codec/schema.h"
#include "kube/api/types.h"

namespace denselet::app {
namespace {

using kube::config::KubeletConfiguration;

constexpr std::string_view kDead[] = {
    "streamingConnectionIdleTimeout",
    "hairpinMode",
    "iptablesMasqueradeBit",
    "iptablesDropBit",
    "runOnce",
};

// Grows with the agent: a field stands here when what it asks for is done. Gates have a list of
// their own.
constexpr std::string_view kHave[] = {
    "eventBurst",
    "eventRecordQPS",
    "failCgroupV1",
    "failSwapOn",
    "featureGates",
    "fileCheckFrequency",
    "httpCheckFrequency",
    "kubeAPIBurst",
    "kubeAPIQPS",
    "logging.format",
    "logging.verbosity",
    "logging.vmodule",
    "nodeLeaseDurationSeconds",
    "nodeStatusReportFrequency",
    "nodeStatusUpdateFrequency",
    "providerID",
    "registerNode",
    "registerWithTaints",
    "rotateCertificates",
    "staticPodPath",
    "staticPodURL",
    "staticPodURLHeader",
};

bool IsOneOf(std::string_view path, std::span<const std::string_view> fields) {
  return std::ranges::any_of(
      fields, [&](std::string_view field) { return path == field || LiesIn(path, field); });
}

using Values = std::map<std::string, std::string>;

Values ValuesOf(const KubeletConfiguration& config) {
  Values values;
  const auto& schema = kube::SchemaOf(*KubeletConfiguration::descriptor());
  for (const Document::Value& value : ReadDocument(kube::EncodeJson(config), &schema).values) {
    if (value.kind == Document::Value::Kind::kScalar) values[value.path] = value.json;
  }
  return values;
}

// Of the field: what is in its lists and maps does not count one by one.
std::string FieldOf(const std::string& path) { return path.substr(0, path.find('[')); }

std::set<std::string> Differing(const Values& a, const Values& b) {
  std::set<std::string> fields;
  for (const auto& [path, value] : a) {
    const auto other = b.find(path);
    if (other == b.end() || other->second != value) fields.insert(FieldOf(path));
  }
  return fields;
}

bool SomebodySet(const std::string& field, const Origins& origins) {
  return std::ranges::any_of(origins.all(), [&](const auto& entry) {
    return entry.first == field || LiesIn(entry.first, field) || LiesIn(field, entry.first);
  });
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

}  // namespace

FieldsWithoutEffect FindFieldsWithoutEffect(const LoadedConfig& loaded) {
  KubeletConfiguration defaults;
  SetDefaults(FeatureGates(), Enforcement::kAbsent, defaults);
  const Values ours = ValuesOf(*loaded.config), theirs = ValuesOf(defaults);
  std::set<std::string> fields = Differing(ours, theirs);
  fields.merge(Differing(theirs, ours));
  FieldsWithoutEffect found;
  for (const std::string& field : fields) {
    if (IsOneOf(field, kHave) || !SomebodySet(field, loaded.origins)) continue;
    (IsOneOf(field, kDead) ? found.dead : found.missing).push_back(field);
  }
  return found;
}

std::vector<std::string> SupportWarnings(const LoadedConfig& loaded) {
  std::vector<std::string> warnings;
  const auto add = [&](std::string_view what, const std::vector<std::string>& names) {
    if (!names.empty()) warnings.push_back(std::string(what) + Joined(names));
  };
  const FieldsWithoutEffect found = FindFieldsWithoutEffect(loaded);
  add("these fields have no effect, in the kubelet neither: ", found.dead);
  add("this version of denselet does not heed these fields yet: ", found.missing);
  add("this version of denselet does not heed these feature gates yet: ",
      GatesWithoutEffect(loaded.gate_settings));
  return warnings;
}

std::vector<std::string> DeadFields() { return {std::begin(kDead), std::end(kDead)}; }
std::vector<std::string> FieldsWeHave() { return {std::begin(kHave), std::end(kHave)}; }

}  // namespace denselet::app
