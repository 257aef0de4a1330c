// What changed between two versions of a pod, as far as the node cares: most updates from the API
// server are the echo of our own status and must not cost a sync, nor even a parse.
//
// Pure functions, on any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "kube/api/pod/pod_at_rest.h"

namespace denselet::sync {

// Of these two upstream's kubelet takes its own for granted: it sets them, on every pod.
inline constexpr std::string_view kSourceAnnotation = "kubernetes.io/config.source";
inline constexpr std::string_view kSeenAnnotation = "kubernetes.io/config.seen";
inline constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";

enum class PodDifference : uint8_t {
  kNone,      // or only in what nobody here looks at: owners, versions, finalizers
  kStatus,    // nothing but the status
  kMeaning,   // spec, labels, annotations, or when and how softly it is to go
  kDeletion,  // the same of a pod that is to go
};

// The three annotations above do not count. kCorrupt: one of the two cannot be read.
Result<PodDifference> Compare(const kube::PodAtRest& existing, const kube::PodAtRest& incoming);

}  // namespace denselet::sync
