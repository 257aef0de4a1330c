#include "sync/spec/container_spec.h"

#include "kube/api/codec/codec.h"
#include "kube/api/hash/container_hash.h"
#include "kube/api/types.h"
#include "sync/spec/resource_spec.h"
#include "sync/spec/security_spec.h"
#include "sync/spec/variables.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;

// A list of messages as Go's encoding/json writes it.
template <class Messages>
std::string JsonArray(const Messages& messages) {
  std::string text = "[";
  for (const auto& message : messages) {
    if (text.size() > 1) text += ',';
    text += kube::EncodeJson(message);
  }
  return text + "]";
}

KeyValues AnnotationsOf(const core::Pod& pod, const core::Container& container,
                        const SpecContainer& facts) {
  KeyValues out;
  for (const auto& [key, value] : facts.device_annotations) PutValue(out, key, value);
  PutValue(out, "io.kubernetes.container.hash",
           kube::ContainerHashText(kube::ContainerHash(container)));
  PutValue(out, "io.kubernetes.container.restartCount", std::to_string(facts.attempt));
  PutValue(out, "io.kubernetes.container.terminationMessagePath",
           container.terminationmessagepath());
  PutValue(out, "io.kubernetes.container.terminationMessagePolicy",
           container.terminationmessagepolicy());
  if (pod.metadata().has_deletiongraceperiodseconds()) {
    PutValue(out, "io.kubernetes.pod.deletionGracePeriod",
             std::to_string(pod.metadata().deletiongraceperiodseconds()));
  }
  if (pod.spec().has_terminationgraceperiodseconds()) {
    PutValue(out, "io.kubernetes.pod.terminationGracePeriod",
             std::to_string(pod.spec().terminationgraceperiodseconds()));
  }
  if (container.lifecycle().has_prestop()) {
    PutValue(out, "io.kubernetes.container.preStopHandler",
             kube::EncodeJson(container.lifecycle().prestop()));
  }
  if (container.ports_size() > 0) {
    PutValue(out, "io.kubernetes.container.ports", JsonArray(container.ports()));
  }
  return out;
}

template <class Texts>
std::vector<std::string> Expanded(const Texts& texts, const KeyValues& variables) {
  std::vector<std::string> out;
  for (const std::string& text : texts) out.push_back(ExpandVariables(text, variables));
  return out;
}

}  // namespace

Result<ContainerSpec> MakeContainerSpec(const core::Pod& pod, const core::Container& container,
                                        const SpecNode& node, const SpecPod& pod_facts,
                                        const SpecContainer& facts) {
  ContainerSpec spec{
      .pod = PodUid(pod.metadata().uid()),
      .name = container.name(),
      .attempt = facts.attempt,
      .image = facts.image_ref,
      .image_user_specified = container.image(),
      .image_runtime_handler = pod_facts.runtime_handler,
      .command = Expanded(container.command(), facts.env),
      .args = Expanded(container.args(), facts.env),
      .working_dir = container.workingdir(),
      .env = facts.env,
      .mounts = facts.mounts,
      .devices = facts.devices,
      .cdi_devices = facts.cdi_devices,
      .labels = {{"io.kubernetes.container.name", container.name()},
                 {"io.kubernetes.pod.name", pod.metadata().name()},
                 {"io.kubernetes.pod.namespace", pod.metadata().namespace_()},
                 {"io.kubernetes.pod.uid", pod.metadata().uid()}},
      .annotations = AnnotationsOf(pod, container, facts),
      .log_path = container.name() + "/" + std::to_string(facts.attempt) + ".log",
      .stdin_open = container.stdin(),
      .stdin_once = container.stdinonce(),
      .tty = container.tty(),
      .stop_signal = container.lifecycle().stopsignal(),
      .resources = ContainerResources(pod, container, node, facts),
  };
  if (auto ok = ApplySecurity(pod, container, node, pod_facts, facts, spec); !ok) return ok.error();
  for (MountSpec& mount : spec.mounts) {
    mount.uids = spec.namespaces.uids;
    mount.gids = spec.namespaces.gids;
  }
  return spec;
}

}  // namespace denselet::sync
