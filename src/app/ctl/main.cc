// denseletctl: what the agent of this machine does, for people.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "app/ctl/ctl_args.h"
#include "app/ctl/local_client.h"
#include "app/ctl/pod_names.h"
#include "app/ctl/tables.h"
#include "app/version.h"
#include "reactor/real_clock.h"

namespace {

using namespace denselet;
using namespace denselet::app;

constexpr std::string_view kDefaultSocket = "/var/lib/kubelet/denselet/denselet.sock";
// In place of a terminal's height, where there is none.
constexpr TopSize kPageSize{.lines = 30, .columns = 0};

std::string DefaultSocket() {
  const char* const named = std::getenv("DENSELET_SOCKET");
  return named != nullptr && *named != '\0' ? named : std::string(kDefaultSocket);
}

int Fail(const Error& error) {
  std::fprintf(stderr, "denseletctl: %s\n", error.message().c_str());
  return 1;
}

// Flushed: whether it could be written is known now, not at the program's end.
bool Write(std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
         std::fflush(stdout) == 0;
}

int Print(std::string_view text) {
  if (Write(text)) return 0;
  return Fail(Error::FromErrno(errno, "standard output"));
}

// The agent's answer as it is, or made into text.
template <class MakeText>
int Show(LocalClient& client, const CtlArgs& args, const std::string& path, MakeText make_text) {
  const Result<std::string> answer = client.Get(path);
  if (!answer) return Fail(answer.error());
  if (args.json) return Print(*answer);
  const Result<std::string> text = make_text(*answer);
  if (!text) return Fail(text.error());
  return Print(*text);
}

int ShowPods(LocalClient& client, const CtlArgs& args) {
  return Show(client, args, "/pods", [&args](const std::string& answer) -> Result<std::string> {
    Result<std::vector<PodRow>> pods = ReadPodRows(answer);
    if (!pods) return pods.error();
    if (args.ns) std::erase_if(*pods, [&](const PodRow& pod) { return pod.ns != *args.ns; });
    return PodsTable(*pods);
  });
}

int ShowPod(LocalClient& client, const CtlArgs& args) {
  const Result<std::string> all = client.Get("/pods");
  if (!all) return Fail(all.error());
  const Result<std::vector<PodRow>> pods = ReadPodRows(*all);
  if (!pods) return Fail(pods.error());
  const Result<PodRow> pod = FindPod(*pods, args.pod, args.ns);
  if (!pod) return Fail(pod.error());
  return Show(client, args, "/pods/" + pod->FullName(), PodText);
}

struct Look {
  AgentRow agent;
  std::vector<PodRow> pods;
  std::string json;  // both, in one line
};

// {"agent":{...},"pods":[...]} of the two answers.
std::string Joined(const std::string& agent, const std::string& pods) {
  return "{\"agent\":" + agent.substr(0, agent.find_last_not_of('\n') + 1) + "," + pods.substr(1);
}

Result<Look> LookNow(LocalClient& client) {
  const Result<std::string> agent = client.Get("/agent");
  if (!agent) return agent.error();
  const Result<std::string> pods = client.Get("/pods");
  if (!pods) return pods.error();
  Result<AgentRow> row = ReadAgentRow(*agent);
  if (!row) return row.error();
  Result<std::vector<PodRow>> rows = ReadPodRows(*pods);
  if (!rows) return rows.error();
  return Look{*std::move(row), *std::move(rows), Joined(*agent, *pods)};
}

// What the terminal has room for above the note.
TopSize SizeFor(std::string_view note) {
  winsize size = {};
  TopSize room{.lines = 24, .columns = 80};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0) {
    room = {size.ws_row, size.ws_col};
  }
  if (note.empty()) return room;
  const auto taken = static_cast<size_t>(std::ranges::count(note, '\n')) + 2;
  room.lines -= std::min(taken, room.lines);
  return room;
}

// In place of what is there: home, each line cleared behind its end, then all below.
std::string Redrawn(const std::string& screen) {
  std::string text = "\x1b[H";
  for (const char c : screen) {
    if (c == '\n') text += "\x1b[K";
    text += c;
  }
  return text + "\x1b[J";
}

// An agent that is not there (yet, or any more) is waited for.
int Top(LocalClient& client, const CtlArgs& args, const Clock& clock) {
  const bool live = ::isatty(STDOUT_FILENO) == 1 && !args.json;
  const TimePoint end = args.time_max ? After(clock.Now(), *args.time_max) : kNever;
  std::optional<AgentRow> before;
  std::string last;
  while (true) {
    const Result<Look> look = LookNow(client);
    const std::string key = look ? TopKey(look->agent, look->pods) : look.error().message() + "\n";
    const TopSize size = live ? SizeFor(args.note) : kPageSize;
    std::string screen = look ? TopScreen(look->agent, before, look->pods, size) : key;
    if (live) screen = Redrawn(screen + (args.note.empty() ? "" : "\n" + args.note + "\n"));
    if (!live && !last.empty()) screen = "\n" + screen;
    if (args.json) screen = look ? look->json : "";
    if ((live || key != last) && !Write(screen)) {
      return Fail(Error::FromErrno(errno, "standard output"));
    }
    last = key;
    if (look) before = look->agent;
    if (After(clock.Now(), args.interval) >= end) return 0;
    client.Wait(args.interval);
  }
}

int Run(const CtlArgs& args, const Clock& clock) {
  if (args.command == CtlCommand::kHelp) return Print(CtlHelpText(kDefaultSocket));
  if (args.command == CtlCommand::kVersion) {
    return Print("denselet " + std::string(kDenseletVersion) + "\n");
  }
  const auto client = LocalClient::Make(args.socket, clock);
  if (!client) return Fail(client.error());
  switch (args.command) {
    case CtlCommand::kPods:
      return ShowPods(**client, args);
    case CtlCommand::kTop:
      return Top(**client, args, clock);
    case CtlCommand::kPod:
      return ShowPod(**client, args);
    case CtlCommand::kPleg:
      return Show(**client, args, "/pleg", PlegText);
    case CtlCommand::kMetrics:
      return Show(**client, args, args.json ? "/metrics.json" : "/metrics",
                  [](const std::string& text) { return Result<std::string>(text); });
    case CtlCommand::kAgent:
      return Show(**client, args, "/agent", AgentText);
    case CtlCommand::kHelp:
    case CtlCommand::kVersion:
      break;
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const reactor::RealClock clock;
  const auto args =
      ParseCtlArgs(std::span<const char* const>(argv, argv + argc).subspan(1), DefaultSocket());
  if (!args) {
    Fail(args.error());
    return 2;
  }
  return Run(*args, clock);
}
