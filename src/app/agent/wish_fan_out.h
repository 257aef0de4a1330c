// What the sources tell goes two ways: to who runs the pods, and to who reports them to the API
// server. Who runs them hears first: whether the mirror of a static pod may go depends on whether
// the pod still ends.
//
// Lives on the API shard.
#pragma once

#include <span>

#include "app/agent/pod_reports.h"
#include "sync/sources/pod_sources.h"

namespace denselet::app {

class WishFanOut {
 public:
  // Null: nobody.
  WishFanOut(sync::DesiredPodsUser* pods, PodReports* reports) : pods_(pods), reports_(reports) {}

  void OnPodChanges(sync::SourceKind source, std::span<const sync::PodChange> changes) {
    if (pods_ != nullptr) pods_->OnPodChanges(source, changes);
    if (reports_ != nullptr) reports_->OnPodChanges(changes);
  }
  void OnSourceReady(sync::SourceKind source) {
    if (pods_ != nullptr) pods_->OnSourceReady(source);
    if (reports_ != nullptr) reports_->OnSourceReady();
  }
  void OnSourceLate(sync::SourceKind source) {
    if (pods_ != nullptr) pods_->OnSourceLate(source);
  }

 private:
  sync::DesiredPodsUser* const pods_;
  PodReports* const reports_;
};

}  // namespace denselet::app
