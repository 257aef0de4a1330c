#include "app/config/support.h"

#include <algorithm>
#include <set>

#include "app/flags/flag_table.h"
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
    "cgroupRoot",     // with cgroupsPerQOS "false" alone: see Have
    "cgroupsPerQOS",  // the same
    "clusterDNS",
    "clusterDomain",
    "configMapAndSecretChangeDetectionStrategy",
    "containerRuntimeEndpoint",
    "cpuCFSQuota",
    "cpuCFSQuotaPeriod",
    "crashLoopBackOff.maxContainerRestartPeriod",
    "enableServer",  // with "false" alone: see Have
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
    "maxPods",
    "memorySwap.swapBehavior",
    "mergeDefaultEvictionSettings",
    "nodeLeaseDurationSeconds",
    "nodeStatusMaxImages",
    "nodeStatusReportFrequency",
    "nodeStatusUpdateFrequency",
    "podLogsDir",
    "podsPerCore",
    "providerID",
    "registerNode",
    "registerWithTaints",
    "registryBurst",
    "registryPullQPS",
    "reservedSystemCPUs",
    "resolvConf",
    "rotateCertificates",
    "runtimeRequestTimeout",
    "seccompDefault",
    "serializeImagePulls",
    "singleProcessOOMKill",
    "staticPodPath",
    "staticPodURL",
    "staticPodURLHeader",
};

// What the cluster is told is done, and pods are admitted by it; what would be done to those that
// run is not.
constexpr std::string_view kTold[] = {
    "enableControllerAttachDetach",
    "evictionHard",
    "evictionPressureTransitionPeriod",
    "evictionSoft",
    "kubeReserved",
    "localStorageCapacityIsolation",
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
    "denselet-container-logs-dir",
    "denselet-journal",
    "denselet-pleg-fallback-relist-period",
    "denselet-pleg-relist-period",
    "denselet-pleg-use-events",
    "denselet-reactor",
    "denselet-shards",
    "denselet-socket",
    "exit-on-lock-contention",
    "experimental-allocatable-ignore-eviction",
    "help",
    "hostname-override",
    "kubeconfig",
    "lock-file",
    "maximum-dead-containers",
    "maximum-dead-containers-per-container",
    "minimum-container-ttl-duration",
    "node-ip",
    "node-labels",
    "output",
    "root-dir",
    "version",
};
// Their meanings begin so in flag_table.txt.
constexpr std::string_view kDeadFlag = "accepted, without effect";

bool IsOneOf(std::string_view path, std::span<const std::string_view> fields) {
  return std::ranges::any_of(
      fields, [&](std::string_view field) { return path == field || LiesIn(path, field); });
}

// All fields that hold values; of lists and maps not what is in them.
void Collect(const kube::MessageSchema& schema, const std::string& path,
             std::set<std::string>& into) {
  for (const kube::FieldSchema& field : schema.fields) {
    const std::string inner = path.empty() ? field.name : path + "." + field.name;
    if (field.shape != kube::Shape::kMessage || field.repeats != kube::Repeats::kOnce) {
      into.insert(inner);
    } else {
      Collect(*field.message, field.inlined ? path : inner, into);
    }
  }
}

std::set<std::string> AllFields() {
  std::set<std::string> fields;
  Collect(kube::SchemaOf(*KubeletConfiguration::descriptor()), "", fields);
  return fields;
}

// There is no server and no cgroup of a class or pod, so only who wants none gets what they want.
bool Have(const std::string& field, const KubeletConfiguration& config) {
  if (field == "enableServer") return !config.enableserver();
  if (field == "cgroupRoot" || field == "cgroupsPerQOS") return !config.cgroupsperqos();
  return IsOneOf(field, kHave);
}

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

void Add(std::string_view what, const std::vector<std::string>& names,
         std::vector<std::string>& warnings) {
  if (!names.empty()) warnings.push_back(std::string(what) + Joined(names));
}

}  // namespace

FieldsWithoutEffect FindFieldsWithoutEffect(const LoadedConfig& loaded) {
  FieldsWithoutEffect found;
  for (const std::string& field : AllFields()) {
    if (!loaded.origins.Touched(field) || Have(field, *loaded.config)) continue;
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

std::vector<std::string> FieldWarnings(const LoadedConfig& loaded) {
  std::vector<std::string> warnings;
  const FieldsWithoutEffect found = FindFieldsWithoutEffect(loaded);
  Add("these fields have no effect, in the kubelet neither: ", found.dead, warnings);
  Add("of these fields the node's status tells, and pods are admitted by the allocatable in it, "
      "but nothing else comes of them yet: ",
      found.told, warnings);
  Add("this version of denselet does not heed these fields yet: ", found.missing, warnings);
  Add("this version of denselet does not heed these feature gates yet: ",
      GatesWithoutEffect(loaded.gate_settings), warnings);
  Add("these feature gates decide nothing, what they name is used where the runtime has it: ",
      GatesThatTheRuntimeDecides(loaded.gate_settings), warnings);
  return warnings;
}

std::vector<std::string> FlagWarnings(const ParsedFlags& flags) {
  std::vector<std::string> warnings;
  const FlagsWithoutEffect found = FindFlagsWithoutEffect(flags);
  Add("these flags have no effect, in the kubelet neither: ", found.dead, warnings);
  Add("this version of denselet does not heed these flags yet: ", found.missing, warnings);
  return warnings;
}

std::string AbsentDefaults() {
  return "of what the defaults turn on, this version of denselet has none yet: HTTP servers, "
         "eviction, cgroups of pods, rotation of container logs, garbage collection of images";
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
