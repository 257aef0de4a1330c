// What the command line asks for.
#pragma once

#include <span>
#include <string>

#include "base/result.h"

namespace denselet::app {

enum class Command {
  kRun,
  kHelp,
  kVersion,     // one line, as kubeadm's preflight parses it: "Kubernetes v1.36.3"
  kVersionRaw,  // everything about this build
};

struct CommandLine {
  Command command = Command::kRun;
};

// Flags are written as Go's pflag reads them: --name=value, --name for a boolean, -h.
Result<CommandLine> ParseCommandLine(std::span<const char* const> args);

std::string HelpText();
std::string VersionText(Command command);

}  // namespace denselet::app
