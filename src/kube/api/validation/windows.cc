#include "kube/api/validation/windows.h"

#include <algorithm>

namespace denselet::kube {
namespace {

constexpr size_t kCredentialSizeMax = 64 * 1024;
constexpr size_t kDomainSizeLimit = 256;
constexpr size_t kUserSizeMax = 104;

bool IsNetBiosName(std::string_view name) {
  constexpr size_t kSizeMax = 15;
  return !name.empty() && name.size() <= kSizeMax && name.front() != '.' &&
         name.find_first_of("\\/:*?\"<>|") == name.npos;
}

bool IsDnsName(std::string_view name) {
  constexpr size_t kLabelSizeMax = 63;
  return std::ranges::all_of(Split(name, '.'), [](std::string_view label) {
    return label.size() <= kLabelSizeMax && IsDns1123Label(ToLower(label));
  });
}

void ValidateUserParts(const std::string& name, const FieldPath& path, FaultList& out) {
  const auto refuse = [&](const char* detail) {
    out.Invalid(path, FaultValue::Named(name), detail);
  };
  const auto parts = Split(name, '\\');
  if (parts.size() > 2) return refuse("runAsUserName cannot contain more than one backslash");
  const std::string_view user = parts.back();
  const std::string_view domain = parts.size() == 2 ? parts[0] : "";
  if (domain.size() >= kDomainSizeLimit) {
    refuse("runAsUserName's Domain length must be under 256 characters");
  }
  if (parts.size() == 2 && !IsNetBiosName(domain) && !IsDnsName(domain)) {
    refuse("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  }
  if (user.empty()) refuse("runAsUserName's User cannot be empty");
  if (user.size() > kUserSizeMax) {
    refuse("runAsUserName's User length must not be longer than 104 characters");
  }
  if (!user.empty() && user.find_first_not_of(". ") == user.npos) {
    refuse("runAsUserName's User cannot contain only periods or spaces");
  }
  if (user.find_first_of("\"/\\:;|=,+*?<>@[]") != user.npos) {
    refuse("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
  }
}

void ValidateUserName(const std::string& name, const FieldPath& path, FaultList& out) {
  if (name.empty()) {
    return out.Invalid(path, FaultValue::Named(name), "runAsUserName cannot be an empty string");
  }
  const auto control = [](char c) { return (c >= 0 && c < ' ') || c == 0x7f; };
  if (std::ranges::any_of(name, control)) {
    return out.Invalid(path, FaultValue::Named(name),
                       "runAsUserName cannot contain control characters");
  }
  ValidateUserParts(name, path, out);
}

void ForbidWindowsOptions(const core::PodSpec& spec, const FieldPath& spec_path, FaultList& out) {
  constexpr std::string_view kDetail = "windows options cannot be set for a linux pod";
  if (spec.securitycontext().has_windowsoptions()) {
    out.Forbidden(spec_path / "securityContext" / "windowsOptions", kDetail);
  }
  ForEachContainer(spec, spec_path, [&](const core::Container& container, const FieldPath& path) {
    if (!container.securitycontext().has_windowsoptions()) return;
    out.Forbidden(path / "securityContext" / "windowsOptions", kDetail);
  });
}

void ForbidOnWindows(const FieldPath& path, bool set, FaultList& out) {
  if (set) out.Forbidden(path, "cannot be set for a windows pod");
}

void ForbidPodFields(const core::PodSpec& spec, const FieldPath& path, FaultList& out) {
  const auto& context = spec.securitycontext();
  const FieldPath inner = path / "securityContext";
  ForbidOnWindows(inner / "appArmorProfile", context.has_apparmorprofile(), out);
  ForbidOnWindows(inner / "seLinuxOptions", context.has_selinuxoptions(), out);
  ForbidOnWindows(path / "hostUsers", spec.has_hostusers(), out);
  ForbidOnWindows(path / "hostPID", spec.hostpid(), out);
  ForbidOnWindows(path / "hostIPC", spec.hostipc(), out);
  ForbidOnWindows(inner / "seccompProfile", context.has_seccompprofile(), out);
  ForbidOnWindows(inner / "fsGroup", context.has_fsgroup(), out);
  ForbidOnWindows(inner / "fsGroupChangePolicy", context.has_fsgroupchangepolicy(), out);
  ForbidOnWindows(inner / "sysctls", !context.sysctls().empty(), out);
  ForbidOnWindows(path / "shareProcessNamespace", spec.has_shareprocessnamespace(), out);
  ForbidOnWindows(inner / "runAsUser", context.has_runasuser(), out);
  ForbidOnWindows(inner / "runAsGroup", context.has_runasgroup(), out);
  ForbidOnWindows(inner / "supplementalGroups", !context.supplementalgroups().empty(), out);
  ForbidOnWindows(inner / "supplementalGroupsPolicy", context.has_supplementalgroupspolicy(), out);
  ForbidOnWindows(inner / "seLinuxChangePolicy", context.has_selinuxchangepolicy(), out);
}

void ForbidContainerFields(const core::Container& container, const FieldPath& path,
                           FaultList& out) {
  const auto& context = container.securitycontext();
  ForbidOnWindows(path / "appArmorProfile", context.has_apparmorprofile(), out);
  ForbidOnWindows(path / "seLinuxOptions", context.has_selinuxoptions(), out);
  ForbidOnWindows(path / "seccompProfile", context.has_seccompprofile(), out);
  ForbidOnWindows(path / "capabilities", context.has_capabilities(), out);
  ForbidOnWindows(path / "readOnlyRootFilesystem", context.has_readonlyrootfilesystem(), out);
  ForbidOnWindows(path / "privileged", context.has_privileged(), out);
  ForbidOnWindows(path / "allowPrivilegeEscalation", context.has_allowprivilegeescalation(), out);
  ForbidOnWindows(path / "procMount", context.has_procmount(), out);
  ForbidOnWindows(path / "runAsUser", context.has_runasuser(), out);
  ForbidOnWindows(path / "runAsGroup", context.has_runasgroup(), out);
}

}  // namespace

void ValidateWindowsOptions(const core::WindowsSecurityContextOptions& options,
                            const FieldPath& path, FaultList& out) {
  if (options.has_gmsacredentialspecname()) {
    const std::string& name = options.gmsacredentialspecname();
    out.Invalid(path / "gmsaCredentialSpecName", FaultValue::Named(name),
                CheckDns1123Subdomain(name));
  }
  if (options.has_gmsacredentialspec()) {
    const std::string& text = options.gmsacredentialspec();
    const FaultValue value = FaultValue::Named(text);
    if (text.empty()) {
      out.Invalid(path / "gmsaCredentialSpec", value,
                  "gmsaCredentialSpec cannot be an empty string");
    } else if (text.size() > kCredentialSizeMax) {
      out.Invalid(path / "gmsaCredentialSpec", value,
                  "gmsaCredentialSpec size must be under 64 KiB");
    }
  }
  if (options.has_runasusername()) {
    ValidateUserName(options.runasusername(), path / "runAsUserName", out);
  }
}

void ValidateHostProcess(const core::PodSpec& spec, const FieldPath& spec_path, FaultList& out) {
  const auto& pod = spec.securitycontext().windowsoptions();
  int containers = 0;
  int host_process = 0;
  ForEachContainer(spec, spec_path, [&](const core::Container& container, const FieldPath& path) {
    ++containers;
    const auto& own = container.securitycontext().windowsoptions();
    if (pod.has_hostprocess() && own.has_hostprocess() && pod.hostprocess() != own.hostprocess()) {
      out.Invalid(
          path / "securityContext" / "windowsOptions" / "hostProcess", own.hostprocess(),
          std::string("pod hostProcess value must be identical if both are specified, was ") +
              (pod.hostprocess() ? "true" : "false"));
    }
    if (own.has_hostprocess() ? own.hostprocess() : pod.hostprocess()) ++host_process;
  });
  if (host_process == 0) return;
  if (host_process != containers) {
    out.Invalid(
        spec_path, "",
        "If pod contains any hostProcess containers then all containers must be HostProcess "
        "containers");
  }
  if (!spec.hostnetwork()) {
    out.Invalid(spec_path / "hostNetwork", false,
                "hostNetwork must be true if pod contains any hostProcess containers");
  }
}

void ValidateOs(const core::PodSpec& spec, const FieldPath& spec_path, FaultList& out) {
  if (!spec.has_os()) return;
  const std::string& name = spec.os().name();
  if (name.empty()) return out.Required(spec_path / "os" / "name");
  if (!CheckSupported(spec_path / "os", name, {"linux", "windows"}, out)) return;
  if (name == "linux") return ForbidWindowsOptions(spec, spec_path, out);
  ForbidPodFields(spec, spec_path, out);
  ForEachContainer(spec, spec_path, [&](const core::Container& container, const FieldPath& path) {
    if (container.has_securitycontext()) {
      ForbidContainerFields(container, path / "securityContext", out);
    }
  });
}

}  // namespace denselet::kube
