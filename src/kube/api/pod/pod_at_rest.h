// A pod that nobody works on at the moment: its bytes as they came over the wire, and beside them
// the few fields that are asked for all the time. Parsed, a pod takes some seven times the memory,
// so that form is made when it is needed and dropped afterwards.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/time.h"
#include "kube/api/fwd.h"

namespace denselet::kube {

enum class PodPhase : uint8_t { kNone, kPending, kRunning, kSucceeded, kFailed, kUnknown };
enum class PodQos : uint8_t { kNone, kGuaranteed, kBurstable, kBestEffort };
enum class PodRestartPolicy : uint8_t { kNone, kAlways, kOnFailure, kNever };

// What stands in the pod; nothing is defaulted or derived. Texts are views into the pod's bytes,
// and a text or word that upstream does not know counts as none.
struct PodHotFields {
  // metadata
  std::string_view uid;
  std::string_view ns;
  std::string_view name;
  std::string_view resource_version;
  int64_t generation = 0;
  WallTime creation_time;
  std::optional<WallTime> deletion_time;
  std::optional<int64_t> deletion_grace_seconds;
  std::string_view config_source;  // annotation kubernetes.io/config.source
  std::string_view config_hash;    // ... config.hash: of a static pod
  std::string_view config_mirror;  // ... config.mirror: on the API server's mirror of a static pod

  // spec
  std::string_view node_name;
  std::string_view runtime_class;
  std::optional<int32_t> priority;
  std::optional<int64_t> termination_grace_seconds;
  std::optional<int64_t> active_deadline_seconds;
  uint32_t init_containers = 0;
  uint32_t containers = 0;
  uint32_t ephemeral_containers = 0;
  uint32_t volumes = 0;
  PodRestartPolicy restart_policy = PodRestartPolicy::kNone;
  bool host_network = false;
  bool host_pid = false;
  bool host_ipc = false;

  // status
  PodPhase phase = PodPhase::kNone;
  PodQos qos = PodQos::kNone;
  int64_t observed_generation = 0;

  bool IsMirror() const { return !config_mirror.empty(); }
  // Of a file or URL of this node, not of the API server.
  bool IsStatic() const { return !config_source.empty() && config_source != "api"; }
};

class PodAtRest;

// A share in a pod at rest; empty when default-made or moved from. Pods at rest are shared between
// shards because every shard may ask for any of them and none may change one: the count is the only
// thing that is written after a pod is made.
class PodRef {
 public:
  PodRef() = default;
  PodRef(const PodRef& other);
  PodRef(PodRef&& other) noexcept : pod_(std::exchange(other.pod_, nullptr)) {}
  PodRef& operator=(PodRef other) noexcept {
    std::swap(pod_, other.pod_);
    return *this;
  }
  ~PodRef();

  explicit operator bool() const { return pod_ != nullptr; }
  const PodAtRest& operator*() const { return *pod_; }
  const PodAtRest* operator->() const { return pod_; }
  // The same pod at rest, not merely an equal one.
  friend bool operator==(const PodRef&, const PodRef&) = default;

 private:
  friend class PodAtRest;
  explicit PodRef(const PodAtRest* pod) : pod_(pod) {}

  const PodAtRest* pod_ = nullptr;
};

// As large as a watch event may be.
inline constexpr size_t kPodBytesMax = 16 << 20;

// Immutable; owned by the PodRefs to it, on any shard. One allocation: this, then the bytes.
class PodAtRest {
 public:
  // The bytes of a core.v1.Pod (Envelope::raw), copied without metadata.managedFields. Of what is
  // not hot only the outermost structure is checked: Parse may still find fault with it.
  // kCorrupt: not the bytes of a pod.
  static Result<PodRef> FromWire(std::string_view wire);
  static Result<PodRef> FromPod(const core::Pod& pod);
  // The same of bytes in pieces, which must be without managedFields: those of pods at rest.
  static Result<PodRef> FromPieces(std::span<const std::string_view> pieces);

  PodAtRest(const PodAtRest&) = delete;
  PodAtRest& operator=(const PodAtRest&) = delete;

  const PodHotFields& hot() const { return hot_; }
  std::string_view wire() const {
    return {reinterpret_cast<const char*>(this) + sizeof(PodAtRest), wire_bytes_};
  }
  // The whole pod. kCorrupt: the bytes are not those of a pod after all.
  Result<std::unique_ptr<core::Pod>> Parse() const;
  // Its metadata and status, for who asks for no more.
  Result<std::unique_ptr<core::Pod>> ParseWithoutSpec() const;
  // The same into a pod that there is already; what it held before is gone.
  Status ParseInto(core::Pod& pod) const;
  Status ParseWithoutSpecInto(core::Pod& pod) const;

 private:
  friend class PodRef;
  explicit PodAtRest(size_t wire_bytes) : wire_bytes_(wire_bytes) {}
  ~PodAtRest() = default;

  static PodAtRest* Allocate(size_t wire_bytes);
  char* bytes() { return reinterpret_cast<char*>(this) + sizeof(PodAtRest); }
  static void Release(const PodAtRest* pod);
  Error NotAPod() const;

  mutable std::atomic<uint32_t> shares_{1};
  const size_t wire_bytes_;
  PodHotFields hot_;
};

}  // namespace denselet::kube
