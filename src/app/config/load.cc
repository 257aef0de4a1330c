#include "app/config/load.h"

#include <algorithm>

#include "app/config/defaults.h"
#include "app/config/load_steps.h"
#include "app/config/path_text.h"
#include "app/flags/apply_flags.h"
#include "app/flags/validate_flags.h"
#include "kube/api/types.h"

namespace denselet::app {
namespace {

using kube::config::KubeletConfiguration;

void AddFaults(const std::vector<kube::Fault>& faults, LoadedConfig& into) {
  for (const kube::Fault& fault : faults) into.faults.push_back(Locate(fault, into.origins));
}

void TakeOrigins(const AppliedFlags& applied, LoadedConfig& into) {
  for (const SetField& field : applied.fields) {
    into.origins.Set(CodecPath(field.path), {.kind = Origin::Kind::kFlag, .name = field.flag});
  }
}

// Of both, and what a flag says counts.
void AddGates(const GateSettings& settings, KubeletConfiguration& config) {
  for (const auto& [name, value] : settings) config.mutable_featuregates()->insert({name, value});
}

// The kubelet loses these two when it reads the command line for the second time.
void ResetSplitStreams(LoadedConfig& into) {
  auto& options = *into.config->mutable_logging()->mutable_options();
  const std::pair<const char*, kube::config::OutputRoutingOptions*> fields[] = {
      {"text", options.mutable_text()->mutable_outputroutingoptions()},
      {"json", options.mutable_json()->mutable_outputroutingoptions()},
  };
  for (const auto& [format, routing] : fields) {
    if (!routing->splitstream()) continue;
    const std::string path = std::string("logging.options.") + format + ".splitStream";
    into.warnings.push_back(ToString(into.origins.Of(path)) + ": " + path +
                            ": has no effect in a file, as with the kubelet; use --log-" + format +
                            "-split-stream");
    routing->clear_splitstream();
    into.origins.Forget(path);
  }
}

void ApplyFlagsOver(const ParsedFlags& flags, LoadedConfig& into) {
  ResetSplitStreams(into);
  const GateSettings of_files = SettingsOf(*into.config);
  into.shown_seccomp_default = into.config->seccompdefault();
  into.config->clear_featuregates();
  TakeOrigins(ApplyFlags(flags, *into.config), into);
  AddGates(of_files, *into.config);
}

// What could not be decoded is a default now, and its fault is known. A flag's value counts.
bool IsToldOf(const std::string& gate, const LoadedConfig& loaded) {
  const std::string path = GatePath(gate);
  if (loaded.origins.Of(path).kind == Origin::Kind::kFlag) return false;
  return std::ranges::find(loaded.faults, path, &ConfigFault::path) != loaded.faults.end();
}

// Who set the gate, or who else brought about what is wrong with it.
ConfigFault LocateGate(const kube::Fault& fault, const LoadedConfig& loaded) {
  constexpr std::string_view kGates = "featureGates.";
  ConfigFault located = Locate(fault, loaded.origins);
  const std::string_view gate = std::string_view(fault.path).substr(kGates.size());
  for (const std::string& setting : SettingsBehind(gate, loaded.gate_settings)) {
    const Origin& origin = loaded.origins.Of(GatePath(setting));
    if (origin.kind == Origin::Kind::kDefault) continue;
    located.origin = origin;
    break;
  }
  return located;
}

void SetGates(LoadedConfig& into) {
  into.gate_settings = SettingsOf(*into.config);
  std::erase_if(into.gate_settings, [&](const auto& gate) { return IsToldOf(gate.first, into); });
  FeatureGates::Report report = into.gates.Set(into.gate_settings);
  for (const kube::Fault& fault : report.faults) into.faults.push_back(LocateGate(fault, into));
  for (std::string& warning : report.warnings) into.warnings.push_back(std::move(warning));
}

void LoadFile(const std::string& name, ConfigFiles& files, const GateSettings& flag_gates,
              LoadedConfig& into) {
  const Origin origin{.kind = Origin::Kind::kFile, .name = name};
  const auto text = files.ReadNamed(name);
  if (!text) {
    into.faults.push_back({.origin = {}, .path = {}, .message = text.error().message()});
    into.complete = false;
    return;
  }
  into.origins = {};
  DecodeConfigFile(*text, origin, flag_gates, into);
  const auto folder = IsAbsolute(name) ? Result<std::string>("/") : files.WorkingFolder();
  if (folder) return ResolvePaths(FolderOf(JoinPath(*folder, name)), *into.config);
  into.faults.push_back({.origin = origin, .path = {}, .message = folder.error().message()});
}

}  // namespace

LoadedConfig::LoadedConfig() : config(std::make_unique<KubeletConfiguration>()) {}
LoadedConfig::LoadedConfig(LoadedConfig&&) noexcept = default;
LoadedConfig& LoadedConfig::operator=(LoadedConfig&&) noexcept = default;
LoadedConfig::~LoadedConfig() = default;

LoadedConfig LoadConfig(const ParsedFlags& flags, ConfigFiles& files) {
  LoadedConfig loaded;
  SetDefaults(FeatureGates(), Enforcement::kAbsent, *loaded.config);
  ApplyLegacyDefaults(*loaded.config);
  const AppliedFlags applied = ApplyFlags(flags, *loaded.config);
  TakeOrigins(applied, loaded);
  AddFaults(applied.faults, loaded);
  AddFaults(ValidateFlags(flags), loaded);

  const GateSettings flag_gates = SettingsOf(*loaded.config);
  const std::string file = flags.Text("config"), folder = flags.Text("config-dir");
  if (!folder.empty()) loaded.config->set_seccompdefault(false);  // flags come again
  if (!file.empty()) LoadFile(file, files, flag_gates, loaded);
  if (!folder.empty()) MergeDropIns(folder, files, flag_gates, loaded);
  if (!file.empty() || !folder.empty()) ApplyFlagsOver(flags, loaded);
  SetGates(loaded);
  return loaded;
}

LoadedConfig LoadConfigText(std::string_view text, const std::string& name,
                            const ParsedFlags& flags) {
  LoadedConfig loaded;
  KubeletConfiguration of_flags;
  const AppliedFlags applied = ApplyFlags(flags, of_flags);
  DecodeConfigFile(text, {.kind = Origin::Kind::kFile, .name = name}, SettingsOf(of_flags), loaded);
  // Where it will lie nobody knows.
  ResolvePaths("/", *loaded.config);
  ApplyFlagsOver(flags, loaded);
  AddFaults(applied.faults, loaded);
  AddFaults(ValidateFlags(flags), loaded);
  SetGates(loaded);
  return loaded;
}

LoadedConfig LoadDropInText(std::string_view text, const std::string& name,
                            const ParsedFlags& flags) {
  LoadedConfig loaded;
  SetDefaults(FeatureGates(), Enforcement::kAbsent, *loaded.config);
  KubeletConfiguration of_flags;
  ApplyFlags(flags, of_flags);
  MergeDropInText(text, name, SettingsOf(of_flags), loaded);
  return loaded;
}

}  // namespace denselet::app
