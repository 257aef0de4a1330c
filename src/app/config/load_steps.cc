#include "app/config/load_steps.h"

#include <map>

#include "app/config/defaults.h"
#include "app/config/document.h"
#include "app/config/folded_names.h"
#include "app/config/path_text.h"
#include "kube/api/codec/codec.h"
#include "kube/api/codec/schema.h"
#include "kube/api/codec/sorted.h"
#include "kube/api/patch/json_merge_patch.h"
#include "kube/api/patch/json_tree.h"
#include "kube/api/types.h"

namespace denselet::app {
namespace {

using kube::config::KubeletConfiguration;
using Kind = Document::Value::Kind;

const kube::MessageSchema& Schema() { return kube::SchemaOf(*KubeletConfiguration::descriptor()); }

// With faults the rest can still be looked at.
constexpr kube::DecodeOptions kAllThatCan{.remains = kube::Remains::kRest};

const kube::TypeMeta& Type() {
  static const kube::TypeMeta kType{.api_version = std::string(kConfigApiVersion),
                                    .kind = std::string(kConfigKind)};
  return kType;
}

void AddFault(const Origin& file, std::string path, std::string message, LoadedConfig& into) {
  into.faults.push_back({.origin = file, .path = std::move(path), .message = std::move(message)});
}

// A fault that leaves nothing to go on with.
void GiveUp(const Origin& file, std::string message, LoadedConfig& into) {
  AddFault(file, "", std::move(message), into);
  into.complete = false;
}

void AddFaults(const std::vector<kube::Fault>& faults, const Origin& file, LoadedConfig& into) {
  for (const kube::Fault& fault : faults) into.faults.push_back(InFile(fault, file));
}

std::string Shown(const std::string& text) { return text.empty() ? "nothing" : '"' + text + '"'; }

// False: there is nothing to go on with.
bool CheckType(const Document& document, const Origin& file, LoadedConfig& into) {
  const auto check = [&](std::string_view path, const std::string& found, std::string_view wanted) {
    if (found == wanted) return true;
    const Document::Value* value = document.Find(path);
    Origin place = file;
    place.line = value == nullptr ? 0 : value->line;
    AddFault(place, std::string(path), "found " + Shown(found) + ", wanted " + std::string(wanted),
             into);
    return false;
  };
  const bool version = check("apiVersion", document.type.api_version, kConfigApiVersion);
  const bool kind = check("kind", document.type.kind, kConfigKind);
  return version && kind;
}

// One line for all that are unknown, and one for all that come twice.
void WarnOfExtras(const kube::DecodeReport& report, const Document& document, const Origin& file,
                  LoadedConfig& into) {
  std::string unknown, twice;
  for (const kube::Fault& extra : report.extras) {
    std::string& text = extra.message == kube::kDuplicateField ? twice : unknown;
    if (!text.empty()) text += ", ";
    text += extra.path + " (line " + std::to_string(extra.line) + ")";
  }
  if (report.further_extras > 0) {
    (unknown.empty() ? twice : unknown) +=
        " and " + std::to_string(report.further_extras) + " more";
  }
  if (!unknown.empty()) {
    into.warnings.push_back(file.name +
                            ": ignored what KubeletConfiguration does not have: " + unknown);
  }
  if (!twice.empty()) {
    const std::string_view rule =
        document.is_yaml ? "the last one counts: " : "the last one counts, objects are merged: ";
    into.warnings.push_back(file.name + ": set more than once, " + std::string(rule) + twice);
  }
}

void TakeOrigins(const Document& document, const Origin& file, Origins& origins) {
  for (const Document::Value& value : document.values) {
    Origin origin = file;
    origin.line = value.line;
    switch (value.kind) {
      case Kind::kNull:
        origins.Forget(value.path);
        break;
      case Kind::kObject:
        origins.Mention(value.path, std::move(origin));
        break;
      case Kind::kScalar:
      case Kind::kList:
        origins.Set(value.path, std::move(origin));
        break;
    }
  }
}

std::map<std::string, std::string> ScalarsOf(const KubeletConfiguration& config) {
  std::map<std::string, std::string> scalars;
  for (Document::Value& value : ReadDocument(kube::EncodeJson(config), &Schema()).values) {
    if (value.kind == Kind::kScalar) scalars[std::move(value.path)] = std::move(value.json);
  }
  return scalars;
}

// Where the default took the place of what was written, that is the origin.
void SetDefaultsOver(const Document& document, const GateSettings& flag_gates, LoadedConfig& into) {
  GateSettings settings = SettingsOf(*into.config);
  settings.insert(flag_gates.begin(), flag_gates.end());
  FeatureGates gates;
  // What is wrong with them is told when they are set for good.
  gates.Set(settings);
  const Document::Value* enforcement = document.Find("enforceNodeAllocatable");
  const bool given = enforcement != nullptr && enforcement->kind == Kind::kList;
  const auto before = ScalarsOf(*into.config);
  SetDefaults(gates, given ? Enforcement::kGiven : Enforcement::kAbsent, *into.config);
  for (const auto& [path, json] : ScalarsOf(*into.config)) {
    const auto was = before.find(path);
    if (was == before.end() || was->second != json) into.origins.Forget(path);
  }
}

// Its JSON, checked as far as it can be before it is merged: what it says wrongly a later one may
// set right.
Result<Document> ReadDropIn(std::string_view text, const Origin& file, LoadedConfig& into) {
  const Error refused(ErrorCode::kInvalid, file.name);
  if (text.empty()) {
    GiveUp(file, "the file is empty", into);
    return refused;
  }
  Document document = ReadDocument(text, &Schema());
  WarnOfSecondDocument(document, file.name, into.warnings);
  AddFaults(document.faults, file, into);
  AddFaults(document.twice, file, into);
  if (!document.faults.empty() || !CheckType(document, file, into)) return refused;
  if (!document.twice.empty()) return refused;
  KubeletConfiguration alone;
  kube::DecodeReport report =
      document.is_yaml ? kube::DecodeYaml(text, alone) : kube::DecodeJson(text, alone);
  std::erase_if(report.extras,
                [](const kube::Fault& extra) { return IsOtherSpelling(Schema(), extra.path); });
  WarnOfExtras(report, document, file, into);
  return document;
}

Origin DropInOf(const std::string& name) { return {.kind = Origin::Kind::kDropIn, .name = name}; }

// Into `json`. A drop-in that is refused is left out; false: there is nothing to go on with.
bool MergeDropIn(std::string_view text, const Origin& file, std::string& json, LoadedConfig& into) {
  const auto document = ReadDropIn(text, file, into);
  if (!document) return true;
  auto merged = kube::ApplyJsonMergePatch(json, document->json);
  if (!merged) {
    GiveUp(file, merged.error().message(), into);
    return false;
  }
  json = *std::move(merged);
  TakeOrigins(*document, file, into.origins);
  return true;
}

void DecodeMerged(const std::string& text, const GateSettings& flag_gates, LoadedConfig& into) {
  auto merged = kube::Json::Parse(text);
  if (!merged) return GiveUp({}, merged.error().message(), into);
  FoldNames(Schema(), *merged, into.origins);
  const std::string json = merged->ToString();
  const kube::DecodeReport report = kube::DecodeJson(json, *into.config, kAllThatCan);
  for (const kube::Fault& fault : report.faults) into.faults.push_back(Locate(fault, into.origins));
  into.further_faults += report.further_faults;
  SetDefaultsOver(ReadDocument(json, &Schema()), flag_gates, into);
}

}  // namespace

GateSettings SettingsOf(const KubeletConfiguration& config) {
  GateSettings settings;
  for (const auto* gate : kube::Sorted(config.featuregates())) {
    settings.insert({gate->first, gate->second});
  }
  return settings;
}

void DecodeConfigFile(std::string_view text, const Origin& file, const GateSettings& flag_gates,
                      LoadedConfig& into) {
  into.config->Clear();
  if (text.empty()) return GiveUp(file, "the file is empty", into);
  const Document document = ReadDocument(text, &Schema());
  AddFaults(document.faults, file, into);
  WarnOfSecondDocument(document, file.name, into.warnings);
  into.complete = document.faults.empty() && CheckType(document, file, into);
  if (!into.complete) return;

  const kube::DecodeReport report = document.is_yaml
                                        ? kube::DecodeYaml(text, *into.config, kAllThatCan)
                                        : kube::DecodeJson(text, *into.config, kAllThatCan);
  AddFaults(report.faults, file, into);
  into.further_faults += report.further_faults;
  WarnOfExtras(report, document, file, into);
  TakeOrigins(document, file, into.origins);
  SetDefaultsOver(document, flag_gates, into);
  RoundReservedMemory(*into.config);
  const Document::Value* eviction = document.Find("evictionHard");
  const bool given = eviction != nullptr && eviction->kind == Kind::kObject;
  SetEvictionDefaults(given ? EvictionHard::kGiven : EvictionHard::kAbsent, *into.config);
}

void ResolvePaths(std::string_view folder, KubeletConfiguration& config) {
  const auto resolve = [&](std::string* path) {
    if (!path->empty() && !IsAbsolute(*path)) *path = JoinPath(folder, *path);
  };
  resolve(config.mutable_staticpodpath());
  resolve(config.mutable_authentication()->mutable_x509()->mutable_clientcafile());
  resolve(config.mutable_tlscertfile());
  resolve(config.mutable_tlsprivatekeyfile());
  resolve(config.mutable_resolvconf());
  resolve(config.mutable_volumeplugindir());
  resolve(config.mutable_podlogsdir());
}

void MergeDropIns(const std::string& folder, ConfigFiles& files, const GateSettings& flag_gates,
                  LoadedConfig& into) {
  auto found = FindDropIns(files, folder);
  if (!found) return GiveUp({}, found.error().message(), into);
  if (!found->skipped.empty()) {
    std::string names;
    for (const std::string& name : found->skipped) names += (names.empty() ? "" : ", ") + name;
    into.warnings.push_back("not read, because drop-ins are called *.conf: " + names);
  }

  std::string json = kube::EncodeJson(*into.config, Type());
  for (const std::string& name : found->files) {
    const auto text = files.Read(name);
    if (!text) {
      GiveUp({}, text.error().message(), into);
    } else if (!MergeDropIn(*text, DropInOf(name), json, into)) {
      return;
    }
  }
  DecodeMerged(json, flag_gates, into);
}

void MergeDropInText(std::string_view text, const std::string& name, const GateSettings& flag_gates,
                     LoadedConfig& into) {
  std::string json = kube::EncodeJson(*into.config, Type());
  if (MergeDropIn(text, DropInOf(name), json, into)) DecodeMerged(json, flag_gates, into);
}

}  // namespace denselet::app
