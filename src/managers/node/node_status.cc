#include "managers/node/node_status.h"

#include <algorithm>
#include <limits>

#include "kube/api/codec/codec.h"
#include "kube/api/types.h"
#include "managers/node/address_choice.h"
#include "managers/node/node_images.h"
#include "managers/node/node_resources.h"
#include "managers/node/runtime_version.h"

namespace denselet::node {

namespace {

constexpr size_t kNamesPerImageMax = 5;

void SetMachine(const StatusParts& parts, kube::core::NodeStatus& status, NodeMemory& memory,
                NodeNotes& notes) {
  const MachineFacts& machine = parts.facts.machine;
  kube::core::NodeSystemInfo& info = *status.mutable_nodeinfo();
  info.set_machineid(machine.machine_id);
  info.set_systemuuid(machine.system_uuid);
  if (!info.bootid().empty() && info.bootid() != machine.boot_id && !memory.reboot_told) {
    memory.reboot_told = true;
    notes.events.push_back({sync::EventType::kWarning, "Rebooted",
                            "Node " + parts.config.flags.node_name +
                                " has been rebooted, boot id: " + machine.boot_id});
  }
  info.set_bootid(machine.boot_id);
  if (machine.swap_bytes > 0) {
    constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
    info.mutable_swap()->set_capacity(static_cast<int64_t>(std::min(machine.swap_bytes, kMost)));
  }
  SetResources(parts.config, machine, parts.inputs.devices, status);
}

void SetVersions(const StatusParts& parts, kube::core::NodeSystemInfo& info) {
  const RuntimeInput& runtime = parts.inputs.runtime;
  info.set_kernelversion(parts.facts.machine.kernel_version);
  info.set_osimage(parts.facts.machine.os_image);
  // Without a runtime there is no version of it; kubectl shows that as unknown.
  info.set_containerruntimeversion(
      runtime.name.empty() ? "" : runtime.name + "://" + ShownRuntimeVersion(runtime.version));
  info.set_kubeletversion(parts.config.flags.kubelet_version);
  info.set_kubeproxyversion("");
  info.set_operatingsystem(std::string(kGoOs));
  info.set_architecture(std::string(GoArch()));
}

void SetImages(const NodeConfig& config, const std::vector<ImageInput>& images,
               kube::core::NodeStatus& status) {
  std::vector<ImageInput> sorted = images;
  SortImages(sorted);
  if (config.images_max >= 0 && static_cast<size_t>(config.images_max) < sorted.size()) {
    sorted.resize(static_cast<size_t>(config.images_max));
  }
  status.clear_images();
  for (const ImageInput& image : sorted) {
    auto* added = status.add_images();
    added->set_sizebytes(image.bytes);
    for (const auto* names : {&image.digests, &image.tags}) {
      for (const std::string& name : *names) {
        if (static_cast<size_t>(added->names_size()) < kNamesPerImageMax) added->add_names(name);
      }
    }
  }
}

void SetRuntimeFeatures(const RuntimeInput& runtime, kube::core::NodeStatus& status) {
  std::vector<RuntimeHandler> handlers = runtime.handlers;
  // In a stable order: another one would be a change.
  std::ranges::sort(handlers, {}, &RuntimeHandler::name);
  status.clear_runtimehandlers();
  for (const RuntimeHandler& handler : handlers) {
    auto* added = status.add_runtimehandlers();
    added->set_name(handler.name);
    auto* features = added->mutable_features();
    features->set_recursivereadonlymounts(handler.recursive_read_only_mounts);
    features->set_usernamespaces(handler.user_namespaces);
  }
  if (runtime.supplemental_groups_policy) {
    status.mutable_features()->set_supplementalgroupspolicy(*runtime.supplemental_groups_policy);
  }
}

template <class To>
void Assign(const std::vector<std::string>& from, To& to) {
  to.Clear();
  for (const std::string& each : from) *to.Add() = each;
}

void NoteSchedulable(const NodeConfig& config, const kube::core::Node& node, NodeMemory& memory,
                     NodeNotes& notes) {
  const bool unschedulable = node.spec().unschedulable();
  if (unschedulable == memory.unschedulable) return;
  memory.unschedulable = unschedulable;
  notes.StatusIsNow(config.flags.node_name,
                    unschedulable ? "NodeNotSchedulable" : "NodeSchedulable");
}

}  // namespace

void SetStatus(const StatusParts& parts, kube::core::Node& node, NodeMemory& memory,
               NodeNotes& notes) {
  const Status addresses = SetAddresses(parts.config.flags, parts.facts.network, node);
  if (!addresses) notes.errors.push_back(addresses.error());
  kube::core::NodeStatus& status = *node.mutable_status();
  SetMachine(parts, status, memory, notes);
  SetVersions(parts, *status.mutable_nodeinfo());
  status.mutable_daemonendpoints()->mutable_kubeletendpoint()->set_port(parts.config.port);
  // What an earlier agent told of them is right until we know better.
  if (parts.inputs.images) SetImages(parts.config, *parts.inputs.images, status);
  SetRuntimeFeatures(parts.inputs.runtime, status);
  SetConditions(parts.config, parts.inputs, parts.moment, status, notes);
  if (parts.inputs.volumes_in_use) {
    Assign(*parts.inputs.volumes_in_use, *status.mutable_volumesinuse());
  }
  NoteSchedulable(parts.config, node, memory, notes);
  Assign(parts.config.flags.declared_features, *status.mutable_declaredfeatures());
}

bool StatusDiffers(const kube::core::NodeStatus& a, const kube::core::NodeStatus& b) {
  if (ConditionsDiffer(a, b)) return true;
  const auto rest = [](kube::core::NodeStatus status) {
    status.clear_conditions();
    return kube::EncodeJson(status);
  };
  return rest(a) != rest(b);
}

}  // namespace denselet::node
