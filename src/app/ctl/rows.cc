#include "app/ctl/rows.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

namespace denselet::app {
namespace {

using kube::Json;

PodRow ReadRow(const Json& pod) {
  PodRow row;
  row.ns = TextAt(pod, "namespace");
  row.name = TextAt(pod, "name");
  row.uid = TextAt(pod, "uid");
  row.status = TextAt(pod, "status");
  row.ready = static_cast<int64_t>(NumberAt(pod, "ready", 0));
  row.containers = static_cast<int64_t>(NumberAt(pod, "containers", 0));
  row.restarts = static_cast<int64_t>(NumberAt(pod, "restarts", 0));
  row.phase = TextAt(pod, "phase");
  row.waits_for = TextAt(pod, "waitsFor");
  row.waits_container = TextAt(pod, "waitsForContainer");
  row.waits_seconds_max = NumberAt(pod, "waitsSecondsMax", -1);
  row.since_seconds = NumberAt(pod, "sinceSecondsAgo", -1);
  row.fault = TextAt(pod, "fault");
  return row;
}

}  // namespace

Result<Json> ParseAnswer(std::string_view text) {
  Result<Json> parsed = Json::Parse(text);
  if (!parsed || parsed->object() == nullptr) {
    return Error(ErrorCode::kCorrupt, "what answers there is no denselet");
  }
  return parsed;
}

std::string TextAt(const Json& object, std::string_view key) {
  const Json* const value = object.Find(key);
  return value != nullptr && value->text() != nullptr ? *value->text() : std::string();
}

double NumberAt(const Json& object, std::string_view key, double otherwise) {
  const Json* const value = object.Find(key);
  if (value == nullptr || value->number() == nullptr) return otherwise;
  return std::strtod(value->number()->text.c_str(), nullptr);
}

bool BoolAt(const Json& object, std::string_view key) {
  const Json* const value = object.Find(key);
  return value != nullptr && *value == Json(true);
}

const std::vector<Json>& ListAt(const Json& object, std::string_view key) {
  static const std::vector<Json> kNone;
  const Json* const value = object.Find(key);
  return value != nullptr && value->list() != nullptr ? *value->list() : kNone;
}

Result<std::vector<PodRow>> ReadPodRows(std::string_view json) {
  const Result<Json> parsed = ParseAnswer(json);
  if (!parsed) return parsed.error();
  std::vector<PodRow> rows;
  for (const Json& pod : ListAt(*parsed, "pods")) rows.push_back(ReadRow(pod));
  std::ranges::sort(rows, [](const PodRow& a, const PodRow& b) {
    return std::tie(a.ns, a.name, a.uid) < std::tie(b.ns, b.name, b.uid);
  });
  return rows;
}

Result<AgentRow> ReadAgentRow(std::string_view json) {
  const Result<Json> parsed = ParseAnswer(json);
  if (!parsed) return parsed.error();
  AgentRow row;
  row.version = TextAt(*parsed, "version");
  row.node = TextAt(*parsed, "node");
  row.pleg_mode = TextAt(*parsed, "plegMode");
  row.uptime_seconds = NumberAt(*parsed, "startedSecondsAgo", 0);
  row.cpu_seconds = NumberAt(*parsed, "cpuSeconds", 0);
  row.rss_bytes = static_cast<int64_t>(NumberAt(*parsed, "rssBytes", 0));
  row.missed_events = static_cast<int64_t>(NumberAt(*parsed, "missedEvents", 0));
  row.waiting_for_admission = static_cast<int64_t>(NumberAt(*parsed, "podsWaitingForAdmission", 0));
  row.shards = ListAt(*parsed, "shards").size();
  return row;
}

std::string ReadErrorText(std::string_view body) {
  const Result<Json> parsed = Json::Parse(body);
  if (parsed && !TextAt(*parsed, "error").empty()) return TextAt(*parsed, "error");
  return std::string(body.substr(0, body.find('\n')));
}

}  // namespace denselet::app
