#include "app/agent/agent_options.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "app/agent/pod_options.h"
#include "app/config/cpu_list.h"
#include "app/flags/text.h"
#include "app/version.h"
#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "managers/node/declared_features.h"

namespace denselet::app {
namespace {

using kube::config::KubeletConfiguration;

// client-go's, where a rate or a burst is zero.
constexpr double kRateOfNone = 5;
constexpr uint32_t kBurstOfNone = 10;

std::string_view Trimmed(std::string_view text) {
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

Result<std::string> NodeNameOf(const ParsedFlags& flags, const AgentSurroundings& around) {
  std::string name = flags.Text("hostname-override");
  if (name.empty()) name = around.hostname;
  name = Trimmed(name);
  if (name.empty()) return Error(ErrorCode::kInvalid, "empty hostname is invalid");
  std::ranges::transform(name, name.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return name;
}

// As the kubelet: what is no address is ignored, and that is told. ValidateFlags has looked at the
// rest.
std::vector<node::IpAddress> NodeIpsOf(const std::string& text,
                                       std::vector<std::string>& warnings) {
  std::vector<node::IpAddress> ips;
  if (text.empty()) return ips;
  for (const std::string_view part : Split(text, ',')) {
    const std::optional<node::IpAddress> ip = node::IpAddress::Parse(Trimmed(part));
    if (ip) {
      ips.push_back(*ip);
    } else {
      warnings.push_back("--node-ip: not an address, ignored: " + Quoted(part));
    }
  }
  return ips;
}

std::string Absolute(const std::string& path, const AgentSurroundings& around) {
  if (path.empty() || path.starts_with('/')) return path;
  return around.working_folder + "/" + path;
}

// Only what is there: API server and scheduler send pods that need it.
std::vector<std::string> FeaturesOf(const FeatureGates& gates) {
  const auto has = [&](std::string_view gate) {
    return IsImplemented(gate) && gates.Enabled(gate);
  };
  return node::DeclaredFeatures(
      {.extend_web_sockets_to_kubelet = has("ExtendWebSocketsToKubelet"),
       .in_place_pod_level_resources_vertical_scaling =
           has("InPlacePodLevelResourcesVerticalScaling"),
       .in_place_pod_vertical_scaling_init_containers =
           has("InPlacePodVerticalScalingInitContainers"),
       .restart_all_containers_on_container_exits = has("RestartAllContainersOnContainerExits"),
       .container_restart_rules = has("ContainerRestartRules"),
       .user_namespaces_host_network_support = has("UserNamespacesHostNetworkSupport")});
}

double RateOf(int32_t value) { return value == 0 ? kRateOfNone : static_cast<double>(value); }
uint32_t BurstOf(int32_t value) { return value == 0 ? kBurstOfNone : static_cast<uint32_t>(value); }

LogSettings LogSettingsOf(const KubeletConfiguration& config) {
  LogSettings log;
  const auto& from = config.logging();
  log.style = from.format() == "json" ? LogStyle::kJson : LogStyle::kText;
  log.levels.verbosity = static_cast<int32_t>(from.verbosity());
  for (const auto& item : from.vmodule()) {
    log.levels.rules.push_back({item.filepattern(), static_cast<int32_t>(item.verbosity())});
  }
  return log;
}

ServerAccessOptions ServerOf(const ParsedFlags& flags, const KubeletConfiguration& config,
                             const AgentSurroundings& around, const std::string& node_name) {
  ServerAccessOptions server;
  server.bootstrap.kubeconfig_path = Absolute(flags.Text("kubeconfig"), around);
  server.bootstrap.bootstrap_kubeconfig_path = Absolute(flags.Text("bootstrap-kubeconfig"), around);
  server.bootstrap.node_name = node_name;
  server.bootstrap.rotation = config.rotatecertificates() ? kube::BootstrapOptions::Rotation::kOn
                                                          : kube::BootstrapOptions::Rotation::kOff;
  server.certificate_folder = Absolute(flags.Text("cert-dir"), around);
  // As the kubelet's; behind it, where that has a commit, who we are.
  server.user_agent = "kubelet/" + flags.KubernetesVersion() + " (linux/" +
                      std::string(node::GoArch()) + ") denselet/" + std::string(kDenseletVersion);
  server.client.requests_per_second = RateOf(config.kubeapiqps());
  server.client.requests_burst = BurstOf(config.kubeapiburst());
  server.client.events_per_second = RateOf(config.eventrecordqps());
  server.client.events_burst = BurstOf(config.eventburst());
  server.credentials.environment = around.environment;
  return server;
}

cri::ConnectionOptions RuntimeOf(const KubeletConfiguration& config) {
  return {.runtime_endpoint = config.containerruntimeendpoint(),
          .image_endpoint = config.imageserviceendpoint(),
          .request_timeout = Duration(config.runtimerequesttimeout().duration()),
          .user_agent = "denselet/" + std::string(kDenseletVersion)};
}

// What the kubelet's container garbage collector is told.
Status SetKept(const ParsedFlags& flags, sync::PodCoreOptions& core) {
  const Duration age_min = flags.Period("minimum-container-ttl-duration");
  if (age_min < Duration::zero()) {
    return Error(ErrorCode::kInvalid,
                 "invalid minimum garbage collection age: " + FormatDuration(age_min));
  }
  core.node.keep.age_min = age_min;
  core.node.keep.per_container_max =
      static_cast<int32_t>(flags.Int("maximum-dead-containers-per-container"));
  core.dead_containers_max = static_cast<int32_t>(flags.Int("maximum-dead-containers"));
  return Ok();
}

void SetPodSources(const KubeletConfiguration& config, const AgentSurroundings& around,
                   NodeSideOptions& node) {
  const std::string& node_name = node.node.flags.node_name;
  if (!config.staticpodpath().empty()) {
    node.pod_files = managers::FileSourceOptions{
        .path = Absolute(config.staticpodpath(), around),
        .node_name = node_name,
        .check_period = Duration(config.filecheckfrequency().duration())};
  }
  if (config.staticpodurl().empty()) return;
  node.pod_url =
      managers::HttpSourceOptions{.url = config.staticpodurl(),
                                  .node_name = node_name,
                                  .check_period = Duration(config.httpcheckfrequency().duration())};
  for (const auto* entry : kube::Sorted(config.staticpodurlheader())) {
    for (const std::string& value : entry->second.items()) {
      node.pod_url->headers.Add(entry->first, value);
    }
  }
}

}  // namespace

AgentSurroundings LookAround() {
  AgentSurroundings around;
  std::array<char, 4096> text{};
  if (::gethostname(text.data(), text.size() - 1) == 0) around.hostname = text.data();
  if (::getcwd(text.data(), text.size()) != nullptr) around.working_folder = text.data();
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    around.environment.emplace_back(*entry);
  }
  return around;
}

Result<AgentOptions> MakeAgentOptions(const ParsedFlags& flags, const EffectiveConfig& effective,
                                      const ReactorChoice& reactor, const AgentSurroundings& around,
                                      std::vector<std::string>& warnings) {
  const KubeletConfiguration& config = *effective.kubelet.config;
  const Result<std::string> name = NodeNameOf(flags, around);
  if (!name) return name.error();
  Result<std::vector<int>> cpus = CpusBelow(CPU_SETSIZE, config.reservedsystemcpus());
  if (!cpus) return cpus.error().With("reservedSystemCPUs");
  Result<node::NodeConfig> node = node::MakeNodeConfig(
      config, {.node_name = *name,
               .hostname = *name,
               .node_ips = NodeIpsOf(flags.Text("node-ip"), warnings),
               .external_cloud_provider = flags.Text("cloud-provider") == "external",
               .labels = flags.NodeLabels(),
               .kubelet_version = flags.KubernetesVersion(),
               .declared_features = FeaturesOf(effective.kubelet.gates)});
  if (!node) return node.error();
  node->port = 0;  // nobody listens yet
  if (flags.Bool("experimental-allocatable-ignore-eviction")) {
    node->memory_eviction.reset();
    node->storage_eviction.reset();
  }

  AgentOptions options;
  options.log = LogSettingsOf(config);
  options.shards = effective.own.settings.shards;
  options.socket = effective.own.settings.socket;
  options.reactor = reactor;
  options.cpus = *std::move(cpus);
  options.root_folder = Absolute(flags.Text("root-dir"), around);
  options.lock_file = Absolute(flags.Text("lock-file"), around);
  options.exit_on_lock_contention = flags.Bool("exit-on-lock-contention");
  options.node.node = *std::move(node);
  options.node.has_api_server = ApiAccessOf(flags) == ApiAccess::kThere;
  if (options.node.has_api_server) options.server = ServerOf(flags, config, around, *name);
  options.runtime = RuntimeOf(config);
  SetPodSources(config, around, options.node);
  options.pods = MakePodOptions(effective, options.root_folder, SourcesOf(options.node));
  options.pods.objects.SetServer(options.node.has_api_server);
  if (const Status kept = SetKept(flags, options.pods.core); !kept) return kept.error();
  return options;
}

}  // namespace denselet::app
