#include "managers/node/node_conditions.h"

#include <algorithm>
#include <utility>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"

namespace denselet::node {

namespace {

constexpr std::string_view kReady = "Ready";

struct PressureWords {
  std::string_view type;
  std::string_view reason, message, event;           // there is pressure
  std::string_view no_reason, no_message, no_event;  // there is none
  std::string_view unknown_reason, unknown_message;  // nobody knows; upstream has no words for it
};
constexpr PressureWords kMemory = {"MemoryPressure",
                                   "KubeletHasInsufficientMemory",
                                   "kubelet has insufficient memory available",
                                   "NodeHasInsufficientMemory",
                                   "KubeletHasSufficientMemory",
                                   "kubelet has sufficient memory available",
                                   "NodeHasSufficientMemory",
                                   "KubeletCannotMeasureMemory",
                                   "kubelet could not measure the available memory"};
constexpr PressureWords kDisk = {"DiskPressure",
                                 "KubeletHasDiskPressure",
                                 "kubelet has disk pressure",
                                 "NodeHasDiskPressure",
                                 "KubeletHasNoDiskPressure",
                                 "kubelet has no disk pressure",
                                 "NodeHasNoDiskPressure",
                                 "KubeletCannotMeasureDisk",
                                 "kubelet could not measure the file system of its folder"};
constexpr PressureWords kPid = {"PIDPressure",
                                "KubeletHasInsufficientPID",
                                "kubelet has insufficient PID available",
                                "NodeHasInsufficientPID",
                                "KubeletHasSufficientPID",
                                "kubelet has sufficient PID available",
                                "NodeHasSufficientPID",
                                "KubeletCannotMeasurePID",
                                "kubelet could not measure the available PIDs"};

// Times of conditions are whole seconds.
kube::meta::Time TimeOf(WallTime wall) {
  kube::meta::Time time;
  time.set_seconds(ToTimestamp(wall).seconds);
  return time;
}

kube::core::NodeCondition* FindMutable(kube::core::NodeStatus& status, std::string_view type) {
  for (kube::core::NodeCondition& condition : *status.mutable_conditions()) {
    if (condition.type() == type) return &condition;
  }
  return nullptr;
}

kube::core::NodeCondition& FindOrAdd(kube::core::NodeStatus& status, std::string_view type) {
  if (auto* condition = FindMutable(status, type)) return *condition;
  auto* condition = status.add_conditions();
  condition->set_type(std::string(type));
  return *condition;
}

// What is to be said of a pressure.
struct Said {
  std::string_view status, reason, message;
  std::string_view event;  // empty: none
};
Said WordsFor(const PressureWords& words, Pressure pressure) {
  switch (pressure) {
    case Pressure::kYes:
      return {"True", words.reason, words.message, words.event};
    case Pressure::kNo:
      return {"False", words.no_reason, words.no_message, words.no_event};
    case Pressure::kUnknown:
      break;
  }
  return {"Unknown", words.unknown_reason, words.unknown_message, ""};
}

void SetPressure(const PressureWords& words, Pressure pressure, const std::string& node,
                 const kube::meta::Time& now, kube::core::NodeStatus& status, NodeNotes& notes) {
  kube::core::NodeCondition& condition = FindOrAdd(status, words.type);
  *condition.mutable_lastheartbeattime() = now;
  const Said said = WordsFor(words, pressure);
  if (condition.status() == said.status) return;
  condition.set_status(std::string(said.status));
  condition.set_reason(std::string(said.reason));
  condition.set_message(std::string(said.message));
  *condition.mutable_lasttransitiontime() = now;
  if (!said.event.empty()) notes.StatusIsNow(node, std::string(said.event));
}

std::vector<std::string> RuntimeErrors(const RuntimeInput& runtime, TimePoint now) {
  std::vector<std::string> errors;
  if (!runtime.synced_at) {
    errors.push_back("container runtime status check may not have completed yet");
  } else if (After(*runtime.synced_at, kRuntimeSyncAgeMax) <= now) {
    errors.push_back("container runtime is down");
  }
  errors.insert(errors.end(), runtime.errors.begin(), runtime.errors.end());
  return errors;
}

std::string MissingCapacity(const NodeConfig& config, const kube::core::NodeStatus& status) {
  std::string missing;
  const auto check = [&](const char* resource) {
    if (status.capacity().contains(resource)) return;
    missing += (missing.empty() ? "" : ", ") + std::string(resource);
  };
  check("cpu");
  check("memory");
  check("pods");
  if (config.local_storage_isolation) check("ephemeral-storage");
  return missing;
}

std::vector<std::string> WhyNotReady(const NodeConfig& config, const NodeInputs& inputs,
                                     TimePoint now, const kube::core::NodeStatus& status) {
  std::vector<std::string> errors = RuntimeErrors(inputs.runtime, now);
  for (const auto* error :
       {&inputs.runtime.network_error, &inputs.storage_error, &inputs.shutdown}) {
    if (*error) errors.push_back(**error);
  }
  if (const std::string missing = MissingCapacity(config, status); !missing.empty()) {
    errors.push_back("missing node capacity for resources: " + missing);
  }
  return errors;
}

void SetReady(const NodeConfig& config, const NodeInputs& inputs, const Moment& moment,
              const kube::meta::Time& now, kube::core::NodeStatus& status, NodeNotes& notes) {
  const std::vector<std::string> errors = WhyNotReady(config, inputs, moment.now, status);
  const bool is_new = FindMutable(status, kReady) == nullptr;
  kube::core::NodeCondition& condition = FindOrAdd(status, kReady);
  const std::string wanted = errors.empty() ? "True" : "False";
  const bool changed = condition.status() != wanted;
  std::string message = errors.empty() ? "kubelet is posting ready status" : JoinErrors(errors);
  if (inputs.soft_requirements) message += ". WARNING: " + *inputs.soft_requirements;

  condition.set_status(wanted);
  condition.set_reason(errors.empty() ? "KubeletReady" : "KubeletNotReady");
  condition.set_message(std::move(message));
  *condition.mutable_lastheartbeattime() = now;
  if (changed) *condition.mutable_lasttransitiontime() = now;
  if (changed && !is_new) {
    notes.StatusIsNow(config.flags.node_name, errors.empty() ? "NodeReady" : "NodeNotReady",
                      condition.message());
  }
}

}  // namespace

std::string JoinErrors(const std::vector<std::string>& errors) {
  std::vector<std::string> unique;
  for (const std::string& error : errors) {
    if (std::ranges::find(unique, error) == unique.end()) unique.push_back(error);
  }
  if (unique.empty()) return {};
  if (unique.size() == 1) return unique.front();
  std::string joined = "[";
  for (const std::string& error : unique) joined += (joined.size() > 1 ? ", " : "") + error;
  return joined + "]";
}

void SetConditions(const NodeConfig& config, const NodeInputs& inputs, const Moment& moment,
                   kube::core::NodeStatus& status, NodeNotes& notes) {
  const kube::meta::Time now = TimeOf(moment.wall);
  const std::string& node = config.flags.node_name;
  SetPressure(kMemory, inputs.pressures.memory, node, now, status, notes);
  SetPressure(kDisk, inputs.pressures.disk, node, now, status, notes);
  SetPressure(kPid, inputs.pressures.pid, node, now, status, notes);
  SetReady(config, inputs, moment, now, status, notes);
}

const kube::core::NodeCondition* FindCondition(const kube::core::NodeStatus& status,
                                               std::string_view type) {
  const auto found = std::ranges::find(
      status.conditions(), type, [](const auto& each) { return std::string_view(each.type()); });
  return found == status.conditions().end() ? nullptr : &*found;
}

bool IsReady(const kube::core::NodeStatus& status) {
  const kube::core::NodeCondition* ready = FindCondition(status, kReady);
  return ready != nullptr && ready->status() == "True";
}

bool ConditionsDiffer(const kube::core::NodeStatus& a, const kube::core::NodeStatus& b) {
  const auto texts = [](const kube::core::NodeStatus& status) {
    std::vector<std::pair<std::string, std::string>> conditions;
    for (kube::core::NodeCondition condition : status.conditions()) {
      condition.clear_lastheartbeattime();
      conditions.emplace_back(condition.type(), kube::EncodeJson(condition));
    }
    std::ranges::stable_sort(conditions, {}, &std::pair<std::string, std::string>::first);
    return conditions;
  };
  return texts(a) != texts(b);
}

}  // namespace denselet::node
