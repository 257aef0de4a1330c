// The connections to the container runtime: one for containers, one for images (also when both are
// the same socket, as the kubelet has it), shared by all shards; and what one shard learned about
// the runtime that spares the others a try.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "base/time.h"
#include "cri/methods.h"
#include "rpc/endpoint.h"

namespace denselet::cri {

struct ConnectionOptions {
  std::string runtime_endpoint;     // "unix:///run/containerd/containerd.sock"
  std::string image_endpoint = {};  // empty: the same
  Duration request_timeout = Minutes(2);
  // A runtime that cannot stream lists may be another one after its next start.
  Duration stream_retry_pause = Minutes(5);
  // Of all parts of one list together: a message's limit holds for each only. A larger list ends
  // with kOverloaded, as a plain one that is too large does, and what came of it is dropped. It is
  // 50 KiB for each of 10 000 pods, which leaves room for the metrics of several containers.
  uint64_t list_bytes_max = 512u << 20;
  std::string user_agent = {};
};

// Lists that a runtime may be able to send in parts.
enum class ListStream : uint8_t {
  kSandboxes,
  kContainers,
  kStats,
  kPodStats,
  kPodMetrics,
  kImages
};
inline constexpr size_t kListStreams = 6;

// Owned by main; made and destroyed outside the shards, whose clients it outlives (rpc/endpoint.h).
class Connection {
 public:
  static constexpr uint32_t kReceiveBytesMax = 16 << 20;

  static Result<std::unique_ptr<Connection>> Make(const ConnectionOptions& options,
                                                  const Clock& clock);

  rpc::Endpoint& runtime() { return *runtime_; }
  rpc::Endpoint& images() { return *images_; }
  const std::array<rpc::ClassOptions, kCallClasses>& classes() const { return classes_; }

  // On any thread. False: the runtime has said lately that it cannot.
  bool Streams(ListStream list) const;
  void DoesNotStream(ListStream list);
  uint64_t list_bytes_max() const { return list_bytes_max_; }

 private:
  Connection(std::unique_ptr<rpc::Endpoint> runtime, std::unique_ptr<rpc::Endpoint> images,
             const ConnectionOptions& options);

  const std::unique_ptr<rpc::Endpoint> runtime_, images_;
  const std::array<rpc::ClassOptions, kCallClasses> classes_;
  const Duration stream_retry_pause_;
  const uint64_t list_bytes_max_;
  std::array<std::atomic<TimePoint>, kListStreams> ask_for_stream_at_;  // by ListStream
};

}  // namespace denselet::cri
