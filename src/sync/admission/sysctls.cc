#include "sync/admission/sysctls.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/quoted.h"
#include "kube/api/types.h"

namespace denselet::sync {
namespace {

struct SafeSysctl {
  const char* name;
  KernelVersion since;  // when it became one of the namespace's
};

constexpr size_t kNameBytesMax = 253;

constexpr std::array kSafe = {
    SafeSysctl{"kernel.shm_rmid_forced", {}},
    SafeSysctl{"net.ipv4.ip_local_port_range", {}},
    SafeSysctl{"net.ipv4.tcp_syncookies", {}},
    SafeSysctl{"net.ipv4.ping_group_range", {}},
    SafeSysctl{"net.ipv4.ip_unprivileged_port_start", {}},
    SafeSysctl{"net.ipv4.ip_local_reserved_ports", {3, 16}},
    SafeSysctl{"net.ipv4.tcp_keepalive_time", {4, 5}},
    SafeSysctl{"net.ipv4.tcp_fin_timeout", {4, 6}},
    SafeSysctl{"net.ipv4.tcp_keepalive_intvl", {4, 5}},
    SafeSysctl{"net.ipv4.tcp_keepalive_probes", {4, 5}},
    SafeSysctl{"net.ipv4.tcp_rmem", {4, 15}},
    SafeSysctl{"net.ipv4.tcp_wmem", {4, 15}},
};

constexpr std::array<std::string_view, 10> kIpcNames = {
    "kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced",
    "kernel.shm", "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg"};

// With a slash first, slashes part the name and dots belong to it.
std::string Normalized(std::string name) {
  const size_t first = name.find_first_of("./");
  if (first == name.npos || name[first] == '.') return name;
  for (char& c : name) c = c == '/' ? '.' : c == '.' ? '/' : c;
  return name;
}

}  // namespace

std::optional<KernelVersion> KernelVersion::Parse(std::string_view release) {
  KernelVersion version;
  const char* const end = release.data() + release.size();
  const auto [dot, error] = std::from_chars(release.data(), end, version.major);
  if (error != std::errc() || dot == end || *dot != '.') return std::nullopt;
  if (std::from_chars(dot + 1, end, version.minor).ec != std::errc()) return std::nullopt;
  return version;
}

SysctlAllowList::Space SysctlAllowList::SpaceOf(std::string_view name) {
  if (std::find(kIpcNames.begin(), kIpcNames.end(), name) != kIpcNames.end()) return Space::kIpc;
  if (name.starts_with("net.")) return Space::kNet;
  if (name.starts_with("fs.mqueue.")) return Space::kIpc;
  return Space::kNone;
}

Status SysctlAllowList::Allow(const std::string& pattern) {
  std::string name = Normalized(pattern);
  const size_t star = name.find('*');
  name.resize(std::min(star, name.size()));
  const Space space = SpaceOf(name);
  if (space == Space::kNone) {
    return Error(ErrorCode::kInvalid,
                 "the sysctls " + Quoted(name, kNameBytesMax) + " are not known to be namespaced");
  }
  (star == std::string::npos ? names_ : prefixes_)[name] = space;
  return Ok();
}

Result<SysctlAllowList> SysctlAllowList::Make(const std::vector<std::string>& patterns,
                                              const std::optional<KernelVersion>& kernel) {
  SysctlAllowList list;
  for (const SafeSysctl& safe : kSafe) {
    if (safe.since > kernel.value_or(KernelVersion())) continue;
    if (const Status allowed = list.Allow(safe.name); !allowed) return allowed.error();
  }
  for (const std::string& pattern : patterns) {
    if (const Status allowed = list.Allow(pattern); !allowed) return allowed.error();
  }
  return list;
}

std::optional<std::string> SysctlAllowList::RefuseOne(const std::string& name,
                                                      const kube::core::PodSpec& spec) const {
  const auto refuse = [&](Space space) -> std::optional<std::string> {
    if (space == Space::kIpc && spec.hostipc()) {
      return Quoted(name, kNameBytesMax) + " not allowed with host IPC enabled";
    }
    if (space == Space::kNet && spec.hostnetwork()) {
      return Quoted(name, kNameBytesMax) + " not allowed with host Net enabled";
    }
    return std::nullopt;
  };
  if (const auto found = names_.find(name); found != names_.end()) return refuse(found->second);
  for (const auto& [prefix, space] : prefixes_) {
    if (name.starts_with(prefix)) return refuse(space);
  }
  return Quoted(name, kNameBytesMax) + " not allowlisted";
}

std::optional<std::string> SysctlAllowList::Refuse(const kube::core::Pod& pod) const {
  const auto& context = pod.spec().securitycontext();
  for (int i = 0; i < context.sysctls_size(); ++i) {
    const auto refused = RefuseOne(Normalized(context.sysctls(i).name()), pod.spec());
    if (refused) return "forbidden sysctl: " + *refused;
  }
  return std::nullopt;
}

}  // namespace denselet::sync
