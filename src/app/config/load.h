// From flags and files to the configuration that holds: in the kubelet's order
// (docs/compat/config.md §4), so that the same words give the same configuration. All faults are
// found, not the first.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/config/config_fault.h"
#include "app/config/config_files.h"
#include "app/config/origins.h"
#include "app/features/feature_gates.h"
#include "app/flags/parsed_flags.h"
#include "kube/api/fwd.h"

namespace denselet::app {

// With faults nothing else in it may be used but to tell of them.
struct LoadedConfig {
  LoadedConfig();
  LoadedConfig(LoadedConfig&&) noexcept;
  LoadedConfig& operator=(LoadedConfig&&) noexcept;
  ~LoadedConfig();

  std::unique_ptr<kube::config::KubeletConfiguration> config;
  // Of files alone: --seccomp-default turns the field on for the agent, but the kubelet keeps the
  // flag beside the field, and shows the latter.
  bool shown_seccomp_default = false;
  GateSettings gate_settings;
  FeatureGates gates;
  Origins origins;
  std::vector<ConfigFault> faults;
  size_t further_faults = 0;  // there were too many to name them all
  // False: a file could not be read at all, and what would be found out about the rest would
  // mislead.
  bool complete = true;
  std::vector<std::string> warnings;
};

// Not yet validated.
LoadedConfig LoadConfig(const ParsedFlags& flags, ConfigFiles& files);

// One file, with the defaults, and with flags over it but for those that name files: for who only
// wants to know whether it is good.
LoadedConfig LoadConfigText(std::string_view text, const std::string& name,
                            const ParsedFlags& flags = {});

// One drop-in over the defaults and under the flags: it is half a configuration, so it is to be
// read and not to be validated.
LoadedConfig LoadDropInText(std::string_view text, const std::string& name,
                            const ParsedFlags& flags = {});

inline constexpr std::string_view kConfigApiVersion = "kubelet.config.k8s.io/v1beta1";
inline constexpr std::string_view kConfigKind = "KubeletConfiguration";

}  // namespace denselet::app
