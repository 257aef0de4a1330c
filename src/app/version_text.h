// What --version prints.
#pragma once

#include <string>
#include <string_view>

#include "reactor/event_loop.h"

namespace denselet::app {

// One line, as kubeadm's preflight parses it: "Kubernetes v1.36.3".
std::string VersionText(std::string_view kubernetes_version);
// Everything about this build, and the loop it would run on here.
std::string RawVersionText(std::string_view kubernetes_version, reactor::Backend backend);

}  // namespace denselet::app
