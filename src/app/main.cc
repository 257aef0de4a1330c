#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/agent/agent_options.h"
#include "app/agent/run_agent.h"
#include "app/agent/shard_basics.h"
#include "app/config/effective.h"
#include "app/flags/parsed_flags.h"
#include "app/reactor_choice.h"
#include "app/version_text.h"
#include "base/log.h"
#include "kube/api/types.h"
#include "reactor/real_clock.h"

namespace {

using namespace denselet::app;

// A line holds texts of files and of the command line: what would move a terminal's cursor, or look
// like a further line, is shown as \xNN.
void PrintLine(std::string_view prefix, std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string line(prefix);
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      line += c;
    } else {
      line.append("\\x").append({kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int Fail(const std::vector<std::string>& errors) {
  for (const std::string& error : errors) PrintLine("Error: ", error);
  std::fputs("Run 'denselet --help' for usage.\n", stderr);
  return 1;
}

// The program's exit code. Flushed here: at the program's end nobody would see that it failed.
int Print(const std::string& text) {
  if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
  const auto error = denselet::Error::FromErrno(errno, "standard output");
  std::fprintf(stderr, "Error: %s\n", error.message().c_str());
  return 1;
}

void PrintErrors(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) PrintLine("", line);
}

int Finish(const CommandResult& result) {
  PrintErrors(result.errors);
  const int printed = Print(result.output);
  return result.exit_code != 0 ? result.exit_code : printed;
}

// The log before there is a log: lines of the same form, written by who logs them.
class ErrorStream final : public denselet::LogSink {
 public:
  void Write(std::string_view line, denselet::Severity /*severity*/) noexcept override {
    std::fwrite(line.data(), 1, line.size(), stderr);
  }
};

void LogWarnings(const std::vector<std::string>& warnings, const EffectiveConfig& effective,
                 const denselet::Clock& clock) {
  const bool json = effective.kubelet.config->logging().format() == "json";
  ErrorStream stream;
  const denselet::LogVerbosity verbosity;
  const denselet::LogOutput output{
      .format = MakeLogFormat(json ? denselet::LogStyle::kJson : denselet::LogStyle::kText, clock),
      .clock = clock,
      .verbosity = verbosity,
      .sink = stream};
  const denselet::Logger log(output);
  for (const std::string& warning : warnings) {
    log.Warning("Looked at flags and configuration", denselet::KV("warning", warning));
  }
}

// What is wrong with the configuration is told whole, before anything is touched. `warnings` are
// those of the command line. As soon as the form of the log is known, they belong there.
int RunAgent(const ParsedFlags& flags, std::vector<std::string> warnings,
             const denselet::Clock& clock) {
  DiskConfigFiles files;
  const EffectiveConfig effective = LoadEffectiveConfig(flags, ApiAccessOf(flags), files);
  if (!effective.faults.empty()) {
    PrintErrors(warnings);
    for (const std::string& warning : effective.warnings) PrintLine("Warning: ", warning);
    for (const ConfigFault& fault : effective.faults) PrintLine("Error: ", ToString(fault));
    return 1;
  }
  warnings.insert(warnings.end(), effective.warnings.begin(), effective.warnings.end());
  LogWarnings(warnings, effective, clock);
  const auto reactor = ChooseReactor(ReactorName(effective.own.settings.reactor), clock);
  if (!reactor) return Fail({reactor.error().message()});
  std::vector<std::string> of_options;
  const auto options = MakeAgentOptions(flags, effective, *reactor, LookAround(), of_options);
  LogWarnings(of_options, effective, clock);
  if (!options) return Fail({options.error().message()});
  const auto code = RunAgentProcess(*options, clock);
  if (!code) return Fail({code.error().message()});
  return *code;
}

int PrintRawVersion(const ParsedFlags& flags, const denselet::Clock& clock) {
  const auto reactor = ChooseReactor(flags.Text("denselet-reactor"), clock);
  if (!reactor) return Fail({reactor.error().message()});
  return Print(RawVersionText(flags.KubernetesVersion(), reactor->backend));
}

int RunCommand(const ParsedFlags& flags, const denselet::Clock& clock) {
  DiskConfigFiles files;
  switch (flags.command) {
    case Command::kHelp:
      return Print(HelpText(100));
    case Command::kConfigHelp:
      return Print(ConfigHelpText());
    case Command::kVersion:
      return Print(VersionText(flags.KubernetesVersion()));
    case Command::kVersionRaw:
      return PrintRawVersion(flags, clock);
    case Command::kConfigCheck:
      return Finish(CheckConfigFiles(flags, files));
    case Command::kConfigPrint:
      return Finish(PrintEffectiveConfig(flags, files));
    case Command::kRun:
      break;  // see main
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const denselet::reactor::RealClock clock;
  auto [flags, errors, warnings] =
      ParseFlags(std::span<const char* const>(argv, argv + argc).subspan(1));
  if (errors.empty() && flags.command == Command::kRun) {
    return RunAgent(flags, std::move(warnings), clock);
  }
  PrintErrors(warnings);
  if (!errors.empty()) {
    DiskConfigFiles files;
    for (std::string& fault : FaultsBesideFlags(flags, files)) errors.push_back(std::move(fault));
    return Fail(errors);
  }
  return RunCommand(flags, clock);
}
