// What the API server hears of the node's pods: their statuses, and mirrors of static ones.
//
//   no server at all:  statuses count as arrived at once
//   not joined yet:    they wait here, the newest of each pod
//   joined:            StatusManager, MirrorKeeper
//
// Lives on the API shard; destroying it ends it. Bounded by the number of pods.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/log.h"
#include "base/random.h"
#include "managers/status/status_manager.h"
#include "reactor/api/loop.h"
#include "sync/mirror/mirror_keeper.h"
#include "sync/ports/api_server.h"
#include "sync/ports/observed_pod.h"
#include "sync/ports/pod_status.h"
#include "sync/ports/source_set.h"
#include "sync/sources/desired_pods.h"

namespace denselet::app {

struct PodReportsSeams {
  reactor::Loop& loop;
  Random& random;
  Logger log;
};

struct PodReportsOptions {
  std::string node_name = {};
  bool has_api_server = true;
};

class PodReports final : public sync::PodStatusSink {
 public:
  PodReports(PodReportsSeams seams, PodReportsOptions options);
  ~PodReports();
  PodReports(const PodReports&) = delete;
  PodReports& operator=(const PodReports&) = delete;

  // Who hears that statuses have arrived, and who knows which static pods still end; before
  // anything else.
  void SetUsers(sync::PodStatusUser& arrived, const sync::EndingStaticPods& ending);
  void Join(sync::ApiServer& api, const sync::SourceReadiness& sources);

  // Of all sources.
  void OnPodChanges(std::span<const sync::PodChange> changes);
  void OnSourceReady();
  void OnPodGone(const sync::PodIdentity& pod);
  // Empty: the API server does not know the node.
  void SetNode(std::string uid);

  // sync::PodStatusSink
  void SetStatus(sync::PodStatusUpdate update) override;
  void Forget(const PodUid& pod) override;

  // Asks and tells nobody from here on.
  void Stop();

  // Null before Join.
  const managers::StatusManager* statuses() const { return statuses_.get(); }
  managers::StatusManager* statuses_for_tests() { return statuses_.get(); }
  const sync::MirrorKeeper* mirrors() const { return mirrors_.get(); }
  sync::MirrorKeeper* mirrors_for_tests() { return mirrors_.get(); }

 private:
  PodReportsSeams seams_;
  const PodReportsOptions options_;
  sync::PodStatusUser* arrived_ = nullptr;
  const sync::EndingStaticPods* ending_ = nullptr;
  std::map<PodUid, sync::PodStatusUpdate> early_;
  std::map<PodUid, kube::PodRef> early_pods_;  // static ones and mirrors, for the keeper
  std::unique_ptr<managers::StatusManager> statuses_;
  std::unique_ptr<sync::MirrorKeeper> mirrors_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with posted words
};

}  // namespace denselet::app
