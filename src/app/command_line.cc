#include "app/command_line.h"

#include <string_view>

#include "app/version.h"

namespace denselet::app {
namespace {

Result<Command> ParseVersionValue(std::string_view value) {
  if (value == "true") return Command::kVersion;
  if (value == "false") return Command::kRun;
  if (value == "raw") return Command::kVersionRaw;
  return Error(ErrorCode::kInvalid, "invalid argument \"" + std::string(value) +
                                        "\" for \"--version\" flag: expected true, false or raw");
}

}  // namespace

Result<CommandLine> ParseCommandLine(std::span<const char* const> args) {
  CommandLine line;
  for (const std::string_view arg : args) {
    if (arg == "-h" || arg == "--help") {
      line.command = Command::kHelp;
      return line;
    }
    if (arg == "--version" || arg.starts_with("--version=")) {
      const std::string_view value = arg == "--version" ? "true" : arg.substr(sizeof "--version");
      const Result<Command> command = ParseVersionValue(value);
      if (!command) return command.error();
      line.command = *command;
      continue;
    }
    if (!arg.starts_with("-") || arg == "-") {
      return Error(ErrorCode::kInvalid, "unknown command \"" + std::string(arg) + "\"");
    }
    const std::string name(arg.substr(0, arg.find('=')));
    return Error(ErrorCode::kInvalid, "unknown flag: " + name);
  }
  return line;
}

std::string HelpText() {
  return
      R"(denselet is a Kubernetes node agent: a kubelet for nodes with a thousand pods and more.

Usage:
  denselet [flags]

Flags:
  -h, --help                       help for denselet
      --version version[=true]     --version prints the Kubernetes version this agent stands in for and quits;
                                   --version=raw prints everything about this build
)";
}

std::string VersionText(Command command) {
  std::string text = "Kubernetes " + std::string(kKubernetesVersion) + "\n";
  if (command == Command::kVersionRaw) {
    text += "denselet v" + std::string(kDenseletVersion) + "\n";
    text += "compiler " __VERSION__ "\n";
  }
  return text;
}

}  // namespace denselet::app
