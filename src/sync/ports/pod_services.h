// What others do for a pod while its worker brings it up and takes it down: cgroup, directories and
// volumes, images, hooks, the specifications of its objects. Each is its own small machine behind
// one of these ports, not a stage of the worker.
//
// One instance a shard. Every answer comes once, in a later turn, also after the context's cancel;
// each is bounded by the context's deadline. Who implements a port tries nothing again: the worker
// asks again when it is time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/context.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "kube/api/pod/pod_at_rest.h"
#include "reactor/api/file_system.h"
#include "sync/ports/events.h"
#include "sync/ports/image_service.h"
#include "sync/ports/observed_pod.h"
#include "sync/ports/pod_objects.h"
#include "sync/ports/pull_policy.h"
#include "sync/ports/runtime_spec.h"

namespace denselet::sync {

// Cgroup, data and log directories, volumes. Everything is asked for again after a restart of the
// agent, and then finds most of it done.
struct PreparedPod {
  // By container: one more than the highest N of <container>/N.log in the pod's log directory.
  std::vector<std::pair<std::string, uint32_t>> logged_attempts = {};
};

// A volume that a pod cannot have now; why is told to people as it is.
struct VolumeFault {
  std::string volume = {};
  Error why;
};

// What became of a pod's volumes. Nothing is missing: its containers may be made.
struct MountedVolumes {
  std::vector<VolumeFault> missing = {};
};

// One instance of a container, whose log is <container>/<attempt>.log of its pod.
struct LoggedContainer {
  std::string name = {};
  uint32_t attempt = 0;
  ContainerId id = {};
};

class PodResources {
 public:
  virtual ~PodResources() = default;
  virtual void Prepare(const Context&, const kube::PodRef&, reactor::Done<PreparedPod>) = 0;
  // An error is of all volumes at once: nobody knows what became of them.
  virtual void Mount(const Context&, const kube::PodRef&, reactor::Done<MountedVolumes>) = 0;
  // The pod, whose Mount was asked for, has a newer form.
  virtual void Changed(const kube::PodRef&) {}
  // All of it is given back. Of a pod that nobody wants any more there is the identity only.
  virtual void Release(const Context&, const PodIdentity&, reactor::Done<Unit>) = 0;
  // Who collects logs is to find the log of this container, which was started; and no more, when it
  // is removed before its log. Nothing waits for either.
  virtual void LinkLog(const PodIdentity&, const LoggedContainer&) {}
  virtual void UnlinkLog(const PodIdentity&, const LoggedContainer&) {}
  // What one instance of a container wrote, rotated parts too. What is not there is fine.
  virtual void RemoveContainerLogs(const Context&, const PodIdentity&, const LoggedContainer&,
                                   reactor::Done<Unit>) = 0;
  // All that its containers wrote, and the places for it.
  virtual void RemoveLogs(const Context&, const PodIdentity&, reactor::Done<Unit>) = 0;
};

// Pods that there is something of on the disk, whether anybody knows them or not. One instance, on
// the home shard. A pod of which only data is left has no name there.
class PodLeftovers {
 public:
  virtual ~PodLeftovers() = default;
  virtual void Find(const Context&, reactor::Done<std::vector<PodIdentity>>) = 0;
  // Links to logs that are gone go, too: how many did.
  virtual void RemoveDeadLinks(const Context&, reactor::Done<size_t>) = 0;
};

struct ImageWish {
  PodIdentity pod = {};
  std::string container = {};
  EventObject told_of = {};
  std::string image = {};
  PullPolicy policy = PullPolicy::kIfNotPresent;
  SandboxSpec sandbox = {};
  // Tried one after the other until one will do; none: it is tried without.
  std::vector<ImageCredentials> credentials = {};
  // Why nobody knows whether there are some: then nothing is pulled.
  std::string credentials_fault = {};
};

struct ImageOutcome {
  std::string image_ref = {};  // empty: there is none
  // The user that the image names, by number or by name; one that names none is root's.
  std::optional<int64_t> image_uid = {};
  std::string image_username = {};
  // Of a failure: ErrImagePull, ImagePullBackOff, ..., as a container's status tells it.
  std::string reason = {};
  std::string message = {};     // of a success: where the image comes from
  std::string pull_error = {};  // of a pull that failed, as events tell it
  Duration retry_in = {};
};

class PodImages {
 public:
  virtual ~PodImages() = default;
  virtual void Ensure(const Context&, ImageWish, UniqueFunction<void(ImageOutcome)>) = 0;
  // The pod is gone: so is its back-off.
  virtual void Forget(const PodUid&) = 0;
};

enum class HookKind : uint8_t { kPostStart, kPreStop };

struct HookOutcome {
  // The host and port of a hook over https that was answered in plain HTTP; empty: none was.
  std::string answered_without_tls = {};
};

// exec, httpGet and sleep, as the pod's container has them.
class PodHooks {
 public:
  virtual ~PodHooks() = default;
  virtual void Run(const Context&, HookKind, const kube::PodRef&, const std::string& container,
                   const ContainerId&, const std::vector<std::string>& pod_ips,
                   reactor::Done<HookOutcome>) = 0;
};

struct ContainerWish {
  std::string name = {};
  uint32_t attempt = 0;
  std::string image_ref = {};
  std::optional<int64_t> image_uid = {};
  std::string image_username = {};
  std::vector<std::string> pod_ips = {};
  ContainerId pid_target = {};
  // Of the image volumes that it mounts: name of the volume, reference of the image.
  std::vector<std::pair<std::string, std::string>> image_volumes = {};
};

// The secrets that a pod's images are pulled with.
struct PullSecrets {
  std::vector<ObjectBytes> secrets = {};
  std::vector<std::string> missing = {};  // or not to be had now, by name
};

// Something about a pod's specification that its makers should know: a warning of the pod, or of
// its node.
struct PodNote {
  enum class Of : bool { kPod, kNode };
  std::string reason = {};
  std::string message = {};
  Of of = Of::kPod;
  friend bool operator==(const PodNote&, const PodNote&) = default;
};

// A sandbox's is pure work over the pod and what its shard knows of the node. A container's gathers
// what the pod refers to (environment, mounts), and is asked for before each creation. kNotFound,
// kInvalid: something of that is missing or wrong; it stays so until somebody mends it. The message
// of an error is told to people as it is.
class PodSpecs {
 public:
  virtual ~PodSpecs() = default;
  virtual Result<SandboxSpec> Sandbox(const kube::PodRef&, uint32_t attempt) = 0;
  // Of the sandbox; told when it is made.
  virtual std::vector<PodNote> Notes(const kube::PodRef&) { return {}; }
  virtual void Container(const Context&, const kube::PodRef&, const ContainerWish&,
                         reactor::Done<ContainerSpec>) = 0;
  virtual PullPolicy Policy(const kube::PodRef&, const std::string& container) = 0;
  // By name, in the pod's namespace.
  virtual void FetchPullSecrets(const Context&, const std::string& ns,
                                const std::vector<std::string>& names,
                                UniqueFunction<void(PullSecrets)>) = 0;
};

}  // namespace denselet::sync
