// The longer answers: one pod, PLEG, the agent.
#include <algorithm>

#include "app/ctl/tables.h"

namespace denselet::app {
namespace {

using kube::Json;

// "2026-01-02T15:04:05.123Z" is 15:04:05.123 to who looks now.
std::string TimeOfDay(const std::string& rfc3339) {
  const size_t begin = rfc3339.find('T');
  if (begin == rfc3339.npos) return rfc3339;
  return rfc3339.substr(begin + 1, rfc3339.find('Z') - begin - 1);
}

std::string Seconds3(double seconds) { return std::to_string(seconds).substr(0, 5) + "s"; }

using Lines = std::vector<std::vector<std::string>>;

// A heading, and the lines below it, indented.
std::string Section(const std::string& title, const Lines& lines) {
  if (lines.empty()) return {};
  std::string text = "\n" + title + "\n";
  const std::string columns = Columns(lines);
  for (size_t at = 0; at < columns.size();) {
    const size_t end = columns.find('\n', at);
    text += "  " + columns.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text;
}

std::string Head(const Json& pod) {
  const double ready = NumberAt(pod, "ready", 0), containers = NumberAt(pod, "containers", 0);
  Lines lines{
      {"Pod", TextAt(pod, "namespace") + "/" + TextAt(pod, "name")},
      {"UID", TextAt(pod, "uid")},
      {"Status", TextAt(pod, "status") + ", " + std::to_string(static_cast<int>(ready)) + "/" +
                     std::to_string(static_cast<int>(containers)) + " ready, " +
                     std::to_string(static_cast<int>(NumberAt(pod, "restarts", 0))) + " restarts"}};
  const auto add = [&lines](const char* title, const std::string& text) {
    if (!text.empty()) lines.push_back({title, text});
  };
  add("IP", TextAt(pod, "ip"));
  add("Rejected", TextAt(pod, "rejected"));
  add("Worker", TextAt(pod, "phase") + ": " + TextAt(pod, "waits"));
  if (!TextAt(pod, "since").empty()) {
    add("Since", TimeOfDay(TextAt(pod, "since")) + " UTC, " +
                     ShortTime(NumberAt(pod, "sinceSecondsAgo", 0)) + " ago");
  }
  add("Fault", TextAt(pod, "fault"));
  if (const Json* const reads = pod.Find("readFailures")) {
    add("Cannot be read", TextAt(*reads, "message") + ", " +
                              std::to_string(static_cast<int>(NumberAt(*reads, "count", 0))) +
                              " times since " + ShortTime(NumberAt(*reads, "sinceSecondsAgo", 0)) +
                              " ago");
  }
  return Columns(lines);
}

std::string Containers(const Json& pod) {
  Lines lines;
  for (const Json& container : ListAt(pod, "containerStates")) {
    std::string state = TextAt(container, "state");
    if (!TextAt(container, "reason").empty()) state += " (" + TextAt(container, "reason") + ")";
    if (container.Find("exitCode") != nullptr) {
      state +=
          ", exit code " + std::to_string(static_cast<int>(NumberAt(container, "exitCode", 0)));
    }
    lines.push_back(
        {TextAt(container, "name"), TextAt(container, "kind"),
         state.empty() ? "not told yet" : state,
         std::to_string(static_cast<int>(NumberAt(container, "restarts", 0))) + " restarts",
         TextAt(container, "image")});
  }
  return Section("Containers", lines);
}

std::string Calls(const Json& pod) {
  Lines lines;
  for (const Json& call : ListAt(pod, "calls")) {
    if (call.text() != nullptr) lines.push_back({*call.text()});
  }
  return Section("Calls under way", lines);
}

std::string Start(const Json& pod) {
  const Json* const start = pod.Find("start");
  if (start == nullptr) return {};
  Lines steps{{"0.000s", "wished, at " + TimeOfDay(TextAt(*start, "wished")) + " UTC"}};
  for (const Json& step : ListAt(*start, "steps")) {
    steps.push_back({Seconds3(NumberAt(step, "after", 0)), TextAt(step, "what")});
  }
  Lines waits;
  for (const Json& wait : ListAt(*start, "waited")) {
    waits.push_back({Seconds3(NumberAt(wait, "seconds", 0)), TextAt(wait, "for")});
  }
  const auto calls = static_cast<int>(NumberAt(*start, "runtimeCalls", 0));
  return Section("Start, " + std::to_string(calls) + " calls of the runtime" +
                     (BoolAt(*start, "over") ? "" : ", not over"),
                 steps) +
         Section("Waited during it for", waits);
}

std::string Transitions(const Json& pod) {
  Lines lines;
  for (const Json& transition : ListAt(pod, "transitions")) {
    lines.push_back({TimeOfDay(TextAt(transition, "at")),
                     ShortTime(NumberAt(transition, "atSecondsAgo", 0)) + " ago",
                     TextAt(transition, "phase"), TextAt(transition, "what")});
  }
  return Section("Last transitions", lines);
}

std::string OnePod(const Json& pod) {
  return Head(pod) + Containers(pod) + Calls(pod) + Start(pod) + Transitions(pod);
}

}  // namespace

Result<std::string> PodText(std::string_view json) {
  const Result<Json> parsed = ParseAnswer(json);
  if (!parsed) return parsed.error();
  std::string text;
  for (const Json& pod : ListAt(*parsed, "pods")) text += (text.empty() ? "" : "\n") + OnePod(pod);
  return text;
}

Result<std::string> PlegText(std::string_view json) {
  const Result<Json> parsed = ParseAnswer(json);
  if (!parsed) return parsed.error();
  const std::string why = TextAt(*parsed, "whyUnhealthy");
  const char* const off =
      BoolAt(*parsed, "eventsSwitchedOff") ? ", events are switched off by configuration" : "";
  const double last_list = NumberAt(*parsed, "lastListSecondsAgo", -1);
  std::string text =
      Columns({{"Mode", TextAt(*parsed, "mode") + " lead" + off},
               {"Missed events",
                std::to_string(static_cast<int64_t>(NumberAt(*parsed, "missedEvents", 0)))},
               {"Cross-check every", ShortTime(NumberAt(*parsed, "crossCheckPeriodSeconds", 0))},
               {"Last list", last_list < 0 ? "none yet" : ShortTime(last_list) + " ago"},
               {"Healthy", why.empty() ? "yes" : "no: " + why}});
  Lines lines;
  for (const Json& change : ListAt(*parsed, "history")) {
    lines.push_back({TimeOfDay(TextAt(change, "at")),
                     ShortTime(NumberAt(change, "atSecondsAgo", 0)) + " ago",
                     TextAt(change, "mode"), TextAt(change, "why")});
  }
  return text + Section("Changes of the mode", lines);
}

namespace {

// Empty: an agent that does not say, or one whose journal is well.
std::string JournalTrouble(const Json* journal) {
  if (journal == nullptr) return {};
  const auto count = [journal](const char* key) {
    return std::to_string(static_cast<int64_t>(NumberAt(*journal, key, 0)));
  };
  Lines lines;
  if (NumberAt(*journal, "failures", 0) > 0) {
    lines.push_back({"cannot be written", TextAt(*journal, "lastError") + "; " + count("failures") +
                                              " times in a row, " + count("pendingRecords") +
                                              " records wait"});
  }
  const std::string compaction = TextAt(*journal, "compactionError");
  if (!compaction.empty()) lines.push_back({"cannot be compacted", compaction});
  for (const Json& file : ListAt(*journal, "damagedFiles")) {
    lines.push_back({"damaged at the start", TextAt(file, "file") + ": " + TextAt(file, "reason")});
  }
  const auto add = [&](const char* key, const char* what) {
    if (NumberAt(*journal, key, 0) > 0) lines.push_back({what, count(key) + " records"});
  };
  add("recordsNotUnderstood", "not understood");
  add("foreignRecordsDropped", "dropped, of a later agent");
  return Section("Journal", lines);
}

}  // namespace

Result<std::string> AgentText(std::string_view json) {
  const Result<Json> parsed = ParseAnswer(json);
  if (!parsed) return parsed.error();
  Lines lines{
      {"Version",
       TextAt(*parsed, "version") + ", as Kubernetes " + TextAt(*parsed, "kubernetesVersion")},
      {"Node", TextAt(*parsed, "node") + (BoolAt(*parsed, "standalone") ? ", alone" : "")},
      {"Container runtime", TextAt(*parsed, "runtime")},
      {"Process", std::to_string(static_cast<int64_t>(NumberAt(*parsed, "pid", 0)))},
      {"Up", ShortTime(NumberAt(*parsed, "startedSecondsAgo", 0))},
      {"CPU time", ShortTime(NumberAt(*parsed, "cpuSeconds", 0))},
      {"Memory", ShortBytes(static_cast<int64_t>(NumberAt(*parsed, "rssBytes", 0)))},
      {"PLEG", TextAt(*parsed, "plegMode") + " lead"},
      {"Pods that wait for admission",
       std::to_string(static_cast<int64_t>(NumberAt(*parsed, "podsWaitingForAdmission", 0)))}};
  const Json* const journal = parsed->Find("journal");
  if (journal != nullptr) lines.push_back({"Journal", TextAt(*journal, "state")});
  Lines shards;
  for (const Json& shard : ListAt(*parsed, "shards")) {
    shards.push_back(
        {std::to_string(shards.size()),
         std::to_string(static_cast<int64_t>(NumberAt(shard, "pods", 0))) + " pods",
         std::to_string(static_cast<int64_t>(NumberAt(shard, "calls", 0))) + " calls under way",
         std::to_string(static_cast<int64_t>(NumberAt(shard, "line", 0))) + " pods in line"});
  }
  return Columns(lines) + Section("Shards", shards) + JournalTrouble(journal);
}

}  // namespace denselet::app
