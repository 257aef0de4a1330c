#include "app/config/effective.h"

#include <algorithm>

#include "app/config/document.h"
#include "app/config/print.h"
#include "app/config/support.h"
#include "kube/api/types.h"

namespace denselet::app {
namespace {

void Validate(LoadedConfig& loaded, ApiAccess api) {
  if (!loaded.complete) return;
  for (const kube::Fault& fault : ValidateConfig(*loaded.config, loaded.gates, api)) {
    ConfigFault located = Locate(fault, loaded.origins);
    // One fault a value: what could not be decoded is its default now.
    const bool told = std::ranges::any_of(
        loaded.faults, [&](const ConfigFault& other) { return other.path == located.path; });
    if (!told) loaded.faults.push_back(std::move(located));
  }
}

struct FileVerdict {
  std::vector<ConfigFault> faults;
  std::vector<std::string> warnings;
};

FileVerdict CheckText(const std::string& text, const std::string& name) {
  const kube::TypeMeta type = ReadDocument(text, nullptr).type;
  if (type.api_version == kSettingsApiVersion || type.kind == kSettingsKind) {
    return {.faults = LoadSettingsText(text, name).faults, .warnings = {}};
  }
  LoadedConfig loaded = LoadConfigText(text, name);
  Validate(loaded, ApiAccess::kUnknown);
  return {.faults = std::move(loaded.faults), .warnings = std::move(loaded.warnings)};
}

}  // namespace

ApiAccess ApiAccessOf(const ParsedFlags& flags) {
  return flags.Text("kubeconfig").empty() ? ApiAccess::kNone : ApiAccess::kThere;
}

EffectiveConfig LoadEffectiveConfig(const ParsedFlags& flags, ApiAccess api, ConfigFiles& files) {
  EffectiveConfig effective;
  effective.kubelet = LoadConfig(flags, files);
  Validate(effective.kubelet, api);
  effective.own = LoadSettings(flags, files);
  effective.faults = effective.kubelet.faults;
  effective.faults.insert(effective.faults.end(), effective.own.faults.begin(),
                          effective.own.faults.end());
  effective.warnings = effective.kubelet.warnings;
  if (!effective.faults.empty()) return effective;
  for (const auto& more :
       {ConfigWarnings(*effective.kubelet.config), SupportWarnings(effective.kubelet)}) {
    effective.warnings.insert(effective.warnings.end(), more.begin(), more.end());
  }
  return effective;
}

CommandResult CheckConfigFiles(const std::vector<std::string>& names, ConfigFiles& files) {
  CommandResult result;
  if (names.empty()) {
    return {
        .output = {}, .errors = {"Error: config check needs at least one file"}, .exit_code = 1};
  }
  for (const std::string& name : names) {
    const auto text = files.Read(name);
    if (!text) {
      result.errors.push_back("Error: " + text.error().message());
      result.exit_code = 1;
      continue;
    }
    const FileVerdict verdict = CheckText(*text, name);
    for (const std::string& warning : verdict.warnings) {
      result.errors.push_back("Warning: " + warning);
    }
    for (const ConfigFault& fault : verdict.faults) {
      result.errors.push_back("Error: " + ToString(fault));
    }
    if (verdict.faults.empty()) {
      result.output += name + ": ok\n";
    } else {
      result.exit_code = 1;
    }
  }
  return result;
}

CommandResult PrintEffectiveConfig(const ParsedFlags& flags, ConfigFiles& files) {
  const EffectiveConfig effective = LoadEffectiveConfig(flags, ApiAccess::kUnknown, files);
  CommandResult result;
  for (const std::string& warning : effective.warnings) {
    result.errors.push_back("Warning: " + warning);
  }
  for (const ConfigFault& fault : effective.faults) {
    result.errors.push_back("Error: " + ToString(fault));
  }
  if (!effective.faults.empty()) {
    result.exit_code = 1;
  } else if (flags.Text("output") == "json") {
    result.output = PrintConfigz(effective.kubelet);
  } else {
    result.output = PrintConfig(effective.kubelet, effective.own);
  }
  return result;
}

}  // namespace denselet::app
