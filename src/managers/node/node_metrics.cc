#include "managers/node/node_metrics.h"

#include <chrono>

namespace denselet::node {

namespace {

double SecondsBetween(WallTime from, WallTime to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

void StartupTracker::OnRegistrationTried(WallTime now) {
  if (!tried_at_) tried_at_ = now;
}

void StartupTracker::OnRegisteredAsNew(WallTime now) {
  if (!tried_at_ || registered_at_) return;
  registered_at_ = now;
  if (booted_at_) {
    metrics_.Gauge(NodeMetric::kBeforeAgent).Set(SecondsBetween(*booted_at_, started_at_));
  }
  metrics_.Gauge(NodeMetric::kBeforeRegistration).Set(SecondsBetween(started_at_, *tried_at_));
  metrics_.Gauge(NodeMetric::kRegistration).Set(SecondsBetween(*tried_at_, now));
}

void StartupTracker::OnReady(WallTime now) {
  if (!registered_at_ || ready_at_) return;
  ready_at_ = now;
  metrics_.Gauge(NodeMetric::kAfterRegistration).Set(SecondsBetween(*registered_at_, now));
  if (booted_at_) metrics_.Gauge(NodeMetric::kStartup).Set(SecondsBetween(*booted_at_, now));
}

}  // namespace denselet::node
