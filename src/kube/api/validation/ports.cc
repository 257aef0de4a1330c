#include "kube/api/validation/ports.h"

namespace denselet::kube {

void ValidatePorts(const core::Container& container, const FieldPath& path, FaultList& out) {
  std::set<std::string> names;
  for (int i = 0; i < container.ports_size(); ++i) {
    const auto& port = container.ports(i);
    if (!port.name().empty()) {
      const NameFaults faults = CheckPortName(port.name());
      out.Invalid(path[i] / "name", port.name(), faults);
      if (faults.empty() && !names.insert(port.name()).second) {
        out.Duplicate(path[i] / "name", port.name());
      }
    }
    if (port.containerport() == 0) {
      out.Required(path[i] / "containerPort");
    } else {
      out.Invalid(path[i] / "containerPort", port.containerport(),
                  CheckPortNumber(port.containerport()));
    }
    if (port.hostport() != 0) {
      out.Invalid(path[i] / "hostPort", port.hostport(), CheckPortNumber(port.hostport()));
    }
    if (port.protocol().empty()) {
      out.Required(path[i] / "protocol");
    } else {
      CheckSupported(path[i] / "protocol", port.protocol(), {"SCTP", "TCP", "UDP"}, out);
    }
  }
}

void ValidateHostPorts(const core::Container& container, const FieldPath& container_path,
                       HostPorts& taken, FaultList& out) {
  for (int i = 0; i < container.ports_size(); ++i) {
    const auto& port = container.ports(i);
    if (port.hostport() == 0) continue;
    const std::string key =
        port.protocol() + "/" + port.hostip() + "/" + std::to_string(port.hostport());
    if (!taken.insert(key).second) out.Duplicate((container_path / "ports")[i] / "hostPort", key);
  }
}

void ValidateHostNetworkPorts(const core::PodSpec& spec, const FieldPath& spec_path,
                              FaultList& out) {
  if (!spec.hostnetwork()) return;
  for (int i = 0; i < spec.containers_size(); ++i) {
    for (int j = 0; j < spec.containers(i).ports_size(); ++j) {
      const auto& port = spec.containers(i).ports(j);
      if (port.hostport() == 0 || port.hostport() == port.containerport()) continue;
      out.Invalid(((spec_path / "containers")[i] / "ports")[j] / "hostPort", port.hostport(),
                  "must match `containerPort` when `hostNetwork` is true");
    }
  }
}

}  // namespace denselet::kube
