#include "app/local_api/pod_json.h"

#include <array>
#include <optional>
#include <utility>

#include "app/local_api/shown_status.h"
#include "kube/api/codec/codec.h"
#include "kube/api/types.h"

namespace denselet::app {
namespace {

using sync::ContainerKind;
using sync::PodPlan;
using sync::PodWorker;
using sync::StartTimeline;
using sync::WorkerReport;

std::string_view KindName(ContainerKind kind) {
  switch (kind) {
    case ContainerKind::kInit:
      return "init";
    case ContainerKind::kSidecar:
      return "sidecar";
    case ContainerKind::kRegular:
      return "regular";
    case ContainerKind::kEphemeral:
      return "ephemeral";
  }
  return "";
}

ShownSpec SpecOf(const PodPlan& plan) {
  ShownSpec spec;
  spec.init_containers = plan.init_count;
  spec.containers = plan.regular_count;
  spec.deleted = plan.deleted;
  for (const auto& container : plan.containers) {
    if (container.kind == ContainerKind::kSidecar) spec.sidecars.insert(container.name);
  }
  return spec;
}

void AddWait(const PodWorker& worker, const Moment& moment, JsonObject& row) {
  const sync::Wait& wait = worker.waits();
  const auto& containers = worker.plan().containers;
  const bool done = worker.nothing_left();
  row.Text("waitsFor", done ? "nothing" : sync::WaitName(wait.what));
  if (wait.container < containers.size()) {
    row.Text("waitsForContainer", containers[wait.container].name);
  }
  if (!done && wait.until != kNever) {
    row.SecondsOf("waitsSecondsMax", std::max(wait.until - moment.now, Duration::zero()));
  }
  AddTime(row, "since", worker.waits_since(), moment);
}

// Without WorkerReport, which copies all that the worker remembers: a list is of many.
void AddRow(const PodToShow& pod, const kube::core::PodStatus& status, const Moment& moment,
            JsonObject& row) {
  const PodWorker& worker = pod.worker;
  const ShownStatus shown = ShowStatus(SpecOf(worker.plan()), status);
  row.Text("namespace", worker.pod().ref.ns);
  row.Text("name", worker.pod().ref.name);
  row.Text("uid", worker.pod().uid.value());
  row.Text("status", worker.is_orphan() ? "Orphan" : shown.status);
  row.Number("ready", shown.ready);
  row.Number("containers", shown.containers);
  row.Number("restarts", shown.restarts);
  row.Text("phase", sync::PhaseName(worker.state().phase));
  AddWait(worker, moment, row);
  if (worker.fault()) {
    row.Text("fault", worker.fault()->error.message());
  } else if (worker.unreadable()) {
    row.Text("fault", "its newest form cannot be read: " + worker.unreadable()->message());
  }
  row.Number("shard", pod.shard);
}

void AddTransitions(const WorkerReport& report, const Moment& moment, std::string& out) {
  JsonList list(out);
  for (const sync::WorkerTransition& transition : report.transitions) {
    JsonObject entry(list.Next());
    AddTime(entry, "at", transition.at, moment);
    entry.Text("phase", sync::PhaseName(transition.phase));
    entry.Text("what", transition.what);
  }
}

void AddState(const kube::core::ContainerState& state, JsonObject& entry) {
  if (state.has_running()) {
    entry.Text("state", "running");
  } else if (state.has_terminated()) {
    entry.Text("state", "terminated");
    entry.Text("reason", state.terminated().reason());
    entry.Number("exitCode", state.terminated().exitcode());
  } else {
    entry.Text("state", "waiting");
    entry.Text("reason", state.waiting().reason());
    if (!state.waiting().message().empty()) entry.Text("message", state.waiting().message());
  }
}

const kube::core::ContainerStatus* FindStatus(const kube::core::PodStatus& status,
                                              std::string_view name) {
  for (const auto* statuses : {&status.initcontainerstatuses(), &status.containerstatuses(),
                               &status.ephemeralcontainerstatuses()}) {
    for (const auto& container : *statuses) {
      if (container.name() == name) return &container;
    }
  }
  return nullptr;
}

void AddContainers(const PodPlan& plan, const kube::core::PodStatus& status, std::string& out) {
  JsonList list(out);
  for (const auto& container : plan.containers) {
    JsonObject entry(list.Next());
    entry.Text("name", container.name);
    entry.Text("kind", KindName(container.kind));
    entry.Text("image", container.image);
    const kube::core::ContainerStatus* const told = FindStatus(status, container.name);
    if (told == nullptr) continue;
    AddState(told->state(), entry);
    entry.Bool("ready", told->ready());
    entry.Number("restarts", told->restartcount());
  }
}

void AddTimeline(const StartTimeline& timeline, const Moment& moment, std::string& out) {
  const std::array<std::pair<std::string_view, std::optional<TimePoint>>, 8> steps{
      {{"admitted", timeline.begun},
       {"first step", timeline.first_step},
       {"directories prepared", timeline.prepared},
       {"volumes mounted", timeline.mounted},
       {"sandbox runs", timeline.sandbox},
       {"last image there", timeline.images},
       {"last container started", timeline.started},
       {"status of it arrived", timeline.told}}};
  JsonObject object(out);
  AddTime(object, "wished", timeline.wished, moment);
  {
    JsonList list(object.Key("steps"));
    for (const auto& [what, at] : steps) {
      if (!at) continue;
      JsonObject step(list.Next());
      step.Text("what", what);
      step.SecondsOf("after", *at - timeline.wished);
    }
  }
  {
    JsonList list(object.Key("waited"));
    for (size_t i = 0; i < timeline.waited.size(); ++i) {
      if (timeline.waited[i] <= Duration::zero()) continue;
      JsonObject wait(list.Next());
      wait.Text("for", sync::WaitName(static_cast<sync::WaitFor>(i)));
      wait.SecondsOf("seconds", timeline.waited[i]);
    }
  }
  object.Number("runtimeCalls", timeline.runtime_calls);
  object.Bool("over", timeline.over);
}

void AddFault(const sync::WorkerFault& fault, const Moment& moment, std::string& out) {
  JsonObject object(out);
  object.Text("message", fault.error.message());
  AddTime(object, "at", fault.at, moment);
  object.SecondsOf("retryInSeconds", std::max(fault.retry_at - moment.now, Duration::zero()));
  object.Number("count", fault.count);
}

void AddReads(const sync::PodReadHealth& reads, const Moment& moment, std::string& out) {
  JsonObject object(out);
  object.Text("message", reads.last_error);
  object.Number("count", reads.failures);
  AddTime(object, "since", reads.failing_since, moment);
}

// What cannot be read is our own and shows as nothing.
kube::core::PodStatus Parsed(std::string_view bytes) {
  kube::core::PodStatus status;
  if (!status.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) status.Clear();
  return status;
}

}  // namespace

void AppendPodRow(const PodToShow& pod, const Moment& moment, std::string& out) {
  JsonObject row(out);
  AddRow(pod, Parsed(pod.status), moment, row);
}

void AppendWaitingRow(const sync::PodIdentity& pod,
                      const std::optional<sync::AdmissionDesk::Report>& asked, const Moment& moment,
                      std::string& out) {
  JsonObject row(out);
  row.Text("namespace", pod.ref.ns);
  row.Text("name", pod.ref.name);
  row.Text("uid", pod.uid.value());
  row.Text("status", "Pending");
  row.Text("phase", "admission");
  if (!asked) {
    row.Text("waitsFor", "admission");
    row.Text("waits", "wait until it is known what an agent before this one left here");
    return;
  }
  const std::string stage(sync::AdmissionStageName(asked->stage));
  row.Text("waitsFor", "admission: " + stage);
  row.Text("waits", asked->waits.empty() ? "wait for room in its shard's line" : asked->waits);
  AddTime(row, "since", asked->since, moment);
}

void AppendHeldBackRow(const sync::PodIdentity& pod, uint32_t shard, std::string& out) {
  JsonObject row(out);
  row.Text("namespace", pod.ref.ns);
  row.Text("name", pod.ref.name);
  row.Text("uid", pod.uid.value());
  row.Text("status", "HeldBack");
  row.Text("phase", "held back");
  row.Text("waitsFor", "change");
  row.Text("waits", "wait until the pod changes");
  row.Text("fault", "the agent died three times running under its work");
  row.Number("shard", shard);
}

void AppendPodDetail(const PodToShow& pod, const Moment& moment, std::string& out) {
  const kube::core::PodStatus status = Parsed(pod.status);
  const WorkerReport report = pod.worker.Report(moment.now);
  JsonObject object(out);
  AddRow(pod, status, moment, object);
  object.Text("waits", report.waits_for);
  if (!status.podip().empty()) object.Text("ip", status.podip());
  if (const auto& rejected = pod.worker.rejected()) {
    object.Text("rejected", rejected->reason + ": " + rejected->message);
  }
  AddContainers(pod.worker.plan(), status, object.Key("containerStates"));
  {
    JsonList calls(object.Key("calls"));
    for (const std::string& call : report.calls) JsonText(calls.Next(), call);
  }
  if (report.fault) AddFault(*report.fault, moment, object.Key("lastFault"));
  if (pod.reads != nullptr) AddReads(*pod.reads, moment, object.Key("readFailures"));
  AddTransitions(report, moment, object.Key("transitions"));
  AddTimeline(report.timeline, moment, object.Key("start"));
  if (!pod.status.empty()) object.Key("podStatus") += kube::EncodeJson(status);
}

}  // namespace denselet::app
