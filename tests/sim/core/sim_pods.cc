#include "tests/sim/core/sim_pods.h"

#include "base/check.h"
#include "kube/api/types.h"

namespace denselet::sim {
namespace {

kube::core::Container& Add(kube::core::Pod& pod, const std::string& name,
                           const std::string& image) {
  kube::core::Container& container = *pod.mutable_spec()->add_containers();
  container.set_name(name);
  container.set_image(image);
  return container;
}

kube::core::Container& AddInit(kube::core::Pod& pod, const std::string& name,
                               const std::string& image) {
  kube::core::Container& container = *pod.mutable_spec()->add_initcontainers();
  container.set_name(name);
  container.set_image(image);
  return container;
}

void AddHooks(kube::core::Container& container) {
  container.mutable_lifecycle()->mutable_poststart()->mutable_exec()->add_command("hello");
  container.mutable_lifecycle()->mutable_prestop()->mutable_exec()->add_command("goodbye");
}

void AddRule(kube::core::Container& container, const char* action, int32_t exit_code) {
  auto& rule = *container.add_restartpolicyrules();
  rule.set_action(action);
  rule.mutable_exitcodes()->set_operator_("In");
  rule.mutable_exitcodes()->add_values(exit_code);
}

constexpr const char* kHashAnnotation = "kubernetes.io/config.hash";

void Claim(const SimPod& pod, kube::core::Container& container) {
  if (pod.milli_cpus > 0) {
    auto& requests = *container.mutable_resources()->mutable_requests();
    // As the API server writes it.
    const int64_t milli = pod.milli_cpus;
    requests["cpu"].set_string(milli % 1000 == 0 ? std::to_string(milli / 1000)
                                                 : std::to_string(milli) + "m");
  }
  if (pod.host_port == 0) return;
  auto& port = *container.add_ports();
  port.set_containerport(pod.host_port);
  port.set_hostport(pod.host_port);
  port.set_protocol("TCP");
}

}  // namespace

std::string_view SimPodKindName(SimPodKind kind) {
  switch (kind) {
    case SimPodKind::kServer:
      return "server";
    case SimPodKind::kInit:
      return "init";
    case SimPodKind::kSidecar:
      return "sidecar";
    case SimPodKind::kJob:
      return "job";
    case SimPodKind::kRetriedJob:
      return "retried-job";
    case SimPodKind::kFailedJob:
      return "failed-job";
    case SimPodKind::kLooper:
      return "looper";
    case SimPodKind::kHooks:
      return "hooks";
    case SimPodKind::kDeadline:
      return "deadline";
    case SimPodKind::kJobSidecar:
      return "job-sidecar";
    case SimPodKind::kProbed:
      return "probed";
    case SimPodKind::kRestartAll:
      return "restart-all";
    case SimPodKind::kOnNode:
      return "on-node";
    case SimPodKind::kGuarded:
      return "guarded";
    case SimPodKind::kRuledJob:
      return "ruled-job";
  }
  return "";
}

bool EndsByItself(SimPodKind kind) {
  return kind == SimPodKind::kJob || kind == SimPodKind::kRetriedJob ||
         kind == SimPodKind::kRuledJob || kind == SimPodKind::kFailedJob ||
         kind == SimPodKind::kDeadline || kind == SimPodKind::kJobSidecar;
}

std::optional<bool> Succeeds(SimPodKind kind) {
  if (!EndsByItself(kind)) return std::nullopt;
  return kind != SimPodKind::kFailedJob && kind != SimPodKind::kDeadline;
}

bool RestartsByItself(SimPodKind kind) {
  return kind == SimPodKind::kLooper || kind == SimPodKind::kRetriedJob ||
         kind == SimPodKind::kRuledJob || kind == SimPodKind::kHooks ||
         kind == SimPodKind::kGuarded || kind == SimPodKind::kProbed ||
         kind == SimPodKind::kRestartAll;
}

bool ChangesFast(SimPodKind kind) {
  return kind == SimPodKind::kLooper || kind == SimPodKind::kRetriedJob ||
         kind == SimPodKind::kRuledJob;
}

bool HasSidecar(SimPodKind kind) {
  return kind == SimPodKind::kSidecar || kind == SimPodKind::kJobSidecar ||
         kind == SimPodKind::kGuarded;
}

bool HasPreStop(SimPodKind kind) {
  return kind == SimPodKind::kHooks || kind == SimPodKind::kGuarded;
}

std::vector<std::string> RunsInTheEnd(const SimPod& pod) {
  if (EndsByItself(pod.kind) || pod.kind == SimPodKind::kLooper) return {};
  if (pod.kind == SimPodKind::kInit || pod.kind == SimPodKind::kRestartAll) return {"app", "web"};
  if (pod.kind == SimPodKind::kSidecar || pod.kind == SimPodKind::kGuarded) {
    return {"a-proxy", "app"};
  }
  if (pod.kind == SimPodKind::kProbed) return {"app", "proxy"};
  return {"app"};
}

SimPod DrawPod(Random& random, uint32_t number) {
  SimPod pod;
  pod.kind = static_cast<SimPodKind>(random.Below(kSimPodKinds));
  // A manifest may hold anything; here what does not end by itself.
  pod.is_static =
      !EndsByItself(pod.kind) && pod.kind != SimPodKind::kLooper && random.Below(4) == 0;
  pod.name = std::string(pod.is_static ? "static-" : "") + std::string(SimPodKindName(pod.kind)) +
             "-" + std::to_string(number);
  pod.uid = PodUid("u" + std::to_string(number));
  const int64_t graces[] = {0, 1, 5, 30};
  pod.grace_seconds = graces[random.Below(4)];
  pod.gated = !pod.is_static && number % 4 == 0;
  pod.contested = random.Below(4) == 0;
  const int64_t needs[] = {0, 500, 1000, 2000};
  pod.milli_cpus = needs[random.Below(4)];
  // Static ones are critical and drive others out: those of a few seeds only (Crowd).
  if (pod.is_static) pod.milli_cpus = 0;
  pod.host_port = random.Below(2) == 0 ? 0 : 8000 + static_cast<int32_t>(random.Below(3));
  return pod;
}

void Crowd(SimPod& pod, Random& random) {
  if (random.Below(2) == 0) pod.contested = true;
  if (pod.is_static) pod.milli_cpus = random.Below(2) == 0 ? 500 : 1000;
}

ContainerRole RoleOf(std::string_view container) {
  if (container == "debug") return ContainerRole::kEphemeral;
  if (container.starts_with("init") || container.ends_with("proxy")) return ContainerRole::kInit;
  return ContainerRole::kRegular;
}

kube::core::Pod SimPod::Object() const {
  kube::core::Pod pod;
  pod.mutable_metadata()->set_name(name);
  pod.mutable_metadata()->set_namespace_("default");
  pod.mutable_metadata()->set_uid(uid.value());
  pod.mutable_spec()->set_terminationgraceperiodseconds(grace_seconds);
  pod.mutable_spec()->set_restartpolicy("Always");
  pod.mutable_spec()->set_nodename(kSimNode);
  // As the sources of static pods do.
  if (is_static) (*pod.mutable_metadata()->mutable_annotations())[kHashAnnotation] = uid.value();
  const std::string image = "image:" + std::to_string(version);
  switch (kind) {
    case SimPodKind::kServer:
      Add(pod, "app", image);
      break;
    case SimPodKind::kOnNode:
      pod.mutable_spec()->set_hostnetwork(true);
      Add(pod, "app", image);
      break;
    case SimPodKind::kProbed: {
      kube::core::Container& proxy = AddInit(pod, "proxy", "image:1");
      proxy.set_restartpolicy("Always");
      proxy.mutable_startupprobe()->mutable_handler()->mutable_exec()->add_command("up?");
      Add(pod, "app", image);
      break;
    }
    case SimPodKind::kRestartAll: {
      AddInit(pod, "init-a", "image:1");
      kube::core::Container& app = Add(pod, "app", image);
      app.set_restartpolicy("Always");
      AddRule(app, "RestartAllContainers", 42);
      Add(pod, "web", "image:1");
      break;
    }
    case SimPodKind::kInit:
      AddInit(pod, "init-a", "image:1");
      AddInit(pod, "init-b", "image:1");
      Add(pod, "app", image);
      Add(pod, "web", "image:1");
      break;
    case SimPodKind::kSidecar:
      AddInit(pod, "a-proxy", "image:1").set_restartpolicy("Always");
      AddInit(pod, "init-b", "image:1");
      Add(pod, "app", image);
      break;
    case SimPodKind::kJobSidecar:
      pod.mutable_spec()->set_restartpolicy("Never");
      AddInit(pod, "a-proxy", "image:1").set_restartpolicy("Always");
      Add(pod, "app", image);
      break;
    case SimPodKind::kJob:
    case SimPodKind::kFailedJob:
      pod.mutable_spec()->set_restartpolicy("Never");
      Add(pod, "app", image);
      break;
    case SimPodKind::kRetriedJob:
      pod.mutable_spec()->set_restartpolicy("OnFailure");
      Add(pod, "app", image);
      break;
    case SimPodKind::kLooper:
      Add(pod, "app", image);
      break;
    case SimPodKind::kHooks:
      AddHooks(Add(pod, "app", image));
      break;
    case SimPodKind::kGuarded: {
      kube::core::Container& proxy = AddInit(pod, "a-proxy", "image:1");
      proxy.set_restartpolicy("Always");
      AddHooks(proxy);
      AddHooks(Add(pod, "app", image));
      break;
    }
    case SimPodKind::kRuledJob: {
      pod.mutable_spec()->set_restartpolicy("Never");
      kube::core::Container& app = Add(pod, "app", image);
      app.set_restartpolicy("Never");
      AddRule(app, "Restart", 1);
      break;
    }
    case SimPodKind::kDeadline:
      pod.mutable_spec()->set_activedeadlineseconds(90);
      Add(pod, "app", image);
      break;
  }
  if (debugged) {
    auto& common =
        *pod.mutable_spec()->add_ephemeralcontainers()->mutable_ephemeralcontainercommon();
    common.set_name("debug");
    common.set_image("image:1");
  }
  if (gated) pod.mutable_spec()->add_readinessgates()->set_conditiontype(kSimGate);
  if (contested) Claim(*this, *pod.mutable_spec()->mutable_containers(0));
  return pod;
}

kube::PodRef SimPod::Build() const {
  kube::core::Pod pod = Object();
  if (deleting) {
    pod.mutable_metadata()->mutable_deletiontimestamp()->set_seconds(1'764'000'000);
    pod.mutable_metadata()->set_deletiongraceperiodseconds(deletion_grace.value_or(grace_seconds));
  }
  if (succeeded) pod.mutable_status()->set_phase(*succeeded ? "Succeeded" : "Failed");
  auto at_rest = kube::PodAtRest::FromPod(pod);
  CHECK(at_rest);
  return *at_rest;
}

fakes::ContainerBehaviour BehaviourOf(const SimPod& pod, const std::string& container,
                                      uint32_t attempt) {
  fakes::ContainerBehaviour behaviour;
  if (pod.name.size() % 3 == 0) behaviour.stops_within = Seconds(3);
  if (pod.name.size() % 5 == 0) behaviour.stops_within = Hours(1);
  if (container.rfind("init", 0) == 0) {
    behaviour.runs_for = Milliseconds(500);
    return behaviour;
  }
  if (container != "app") return behaviour;
  switch (pod.kind) {
    case SimPodKind::kJob:
    case SimPodKind::kJobSidecar:
      behaviour.runs_for = Seconds(20);
      break;
    case SimPodKind::kFailedJob:
      behaviour.runs_for = Seconds(5);
      behaviour.exit_code = 1;
      break;
    case SimPodKind::kRetriedJob:
    case SimPodKind::kRuledJob:
      behaviour.runs_for = Seconds(3);
      behaviour.exit_code = attempt < 2 ? 1 : 0;
      break;
    case SimPodKind::kLooper:
      behaviour.runs_for = Seconds(4);
      behaviour.exit_code = static_cast<int32_t>(attempt % 2);
      break;
    case SimPodKind::kRestartAll:
      if (attempt > 0) break;
      behaviour.runs_for = Seconds(5);
      behaviour.exit_code = 42;
      break;
    case SimPodKind::kServer:
    case SimPodKind::kInit:
    case SimPodKind::kSidecar:
    case SimPodKind::kHooks:
    case SimPodKind::kGuarded:
    case SimPodKind::kDeadline:
    case SimPodKind::kProbed:
    case SimPodKind::kOnNode:
      break;
  }
  return behaviour;
}

}  // namespace denselet::sim
