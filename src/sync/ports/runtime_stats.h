// What containers use, as the runtime counts it.
//
// One instance a shard; answers and codes as in sync/ports/runtime.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "reactor/api/file_system.h"

namespace denselet::sync {

// Nothing: the runtime does not say.
struct CpuStats {
  WallTime at = {};
  std::optional<uint64_t> usage_core_ns = {};
  std::optional<uint64_t> usage_nano_cores = {};
  friend bool operator==(const CpuStats&, const CpuStats&) = default;
};

struct MemoryStats {
  WallTime at = {};
  std::optional<uint64_t> working_set_bytes = {};
  std::optional<uint64_t> available_bytes = {};
  std::optional<uint64_t> usage_bytes = {};
  std::optional<uint64_t> rss_bytes = {};
  std::optional<uint64_t> page_faults = {};
  std::optional<uint64_t> major_page_faults = {};
  friend bool operator==(const MemoryStats&, const MemoryStats&) = default;
};

struct SwapStats {
  WallTime at = {};
  std::optional<uint64_t> available_bytes = {};
  std::optional<uint64_t> usage_bytes = {};
  friend bool operator==(const SwapStats&, const SwapStats&) = default;
};

struct WritableLayerStats {
  WallTime at = {};
  std::string mountpoint = {};
  std::optional<uint64_t> used_bytes = {};
  std::optional<uint64_t> inodes_used = {};
  friend bool operator==(const WritableLayerStats&, const WritableLayerStats&) = default;
};

struct ContainerStats {
  PodUid pod = {};
  ContainerId id = {};
  std::string name = {};
  uint32_t attempt = 0;
  std::optional<CpuStats> cpu = {};
  std::optional<MemoryStats> memory = {};
  std::optional<SwapStats> swap = {};
  std::optional<WritableLayerStats> writable_layer = {};
  friend bool operator==(const ContainerStats&, const ContainerStats&) = default;
};

class RuntimeStats {
 public:
  virtual ~RuntimeStats() = default;

  // Of all containers of pods, or of those in one sandbox. Sorted by pod, name and descending
  // attempt.
  virtual void ListStats(const Context&, const std::optional<SandboxId>& only,
                         reactor::Done<std::vector<ContainerStats>>) = 0;
};

}  // namespace denselet::sync
