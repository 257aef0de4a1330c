// denselet's own settings: what the kubelet has no word for. A small file of their own kind, and
// flags that win over it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/config/config_fault.h"
#include "app/config/config_files.h"
#include "app/flags/parsed_flags.h"
#include "base/time.h"

namespace denselet::app {

struct DenseletSettings {
  enum class Reactor : uint8_t { kAuto, kUring, kEpoll };

  uint32_t shards = 0;  // 0: one for each CPU that the agent may use, four at most
  Reactor reactor = Reactor::kAuto;
  std::string journal;  // file
  std::string socket;   // where the agent answers local questions
  std::string container_logs_dir = "/var/log/containers";  // of links to logs
  bool pleg_use_events = true;
  Duration pleg_relist_period = Minutes(5);
  Duration pleg_fallback_relist_period = Seconds(1);
};

// As ChooseReactor wants it: nothing for the best there is.
std::string_view ReactorName(DenseletSettings::Reactor reactor);

// A setting as people see it: its path in the file, and its value.
struct ShownSetting {
  std::string path;
  std::string value;
  bool is_plain = false;  // a number, or true or false
};

struct LoadedSettings {
  DenseletSettings settings;
  Origins origins;
  std::vector<ConfigFault> faults;  // with any, the settings are not to be used
  std::vector<std::string> warnings;

  // All of them, in the order of the file.
  std::vector<ShownSetting> Shown() const;
};

LoadedSettings LoadSettings(const ParsedFlags& flags, ConfigFiles& files);
// One file, without any flag.
LoadedSettings LoadSettingsText(std::string_view text, const std::string& name);

inline constexpr std::string_view kSettingsApiVersion = "denselet.config/v1alpha1";
inline constexpr std::string_view kSettingsKind = "DenseletConfiguration";

}  // namespace denselet::app
