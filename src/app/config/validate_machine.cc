#include "app/config/validate_machine.h"

#include <algorithm>
#include <string_view>

#include "kube/api/types.h"

namespace denselet::app {
namespace {

// A head, and a line for each device or file, of whatever kind.
bool HasSwap(std::string_view proc_swaps) {
  proc_swaps = proc_swaps.substr(0, proc_swaps.find_last_not_of(" \n") + 1);
  return proc_swaps.find('\n') != proc_swaps.npos;
}

// Its file system is mounted for writing, and processes have labels. In a container the kernel may
// have it and the container may not.
bool HasSelinux(ConfigFiles& files) {
  const auto mounts = files.Read("/proc/self/mounts");
  const auto label = files.Read("/proc/self/attr/current");
  if (!mounts || !label) return false;
  const std::string_view own = std::string_view(*label).substr(0, label->find('\0'));
  return mounts->find(" selinuxfs rw") != mounts->npos && !own.empty() && own != "kernel";
}

}  // namespace

Result<Machine> LookAtMachine(ConfigFiles& files) {
  Machine machine{.unified_cgroups = files.HasUnifiedCgroups(), .selinux = HasSelinux(files)};
  const auto swaps = files.Read("/proc/swaps");
  if (swaps) {
    machine.swap_on = HasSwap(*swaps);
  } else if (swaps.error().code() != ErrorCode::kNotFound) {
    return swaps.error().With("failed to determine if swap is on");
  }
  return machine;
}

std::vector<kube::Fault> ValidateForMachine(const kube::config::KubeletConfiguration& config,
                                            const FeatureGates& gates, const Machine& machine) {
  std::vector<kube::Fault> faults;
  const auto add = [&](std::string_view path, std::string_view message) {
    faults.push_back({.path = std::string(path), .line = 0, .message = std::string(message)});
  };
  if (!machine.unified_cgroups && config.failcgroupv1()) {
    add("failCgroupV1",
        "kubelet is configured to not run on a host using cgroup v1. cgroup v1 support is "
        "unsupported and will be removed in a future release; failCgroupV1: false runs it there "
        "all the same");
  }
  if (!machine.unified_cgroups && config.has_singleprocessoomkill() &&
      !config.singleprocessoomkill()) {
    add("singleProcessOOMKill",
        "singleProcessOOMKill must not be explicitly set to false when using cgroup v1");
  }
  if (!machine.unified_cgroups && gates.Enabled("NodeSwap") &&
      config.memoryswap().swapbehavior() == "LimitedSwap") {
    add("memorySwap.swapBehavior",
        "swap feature is enabled and LimitedSwap but it is only supported with cgroupv2");
  }
  if (machine.swap_on && config.failswapon()) {
    add("failSwapOn",
        "running with swap on is not supported, please disable swap or set --fail-swap-on flag to "
        "false");
  }
  return faults;
}

std::vector<std::string> MachineWarnings(const FeatureGates& gates, const Machine& machine) {
  if (machine.unified_cgroups || !gates.Enabled("MemoryQoS")) return {};
  return {"MemoryQoS feature only works with cgroups v2 on Linux, but enabled with cgroups v1"};
}

}  // namespace denselet::app
