// What the agent answered, as values: JSON is read here and nowhere else in denseletctl. A field
// that is missing (another version answers) has its default.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/api/patch/json_tree.h"

namespace denselet::app {

struct PodRow {
  std::string ns = {}, name = {}, uid = {};
  std::string status = {};
  int64_t ready = 0, containers = 0, restarts = 0;
  std::string phase = {};
  std::string waits_for = {}, waits_container = {};
  double waits_seconds_max = -1;  // negative: no limit
  double since_seconds = -1;      // negative: unknown
  std::string fault = {};

  std::string FullName() const { return ns + "/" + name; }
};

struct AgentRow {
  std::string version = {}, node = {}, pleg_mode = {};
  double uptime_seconds = 0, cpu_seconds = 0;
  int64_t rss_bytes = 0, missed_events = 0, waiting_for_admission = 0;
  size_t shards = 0;
};

// kCorrupt: that is no answer of an agent.
Result<kube::Json> ParseAnswer(std::string_view text);
// Members of an object, by name; what is something else is the default.
std::string TextAt(const kube::Json& object, std::string_view key);
double NumberAt(const kube::Json& object, std::string_view key, double otherwise);
bool BoolAt(const kube::Json& object, std::string_view key);
// Empty: it is no list.
const std::vector<kube::Json>& ListAt(const kube::Json& object, std::string_view key);

// Sorted by namespace and name. kCorrupt as above.
Result<std::vector<PodRow>> ReadPodRows(std::string_view json);
Result<AgentRow> ReadAgentRow(std::string_view json);
// Of an answer that is an error; the body itself where it is none of ours.
std::string ReadErrorText(std::string_view body);

}  // namespace denselet::app
