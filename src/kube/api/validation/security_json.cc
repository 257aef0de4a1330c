#include "kube/api/validation/security_json.h"

#include "kube/api/validation/fault_list.h"

namespace denselet::kube {
namespace {

std::string Text(bool set, const std::string& text) { return set ? GoJsonString(text) : "null"; }
std::string Bool(bool set, bool value) { return !set ? "null" : value ? "true" : "false"; }
std::string Number(bool set, int64_t value) { return set ? std::to_string(value) : "null"; }

template <class Names>
std::string List(const Names& names) {
  if (names.empty()) return "null";
  std::string json;
  for (const std::string& name : names)
    json.append(json.empty() ? "[" : ",").append(GoJsonString(name));
  return json + "]";
}

template <class Profile>
std::string ProfileJson(const Profile& profile) {
  return "{\"Type\":" + GoJsonString(profile.type()) + ",\"LocalhostProfile\":" +
         Text(profile.has_localhostprofile(), profile.localhostprofile()) + "}";
}

std::string Json(const core::Capabilities& capabilities) {
  return "{\"Add\":" + List(capabilities.add()) + ",\"Drop\":" + List(capabilities.drop()) + "}";
}

std::string Json(const core::SELinuxOptions& options) {
  return "{\"User\":" + GoJsonString(options.user()) + ",\"Role\":" + GoJsonString(options.role()) +
         ",\"Type\":" + GoJsonString(options.type()) +
         ",\"Level\":" + GoJsonString(options.level()) + "}";
}

std::string Json(const core::WindowsSecurityContextOptions& options) {
  return "{\"GMSACredentialSpecName\":" +
         Text(options.has_gmsacredentialspecname(), options.gmsacredentialspecname()) +
         ",\"GMSACredentialSpec\":" +
         Text(options.has_gmsacredentialspec(), options.gmsacredentialspec()) +
         ",\"RunAsUserName\":" + Text(options.has_runasusername(), options.runasusername()) +
         ",\"HostProcess\":" + Bool(options.has_hostprocess(), options.hostprocess()) + "}";
}

template <class Message>
std::string Struct(bool set, const Message& message) {
  return set ? Json(message) : "null";
}

}  // namespace

std::string ToInternalJson(const core::SeccompProfile& profile) { return ProfileJson(profile); }

std::string ToInternalJson(const core::SecurityContext& c) {
  return "{\"Capabilities\":" + Struct(c.has_capabilities(), c.capabilities()) +
         ",\"Privileged\":" + Bool(c.has_privileged(), c.privileged()) +
         ",\"SELinuxOptions\":" + Struct(c.has_selinuxoptions(), c.selinuxoptions()) +
         ",\"WindowsOptions\":" + Struct(c.has_windowsoptions(), c.windowsoptions()) +
         ",\"RunAsUser\":" + Number(c.has_runasuser(), c.runasuser()) +
         ",\"RunAsGroup\":" + Number(c.has_runasgroup(), c.runasgroup()) +
         ",\"RunAsNonRoot\":" + Bool(c.has_runasnonroot(), c.runasnonroot()) +
         ",\"ReadOnlyRootFilesystem\":" +
         Bool(c.has_readonlyrootfilesystem(), c.readonlyrootfilesystem()) +
         ",\"AllowPrivilegeEscalation\":" +
         Bool(c.has_allowprivilegeescalation(), c.allowprivilegeescalation()) +
         ",\"ProcMount\":" + Text(c.has_procmount(), c.procmount()) + ",\"SeccompProfile\":" +
         (c.has_seccompprofile() ? ProfileJson(c.seccompprofile()) : "null") +
         ",\"AppArmorProfile\":" +
         (c.has_apparmorprofile() ? ProfileJson(c.apparmorprofile()) : "null") + "}";
}

}  // namespace denselet::kube
