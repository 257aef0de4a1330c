#include "sync/spec/pod_specs.h"

#include <memory>
#include <optional>
#include <string_view>

#include "base/quoted.h"
#include "kube/api/types.h"
#include "sync/spec/container_spec.h"
#include "sync/spec/environment.h"
#include "sync/spec/sandbox_spec.h"
#include "sync/spec/unsupported_fields.h"

namespace denselet::sync {
namespace {

constexpr size_t kShownMax = 256;  // bytes of a name in a message

namespace core = kube::core;

// An ephemeral container in the form of a container: upstream gives the fields of the one the
// numbers of the other, and a test holds it to that.
std::optional<core::Container> FromEphemeral(const core::EphemeralContainer& ephemeral) {
  core::Container container;
  if (!container.ParseFromString(ephemeral.ephemeralcontainercommon().SerializeAsString())) {
    return std::nullopt;
  }
  return container;
}

std::optional<core::Container> FindContainer(const core::Pod& pod, std::string_view name) {
  for (const auto& container : pod.spec().initcontainers()) {
    if (container.name() == name) return container;
  }
  for (const auto& container : pod.spec().containers()) {
    if (container.name() == name) return container;
  }
  for (const auto& ephemeral : pod.spec().ephemeralcontainers()) {
    if (ephemeral.ephemeralcontainercommon().name() == name) return FromEphemeral(ephemeral);
  }
  return std::nullopt;
}

}  // namespace

SpecPod PodSpecBuilder::PodFacts() const {
  SpecPod facts;
  facts.cgroup_parent = node_.cgroup_root;
  return facts;
}

Result<SandboxSpec> PodSpecBuilder::Sandbox(const kube::PodRef& pod, uint32_t attempt) {
  const Result<std::unique_ptr<core::Pod>> parsed = pod->Parse();
  if (!parsed) return parsed.error();
  if (const Status supported = CheckSupported(**parsed); !supported) return supported.error();
  return MakeSandboxSpec(**parsed, attempt, node_, PodFacts());
}

Result<ContainerSpec> PodSpecBuilder::Container(const kube::PodRef& pod,
                                                const ContainerWish& wish) {
  const Result<std::unique_ptr<core::Pod>> parsed = pod->Parse();
  if (!parsed) return parsed.error();
  if (const Status supported = CheckSupported(**parsed); !supported) return supported.error();
  const std::optional<core::Container> container = FindContainer(**parsed, wish.name);
  if (!container) {
    return Error(ErrorCode::kNotFound, "the pod has no such container")
        .With("container " + Quoted(wish.name, kShownMax));
  }
  Result<KeyValues> env = EnvironmentOf(*container);
  if (!env) return env.error();
  SpecContainer facts;
  facts.attempt = wish.attempt;
  facts.image_ref = wish.image_ref;
  facts.image_uid = wish.image_uid;
  facts.image_username = wish.image_username;
  facts.pid_target = wish.pid_target;
  facts.env = *std::move(env);
  return MakeContainerSpec(**parsed, *container, node_, PodFacts(), facts);
}

// The API server and the pod sources have filled it in; what is left is what both would say.
PullPolicy PodSpecBuilder::Policy(const kube::PodRef& pod, const std::string& container) {
  const Result<std::unique_ptr<core::Pod>> parsed = pod->Parse();
  if (!parsed) return PullPolicy::kIfNotPresent;
  const std::optional<core::Container> found = FindContainer(**parsed, container);
  if (!found) return PullPolicy::kIfNotPresent;
  if (found->imagepullpolicy() == "Always") return PullPolicy::kAlways;
  if (found->imagepullpolicy() == "Never") return PullPolicy::kNever;
  return PullPolicy::kIfNotPresent;
}

}  // namespace denselet::sync
