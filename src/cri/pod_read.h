// Everything about one pod, or one container: found by a list with a filter, then asked for one by
// one, side by side. What goes away meanwhile is left out.
//
// On one shard; the answers are read on gRPC's threads.
#pragma once

#include "base/context.h"
#include "base/ids.h"
#include "reactor/api/file_system.h"
#include "rpc/client.h"
#include "sync/ports/observed_pod.h"

namespace denselet::cri {

// Questions about single objects of one pod that are under way at once.
inline constexpr size_t kStatusCallsMax = 32;

void ReadPod(rpc::Client& client, const Context& context, const PodUid& pod,
             reactor::Done<sync::ObservedPod> done);
void ReadSandbox(rpc::Client& client, const Context& context, const SandboxId& sandbox,
                 reactor::Done<sync::ObservedSandbox> done);
// kNotFound: there is none, or, where its sandbox is not known (empty), it is not a pod's of ours.
void ReadContainer(rpc::Client& client, const Context& context, const ContainerId& container,
                   const SandboxId& known_sandbox, reactor::Done<sync::ObservedContainer> done);

}  // namespace denselet::cri
