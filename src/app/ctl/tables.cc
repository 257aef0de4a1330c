#include "app/ctl/tables.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

namespace denselet::app {
namespace {

constexpr size_t kScreenHeadLines = 4;  // two on the agent, a blank one, the titles

// What a terminal would obey, and bytes that are no ASCII, which would spoil the columns.
std::string Plain(std::string_view text) {
  std::string plain(text);
  for (char& c : plain) {
    // A char has a sign on some machines, and none on others.
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7f) c = '?';
  }
  return plain;
}

template <class... Values>
std::string Formatted(const char* format, Values... values) {
  char text[64];
  const int size = std::snprintf(text, sizeof text, format, values...);
  return std::string(text, static_cast<size_t>(std::clamp(size, 0, 63)));
}

std::string WaitsOf(const PodRow& pod) {
  if (!pod.fault.empty()) return "fault: " + pod.fault;
  if (pod.waits_for == "change" || pod.waits_for == "nothing") return "-";
  std::string text = pod.waits_for;
  if (!pod.waits_container.empty()) text += " of " + pod.waits_container;
  if (pod.waits_seconds_max >= 0) text += ", " + ShortTime(pod.waits_seconds_max) + " left";
  return text;
}

std::vector<std::string> Titles() {
  return {"NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "SINCE", "WAITS FOR"};
}

std::vector<std::string> Line(const PodRow& pod) {
  return {pod.ns,
          pod.name,
          std::to_string(pod.ready) + "/" + std::to_string(pod.containers),
          pod.status,
          std::to_string(pod.restarts),
          ShortTime(pod.since_seconds),
          WaitsOf(pod)};
}

bool IsAtPeace(const PodRow& pod) {
  if (!pod.fault.empty()) return false;
  if (pod.status == "Completed" || pod.status == "Succeeded") return true;
  return pod.status == "Running" && (pod.waits_for == "change" || pod.waits_for == "nothing");
}

// "4 pods: 2 Running, 1 Completed, 1 CrashLoopBackOff".
std::string Summary(const std::vector<PodRow>& pods) {
  std::map<std::string, size_t> counts;
  for (const PodRow& pod : pods) ++counts[pod.status];
  std::vector<std::pair<size_t, std::string>> sorted;
  for (const auto& [status, count] : counts) sorted.emplace_back(count, status);
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<size_t, std::string>::first);
  std::string text = std::to_string(pods.size()) + (pods.size() == 1 ? " pod" : " pods");
  for (size_t i = 0; i < sorted.size(); ++i) {
    text +=
        (i == 0 ? ": " : ", ") + std::to_string(sorted[i].first) + " " + Plain(sorted[i].second);
  }
  return text;
}

std::string CutLines(const std::string& text, size_t columns) {
  if (columns == 0) return text;
  std::string cut;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    cut += text.substr(at, std::min(end - at, columns)) + '\n';
    at = end + 1;
  }
  return cut;
}

}  // namespace

std::string ShortTime(double seconds) {
  if (seconds < 0) return "-";
  if (seconds < 10) return Formatted("%.1fs", seconds);
  const auto whole = static_cast<int64_t>(seconds);
  const auto two = [](int64_t a, const char* of_a, int64_t b, const char* of_b) {
    return std::to_string(a) + of_a + (b == 0 ? "" : std::to_string(b) + of_b);
  };
  if (whole < 60) return std::to_string(whole) + "s";
  if (whole < 3600) return two(whole / 60, "m", whole % 60, "s");
  if (whole < 86400) return two(whole / 3600, "h", whole % 3600 / 60, "m");
  return two(whole / 86400, "d", whole % 86400 / 3600, "h");
}

std::string ShortBytes(int64_t bytes) {
  return Formatted("%.1f MiB", static_cast<double>(bytes) / (1024 * 1024));
}

std::string Columns(const std::vector<std::vector<std::string>>& lines) {
  std::vector<size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (size_t i = 0; i < line.size(); ++i) {
      row += Plain(line[i]);
      if (i + 1 < line.size()) row.append(widths[i] - line[i].size() + 2, ' ');
    }
    text += row.substr(0, row.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

std::string PodsTable(const std::vector<PodRow>& pods) {
  if (pods.empty()) return "No pods.\n";
  std::vector<std::vector<std::string>> lines{Titles()};
  for (const PodRow& pod : pods) lines.push_back(Line(pod));
  return Columns(lines);
}

double CpuShare(const AgentRow& now, const std::optional<AgentRow>& before) {
  const double spent = now.cpu_seconds - (before ? before->cpu_seconds : 0);
  const double time = now.uptime_seconds - (before ? before->uptime_seconds : 0);
  return time > 0 ? std::max(spent / time, 0.0) : 0;
}

std::string TopScreen(const AgentRow& agent, const std::optional<AgentRow>& before,
                      const std::vector<PodRow>& pods, const TopSize& size) {
  std::string text = "denselet " + Plain(agent.version) + " on node " + Plain(agent.node) +
                     ", up " + ShortTime(agent.uptime_seconds) + ", " + Summary(pods) + "\n";
  text += "PLEG by " + Plain(agent.pleg_mode) + ", " + std::to_string(agent.missed_events) +
          " missed; CPU " + Formatted("%.1f%%", 100 * CpuShare(agent, before)) + " (" +
          ShortTime(agent.cpu_seconds) + " in all), memory " + ShortBytes(agent.rss_bytes) + ", " +
          std::to_string(agent.shards) + " shards\n\n";
  std::vector<PodRow> sorted = pods;
  std::ranges::stable_partition(sorted, [](const PodRow& pod) { return !IsAtPeace(pod); });
  const size_t room =
      size.lines > kScreenHeadLines + 2 ? size.lines - kScreenHeadLines - 2 : size_t{1};
  const size_t left_out = sorted.size() > room ? sorted.size() - room : 0;
  sorted.resize(sorted.size() - left_out);
  text += PodsTable(sorted);
  if (left_out > 0) text += "... and " + std::to_string(left_out) + " more\n";
  return CutLines(text, size.columns);
}

std::string TopKey(const AgentRow& agent, const std::vector<PodRow>& pods) {
  std::string key = agent.pleg_mode + '\n' + std::to_string(agent.missed_events) + '\n';
  for (const PodRow& pod : pods) {
    std::vector<std::string> line = Line(pod);
    line[5].clear();  // since
    line[6] = pod.fault + '\t' + pod.waits_for + '\t' + pod.waits_container;
    for (const std::string& cell : line) key += cell + '\t';
    key += '\n';
  }
  return key;
}

}  // namespace denselet::app
