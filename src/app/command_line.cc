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

Result<reactor::Backend> ParseReactorValue(std::string_view value) {
  for (const auto backend : {reactor::Backend::kUring, reactor::Backend::kEpoll}) {
    if (value == reactor::BackendName(backend)) return backend;
  }
  return Error(ErrorCode::kInvalid,
               "invalid argument \"" + std::string(value) +
                   "\" for \"--denselet-reactor\" flag: expected uring or epoll");
}

// The value of `--name=value`, if `arg` is that.
std::optional<std::string_view> ValueOf(std::string_view arg, std::string_view name) {
  if (!arg.starts_with(name) || arg.size() == name.size() || arg[name.size()] != '=') {
    return std::nullopt;
  }
  return arg.substr(name.size() + 1);
}

}  // namespace

Result<CommandLine> ParseCommandLine(std::span<const char* const> args) {
  CommandLine line;
  for (const std::string_view arg : args) {
    if (arg == "-h" || arg == "--help") {
      line.command = Command::kHelp;
      return line;
    }
    const auto version = arg == "--version" ? "true" : ValueOf(arg, "--version");
    if (version) {
      const Result<Command> command = ParseVersionValue(*version);
      if (!command) return command.error();
      line.command = *command;
      continue;
    }
    if (const auto value = ValueOf(arg, "--denselet-reactor")) {
      const Result<reactor::Backend> backend = ParseReactorValue(*value);
      if (!backend) return backend.error();
      line.reactor = *backend;
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
      --denselet-reactor string    uring or epoll: the event loop to run on; without it io_uring where
                                   the kernel allows it
      --version version[=true]     --version prints the Kubernetes version this agent stands in for and quits;
                                   --version=raw prints everything about this build
)";
}

Result<reactor::Backend> ChooseReactor(const CommandLine& line, const Clock& clock) {
  const reactor::Backend best = reactor::ProbeBackend(clock);
  if (!line.reactor) return best;
  if (*line.reactor == reactor::Backend::kUring && best != reactor::Backend::kUring) {
    return Error(ErrorCode::kUnsupported,
                 "--denselet-reactor=uring: this kernel lacks io_uring or forbids it");
  }
  return *line.reactor;
}

std::string VersionText() { return "Kubernetes " + std::string(kKubernetesVersion) + "\n"; }

std::string RawVersionText(reactor::Backend backend) {
  return VersionText() + "denselet v" + std::string(kDenseletVersion) + "\ncompiler " __VERSION__ +
         "\nreactor " + std::string(reactor::BackendName(backend)) + "\n";
}

}  // namespace denselet::app
