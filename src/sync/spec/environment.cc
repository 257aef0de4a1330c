#include "sync/spec/environment.h"

#include <optional>
#include <string_view>

#include "base/quoted.h"
#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "sync/spec/env_file.h"
#include "sync/spec/service_variables.h"
#include "sync/spec/variables.h"

namespace denselet::sync {
namespace {

namespace core = kube::core;

// Nothing: there is no such variable, which is fine.
using MaybeText = std::optional<std::string>;

std::string Joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ",") + text;
  return all;
}

class Builder {
 public:
  Builder(const core::Pod& pod, const core::Container& container, const EnvironmentFacts& facts)
      : pod_(pod), container_(container), facts_(facts) {}

  Result<KeyValues> Build() {
    if (!pod_.spec().has_enableservicelinks()) {
      return Error(ErrorCode::kInvalid,
                   "nil pod.spec.enableServiceLinks encountered, cannot construct envvars");
    }
    services_ = ServiceVariables(
        facts_.services, pod_.metadata().namespace_(),
        pod_.spec().enableservicelinks() ? ServiceLinks::kAll : ServiceLinks::kMastersOnly);
    for (const core::EnvFromSource& from : container_.envfrom()) {
      if (const Status added = AddAll(from); !added) return added.error();
    }
    for (const core::EnvVar& variable : container_.env()) {
      Result<MaybeText> value = ValueOf(variable);
      if (!value) return value.error();
      // A variable sees those before it.
      if (*value) PutValue(variables_, variable.name(), *std::move(*value));
    }
    for (auto& [name, value] : services_) {
      if (FindValue(variables_, name) == nullptr) PutValue(variables_, name, std::move(value));
    }
    return std::move(variables_);
  }

 private:
  Status AddAll(const core::EnvFromSource& from) {
    if (from.has_configmapref()) {
      const auto& ref = from.configmapref();
      return AddObject<core::ConfigMap>(ObjectKind::kConfigMap, ref.localobjectreference().name(),
                                        ref.optional(), from.prefix());
    }
    if (!from.has_secretref()) return Ok();
    const auto& ref = from.secretref();
    return AddObject<core::Secret>(ObjectKind::kSecret, ref.localobjectreference().name(),
                                   ref.optional(), from.prefix());
  }

  template <class Object>
  Status AddObject(ObjectKind kind, const std::string& name, bool optional,
                   const std::string& prefix) {
    const Result<std::optional<Object>> object = Read<Object>(kind, name, optional);
    if (!object) return object.error();
    if (!*object) return Ok();
    for (const auto* entry : kube::Sorted((*object)->data())) {
      PutValue(variables_, prefix + entry->first, entry->second);
    }
    return Ok();
  }

  template <class Object>
  Result<std::optional<Object>> Read(ObjectKind kind, const std::string& name, bool optional) {
    const auto found = facts_.objects.find({kind, {pod_.metadata().namespace_(), name}});
    ENSURE(found != facts_.objects.end(), "an object that nobody asked for");
    const Result<ObjectBytes>& bytes = found->second;
    if (!bytes && optional && bytes.error().code() == ErrorCode::kNotFound) return {std::nullopt};
    if (!bytes) return bytes.error();
    Object object;
    if (!object.ParseFromString(**bytes)) {
      return Error(ErrorCode::kCorrupt, "an object of the API server cannot be read")
          .With(Quoted(name, kShownMax));
    }
    return std::optional<Object>(std::move(object));
  }

  Result<MaybeText> ValueOf(const core::EnvVar& variable) {
    if (!variable.value().empty()) {
      return MaybeText(ExpandVariables(variable.value(), variables_, services_));
    }
    const core::EnvVarSource& from = variable.valuefrom();
    if (from.has_fieldref()) return Some(FieldOf(from.fieldref()));
    if (from.has_resourcefieldref()) {
      return Some(kube::ResourceField(pod_, from.resourcefieldref(), container_.name(),
                                      facts_.allocatable));
    }
    if (from.has_configmapkeyref()) {
      const auto& ref = from.configmapkeyref();
      return KeyOf<core::ConfigMap>(ObjectKind::kConfigMap, "ConfigMap",
                                    ref.localobjectreference().name(), ref.key(), ref.optional());
    }
    if (from.has_secretkeyref()) {
      const auto& ref = from.secretkeyref();
      return KeyOf<core::Secret>(ObjectKind::kSecret, "Secret", ref.localobjectreference().name(),
                                 ref.key(), ref.optional());
    }
    if (from.has_filekeyref()) return FileKeyOf(from.filekeyref());
    return MaybeText(std::string());
  }

  static Result<MaybeText> Some(Result<std::string> text) {
    if (!text) return text.error();
    return MaybeText(*std::move(text));
  }

  Result<std::string> FieldOf(const core::ObjectFieldSelector& selector) {
    const std::string& path = selector.fieldpath();
    if (path == "spec.nodeName" || path == "spec.host") return pod_.spec().nodename();
    if (path == "spec.serviceAccountName") return pod_.spec().serviceaccountname();
    if (path == "status.podIP") return facts_.pod_ips.empty() ? "" : facts_.pod_ips.front();
    if (path == "status.podIPs") return Joined(facts_.pod_ips);
    if (path != "status.hostIP" && path != "status.hostIPs") return kube::PodField(pod_, path);
    if (facts_.host_ips.empty()) {
      return Error(ErrorCode::kUnavailable, "the node's addresses are not known yet");
    }
    return path == "status.hostIP" ? facts_.host_ips.front() : Joined(facts_.host_ips);
  }

  template <class Object>
  Result<MaybeText> KeyOf(ObjectKind kind, const char* kind_name, const std::string& name,
                          const std::string& key, bool optional) {
    const Result<std::optional<Object>> object = Read<Object>(kind, name, optional);
    if (!object) return object.error();
    if (!*object) return MaybeText();
    const auto found = (*object)->data().find(key);
    if (found != (*object)->data().end()) return MaybeText(found->second);
    if (optional) return MaybeText();
    return Error(ErrorCode::kNotFound, "couldn't find key " + key + " in " + kind_name + " " +
                                           pod_.metadata().namespace_() + "/" + name);
  }

  Result<MaybeText> FileKeyOf(const core::FileKeySelector& selector) {
    const auto found = facts_.files.find({selector.volumename(), selector.path()});
    ENSURE(found != facts_.files.end(), "a file that nobody asked for");
    const Result<std::string> value = found->second ? ValueInEnvFile(*found->second, selector.key())
                                                    : Result<std::string>(found->second.error());
    // What exactly is wrong with it is not for everybody to read.
    if (!value) return Error(value.error().code(), "couldn't parse env file");
    if (!value->empty()) return MaybeText(*value);
    if (selector.optional()) return MaybeText();
    const std::string path = facts_.pod_folder + "/volumes/kubernetes.io~empty-dir/" +
                             selector.volumename() + "/" + selector.path();
    return Error(ErrorCode::kNotFound, "environment variable key " + GoQuoted(selector.key()) +
                                           " not found in file " + GoQuoted(path));
  }

  static constexpr size_t kShownMax = 256;  // bytes of a name in a message

  const core::Pod& pod_;
  const core::Container& container_;
  const EnvironmentFacts& facts_;
  KeyValues variables_;
  KeyValues services_;
};

}  // namespace

EnvironmentNeeds NeedsOf(const core::Pod& pod, const core::Container& container) {
  EnvironmentNeeds needs;
  const auto want = [&](ObjectKind kind, const std::string& name) {
    needs.objects.insert({kind, {pod.metadata().namespace_(), name}});
  };
  for (const core::EnvFromSource& from : container.envfrom()) {
    if (from.has_configmapref()) {
      want(ObjectKind::kConfigMap, from.configmapref().localobjectreference().name());
    } else if (from.has_secretref()) {
      want(ObjectKind::kSecret, from.secretref().localobjectreference().name());
    }
  }
  for (const core::EnvVar& variable : container.env()) {
    if (!variable.value().empty()) continue;
    const core::EnvVarSource& from = variable.valuefrom();
    if (from.has_fieldref() || from.has_resourcefieldref()) continue;
    if (from.has_configmapkeyref()) {
      want(ObjectKind::kConfigMap, from.configmapkeyref().localobjectreference().name());
    } else if (from.has_secretkeyref()) {
      want(ObjectKind::kSecret, from.secretkeyref().localobjectreference().name());
    } else if (from.has_filekeyref()) {
      needs.files.insert({from.filekeyref().volumename(), from.filekeyref().path()});
    }
  }
  return needs;
}

Result<KeyValues> MakeEnvironment(const core::Pod& pod, const core::Container& container,
                                  const EnvironmentFacts& facts) {
  return Builder(pod, container, facts).Build();
}

}  // namespace denselet::sync
