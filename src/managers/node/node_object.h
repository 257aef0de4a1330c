// The node as an object of the API: how it is first made, and how it is brought up to date.
//
// Pure functions, on any thread.
#pragma once

#include "kube/api/fwd.h"
#include "managers/node/node_status.h"

namespace denselet::node {

// What is sent to the server when it does not know the node.
kube::core::Node InitialNode(const StatusParts& parts, NodeMemory& memory, NodeNotes& notes);

// Brings `node`, which the server has, up to date: status and the labels of system and
// architecture. True: it differs from before in more than the time of the heartbeat.
bool UpdateNode(const StatusParts& parts, kube::core::Node& node, NodeMemory& memory,
                NodeNotes& notes);

// The labels that every node has.
inline constexpr const char* kHostnameLabel = "kubernetes.io/hostname";
inline constexpr const char* kOsLabel = "kubernetes.io/os";
inline constexpr const char* kArchLabel = "kubernetes.io/arch";
inline constexpr const char* kBetaOsLabel = "beta.kubernetes.io/os";
inline constexpr const char* kBetaArchLabel = "beta.kubernetes.io/arch";
inline constexpr const char* kAttachDetachAnnotation =
    "volumes.kubernetes.io/controller-managed-attach-detach";

}  // namespace denselet::node
