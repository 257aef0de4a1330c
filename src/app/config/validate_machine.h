// The rules that hold between a configuration and the machine it is to be used on: the kubelet does
// not start where they are broken, and neither do we.
//
// Not here, since they need what later parts bring: reserved CPUs that are not online and reserved
// memory of NUMA nodes (topology), kernel settings (protectKernelDefaults), cgroups named by
// enforceNodeAllocatable, the lock file, the watchdog of systemd.
#pragma once

#include <string>
#include <vector>

#include "app/config/config_files.h"
#include "app/features/feature_gates.h"
#include "kube/api/fault.h"
#include "kube/api/fwd.h"

namespace denselet::app {

struct Machine {
  bool unified_cgroups = true;
  bool swap_on = false;
  bool selinux = false;  // it is on, whether it enforces or not
};

// An error: whether there is swap could not be found out.
Result<Machine> LookAtMachine(ConfigFiles& files);

std::vector<kube::Fault> ValidateForMachine(const kube::config::KubeletConfiguration& config,
                                            const FeatureGates& gates, const Machine& machine);

// What may stay, but should be known.
std::vector<std::string> MachineWarnings(const FeatureGates& gates, const Machine& machine);

}  // namespace denselet::app
