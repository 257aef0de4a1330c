// Everything that was said about how to run, read and checked: for the agent, and for the commands
// that only look at it.
#pragma once

#include <string>
#include <vector>

#include "app/config/load.h"
#include "app/config/settings.h"
#include "app/config/validate.h"

namespace denselet::app {

struct EffectiveConfig {
  LoadedConfig kubelet;
  LoadedSettings own;
  std::vector<ConfigFault> faults;    // of both; with any, nothing may be started
  std::vector<std::string> warnings;  // a line each
};
// With `api` as it is for the agent, or not known to who only looks.
EffectiveConfig LoadEffectiveConfig(const ParsedFlags& flags, ApiAccess api, ConfigFiles& files);
ApiAccess ApiAccessOf(const ParsedFlags& flags);

// What a command says, and how it ends.
struct CommandResult {
  std::string output;
  std::vector<std::string> errors;  // lines for standard error
  int exit_code = 0;
};

// `denselet config check FILE...`: each file by itself, of either kind.
CommandResult CheckConfigFiles(const std::vector<std::string>& names, ConfigFiles& files);
// `denselet config print`, with --output yaml or json.
CommandResult PrintEffectiveConfig(const ParsedFlags& flags, ConfigFiles& files);

}  // namespace denselet::app
