#include "bench/cri_sim/command_check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "bench/cri_sim/json.h"
#include "bench/cri_sim/settings_json.h"

namespace denselet::cri_sim {
namespace {

// Of both services; no name comes twice. A test compares them with the messages' own.
constexpr std::string_view kMethods[] = {
    "Attach",
    "CheckpointContainer",
    "ContainerStats",
    "ContainerStatus",
    "CreateContainer",
    "Exec",
    "ExecSync",
    "GetContainerEvents",
    "ImageFsInfo",
    "ImageStatus",
    "ListContainerStats",
    "ListContainers",
    "ListImages",
    "ListMetricDescriptors",
    "ListPodSandbox",
    "ListPodSandboxMetrics",
    "ListPodSandboxStats",
    "PodSandboxStats",
    "PodSandboxStatus",
    "PortForward",
    "PullImage",
    "RemoveContainer",
    "RemoveImage",
    "RemovePodSandbox",
    "ReopenContainerLog",
    "RunPodSandbox",
    "RuntimeConfig",
    "StartContainer",
    "Status",
    "StopContainer",
    "StopPodSandbox",
    "StreamContainerStats",
    "StreamContainers",
    "StreamImages",
    "StreamPodSandboxMetrics",
    "StreamPodSandboxStats",
    "StreamPodSandboxes",
    "UpdateContainerResources",
    "UpdatePodSandboxResources",
    "UpdateRuntimeConfig",
    "Version",
};

using Members = std::vector<std::string_view>;

const std::map<std::string, Members, std::less<>>& MembersOfCommands() {
  static const std::map<std::string, Members, std::less<>> members = {
      {"addImage", {"image", "size"}},
      {"clearViolations", {}},
      {"counters", {}},
      {"crash", {"downtime", "keepState"}},
      {"exit", {"code", "container", "pod", "reason"}},
      {"health", {"healthy", "pod"}},
      {"mounts", {"container", "pod"}},
      {"pods", {}},
      {"populate", {"containers", "pods"}},
      {"quit", {}},
      {"release", {"method"}},
      {"resetCounters", {}},
      {"set", {"settings"}},
      {"state", {}},
      {"stopSandbox", {"pod"}},
      {"violations", {}},
  };
  return members;
}

Error Invalid(std::string what) { return Error(ErrorCode::kInvalid, std::move(what)); }

bool IsExitCode(const Json& value) {
  const double code = value.Number(-1);
  return code >= 0 && code <= 255 && code == std::floor(code);
}

Status CheckValues(const std::string& name, const Json& command) {
  if (name == "crash") {
    const Result<Duration> downtime = ParseDuration(command["downtime"].Text("0s"));
    if (!downtime) return downtime.error().With("downtime");
    if (*downtime < Duration::zero()) return Invalid("downtime: wanted 0s or more");
  }
  if (name == "populate" && command["pods"].Number() < 1) {
    return Invalid("pods: wanted a number, 1 or more");
  }
  if (name == "exit" && command["code"].exists() && !IsExitCode(command["code"])) {
    return Invalid("code: wanted a number from 0 to 255");
  }
  if ((name == "exit" || name == "stopSandbox" || name == "mounts") && !command["pod"].is_text()) {
    return Invalid("pod: wanted NAMESPACE/NAME, a uid, a sandbox's id or \"*\"");
  }
  if (name == "addImage" && command["size"].exists() &&
      (!command["size"].is_number() || command["size"].Number() < 0)) {
    return Invalid("size: wanted a count, got " + command["size"].ToText());
  }
  if (name == "health" && !command["healthy"].is_bool()) {
    return Invalid("healthy: wanted true or false");
  }
  if (name == "set") {
    Settings scratch;
    return ApplySettings(command["settings"], scratch);
  }
  const std::string method = command["method"].Text();
  if (!method.empty() && !IsMethodName(method)) return Invalid("no method \"" + method + "\"");
  return Ok();
}

}  // namespace

bool IsMethodName(std::string_view name) {
  return name == "*" || std::ranges::find(kMethods, name) != std::end(kMethods);
}

Status CheckCommand(const Json& command) {
  if (!command.is_object()) return Invalid("a command is a JSON object");
  const std::string name = command["do"].Text();
  const auto found = MembersOfCommands().find(name);
  if (name.empty()) return Invalid("no command: {\"do\":NAME} is wanted");
  if (found == MembersOfCommands().end()) return Invalid("unknown command \"" + name + "\"");
  const Status known = command.ForEachMember([&](const std::string& key, const Json&) -> Status {
    if (key == "do" || key == "after" || std::ranges::count(found->second, key) != 0) return Ok();
    return Invalid("unknown member \"" + key + "\" of " + name);
  });
  return known ? CheckValues(name, command) : known;
}

}  // namespace denselet::cri_sim
