// The container runtime's version as the node's status shows it. Runtimes and distributions write
// it in many ways ("v1.7.24", "1.6.20~ds1"); the kubelet shows what its parser of versions makes of
// it, and tools compare that.
#pragma once

#include <string>
#include <string_view>

namespace denselet::node {

// By the rules of k8s.io/apimachinery/pkg/util/version: a semantic version, else the numbers at the
// beginning. "Unknown": there are none.
std::string ShownRuntimeVersion(std::string_view told);

}  // namespace denselet::node
