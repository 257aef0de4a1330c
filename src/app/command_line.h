// What the command line asks for.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "reactor/event_loop.h"

namespace denselet::app {

enum class Command {
  kRun,
  kHelp,
  kVersion,     // one line, as kubeadm's preflight parses it: "Kubernetes v1.36.3"
  kVersionRaw,  // everything about this build
};

struct CommandLine {
  Command command = Command::kRun;
  std::optional<reactor::Backend> reactor;  // --denselet-reactor; without it the kernel is probed
};

// Flags are written as Go's pflag reads them: --name=value, --name value (but not for a flag that
// may go without one), -h.
Result<CommandLine> ParseCommandLine(std::span<const char* const> args);

// The loop to run on: the one that was asked for, which this kernel must then have, or the best
// there is.
Result<reactor::Backend> ChooseReactor(const CommandLine& line, const Clock& clock);

std::string HelpText();
std::string VersionText();
// Everything about this build, and the loop it would run on here.
std::string RawVersionText(reactor::Backend backend);

}  // namespace denselet::app
