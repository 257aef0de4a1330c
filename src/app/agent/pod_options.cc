#include "app/agent/pod_options.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "kube/api/types.h"
#include "sync/spec/ip_preference.h"

namespace denselet::app {
namespace {

using kube::config::KubeletConfiguration;

sync::ImagePullerOptions ImagesOf(const KubeletConfiguration& config) {
  sync::ImagePullerOptions images;
  images.pulls_per_second = config.registrypullqps();
  images.burst = config.registryburst();
  if (config.serializeimagepulls()) return images;
  // As many as there are wishes, unless the configuration has a number.
  images.parallel_max = config.has_maxparallelimagepulls()
                            ? static_cast<uint32_t>(std::max(config.maxparallelimagepulls(), 1))
                            : images.wishes_max;
  return images;
}

sync::PlegOptions PlegOf(const DenseletSettings& settings) {
  sync::PlegOptions pleg;
  pleg.use_events = settings.pleg_use_events;
  pleg.relist_period = settings.pleg_fallback_relist_period;
  pleg.cross_check_period_max = settings.pleg_relist_period;
  pleg.cross_check_period_min = std::min(pleg.cross_check_period_min, pleg.cross_check_period_max);
  return pleg;
}

sync::NodeFacts BackOffOf(const EffectiveConfig& effective) {
  sync::NodeFacts node;
  const FeatureGates& gates = effective.kubelet.gates;
  if (gates.Enabled("ReduceDefaultCrashLoopBackOffDecay")) {
    node.back_off_base = Seconds(1);
    node.back_off_max = Seconds(60);
  }
  const auto& crash_loop = effective.kubelet.config->crashloopbackoff();
  if (gates.Enabled("KubeletCrashLoopBackOffMax") && crash_loop.has_maxcontainerrestartperiod()) {
    node.back_off_max = Duration(crash_loop.maxcontainerrestartperiod().duration());
    node.back_off_base = std::min(node.back_off_base, node.back_off_max);
  }
  return node;
}

sync::SpecNode SpecOf(const EffectiveConfig& effective, const std::string& root_folder) {
  const KubeletConfiguration& config = *effective.kubelet.config;
  sync::SpecNode spec;
  spec.pod_logs_dir = config.podlogsdir();
  if (!config.cgroupsperqos()) spec.cgroup_root = config.cgrouproot();
  spec.seccomp_root = root_folder + "/seccomp";
  spec.cluster_domain = config.clusterdomain();
  for (const std::string& server : config.clusterdns()) {
    // Upstream leaves out what is no address, too.
    if (const auto ip = sync::ReadIp(server)) spec.cluster_dns.push_back(ip->text);
  }
  spec.resolv_conf_path = config.resolvconf();
  spec.pods_dir = root_folder + "/pods";
  spec.env_files = effective.kubelet.gates.Enabled("EnvFiles");
  spec.seccomp_default = config.seccompdefault();
  spec.cpu_cfs_quota = config.cpucfsquota();
  spec.cpu_cfs_period_us = Duration(config.cpucfsquotaperiod().duration()) / Microseconds(1);
  spec.cgroup_v2 = effective.machine.unified_cgroups;
  spec.selinux = effective.machine.selinux;
  spec.single_process_oom_kill = config.singleprocessoomkill();
  spec.limited_swap = config.memoryswap().swapbehavior() == "LimitedSwap";
  return spec;
}

managers::PodObjectsOptions ObjectsOf(const EffectiveConfig& effective) {
  const std::string& strategy =
      effective.kubelet.config->configmapandsecretchangedetectionstrategy();
  managers::PodObjectsOptions options;
  if (strategy == "Cache") options.objects.detection = managers::ChangeDetection::kCache;
  if (strategy == "Get") options.objects.detection = managers::ChangeDetection::kGet;
  options.trust_bundles.enabled = effective.kubelet.gates.Enabled("ClusterTrustBundleProjection");
  return options;
}

// "2MB", as the kernel's cgroup files are called.
std::string PageSizeName(uint64_t kib) {
  constexpr std::array<std::string_view, 3> kUnits = {"KB", "MB", "GB"};
  size_t unit = 0;
  for (; unit + 1 < kUnits.size() && kib >= 1024 && kib % 1024 == 0; ++unit) kib /= 1024;
  return std::to_string(kib) + std::string(kUnits[unit]);
}

}  // namespace

PodSideOptions MakePodOptions(const EffectiveConfig& effective, const std::string& root_folder,
                              sync::SourceSet sources) {
  PodSideOptions options;
  options.core.pleg = PlegOf(effective.own.settings);
  options.core.images = ImagesOf(*effective.kubelet.config);
  options.core.node = BackOffOf(effective);
  options.core.sources = sources;
  options.core.journal.directory = effective.own.settings.journal;
  for (const std::string& name : effective.kubelet.config->allowedunsafesysctls()) {
    options.allowed_sysctls.push_back(name);
  }
  options.spec = SpecOf(effective, root_folder);
  options.objects = ObjectsOf(effective);
  options.directories = {.root_folder = root_folder,
                         .logs_folder = options.spec.pod_logs_dir,
                         .links_folder = effective.own.settings.container_logs_dir};
  return options;
}

Status AddMachine(const node::MachineFacts& machine, PodSideOptions& options) {
  Result<sync::SysctlAllowList> sysctls = sync::SysctlAllowList::Make(
      options.allowed_sysctls, sync::KernelVersion::Parse(machine.kernel_version));
  if (!sysctls) return sysctls.error().With("allowedUnsafeSysctls");
  options.core.sysctls = *std::move(sysctls);
  sync::SpecNode& spec = options.spec;
  spec.memory_capacity_bytes = static_cast<int64_t>(machine.memory_bytes);
  spec.swap_capacity_bytes = static_cast<int64_t>(machine.swap_bytes);
  spec.swap_controller = machine.swap_controller;
  spec.thermal_throttle_paths = machine.thermal_throttle_paths;
  for (const node::HugePages& size : machine.huge_pages) {
    spec.hugepage_sizes.push_back(PageSizeName(size.page_kib));
  }
  return Ok();
}

}  // namespace denselet::app
