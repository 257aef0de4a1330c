// What we ask the runtime to make, as CRI's messages. Each function fills an empty message; what
// the specification leaves open stays unset.
//
// Pure functions, on any thread.
#pragma once

#include <string>
#include <string_view>

#include "cri/fwd.h"
#include "sync/ports/image_service.h"
#include "sync/ports/runtime_spec.h"

namespace denselet::cri {

void Fill(const sync::SandboxSpec& spec, pb::PodSandboxConfig& config);
void Fill(const sync::ContainerSpec& spec, pb::ContainerConfig& config);
void Fill(const sync::LinuxResources& resources, pb::LinuxContainerResources& message);
void Fill(const sync::ImageRequest& request, pb::ImageSpec& image);
// The message holds secrets: it is never printed.
void Fill(const sync::ImageCredentials& credentials, pb::AuthConfig& auth);

// "SIGRTMIN+3" of Kubernetes is SIGRTMINPLUS3 of CRI. A name that CRI does not have is 0, the
// runtime's default; 0 and numbers without a name are "".
int SignalNumber(std::string_view name);
std::string SignalName(int number);

}  // namespace denselet::cri
