#include "app/ctl/ctl_args.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/quoted.h"

namespace denselet::app {
namespace {

constexpr size_t kShownMax = 64;

struct Named {
  std::string_view name;
  CtlCommand command;
};
constexpr std::array kCommands{
    Named{"agent", CtlCommand::kAgent},     Named{"help", CtlCommand::kHelp},
    Named{"metrics", CtlCommand::kMetrics}, Named{"pleg", CtlCommand::kPleg},
    Named{"pod", CtlCommand::kPod},         Named{"pods", CtlCommand::kPods},
    Named{"top", CtlCommand::kTop},         Named{"version", CtlCommand::kVersion},
};

Error Wrong(std::string text) { return Error(ErrorCode::kInvalid, std::move(text)); }

Result<Duration> TakePeriod(std::string_view option, const std::string& text) {
  const Result<Duration> period = ParseDuration(text);
  if (!period || *period <= Duration::zero()) {
    return Wrong(std::string(option) + " wants a duration such as 1s or 500ms, not " +
                 Quoted(text, kShownMax));
  }
  return *period;
}

Status TakeOption(const std::string& option, const std::string& value, CtlArgs& into) {
  if (option == "--socket") {
    if (value.empty()) return Wrong("--socket wants a path");
    into.socket = value;
    return Ok();
  }
  if (option == "-n" || option == "--namespace") {
    into.ns = value;
    return Ok();
  }
  if (option == "-o" || option == "--output") {
    if (value != "json" && value != "table") {
      return Wrong(option + " is json or table, not " + Quoted(value, kShownMax));
    }
    into.json = value == "json";
    return Ok();
  }
  if (option == "--note") {
    into.note = value;
    return Ok();
  }
  const Result<Duration> period = TakePeriod(option, value);
  if (!period) return period.error();
  if (option == "--interval") into.interval = *period;
  if (option == "--for") into.time_max = *period;
  return Ok();
}

bool WantsValue(std::string_view option) {
  constexpr std::array<std::string_view, 8> kOptions{
      "--note", "--socket", "-n", "--namespace", "-o", "--output", "--interval", "--for"};
  return std::ranges::find(kOptions, option) != kOptions.end();
}

Status TakeWord(const std::string& word, bool& has_command, CtlArgs& into) {
  if (!has_command) {
    const auto found = std::ranges::find(kCommands, word, &Named::name);
    if (found == kCommands.end()) {
      return Wrong("there is no command " + Quoted(word, kShownMax) + "; see denseletctl help");
    }
    into.command = found->command;
    has_command = true;
    return Ok();
  }
  if (into.command == CtlCommand::kPod && into.pod.empty() && !word.empty()) {
    into.pod = word;
    return Ok();
  }
  return Wrong("nothing may stand at the place of " + Quoted(word, kShownMax));
}

}  // namespace

Result<CtlArgs> ParseCtlArgs(std::span<const char* const> words, std::string_view default_socket) {
  CtlArgs args;
  args.socket = default_socket;
  bool has_command = false;
  for (size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    if (word == "-h" || word == "--help") return CtlArgs{.socket = args.socket};
    if (word == "--version") word = "version";
    if (!word.starts_with('-')) {
      if (const Status taken = TakeWord(word, has_command, args); !taken) return taken.error();
      continue;
    }
    std::string value;
    const size_t equals = word.starts_with("--") ? word.find('=') : word.npos;
    const std::string option = word.substr(0, equals);
    if (!WantsValue(option)) return Wrong("there is no option " + Quoted(option, kShownMax));
    if (equals != word.npos) {
      value = word.substr(equals + 1);
    } else if (++i == words.size()) {
      return Wrong(option + " wants a value");
    } else {
      value = words[i];
    }
    if (const Status taken = TakeOption(option, value, args); !taken) return taken.error();
  }
  if (args.command == CtlCommand::kPod && args.pod.empty()) {
    return Wrong("which pod? denseletctl pod NAME");
  }
  return args;
}

std::string CtlHelpText(std::string_view default_socket) {
  return "denseletctl asks the denselet of this machine what it does.\n"
         "\n"
         "  denseletctl pods             every pod: status, restarts, what it waits for and since "
         "when\n"
         "  denseletctl top              the same, live; without a terminal whenever it changes\n"
         "  denseletctl pod NAME         all that is known of one: state, waits, last transitions, "
         "its start\n"
         "                               (NAME or NAMESPACE/NAME)\n"
         "  denseletctl pleg             how changes in the runtime are noticed: modes, missed "
         "events\n"
         "  denseletctl metrics          the text for Prometheus\n"
         "  denseletctl agent            version, uptime, CPU time and memory of the agent\n"
         "\n"
         "  -o, --output json|table      json: as the agent says it\n"
         "  -n, --namespace NAME         of pods and pod\n"
         "  --socket PATH                the agent's socket; else $DENSELET_SOCKET, else\n"
         "                               " +
         std::string(default_socket) +
         "\n"
         "  --interval 1s, --for 30s     of top: how often it looks, and for how long\n"
         "  --note TEXT                  of top: lines below the table on a terminal\n";
}

}  // namespace denselet::app
