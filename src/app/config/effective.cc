#include "app/config/effective.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "app/config/document.h"
#include "app/config/print.h"
#include "app/config/support.h"
#include "app/config/validate_machine.h"
#include "kube/api/types.h"

namespace denselet::app {
namespace {

// Of validation and of decoding together.
constexpr size_t kFaultsMax = 100;

class Told {
 public:
  explicit Told(const std::vector<ConfigFault>& faults) {
    for (const ConfigFault& fault : faults) paths_.insert(fault.path);
  }
  // Or a value that it is a part of: of that nothing was decoded.
  bool Contains(std::string_view path) const {
    while (!paths_.contains(path)) {
      const size_t end = path.find_last_of(".[");
      if (end == path.npos) return false;
      path = path.substr(0, end);
    }
    return true;
  }

 private:
  std::set<std::string, std::less<>> paths_;
};

// One fault a value: what could not be decoded is its default now, and its fault is known.
void AddFaults(const std::vector<kube::Fault>& faults, const Told& told, LoadedConfig& loaded) {
  for (const kube::Fault& fault : faults) {
    ConfigFault located = Locate(fault, loaded.origins);
    if (!told.Contains(located.path)) loaded.faults.push_back(std::move(located));
  }
}

void Validate(LoadedConfig& loaded, ApiAccess api) {
  if (!loaded.complete) return;
  AddFaults(ValidateConfig(*loaded.config, loaded.gates, api), Told(loaded.faults), loaded);
}

Machine CheckMachine(LoadedConfig& loaded, ConfigFiles& files) {
  const auto machine = LookAtMachine(files);
  if (!machine) {
    loaded.faults.push_back({.origin = {}, .path = {}, .message = machine.error().message()});
    return {};
  }
  AddFaults(ValidateForMachine(*loaded.config, loaded.gates, *machine), Told(loaded.faults),
            loaded);
  for (std::string& warning : MachineWarnings(loaded.gates, *machine)) {
    loaded.warnings.push_back(std::move(warning));
  }
  return *machine;
}

// File by file and line by line, as somebody who mends them goes. Nobody reads thousands of lines.
void Arrange(size_t further, std::vector<ConfigFault>& faults) {
  std::map<std::string, size_t> ranks;  // of files and flags, as they come
  for (const ConfigFault& fault : faults) ranks.insert({fault.origin.name, ranks.size()});
  std::ranges::stable_sort(faults, {}, [&](const ConfigFault& fault) {
    return std::pair(ranks.at(fault.origin.name), fault.origin.line);
  });
  if (faults.size() > kFaultsMax) {
    further += faults.size() - kFaultsMax;
    faults.resize(kFaultsMax);
  }
  if (further == 0) return;
  faults.push_back(
      {.origin = {}, .path = {}, .message = "and " + std::to_string(further) + " more"});
}

struct FileVerdict {
  std::vector<ConfigFault> faults;
  std::vector<std::string> warnings;
};

FileVerdict CheckText(const std::string& text, const std::string& name, const ParsedFlags& flags) {
  const kube::TypeMeta type = ReadDocument(text, nullptr).type;
  if (type.api_version == kSettingsApiVersion || type.kind == kSettingsKind) {
    return {.faults = LoadSettingsText(text, name).faults, .warnings = {}};
  }
  LoadedConfig loaded = LoadConfigText(text, name, flags);
  Validate(loaded, flags.Has("kubeconfig") ? ApiAccessOf(flags) : ApiAccess::kUnknown);
  Arrange(loaded.further_faults, loaded.faults);
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
  if (api != ApiAccess::kUnknown && effective.kubelet.complete) {
    effective.machine = CheckMachine(effective.kubelet, files);
  }
  effective.own = LoadSettings(flags, files);
  effective.faults = effective.kubelet.faults;
  effective.faults.insert(effective.faults.end(), effective.own.faults.begin(),
                          effective.own.faults.end());
  Arrange(effective.kubelet.further_faults, effective.faults);
  effective.warnings = effective.kubelet.warnings;
  if (!effective.faults.empty()) return effective;
  for (const auto& more : {ConfigWarnings(*effective.kubelet.config),
                           SupportWarnings(effective.kubelet, effective.own, flags)}) {
    effective.warnings.insert(effective.warnings.end(), more.begin(), more.end());
  }
  return effective;
}

CommandResult CheckConfigFiles(const ParsedFlags& flags, ConfigFiles& files) {
  CommandResult result;
  std::vector<std::string> names;
  for (const std::string_view flag : {"config", "denselet-config"}) {
    if (!flags.Text(flag).empty()) names.push_back(flags.Text(flag));
  }
  names.insert(names.end(), flags.files.begin(), flags.files.end());
  const auto refuse = [](std::string why) {
    return CommandResult{.output = {}, .errors = {"Error: " + why}, .exit_code = 1};
  };
  if (flags.Has("config-dir")) {
    return refuse("config check looks at each file by itself; config print takes --config-dir");
  }
  if (names.empty()) return refuse("config check needs at least one file");
  for (const std::string& name : names) {
    const auto text = files.Read(name);
    if (!text) {
      result.errors.push_back("Error: " + text.error().message());
      result.exit_code = 1;
      continue;
    }
    const FileVerdict verdict = CheckText(*text, name, flags);
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

std::vector<std::string> FaultsBesideFlags(const ParsedFlags& flags, ConfigFiles& files) {
  if (flags.command != Command::kRun && flags.command != Command::kConfigPrint) return {};
  std::vector<std::string> lines;
  for (const ConfigFault& fault : LoadEffectiveConfig(flags, ApiAccess::kUnknown, files).faults) {
    lines.push_back(ToString(fault));
  }
  return lines;
}

}  // namespace denselet::app
