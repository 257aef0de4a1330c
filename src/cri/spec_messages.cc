#include "cri/spec_messages.h"

#include <optional>
#include <vector>

#include "cri/messages.h"

namespace denselet::cri {

namespace {

// Of protobuf's maps and lists.
template <class Map>
void FillMap(const sync::KeyValues& values, Map& map) {
  for (const auto& [key, value] : values) map[key] = value;
}

template <class T, class List>
void FillList(const std::vector<T>& values, List& list) {
  list.Assign(values.begin(), values.end());
}

pb::NamespaceMode ModeOf(sync::NamespaceMode mode) {
  switch (mode) {
    case sync::NamespaceMode::kPod:
      return pb::NamespaceMode::POD;
    case sync::NamespaceMode::kContainer:
      return pb::NamespaceMode::CONTAINER;
    case sync::NamespaceMode::kNode:
      return pb::NamespaceMode::NODE;
    case sync::NamespaceMode::kTarget:
      return pb::NamespaceMode::TARGET;
  }
  return pb::NamespaceMode::POD;
}

pb::Protocol ProtocolOf(sync::Protocol protocol) {
  switch (protocol) {
    case sync::Protocol::kTcp:
      return pb::Protocol::TCP;
    case sync::Protocol::kUdp:
      return pb::Protocol::UDP;
    case sync::Protocol::kSctp:
      return pb::Protocol::SCTP;
  }
  return pb::Protocol::TCP;
}

pb::MountPropagation PropagationOf(sync::MountPropagation propagation) {
  switch (propagation) {
    case sync::MountPropagation::kPrivate:
      return pb::MountPropagation::PROPAGATION_PRIVATE;
    case sync::MountPropagation::kHostToContainer:
      return pb::MountPropagation::PROPAGATION_HOST_TO_CONTAINER;
    case sync::MountPropagation::kBidirectional:
      return pb::MountPropagation::PROPAGATION_BIDIRECTIONAL;
  }
  return pb::MountPropagation::PROPAGATION_PRIVATE;
}

pb::SupplementalGroupsPolicy PolicyOf(sync::SupplementalGroupsPolicy policy) {
  return policy == sync::SupplementalGroupsPolicy::kStrict ? pb::SupplementalGroupsPolicy::Strict
                                                           : pb::SupplementalGroupsPolicy::Merge;
}

void FillProfile(const sync::ProfileSpec& spec, pb::SecurityProfile& profile) {
  switch (spec.kind) {
    case sync::ProfileKind::kRuntimeDefault:
      profile.set_profile_type(pb::SecurityProfile::RuntimeDefault);
      return;
    case sync::ProfileKind::kUnconfined:
      profile.set_profile_type(pb::SecurityProfile::Unconfined);
      return;
    case sync::ProfileKind::kLocalhost:
      profile.set_profile_type(pb::SecurityProfile::Localhost);
      profile.set_localhost_ref(spec.localhost_ref);
      return;
  }
}

template <class List>
void FillMappings(const std::vector<sync::IdMapping>& mappings, List& list) {
  for (const sync::IdMapping& mapping : mappings) {
    pb::IDMapping& message = *list.Add();
    message.set_host_id(mapping.host_id);
    message.set_container_id(mapping.container_id);
    message.set_length(mapping.length);
  }
}

void FillNamespaces(const sync::NamespaceSpec& spec, pb::NamespaceOption& option) {
  option.set_network(ModeOf(spec.network));
  option.set_pid(ModeOf(spec.pid));
  option.set_ipc(ModeOf(spec.ipc));
  option.set_target_id(spec.pid_target.value());
  // Always there: a runtime that knows user namespaces is told "the node's" in so many words.
  pb::UserNamespace& user = *option.mutable_userns_options();
  user.set_mode(ModeOf(spec.user));
  FillMappings(spec.uids, *user.mutable_uids());
  FillMappings(spec.gids, *user.mutable_gids());
}

// Both security contexts have these fields.
template <class Security, class Spec>
void FillSecurity(const Spec& spec, Security& security) {
  FillNamespaces(spec.namespaces, *security.mutable_namespace_options());
  if (spec.selinux != sync::SelinuxSpec{}) {
    pb::SELinuxOption& selinux = *security.mutable_selinux_options();
    selinux.set_user(spec.selinux.user);
    selinux.set_role(spec.selinux.role);
    selinux.set_type(spec.selinux.type);
    selinux.set_level(spec.selinux.level);
  }
  if (spec.run_as_user) security.mutable_run_as_user()->set_value(*spec.run_as_user);
  if (spec.run_as_group) security.mutable_run_as_group()->set_value(*spec.run_as_group);
  security.set_readonly_rootfs(spec.read_only_root);
  FillList(spec.supplemental_groups, *security.mutable_supplemental_groups());
  security.set_supplemental_groups_policy(PolicyOf(spec.supplemental_groups_policy));
  security.set_privileged(spec.privileged);
  FillProfile(spec.seccomp, *security.mutable_seccomp());
}

void FillDns(const sync::DnsSpec& spec, pb::DNSConfig& dns) {
  FillList(spec.servers, *dns.mutable_servers());
  FillList(spec.searches, *dns.mutable_searches());
  FillList(spec.options, *dns.mutable_options());
}

void FillPort(const sync::PortMapping& spec, pb::PortMapping& port) {
  port.set_protocol(ProtocolOf(spec.protocol));
  port.set_container_port(spec.container_port);
  port.set_host_port(spec.host_port);
  port.set_host_ip(spec.host_ip);
}

void FillMount(const sync::MountSpec& spec, pb::Mount& mount) {
  mount.set_container_path(spec.container_path);
  mount.set_host_path(spec.host_path);
  mount.set_readonly(spec.read_only);
  mount.set_recursive_read_only(spec.recursive_read_only);
  mount.set_selinux_relabel(spec.selinux_relabel);
  mount.set_propagation(PropagationOf(spec.propagation));
  FillMappings(spec.uids, *mount.mutable_uidmappings());
  FillMappings(spec.gids, *mount.mutable_gidmappings());
  if (spec.image.empty()) return;
  mount.mutable_image()->set_image(spec.image);
  mount.mutable_image()->set_user_specified_image(spec.image_user_specified);
  FillMap(spec.image_annotations, *mount.mutable_image()->mutable_annotations());
  mount.set_image_sub_path(spec.image_sub_path);
}

void FillContainerSecurity(const sync::ContainerSpec& spec,
                           pb::LinuxContainerSecurityContext& security) {
  FillSecurity(spec, security);
  if (!spec.capabilities_add.empty() || !spec.capabilities_drop.empty()) {
    pb::Capability& capabilities = *security.mutable_capabilities();
    FillList(spec.capabilities_add, *capabilities.mutable_add_capabilities());
    FillList(spec.capabilities_drop, *capabilities.mutable_drop_capabilities());
  }
  security.set_run_as_username(spec.run_as_username);
  security.set_no_new_privs(spec.no_new_privileges);
  FillList(spec.masked_paths, *security.mutable_masked_paths());
  FillList(spec.read_only_paths, *security.mutable_readonly_paths());
  if (spec.apparmor) FillProfile(*spec.apparmor, *security.mutable_apparmor());
}

constexpr std::string_view kKubernetesPlus = "SIGRTMIN+", kCriPlus = "SIGRTMINPLUS";
constexpr std::string_view kKubernetesMinus = "SIGRTMAX-", kCriMinus = "SIGRTMAXMINUS";

std::string Exchanged(std::string_view name, std::string_view from, std::string_view to) {
  return std::string(to) + std::string(name.substr(from.size()));
}

}  // namespace

void Fill(const sync::LinuxResources& resources, pb::LinuxContainerResources& message) {
  message.set_cpu_period(resources.cpu_period_us.value_or(0));
  message.set_cpu_quota(resources.cpu_quota_us.value_or(0));
  message.set_cpu_shares(resources.cpu_shares.value_or(0));
  message.set_memory_limit_in_bytes(resources.memory_limit_bytes.value_or(0));
  message.set_memory_swap_limit_in_bytes(resources.memory_swap_limit_bytes.value_or(0));
  message.set_oom_score_adj(resources.oom_score_adj.value_or(0));
  message.set_cpuset_cpus(resources.cpuset_cpus);
  message.set_cpuset_mems(resources.cpuset_mems);
  for (const sync::HugepageLimit& limit : resources.hugepages) {
    pb::HugepageLimit& added = *message.add_hugepage_limits();
    added.set_page_size(limit.page_size);
    added.set_limit(limit.bytes);
  }
  FillMap(resources.unified, *message.mutable_unified());
}

void Fill(const sync::SandboxSpec& spec, pb::PodSandboxConfig& config) {
  pb::PodSandboxMetadata& metadata = *config.mutable_metadata();
  metadata.set_name(spec.pod.ref.name);
  metadata.set_namespace_(spec.pod.ref.ns);
  metadata.set_uid(spec.pod.uid.value());
  metadata.set_attempt(spec.attempt);
  config.set_hostname(spec.hostname);
  config.set_log_directory(spec.log_directory);
  FillDns(spec.dns, *config.mutable_dns_config());
  for (const sync::PortMapping& port : spec.ports) FillPort(port, *config.add_port_mappings());
  FillMap(spec.labels, *config.mutable_labels());
  FillMap(spec.annotations, *config.mutable_annotations());

  pb::LinuxPodSandboxConfig& linux_config = *config.mutable_linux();
  linux_config.set_cgroup_parent(spec.cgroup_parent);
  FillMap(spec.sysctls, *linux_config.mutable_sysctls());
  if (spec.overhead) Fill(*spec.overhead, *linux_config.mutable_overhead());
  if (spec.resources) Fill(*spec.resources, *linux_config.mutable_resources());
  FillSecurity(spec, *linux_config.mutable_security_context());
}

void Fill(const sync::ContainerSpec& spec, pb::ContainerConfig& config) {
  config.mutable_metadata()->set_name(spec.name);
  config.mutable_metadata()->set_attempt(spec.attempt);
  config.mutable_image()->set_image(spec.image);
  config.mutable_image()->set_user_specified_image(spec.image_user_specified);
  config.mutable_image()->set_runtime_handler(spec.image_runtime_handler);
  FillList(spec.command, *config.mutable_command());
  FillList(spec.args, *config.mutable_args());
  config.set_working_dir(spec.working_dir);
  for (const auto& [key, value] : spec.env) {
    pb::KeyValue& env = *config.add_envs();
    env.set_key(key);
    env.set_value(value);
  }
  for (const sync::MountSpec& mount : spec.mounts) FillMount(mount, *config.add_mounts());
  for (const sync::DeviceSpec& device : spec.devices) {
    pb::Device& added = *config.add_devices();
    added.set_container_path(device.container_path);
    added.set_host_path(device.host_path);
    added.set_permissions(device.permissions);
  }
  for (const std::string& name : spec.cdi_devices) config.add_cdi_devices()->set_name(name);
  FillMap(spec.labels, *config.mutable_labels());
  FillMap(spec.annotations, *config.mutable_annotations());
  config.set_log_path(spec.log_path);
  config.set_stdin(spec.stdin_open);
  config.set_stdin_once(spec.stdin_once);
  config.set_tty(spec.tty);
  config.set_stop_signal(static_cast<pb::Signal>(SignalNumber(spec.stop_signal)));
  Fill(spec.resources, *config.mutable_linux()->mutable_resources());
  FillContainerSecurity(spec, *config.mutable_linux()->mutable_security_context());
}

void Fill(const sync::ImageRequest& request, pb::ImageSpec& image) {
  image.set_image(request.image);
  image.set_user_specified_image(request.user_specified);
  image.set_runtime_handler(request.runtime_handler);
  FillMap(request.annotations, *image.mutable_annotations());
}

void Fill(const sync::ImageCredentials& credentials, pb::AuthConfig& auth) {
  auth.set_username(credentials.username);
  auth.set_password(credentials.password);
  auth.set_auth(credentials.auth);
  auth.set_server_address(credentials.server_address);
  auth.set_identity_token(credentials.identity_token);
  auth.set_registry_token(credentials.registry_token);
}

int SignalNumber(std::string_view name) {
  std::string known(name);
  if (name.starts_with(kKubernetesPlus)) known = Exchanged(name, kKubernetesPlus, kCriPlus);
  if (name.starts_with(kKubernetesMinus)) known = Exchanged(name, kKubernetesMinus, kCriMinus);
  pb::Signal signal = pb::Signal::RUNTIME_DEFAULT;
  return pb::Signal_Parse(known, &signal) ? static_cast<int>(signal) : 0;
}

std::string SignalName(int number) {
  if (number == 0 || !pb::Signal_IsValid(number)) return {};
  const std::string& name = pb::Signal_Name(static_cast<pb::Signal>(number));
  if (name.starts_with(kCriPlus)) return Exchanged(name, kCriPlus, kKubernetesPlus);
  if (name.starts_with(kCriMinus)) return Exchanged(name, kCriMinus, kKubernetesMinus);
  return name;
}

}  // namespace denselet::cri
