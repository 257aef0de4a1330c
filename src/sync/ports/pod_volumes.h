// What a container sees of its pod's volumes. managers/volume implements it; who builds the
// specification of a container asks, when the volumes of the pod are mounted.
//
// One instance a shard. Every answer comes once, in a later turn, also after the context's cancel;
// each is bounded by the context's deadline. Nothing is tried again: the pod's worker asks again.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/result.h"
#include "kube/api/pod/pod_at_rest.h"
#include "reactor/api/file_system.h"
#include "sync/ports/pod_services.h"
#include "sync/ports/runtime_spec.h"

namespace denselet::sync {

class PodVolumes {
 public:
  virtual ~PodVolumes() = default;

  // The mounts of the container's volumeMounts, in their order, with what a subPath needs made.
  // `env` is the container's environment, sorted by name: $(NAME) in a subPathExpr is resolved by
  // it. Devices, id mappings of a user namespace, /etc/hosts and the file of the termination
  // message are not its business.
  virtual void MountsOf(const Context&, const kube::PodRef&, const ContainerWish&,
                        const KeyValues& env, reactor::Done<std::vector<MountSpec>>) = 0;

  // A file of one of the pod's volumes (an emptyDir, for a fileKeyRef), never what lies outside of
  // it. kNotFound: there is no such file; kOverloaded: it has more bytes than that.
  virtual void ReadFile(const Context&, const kube::PodRef&, const std::string& volume,
                        const std::string& path, size_t bytes_max, reactor::Done<std::string>) = 0;
};

}  // namespace denselet::sync
