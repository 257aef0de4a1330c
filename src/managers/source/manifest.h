// A manifest of static pods: what stands in a file or at a URL, decoded, given its defaults and its
// identity, and validated. All of it or nothing: there is no half pod.
//
// A pure function, on any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/api/hash/static_pod.h"
#include "kube/api/pod/pod_at_rest.h"

namespace denselet::managers {

// As large as upstream lets a file or an answer be.
inline constexpr size_t kManifestBytesMax = 10 << 20;

enum class ManifestForm : uint8_t {
  kPod,        // a file: one Pod; of several YAML documents the first
  kPodOrList,  // a URL: a Pod or a PodList, in which no pod may be wrong
};

// As upstream tells them apart.
bool LooksLikeJson(std::string_view text);

struct Manifest {
  std::vector<kube::PodRef> pods = {};
  // What is in it besides, and nobody reads: a second YAML document, fields that a pod does not
  // have, the first of fields that come twice.
  std::optional<Error> ignored = {};
};

// JSON or YAML; fields that a pod does not have are ignored, as upstream does (it decodes with the
// universal decoder, which is not strict, and says nothing). kInvalid names every fault, with its
// line.
Result<Manifest> DecodeManifest(std::string_view text, ManifestForm form,
                                std::string_view node_name, const kube::StaticPodOrigin& origin);

}  // namespace denselet::managers
