#include "app/config/support.h"

#include <algorithm>
#include <map>
#include <set>

#include "app/config/defaults.h"
#include "app/config/document.h"
#include "app/flags/flag_table.h"
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

// Grows with the agent: a field stands here when all that it asks for is done. Gates have a list of
// their own.
constexpr std::string_view kHave[] = {
    "containerRuntimeEndpoint",
    "cpuCFSQuota",
    "cpuCFSQuotaPeriod",
    "crashLoopBackOff.maxContainerRestartPeriod",
    "enableServer",  // only "false" differs from the default, and there is none
    "eventBurst",
    "eventRecordQPS",
    "failCgroupV1",
    "failSwapOn",
    "featureGates",
    "fileCheckFrequency",
    "httpCheckFrequency",
    "imageServiceEndpoint",
    "kubeAPIBurst",
    "kubeAPIQPS",
    "logging.format",
    "logging.verbosity",
    "logging.vmodule",
    "maxParallelImagePulls",
    "mergeDefaultEvictionSettings",
    "nodeLeaseDurationSeconds",
    "nodeStatusMaxImages",
    "nodeStatusReportFrequency",
    "nodeStatusUpdateFrequency",
    "podLogsDir",
    "providerID",
    "registerNode",
    "registerWithTaints",
    "registryBurst",
    "registryPullQPS",
    "reservedSystemCPUs",
    "rotateCertificates",
    "runtimeRequestTimeout",
    "seccompDefault",
    "serializeImagePulls",
    "singleProcessOOMKill",
    "staticPodPath",
    "staticPodURL",
    "staticPodURLHeader",
};

// What the cluster is told is done, and what would be done to pods is not.
constexpr std::string_view kTold[] = {
    "enableControllerAttachDetach",
    "evictionHard",
    "evictionPressureTransitionPeriod",
    "evictionSoft",
    "kubeReserved",
    "localStorageCapacityIsolation",
    "maxPods",
    "podsPerCore",
    "systemReserved",
};

// Of flags that set no field of KubeletConfiguration.
constexpr std::string_view kFlagsWeHave[] = {
    "bootstrap-kubeconfig",
    "cert-dir",
    "cloud-provider",
    "config",
    "config-dir",
    "denselet-config",
    "denselet-pleg-fallback-relist-period",
    "denselet-pleg-relist-period",
    "denselet-reactor",
    "denselet-shards",
    "exit-on-lock-contention",
    "experimental-allocatable-ignore-eviction",
    "help",
    "hostname-override",
    "kubeconfig",
    "lock-file",
    "node-ip",
    "node-labels",
    "output",
    "root-dir",
    "version",
};
// Their meanings begin so in flag_table.txt.
constexpr std::string_view kDeadFlag = "accepted, without effect";

constexpr std::string_view kOwnSettingsWeLack[] = {
    "journal",
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
    auto& list = IsOneOf(field, kDead)   ? found.dead
                 : IsOneOf(field, kTold) ? found.told
                                         : found.missing;
    list.push_back(field);
  }
  return found;
}

FlagsWithoutEffect FindFlagsWithoutEffect(const ParsedFlags& flags) {
  FlagsWithoutEffect found;
  for (const FlagSpec& flag : AllFlags()) {
    const bool concerns = flag.field.empty() && flags.Has(flag.name);
    if (!concerns || std::ranges::find(kFlagsWeHave, flag.name) != std::end(kFlagsWeHave)) continue;
    auto& list = flag.meaning.starts_with(kDeadFlag) ? found.dead : found.missing;
    list.push_back("--" + std::string(flag.name));
  }
  return found;
}

std::vector<std::string> FindSettingsWithoutEffect(const LoadedSettings& own) {
  std::vector<std::string> found;
  for (const std::string_view setting : kOwnSettingsWeLack) {
    if (own.origins.Of(setting).kind == Origin::Kind::kFile) found.emplace_back(setting);
  }
  return found;
}

std::vector<std::string> SupportWarnings(const LoadedConfig& loaded, const LoadedSettings& own,
                                         const ParsedFlags& flags) {
  std::vector<std::string> warnings;
  const auto add = [&](std::string_view what, const std::vector<std::string>& names) {
    if (!names.empty()) warnings.push_back(std::string(what) + Joined(names));
  };
  const FieldsWithoutEffect found = FindFieldsWithoutEffect(loaded);
  add("these fields have no effect, in the kubelet neither: ", found.dead);
  add("of these fields the node's status tells, but nothing else comes of them yet: ", found.told);
  add("this version of denselet does not heed these fields yet: ", found.missing);
  add("this version of denselet does not heed these feature gates yet: ",
      GatesWithoutEffect(loaded.gate_settings));
  const FlagsWithoutEffect of_flags = FindFlagsWithoutEffect(flags);
  add("these flags have no effect, in the kubelet neither: ", of_flags.dead);
  add("this version of denselet does not heed these flags yet: ", of_flags.missing);
  add("this version of denselet does not heed these settings of its own yet: ",
      FindSettingsWithoutEffect(own));
  return warnings;
}

std::vector<std::string> DeadFields() { return {std::begin(kDead), std::end(kDead)}; }
std::vector<std::string> FieldsWeHave() {
  std::vector<std::string> fields(std::begin(kHave), std::end(kHave));
  fields.insert(fields.end(), std::begin(kTold), std::end(kTold));
  return fields;
}
std::vector<std::string> FlagsWeHave() {
  return {std::begin(kFlagsWeHave), std::end(kFlagsWeHave)};
}

}  // namespace denselet::app
