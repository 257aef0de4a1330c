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

// A default is at fault because of another field or gate, which the message names.
const Origin& OriginOfAnother(std::string_view message, const Origins& origins) {
  static const Origin kNone;
  constexpr std::string_view kBetween = " ,:;\"'";
  for (size_t begin = 0; begin < message.size();) {
    const size_t end = std::min(message.find_first_of(kBetween, begin), message.size());
    const std::string_view word = message.substr(begin, end - begin);
    for (const std::string& path : {std::string(word), GatePath(word)}) {
      const Origin& origin = origins.Of(path);
      if (origin.kind != Origin::Kind::kDefault) return origin;
    }
    begin = end + 1;
  }
  return kNone;
}

// One fault a value: what could not be decoded is its default now, and its fault is known.
void AddFaults(const std::vector<kube::Fault>& faults, const Told& told, LoadedConfig& loaded) {
  for (const kube::Fault& fault : faults) {
    ConfigFault located = Locate(fault, loaded.origins);
    if (located.origin.kind == Origin::Kind::kDefault) {
      located.origin = OriginOfAnother(located.message, loaded.origins);
    }
    if (!told.Contains(located.path)) loaded.faults.push_back(std::move(located));
  }
}

void Validate(LoadedConfig& loaded, ApiAccess api) {
  if (!loaded.complete) return;
  AddFaults(ValidateConfig(*loaded.config, loaded.gates, api, &loaded.origins), Told(loaded.faults),
            loaded);
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

void Append(const std::vector<std::string>& lines, std::vector<std::string>& into) {
  into.insert(into.end(), lines.begin(), lines.end());
}

// For who only looks, maybe for another machine: why the agent would not start on this one.
std::vector<std::string> RefusalsOfMachine(const LoadedConfig& loaded, ConfigFiles& files) {
  if (!loaded.complete) return {};
  const std::string_view begin = "denselet would not start on this machine: ";
  const auto machine = LookAtMachine(files);
  if (!machine) return {std::string(begin) + machine.error().message()};
  std::vector<std::string> refusals;
  for (const kube::Fault& fault : ValidateForMachine(*loaded.config, loaded.gates, *machine)) {
    refusals.push_back(std::string(begin) + ToString(Locate(fault, loaded.origins)));
  }
  Append(MachineWarnings(loaded.gates, *machine), refusals);
  return refusals;
}

std::vector<std::string> WarningsOfPodUrl(const LoadedConfig& loaded) {
  std::vector<std::string> warnings;
  for (const kube::Fault& fault : UnusablePodUrls(*loaded.config)) {
    warnings.push_back("no static pods can be fetched: " + ToString(Locate(fault, loaded.origins)));
  }
  return warnings;
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

EffectiveConfig LoadAll(const ParsedFlags& flags, ApiAccess api, ConfigFiles& files) {
  EffectiveConfig effective;
  effective.kubelet = LoadConfig(flags, files);
  Validate(effective.kubelet, api);
  effective.own = LoadSettings(flags, files);
  return effective;
}

// Of both together.
void Conclude(const ParsedFlags& flags, EffectiveConfig& effective) {
  effective.faults = effective.kubelet.faults;
  effective.faults.insert(effective.faults.end(), effective.own.faults.begin(),
                          effective.own.faults.end());
  Arrange(effective.kubelet.further_faults, effective.faults);
  effective.warnings = effective.kubelet.warnings;
  Append(effective.own.warnings, effective.warnings);
  if (!effective.faults.empty()) return;
  Append(ConfigWarnings(*effective.kubelet.config), effective.warnings);
  Append(WarningsOfPodUrl(effective.kubelet), effective.warnings);
  Append(FieldWarnings(effective.kubelet), effective.warnings);
  Append(FlagWarnings(flags), effective.warnings);
  effective.warnings.push_back(AbsentDefaults());
}

// Of `config check`: whether there will be an API server is known only to who says so.
ApiAccess ApiAccessSaid(const ParsedFlags& flags) {
  return flags.Has("kubeconfig") ? ApiAccessOf(flags) : ApiAccess::kUnknown;
}

struct FileVerdict {
  std::vector<ConfigFault> faults;
  std::vector<std::string> warnings;
  std::string good = "ok";  // what is said where there is no fault
};

FileVerdict VerdictOn(LoadedConfig loaded) {
  Arrange(loaded.further_faults, loaded.faults);
  return {.faults = std::move(loaded.faults), .warnings = std::move(loaded.warnings)};
}

// Behind the name of the file that they are about.
void AddWarnings(const std::string& file, const std::vector<std::string>& warnings,
                 FileVerdict& verdict) {
  if (!verdict.faults.empty()) return;
  for (const std::string& warning : warnings) verdict.warnings.push_back(file + ": " + warning);
}

FileVerdict CheckDropIn(const std::string& text, const std::string& name,
                        const ParsedFlags& flags) {
  LoadedConfig loaded = LoadDropInText(text, name, flags);
  const std::vector<std::string> support = FieldWarnings(loaded);
  FileVerdict verdict = VerdictOn(std::move(loaded));
  AddWarnings(name, support, verdict);
  verdict.good =
      "ok as a drop-in; whether it fits, config check --config FILE --config-dir FOLDER tells";
  return verdict;
}

FileVerdict CheckSettings(const std::string& text, const std::string& name) {
  LoadedSettings own = LoadSettingsText(text, name);
  FileVerdict verdict{.faults = own.faults, .warnings = own.warnings};
  Arrange(0, verdict.faults);
  return verdict;
}

FileVerdict CheckConfig(const std::string& text, const std::string& name, const ParsedFlags& flags,
                        ConfigFiles& files) {
  LoadedConfig loaded = LoadConfigText(text, name, flags);
  Validate(loaded, ApiAccessSaid(flags));
  std::vector<std::string> more = ConfigWarnings(*loaded.config);
  Append(WarningsOfPodUrl(loaded), more);
  Append(FieldWarnings(loaded), more);
  Append(RefusalsOfMachine(loaded, files), more);
  FileVerdict verdict = VerdictOn(std::move(loaded));
  AddWarnings(name, more, verdict);
  return verdict;
}

bool AreSettings(const std::string& text) {
  const kube::TypeMeta type = ReadDocument(text, nullptr).type;
  return type.api_version == kSettingsApiVersion || type.kind == kSettingsKind;
}

// Given by its name alone, or by --config.
enum class Given : uint8_t { kAsFile, kAsConfig, kAsSettings };

FileVerdict CheckText(const std::string& text, const std::string& name, Given given,
                      const ParsedFlags& flags, ConfigFiles& files) {
  if (given == Given::kAsSettings) return CheckSettings(text, name);
  if (given == Given::kAsConfig) return CheckConfig(text, name, flags, files);
  if (AreSettings(text)) return CheckSettings(text, name);
  return name.ends_with(".conf") ? CheckDropIn(text, name, flags)
                                 : CheckConfig(text, name, flags, files);
}

void Tell(const FileVerdict& verdict, const std::string& name, CommandResult& result) {
  for (const std::string& warning : verdict.warnings) {
    result.errors.push_back("Warning: " + warning);
  }
  for (const ConfigFault& fault : verdict.faults) {
    result.errors.push_back("Error: " + ToString(fault));
  }
  if (verdict.faults.empty()) {
    result.output += name + ": " + verdict.good + "\n";
  } else {
    result.exit_code = 1;
  }
}

void CheckFile(const std::string& name, Given given, const ParsedFlags& flags, ConfigFiles& files,
               CommandResult& result) {
  const auto text = files.ReadNamed(name);
  if (text) return Tell(CheckText(*text, name, given, flags, files), name, result);
  result.errors.push_back("Error: " + text.error().message());
  result.exit_code = 1;
}

// What the file and the drop-ins make together, and our own settings beside it.
void CheckMerged(const ParsedFlags& flags, ConfigFiles& files, CommandResult& result) {
  EffectiveConfig effective = LoadAll(flags, ApiAccessSaid(flags), files);
  Append(RefusalsOfMachine(effective.kubelet, files), effective.kubelet.warnings);
  Conclude(flags, effective);
  std::string name;
  for (const std::string_view flag : {"config", "config-dir", "denselet-config"}) {
    if (flags.Text(flag).empty()) continue;
    name += (name.empty() ? "" : " with ") + flags.Text(flag);
  }
  Tell({.faults = effective.faults, .warnings = effective.warnings}, name, result);
}

}  // namespace

ApiAccess ApiAccessOf(const ParsedFlags& flags) {
  return flags.Text("kubeconfig").empty() ? ApiAccess::kNone : ApiAccess::kThere;
}

EffectiveConfig LoadEffectiveConfig(const ParsedFlags& flags, ApiAccess api, ConfigFiles& files) {
  EffectiveConfig effective = LoadAll(flags, api, files);
  if (api != ApiAccess::kUnknown && effective.kubelet.complete) {
    effective.machine = CheckMachine(effective.kubelet, files);
  }
  Conclude(flags, effective);
  return effective;
}

CommandResult CheckConfigFiles(const ParsedFlags& flags, ConfigFiles& files) {
  CommandResult result;
  const std::string config = flags.Text("config"), own = flags.Text("denselet-config");
  const bool merged = !flags.Text("config-dir").empty();
  if (!merged && config.empty() && own.empty() && flags.files.empty()) {
    return {
        .output = {}, .errors = {"Error: config check needs at least one file"}, .exit_code = 1};
  }
  if (merged) {
    CheckMerged(flags, files, result);
  } else {
    if (!config.empty()) CheckFile(config, Given::kAsConfig, flags, files, result);
    if (!own.empty()) CheckFile(own, Given::kAsSettings, flags, files, result);
  }
  for (const std::string& name : flags.files) {
    CheckFile(name, Given::kAsFile, flags, files, result);
  }
  if (merged) return result;
  for (const std::string& warning : FlagWarnings(flags)) {
    result.errors.push_back("Warning: " + warning);
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
