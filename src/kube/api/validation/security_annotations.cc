#include <optional>

#include "kube/api/codec/sorted.h"
#include "kube/api/validation/paths.h"
#include "kube/api/validation/security.h"

namespace denselet::kube {
namespace {

constexpr std::string_view kSeccompPod = "seccomp.security.alpha.kubernetes.io/pod";
constexpr std::string_view kSeccompContainer = "container.seccomp.security.alpha.kubernetes.io/";
constexpr std::string_view kAppArmorContainer = "container.apparmor.security.beta.kubernetes.io/";
constexpr std::string_view kLocalhost = "localhost/";

void ValidateSeccompText(const std::string& profile, const FieldPath& path, FaultList& out) {
  if (IsOneOf(profile, {"runtime/default", "docker/default", "unconfined"})) return;
  if (!profile.starts_with(kLocalhost)) {
    return out.Invalid(path, profile, "must be a valid seccomp profile");
  }
  ValidateDescendingPath(profile.substr(kLocalhost.size()), path, out);
}

bool HasContainer(const core::PodSpec& spec, std::string_view name) {
  bool found = false;
  ForEachContainer(spec, FieldPath("spec"),
                   [&](const core::Container& container, const FieldPath&) {
                     found = found || container.name() == name;
                   });
  return found;
}

void ValidateAppArmorText(const core::Pod& pod, const std::string& key, const std::string& profile,
                          const FieldPath& path, FaultList& out) {
  const std::string container = key.substr(kAppArmorContainer.size());
  if (!HasContainer(pod.spec(), container)) {
    out.Invalid(path.Key(key), container, "container not found");
  }
  if (profile.empty() || IsOneOf(profile, {"runtime/default", "unconfined"}) ||
      profile.starts_with(kLocalhost)) {
    return;
  }
  out.Invalid(path.Key(key), profile,
              "invalid AppArmor profile name: " + FaultValue(profile).text());
}

std::optional<std::string> Find(const core::Pod& pod, const std::string& key) {
  const auto& annotations = pod.metadata().annotations();
  const auto annotation = annotations.find(key);
  if (annotation == annotations.end()) return std::nullopt;
  return annotation->second;
}

// `kind`: "seccomp" or "apparmor".
template <class Profile>
void CheckMatch(const std::string& annotation, const Profile& profile, bool is_default,
                const std::string& kind, const FieldPath& path, FaultList& out) {
  const auto differs = [&](std::string_view field, const std::string& what) {
    out.Forbidden(path / field, kind + " " + what + " in annotation and field must match");
  };
  if (profile.type() == "Unconfined" && annotation != "unconfined") differs("type", "type");
  if (profile.type() == "RuntimeDefault" && !is_default) differs("type", "type");
  if (profile.type() != "Localhost") return;
  if (!annotation.starts_with(kLocalhost)) {
    differs("type", "type");
  } else if (!profile.has_localhostprofile() ||
             annotation.substr(kLocalhost.size()) != profile.localhostprofile()) {
    differs("localhostProfile", "profile");
  }
}

void CheckSeccompMatch(const core::Pod& pod, const std::string& key,
                       const core::SeccompProfile& profile, const FieldPath& path, FaultList& out) {
  const auto annotation = Find(pod, key);
  if (!annotation) return;
  const bool is_default = IsOneOf(*annotation, {"runtime/default", "docker/default"});
  CheckMatch(*annotation, profile, is_default, "seccomp", path / "seccompProfile", out);
}

void CheckSeccompMatches(const core::Pod& pod, const FieldPath& spec_path, FaultList& out) {
  const auto& context = pod.spec().securitycontext();
  if (context.has_seccompprofile()) {
    CheckSeccompMatch(pod, std::string(kSeccompPod), context.seccompprofile(),
                      spec_path / "securityContext", out);
  }
  ForEachContainer(pod.spec(), spec_path, [&](const core::Container& c, const FieldPath& path) {
    if (!c.securitycontext().has_seccompprofile()) return;
    CheckSeccompMatch(pod, std::string(kSeccompContainer).append(c.name()),
                      c.securitycontext().seccompprofile(), path / "securityContext", out);
  });
}

void CheckAppArmorMatches(const core::Pod& pod, const FieldPath& spec_path, FaultList& out) {
  if (pod.spec().os().name() == "windows") return;
  ForEachContainer(pod.spec(), spec_path, [&](const core::Container& c, const FieldPath& path) {
    const bool own = c.securitycontext().has_apparmorprofile();
    if (!own && !pod.spec().securitycontext().has_apparmorprofile()) return;
    const auto& profile = own ? c.securitycontext().apparmorprofile()
                              : pod.spec().securitycontext().apparmorprofile();
    const auto annotation = Find(pod, std::string(kAppArmorContainer).append(c.name()));
    if (!annotation) return;
    CheckMatch(*annotation, profile, *annotation == "runtime/default", "apparmor",
               path / "securityContext" / "appArmorProfile", out);
  });
}

}  // namespace

void ValidateSecurityAnnotations(const core::Pod& pod, const FieldPath& path, FaultList& out) {
  if (const auto profile = Find(pod, std::string(kSeccompPod))) {
    ValidateSeccompText(*profile, path / kSeccompPod, out);
  }
  const auto sorted = Sorted(pod.metadata().annotations());
  for (const auto* annotation : sorted) {
    if (!annotation->first.starts_with(kSeccompContainer)) continue;
    ValidateSeccompText(annotation->second, path / annotation->first, out);
  }
  for (const auto* annotation : sorted) {
    if (!annotation->first.starts_with(kAppArmorContainer)) continue;
    ValidateAppArmorText(pod, annotation->first, annotation->second, path, out);
  }
}

void ValidateSecurityAnnotationsMatch(const core::Pod& pod, const FieldPath& spec_path,
                                      FaultList& out) {
  CheckSeccompMatches(pod, spec_path, out);
  CheckAppArmorMatches(pod, spec_path, out);
}

}  // namespace denselet::kube
