// Everything that was said about how to run, read and checked: for the agent, and for the commands
// that only look at it.
#pragma once

#include <string>
#include <vector>

#include "app/config/load.h"
#include "app/config/settings.h"
#include "app/config/validate.h"
#include "app/config/validate_machine.h"

namespace denselet::app {

struct EffectiveConfig {
  LoadedConfig kubelet;
  LoadedSettings own;
  Machine machine;  // of who only looks at the configuration: not looked at
  // Of both; with any, nothing may be started. The last one may count those that were too many.
  std::vector<ConfigFault> faults;
  std::vector<std::string> warnings;  // a line each
};
// With `api` as it is for the agent, or not known to who only looks; for the agent the machine is
// looked at too, on which it is to run.
EffectiveConfig LoadEffectiveConfig(const ParsedFlags& flags, ApiAccess api, ConfigFiles& files);
ApiAccess ApiAccessOf(const ParsedFlags& flags);

// What a command says, and how it ends.
struct CommandResult {
  std::string output;
  std::vector<std::string> errors;  // lines for standard error
  int exit_code = 0;
};

// `denselet config check FILE...`: each file by itself, of either kind or a drop-in, with flags
// over it. With --config-dir, what --config and the drop-ins make together. That the agent would
// not start on this machine (cgroup v1, swap) is a warning: it may be meant for another.
CommandResult CheckConfigFiles(const ParsedFlags& flags, ConfigFiles& files);
// `denselet config print`, with --output yaml or json.
CommandResult PrintEffectiveConfig(const ParsedFlags& flags, ConfigFiles& files);

// Where the command line has errors of its own: what else is wrong, so that all is told at once.
// Lines; `flags` has what could be understood.
std::vector<std::string> FaultsBesideFlags(const ParsedFlags& flags, ConfigFiles& files);

}  // namespace denselet::app
