// The steps of LoadConfig that read files. For load.cc alone.
#pragma once

#include <string>
#include <string_view>

#include "app/config/load.h"

namespace denselet::app {

GateSettings SettingsOf(const kube::config::KubeletConfiguration& config);

// The configuration is the file's, with defaults; `flag_gates` are those that flags have set.
void DecodeConfigFile(std::string_view text, const Origin& file, const GateSettings& flag_gates,
                      LoadedConfig& into);

// Those that are relative mean files beside the configuration.
void ResolvePaths(std::string_view folder, kube::config::KubeletConfiguration& config);

void MergeDropIns(const std::string& folder, ConfigFiles& files, const GateSettings& flag_gates,
                  LoadedConfig& into);
void MergeDropInText(std::string_view text, const std::string& name, const GateSettings& flag_gates,
                     LoadedConfig& into);

}  // namespace denselet::app
