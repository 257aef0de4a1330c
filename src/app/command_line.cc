#include "app/command_line.h"

#include <optional>
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

// The words of a command line, one flag after the other.
class Words {
 public:
  explicit Words(std::span<const char* const> words) : words_(words) {}

  bool empty() const { return words_.empty(); }
  std::string_view front() const { return words_.front(); }
  void Drop() { words_ = words_.subspan(1); }

  // Takes `--name=value`, and gives the value.
  std::optional<std::string_view> TakeAssigned(std::string_view name) {
    const std::string_view word = front();
    if (!word.starts_with(name) || word.size() == name.size() || word[name.size()] != '=') {
      return std::nullopt;
    }
    Drop();
    return word.substr(name.size() + 1);
  }

  // The same for `--name value` too: the next word is the value, whatever it looks like.
  Result<std::optional<std::string_view>> TakeValued(std::string_view name) {
    if (front() != name) return TakeAssigned(name);
    Drop();
    if (empty()) {
      return Error(ErrorCode::kInvalid, "flag needs an argument: " + std::string(name));
    }
    const std::string_view value = front();
    Drop();
    return std::optional(value);
  }

  // The same for a flag that may go without a value, and so never takes the next word.
  std::optional<std::string_view> TakeOptional(std::string_view name, std::string_view otherwise) {
    if (front() != name) return TakeAssigned(name);
    Drop();
    return otherwise;
  }

 private:
  std::span<const char* const> words_;
};

Error UnknownWord(std::string_view word) {
  if (!word.starts_with("-") || word == "-") {
    return Error(ErrorCode::kInvalid, "unknown command \"" + std::string(word) + "\"");
  }
  return Error(ErrorCode::kInvalid, "unknown flag: " + std::string(word.substr(0, word.find('='))));
}

}  // namespace

Result<CommandLine> ParseCommandLine(std::span<const char* const> args) {
  CommandLine line;
  Words words(args);
  while (!words.empty()) {
    if (words.front() == "-h" || words.front() == "--help") {
      line.command = Command::kHelp;
      return line;
    }
    if (const auto version = words.TakeOptional("--version", "true")) {
      const Result<Command> command = ParseVersionValue(*version);
      if (!command) return command.error();
      line.command = *command;
      continue;
    }
    const auto reactor = words.TakeValued("--denselet-reactor");
    if (!reactor) return reactor.error();
    if (*reactor) {
      const Result<reactor::Backend> backend = ParseReactorValue(**reactor);
      if (!backend) return backend.error();
      line.reactor = *backend;
      continue;
    }
    return UnknownWord(words.front());
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
