// What is counted about the client certificate, with the kubelet's names. There only when client
// certificates are rotated.
//
// Lives on the API shard.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "base/metrics.h"
#include "base/metrics_snapshot.h"
#include "base/time.h"
#include "kube/client/certificates/csr.h"

namespace denselet::kube {

enum class ClientCertificateMetric : uint8_t { kRenewErrors, kTtlSeconds };

inline constexpr MetricDef kClientCertificateMetrics[] = {
    {ClientCertificateMetric::kRenewErrors,
     "kubelet_certificate_manager_client_expiration_renew_errors", MetricKind::kCounter,
     "[ALPHA] Counter of certificate renewal errors."},
    {ClientCertificateMetric::kTtlSeconds, "kubelet_certificate_manager_client_ttl_seconds",
     MetricKind::kGauge,
     "[ALPHA] Gauge of the TTL (time-to-live) of the Kubelet's client certificate. The value is in "
     "seconds until certificate expiry (negative if already expired). If client certificate is "
     "invalid or unused, the value will be +INF."},
};
constexpr std::span<const MetricDef> MetricsOf(ClientCertificateMetric) {
  return kClientCertificateMetrics;
}

class ClientCertificateMetrics {
 public:
  void CountRenewError() { set_.Counter(ClientCertificateMetric::kRenewErrors).Increment(); }

  // `current` is null when there is none that is valid.
  MetricsSnapshot Gather(const CertificateInfo* current, WallTime now) {
    double seconds = std::numeric_limits<double>::infinity();
    if (current != nullptr) {
      seconds = std::trunc(std::chrono::duration<double>(current->not_after - now).count());
    }
    set_.Gauge(ClientCertificateMetric::kTtlSeconds).Set(seconds);
    return set_.Gather();
  }

 private:
  MetricSet<ClientCertificateMetric> set_;
};

}  // namespace denselet::kube
