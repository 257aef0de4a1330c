#include "sync/spec/security_spec.h"

#include <algorithm>

#include "base/quoted.h"
#include "kube/api/types.h"
#include "sync/spec/pod_traits.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;

constexpr size_t kShownMax = 256;

constexpr const char* kMaskedPaths[] = {
    "/proc/asound",      "/proc/acpi",          "/proc/interrupts", "/proc/kcore",
    "/proc/keys",        "/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats",
    "/proc/sched_debug", "/proc/scsi",          "/sys/firmware",    "/sys/devices/virtual/powercap",
};
constexpr const char* kReadOnlyPaths[] = {
    "/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger",
};

SelinuxSpec SelinuxOf(const core::SELinuxOptions& options) {
  return {.user = options.user(),
          .role = options.role(),
          .type = options.type(),
          .level = options.level()};
}

Result<SupplementalGroupsPolicy> GroupsPolicyOf(const core::PodSecurityContext& context) {
  const std::string& policy = context.supplementalgroupspolicy();
  if (policy.empty() || policy == "Merge") return SupplementalGroupsPolicy::kMerge;
  if (policy == "Strict") return SupplementalGroupsPolicy::kStrict;
  return Error(ErrorCode::kInvalid,
               "unsupported supplementalGroupsPolicy: " + Quoted(policy, kShownMax));
}

// Container first, then pod, then the node's default.
Result<ProfileSpec> SeccompOf(const core::Pod& pod, const core::Container& container,
                              const SpecNode& node) {
  const core::SeccompProfile* profile = nullptr;
  if (container.securitycontext().has_seccompprofile()) {
    profile = &container.securitycontext().seccompprofile();
  } else if (pod.spec().securitycontext().has_seccompprofile()) {
    profile = &pod.spec().securitycontext().seccompprofile();
  }
  if (!profile) {
    return ProfileSpec{.kind = node.seccomp_default ? ProfileKind::kRuntimeDefault
                                                    : ProfileKind::kUnconfined};
  }
  if (profile->type() == "RuntimeDefault") return ProfileSpec{.kind = ProfileKind::kRuntimeDefault};
  if (profile->type() != "Localhost") return ProfileSpec{.kind = ProfileKind::kUnconfined};
  if (profile->localhostprofile().empty()) {
    return Error(ErrorCode::kInvalid,
                 "localhostProfile must be set if seccompProfile type is Localhost.");
  }
  return ProfileSpec{.kind = ProfileKind::kLocalhost,
                     .localhost_ref = node.seccomp_root + "/" + profile->localhostprofile()};
}

// From the fields, or from the annotation that came before them.
Result<std::optional<ProfileSpec>> ApparmorOf(const core::Pod& pod,
                                              const core::Container& container) {
  using Maybe = std::optional<ProfileSpec>;
  const core::AppArmorProfile* profile = nullptr;
  if (container.securitycontext().has_apparmorprofile()) {
    profile = &container.securitycontext().apparmorprofile();
  } else if (pod.spec().securitycontext().has_apparmorprofile()) {
    profile = &pod.spec().securitycontext().apparmorprofile();
  }
  if (profile) {
    if (profile->type() == "RuntimeDefault") return Maybe({.kind = ProfileKind::kRuntimeDefault});
    if (profile->type() == "Unconfined") return Maybe({.kind = ProfileKind::kUnconfined});
    if (profile->type() != "Localhost") {
      return Error(ErrorCode::kInvalid,
                   "unknown apparmor profile type: " + Quoted(profile->type(), kShownMax));
    }
    if (!profile->has_localhostprofile()) {
      return Error(ErrorCode::kInvalid, "missing localhost apparmor profile name");
    }
    return Maybe({.kind = ProfileKind::kLocalhost, .localhost_ref = profile->localhostprofile()});
  }
  const std::string key = "container.apparmor.security.beta.kubernetes.io/" + container.name();
  const std::string_view text = AnnotationOf(pod, key.c_str());
  if (text == "runtime/default") return Maybe({.kind = ProfileKind::kRuntimeDefault});
  if (text == "unconfined") return Maybe({.kind = ProfileKind::kUnconfined});
  if (text.starts_with("localhost/")) {
    return Maybe(
        {.kind = ProfileKind::kLocalhost,
         .localhost_ref = std::string(text.substr(std::string_view("localhost/").size()))});
  }
  return Maybe();
}

// Non-root can be told of numbers only.
Status CheckNonRoot(const core::Pod& pod, const core::Container& container,
                    const SpecContainer& facts, const ContainerSpec& spec) {
  const auto& own = container.securitycontext();
  const auto& pods = pod.spec().securitycontext();
  const bool wanted = own.has_runasnonroot() ? own.runasnonroot() : pods.runasnonroot();
  if (!wanted) return Unit{};
  const std::string of_whom = " (pod: \"" + pod.metadata().name() + "_" +
                              pod.metadata().namespace_() + "(" + pod.metadata().uid() +
                              ")\", container: " + container.name() + ")";
  const bool given = own.has_runasuser() || pods.has_runasuser();
  if (given && spec.run_as_user == 0) {
    return Error(ErrorCode::kInvalid, "container's runAsUser breaks non-root policy" + of_whom);
  }
  if (given) return Unit{};
  if (facts.image_uid == 0) {
    return Error(ErrorCode::kInvalid,
                 "container has runAsNonRoot and image will run as root" + of_whom);
  }
  if (!facts.image_uid && !facts.image_username.empty()) {
    return Error(ErrorCode::kInvalid,
                 "container has runAsNonRoot and image has non-numeric user (" +
                     facts.image_username + "), cannot verify user is non-root" + of_whom);
  }
  return Unit{};
}

void ApplyContext(const core::Pod& pod, const core::Container& container, ContainerSpec& spec) {
  const core::SecurityContext& own = container.securitycontext();
  const core::PodSecurityContext& pods = pod.spec().securitycontext();
  spec.capabilities_add.assign(own.capabilities().add().begin(), own.capabilities().add().end());
  spec.capabilities_drop.assign(own.capabilities().drop().begin(), own.capabilities().drop().end());
  spec.privileged = own.privileged();
  spec.read_only_root = own.readonlyrootfilesystem();
  spec.no_new_privileges = own.has_allowprivilegeescalation() && !own.allowprivilegeescalation();
  if (own.has_selinuxoptions() || pods.has_selinuxoptions()) {
    spec.selinux =
        SelinuxOf(own.has_selinuxoptions() ? own.selinuxoptions() : pods.selinuxoptions());
  }
  if (own.has_runasuser() || pods.has_runasuser()) {
    spec.run_as_user = own.has_runasuser() ? own.runasuser() : pods.runasuser();
  }
  if (own.has_runasgroup() || pods.has_runasgroup()) {
    spec.run_as_group = own.has_runasgroup() ? own.runasgroup() : pods.runasgroup();
  }
}

}  // namespace

NamespaceSpec NamespacesOf(const core::Pod& pod, const SpecPod& facts) {
  const core::PodSpec& spec = pod.spec();
  NamespaceSpec out{
      .network = spec.hostnetwork() ? NamespaceMode::kNode : NamespaceMode::kPod,
      .pid = spec.hostpid()                 ? NamespaceMode::kNode
             : spec.shareprocessnamespace() ? NamespaceMode::kPod
                                            : NamespaceMode::kContainer,
      .ipc = spec.hostipc() ? NamespaceMode::kNode : NamespaceMode::kPod,
  };
  if (facts.own_user_namespace) {
    out.user = NamespaceMode::kPod;
    out.uids = facts.uids;
    out.gids = facts.gids;
  }
  return out;
}

Status ApplySecurity(const core::Pod& pod, const core::Container& container, const SpecNode& node,
                     const SpecPod& pod_facts, const SpecContainer& facts, ContainerSpec& spec) {
  ApplyContext(pod, container, spec);
  if (auto ok = CheckNonRoot(pod, container, facts, spec); !ok) return ok.error();
  if (!spec.run_as_user) {
    spec.run_as_user = facts.image_uid;
    spec.run_as_username = facts.image_username;
  }
  auto seccomp = SeccompOf(pod, container, node);
  if (!seccomp) return seccomp.error();
  spec.seccomp = *seccomp;
  auto apparmor = ApparmorOf(pod, container);
  if (!apparmor) return apparmor.error();
  spec.apparmor = *apparmor;

  spec.namespaces = NamespacesOf(pod, pod_facts);
  if (!facts.pid_target.empty() && spec.namespaces.pid == NamespaceMode::kContainer) {
    spec.namespaces.pid = NamespaceMode::kTarget;
    spec.namespaces.pid_target = facts.pid_target;
  }
  const core::PodSecurityContext& pods = pod.spec().securitycontext();
  if (pods.has_fsgroup()) spec.supplemental_groups.push_back(pods.fsgroup());
  for (const int64_t group : pods.supplementalgroups()) spec.supplemental_groups.push_back(group);
  for (const int64_t group : pod_facts.extra_groups) spec.supplemental_groups.push_back(group);
  auto policy = GroupsPolicyOf(pods);
  if (!policy) return policy.error();
  spec.supplemental_groups_policy = *policy;
  if (container.securitycontext().procmount() != "Unmasked") {
    spec.masked_paths.assign(std::begin(kMaskedPaths), std::end(kMaskedPaths));
    spec.masked_paths.insert(spec.masked_paths.end(), node.thermal_throttle_paths.begin(),
                             node.thermal_throttle_paths.end());
    spec.read_only_paths.assign(std::begin(kReadOnlyPaths), std::end(kReadOnlyPaths));
  }
  return Unit{};
}

Status ApplySecurity(const core::Pod& pod, const SpecPod& facts, SandboxSpec& spec) {
  const auto privileged = [](const auto& containers) {
    return std::ranges::any_of(containers,
                               [](const auto& c) { return c.securitycontext().privileged(); });
  };
  spec.privileged = privileged(pod.spec().containers()) || privileged(pod.spec().initcontainers());
  spec.seccomp = {.kind = ProfileKind::kRuntimeDefault};
  spec.namespaces = NamespacesOf(pod, facts);
  const core::PodSecurityContext& context = pod.spec().securitycontext();
  if (context.has_runasuser()) spec.run_as_user = context.runasuser();
  if (context.has_runasgroup()) spec.run_as_group = context.runasgroup();
  if (context.has_fsgroup()) spec.supplemental_groups.push_back(context.fsgroup());
  for (const int64_t group : facts.extra_groups) spec.supplemental_groups.push_back(group);
  for (const int64_t group : context.supplementalgroups())
    spec.supplemental_groups.push_back(group);
  auto policy = GroupsPolicyOf(context);
  if (!policy) return policy.error();
  spec.supplemental_groups_policy = *policy;
  if (context.has_selinuxoptions()) spec.selinux = SelinuxOf(context.selinuxoptions());
  return Unit{};
}

}  // namespace denselet::sync
