// What one shard has of the container runtime: two clients over the shared connections, the ports
// on top of them, and the metrics of both.
//
// Made, used and destroyed on its shard. Stop() drains; one that is destroyed with calls under way
// takes them back, and their Dones never run.
#pragma once

#include "base/log.h"
#include "base/metrics.h"
#include "base/random.h"
#include "cri/connection.h"
#include "cri/cri_images.h"
#include "cri/cri_metrics.h"
#include "cri/cri_runtime.h"
#include "reactor/shard.h"
#include "rpc/client.h"
#include "rpc/rpc_metrics.h"

namespace denselet::cri {

class CriShard {
 public:
  CriShard(reactor::Shard& shard, Connection& connection, Random& random, const Logger& log)
      : call_metrics_(metrics_),
        runtime_client_(shard, connection.runtime(), connection.classes(), random, rpc_metrics_,
                        &call_metrics_, log),
        image_client_(shard, connection.images(), connection.classes(), random, rpc_metrics_,
                      &call_metrics_, log),
        runtime_(runtime_client_, connection, metrics_, log),
        images_(image_client_, connection) {}

  CriRuntime& runtime() { return runtime_; }
  CriImages& images() { return images_; }
  // For the event stream, which is one more call on the runtime's connection.
  rpc::Client& runtime_client() { return runtime_client_; }

  // `stopped` runs after the last Done of all calls.
  void Stop(reactor::Task stopped) {
    runtime_client_.Stop(
        [this, stopped = std::move(stopped)]() mutable { image_client_.Stop(std::move(stopped)); });
  }

  MetricSet<CriMetric>& metrics() { return metrics_; }
  const MetricSet<rpc::RpcMetric>& rpc_metrics() const { return rpc_metrics_; }
  // Calls without their Done yet.
  uint64_t under_way() const { return runtime_client_.under_way() + image_client_.under_way(); }

 private:
  MetricSet<CriMetric> metrics_;
  MetricSet<rpc::RpcMetric> rpc_metrics_;
  CriCallMetrics call_metrics_;
  rpc::Client runtime_client_, image_client_;
  CriRuntime runtime_;
  CriImages images_;
};

}  // namespace denselet::cri
