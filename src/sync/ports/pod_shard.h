// Which shard a pod lives on: everybody who sends something about a pod must agree.
#pragma once

#include <cstdint>

#include "base/hash.h"
#include "base/ids.h"

namespace denselet::sync {

constexpr uint32_t ShardOf(std::string_view pod_uid, uint32_t shards) {
  return static_cast<uint32_t>(Fnv1a64(pod_uid) % shards);
}
inline uint32_t ShardOf(const PodUid& pod, uint32_t shards) { return ShardOf(pod.value(), shards); }

}  // namespace denselet::sync
