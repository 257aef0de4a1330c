// The volumes of pods while they are brought up and taken down. managers/volume implements it; who
// makes and removes the pods' directories asks.
//
// One instance a shard. Every answer comes once, in a later turn, also after the context's cancel.
#pragma once

#include <string>

#include "base/context.h"
#include "base/ids.h"
#include "base/result.h"
#include "kube/api/pod/pod_at_rest.h"
#include "reactor/api/file_system.h"
#include "sync/ports/pod_services.h"

namespace denselet::sync {

// Told on the pod's shard, in a later turn than any call.
class PodMountsUser {
 public:
  // A mounted volume cannot follow what it is made of; it keeps the files that it has. Told when
  // that begins, when the cause is another one, and now and then while it lasts.
  virtual void OnVolumeNotRenewed(const PodUid& pod, const VolumeFault& fault) = 0;
  // It follows again.
  virtual void OnVolumeRenewed(const PodUid& pod, const std::string& volume) = 0;

 protected:
  ~PodMountsUser() = default;
};

class PodMounts {
 public:
  virtual ~PodMounts() = default;
  // All volumes of the pod, which has its directories. What is mounted already is found so. From
  // then on volumes follow what they are made of, until Unmount. One that cannot be mounted keeps
  // no other from it.
  virtual void Mount(const Context&, const kube::PodRef&, reactor::Done<MountedVolumes>) = 0;
  // The pod has a newer form.
  virtual void Changed(const kube::PodRef&) = 0;
  // Nothing of the pod's volumes is left: no mount, no file of ours. Also of pods that nobody here
  // has mounted. Asked again, it goes on.
  virtual void Unmount(const Context&, const PodUid&, reactor::Done<Unit>) = 0;
};

}  // namespace denselet::sync
