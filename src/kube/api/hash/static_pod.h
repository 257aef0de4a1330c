// Who a pod is that came from a file or a URL: its UID, name and place are not written in the
// manifest but made by the node. A node that is taken over from a kubelet keeps its static pods
// only if all of this is the same to the bit.
//
// Pure functions, on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/api/fwd.h"
#include "kube/api/hash/manifest.h"

namespace denselet::kube {

struct StaticPodOrigin {
  enum class Kind : uint8_t { kFile, kUrl };

  Kind kind = Kind::kFile;
  std::string_view
      location;  // the file's path, as the watched folder and its name make it; or the URL
};

// The text that the pod was decoded from, as JSON (of a YAML manifest: what YamlToJson makes of
// it). The UID depends on things that the decoded pod does not hold any more: empty lists and maps,
// how quantities were written, fractions of seconds, the spaces and the order in raw JSON.
struct ManifestText {
  std::string_view json;
  WrittenAs written_as = WrittenAs::kJson;
  std::optional<size_t> list_item = std::nullopt;  // the pod is this one of `items`
};

// 32 digits. `pod` has the defaults of v1 and nothing else that the manifest does not say.
//
// Differs from the kubelet's if the manifest has times (creationTimestamp and the like) and the
// node is not in UTC: Go's text of a time has the rules of the zone in it.
Result<std::string> StaticPodUid(const core::Pod& pod, const ManifestText& manifest,
                                 std::string_view node_name, const StaticPodOrigin& origin);

std::string StaticPodName(std::string_view name, std::string_view node_name);

// Makes a pod that was decoded and has its defaults the one that the node runs: UID if it has none,
// name, namespace, node, the annotation kubernetes.io/config.hash, toleration of all NoExecute
// taints (from a file only), phase Pending; and what a way through Kubernetes' internal form leaves
// behind, such as both names of the service account. The annotations kubernetes.io/config.source
// and config.seen are the caller's. On an error the pod is as it was.
Status ApplyStaticPodIdentity(core::Pod& pod, const ManifestText& manifest,
                              std::string_view node_name, const StaticPodOrigin& origin);

}  // namespace denselet::kube
