// The hash of a container that the kubelet leaves in an annotation of the runtime's container. One
// that has changed restarts the container, so it must be the kubelet's to the bit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kube/api/fwd.h"

namespace denselet::kube {

// Only the two fields count that may not change while a container runs. Ephemeral containers too.
uint32_t ContainerHash(std::string_view name, std::string_view image);
uint32_t ContainerHash(const core::Container& container);

// As io.kubernetes.container.hash has it: hexadecimal, no zeros in front.
std::string ContainerHashText(uint32_t hash);

}  // namespace denselet::kube
