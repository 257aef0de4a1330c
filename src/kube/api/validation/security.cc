#include "kube/api/validation/security.h"

#include <algorithm>
#include <set>

#include "kube/api/validation/paths.h"
#include "kube/api/validation/security_json.h"
#include "kube/api/validation/windows.h"

namespace denselet::kube {
namespace {

constexpr size_t kSysctlSizeMax = 253;
constexpr size_t kAppArmorProfileSizeMax = 4095;

template <class Context>
void ValidateUserAndGroup(const Context& context, const FieldPath& path, FaultList& out) {
  if (context.has_runasuser()) {
    out.Invalid(path / "runAsUser", context.runasuser(), CheckId(context.runasuser()));
  }
  if (context.has_runasgroup()) {
    out.Invalid(path / "runAsGroup", context.runasgroup(), CheckId(context.runasgroup()));
  }
}

void ValidateSeccomp(const core::SeccompProfile& profile, const FieldPath& path, FaultList& out) {
  if (profile.type().empty()) {
    out.Required(path / "type", "type is required when seccompProfile is set");
  } else {
    CheckSupported(path / "type", profile.type(), {"Localhost", "RuntimeDefault", "Unconfined"},
                   out);
  }
  const FieldPath local = path / "localhostProfile";
  if (profile.type() != "Localhost") {
    if (!profile.has_localhostprofile()) return;
    return out.Invalid(local, FaultValue::Raw(ToInternalJson(profile)),
                       "can only be set when seccomp type is Localhost");
  }
  if (!profile.has_localhostprofile()) {
    return out.Required(local, "must be set when seccomp type is Localhost");
  }
  ValidateDescendingPath(profile.localhostprofile(), local, out);
}

void ValidateLocalAppArmor(const core::AppArmorProfile& profile, const FieldPath& path,
                           FaultList& out) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  const std::string& name = profile.localhostprofile();
  if (name.empty()) return out.Required(path, "must be set when AppArmor type is Localhost");
  if (kSpaces.find(name.front()) != kSpaces.npos || kSpaces.find(name.back()) != kSpaces.npos) {
    out.Invalid(path, name, "must not be padded with whitespace");
  }
  if (name.size() > kAppArmorProfileSizeMax) out.TooLong(path, int{kAppArmorProfileSizeMax});
}

void ValidateAppArmor(const core::AppArmorProfile& profile, const FieldPath& path, FaultList& out) {
  const FieldPath local = path / "localhostProfile";
  if (profile.type() == "Localhost") return ValidateLocalAppArmor(profile, local, out);
  if (profile.type().empty()) {
    return out.Required(path / "type", "type is required when appArmorProfile is set");
  }
  const Words types = {"Localhost", "RuntimeDefault", "Unconfined"};
  if (!CheckSupported(path / "type", profile.type(), types, out)) return;
  if (profile.has_localhostprofile()) {
    out.Invalid(local, FaultValue::Named(profile.localhostprofile()),
                "can only be set when AppArmor type is Localhost");
  }
}

template <class Context>
void ValidateProfiles(const Context& context, const FieldPath& path, FaultList& out) {
  if (context.has_windowsoptions()) {
    ValidateWindowsOptions(context.windowsoptions(), path / "windowsOptions", out);
  }
  if (context.has_apparmorprofile()) {
    ValidateAppArmor(context.apparmorprofile(), path / "appArmorProfile", out);
  }
}

bool IsSysctlSegment(std::string_view text) {
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && plain(text.front()) && plain(text.back()) &&
         std::ranges::all_of(text, [&](char c) { return plain(c) || c == '-' || c == '_'; });
}

bool IsSysctlName(std::string name) {
  if (name.size() > kSysctlSizeMax) return false;
  std::ranges::replace(name, '/', '.');
  return std::ranges::all_of(Split(name, '.'), IsSysctlSegment);
}

// With a slash first, slashes part the name and dots belong to it.
std::string NormalizedSysctl(const std::string& name) {
  const size_t first = name.find_first_of("./");
  if (first == name.npos || name[first] == '.') return name;
  std::string normal = name;
  for (char& c : normal) c = c == '/' ? '.' : c == '.' ? '/' : c;
  return normal;
}

bool IsIpcSysctl(const std::string& name) {
  return name.starts_with("fs.mqueue.") ||
         IsOneOf(name, {"kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni",
                        "kernel.shm_rmid_forced", "kernel.shm", "kernel.msgmax", "kernel.msgmnb",
                        "kernel.msgmni", "kernel.msg"});
}

void ValidateSysctls(const core::PodSpec& spec, const FieldPath& path, FaultList& out) {
  std::set<std::string> names;
  for (int i = 0; i < spec.securitycontext().sysctls_size(); ++i) {
    const std::string& name = spec.securitycontext().sysctls(i).name();
    const FieldPath name_path = path[i] / "name";
    const bool is_new = names.insert(name).second;
    if (name.empty()) {
      out.Required(name_path);
    } else if (!IsSysctlName(name)) {
      out.Invalid(name_path, name,
                  "must have at most 253 characters and match regex "
                  "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$");
    } else if (!is_new) {
      out.Duplicate(name_path, name);
    }
    std::string normal = NormalizedSysctl(name);
    normal.resize(std::min(normal.find('*'), normal.size()));
    if (spec.hostnetwork() && normal.starts_with("net.")) {
      out.Invalid(name_path, name, "may not be specified when 'hostNetwork' is true");
    } else if (spec.hostipc() && IsIpcSysctl(normal)) {
      out.Invalid(name_path, name, "may not be specified when 'hostIPC' is true");
    }
  }
}

void ValidateEscalation(const core::SecurityContext& context, const FieldPath& path,
                        FaultList& out) {
  if (!context.has_allowprivilegeescalation() || context.allowprivilegeescalation()) return;
  const FaultValue whole = FaultValue::Raw(ToInternalJson(context));
  if (context.privileged()) {
    out.Invalid(path, whole,
                "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
  }
  for (const std::string& capability : context.capabilities().add()) {
    if (capability != "CAP_SYS_ADMIN") continue;
    out.Invalid(path, whole,
                "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` "
                "CAP_SYS_ADMIN");
  }
}

}  // namespace

void ValidatePodSecurityContext(const core::PodSpec& spec, const FieldPath& path, FaultList& out) {
  const auto& context = spec.securitycontext();
  if (context.has_fsgroup()) {
    out.Invalid(path / "fsGroup", context.fsgroup(), CheckId(context.fsgroup()));
  }
  ValidateUserAndGroup(context, path, out);
  for (int i = 0; i < context.supplementalgroups_size(); ++i) {
    const int64_t group = context.supplementalgroups(i);
    out.Invalid((path / "supplementalGroups")[i], group, CheckId(group));
  }
  if (spec.shareprocessnamespace() && spec.hostpid()) {
    out.Invalid(path / "shareProcessNamespace", true,
                "ShareProcessNamespace and HostPID cannot both be enabled");
  }
  ValidateSysctls(spec, path / "sysctls", out);
  if (context.has_fsgroupchangepolicy()) {
    CheckSupported(path / "fsGroupChangePolicy", context.fsgroupchangepolicy(),
                   {"Always", "OnRootMismatch"}, out);
  }
  if (context.has_seccompprofile()) {
    ValidateSeccomp(context.seccompprofile(), path / "seccompProfile", out);
  }
  ValidateProfiles(context, path, out);
  if (context.has_supplementalgroupspolicy()) {
    CheckSupported(path / "supplementalGroupsPolicy", context.supplementalgroupspolicy(),
                   {"Merge", "Strict"}, out);
  }
  // The other one needs the gate SELinuxMount, which is off.
  if (context.has_selinuxchangepolicy()) {
    CheckSupported(path / "seLinuxChangePolicy", context.selinuxchangepolicy(), {"Recursive"}, out);
  }
}

void ValidateSecurityContext(const core::Container& container, const PodParts& parts,
                             const FieldPath& path, FaultList& out) {
  if (!container.has_securitycontext()) return;
  const auto& context = container.securitycontext();
  ValidateUserAndGroup(context, path, out);
  if (context.has_procmount()) {
    CheckSupported(path / "procMount", context.procmount(), {"Default", "Unmasked"}, out);
    if (parts.host_users() && context.procmount() == "Unmasked") {
      out.Invalid(path / "procMount", FaultValue::Named(context.procmount()),
                  "`hostUsers` must be false to use `Unmasked`");
    }
  }
  if (context.has_seccompprofile()) {
    ValidateSeccomp(context.seccompprofile(), path / "seccompProfile", out);
  }
  ValidateEscalation(context, path, out);
  ValidateProfiles(context, path, out);
}

void ValidateHostUsers(const PodParts& parts, const FieldPath& spec_path, FaultList& out) {
  if (parts.host_users()) return;
  const core::PodSpec& spec = parts.spec();
  constexpr std::string_view kDetail = "when `hostUsers` is false";
  if (spec.hostnetwork()) out.Forbidden(spec_path / "hostNetwork", kDetail);
  if (spec.hostpid()) out.Forbidden(spec_path / "HostPID", kDetail);
  if (spec.hostipc()) out.Forbidden(spec_path / "HostIPC", kDetail);
  ForEachContainer(spec, spec_path, [&](const core::Container& container, const FieldPath& path) {
    if (!container.volumedevices().empty()) out.Forbidden(path / "volumeDevices", kDetail);
  });
}

}  // namespace denselet::kube
