#include "app/agent/pod_reports.h"

#include <utility>
#include <vector>

namespace denselet::app {

PodReports::PodReports(PodReportsSeams seams, PodReportsOptions options)
    : seams_(std::move(seams)), options_(std::move(options)) {}

PodReports::~PodReports() { Stop(); }

void PodReports::Stop() {
  *alive_ = false;
  statuses_.reset();
  mirrors_.reset();
}

void PodReports::SetUsers(sync::PodStatusUser& arrived, const sync::EndingStaticPods& ending) {
  arrived_ = &arrived;
  ending_ = &ending;
}

void PodReports::Join(sync::ApiServer& api, const sync::SourceReadiness& sources) {
  CHECK(statuses_ == nullptr && arrived_ != nullptr);
  statuses_ = std::make_unique<managers::StatusManager>(
      seams_.loop, seams_.random, seams_.log, api, *arrived_, managers::StatusManagerOptions{});
  mirrors_ = std::make_unique<sync::MirrorKeeper>(
      seams_.loop, seams_.random, seams_.log, api, sources, *ending_,
      sync::MirrorKeeperOptions{.node_name = options_.node_name});
  for (auto& [uid, update] : std::exchange(early_, {})) statuses_->SetStatus(std::move(update));
  std::vector<sync::PodChange> known;
  for (auto& [uid, pod] : std::exchange(early_pods_, {})) {
    known.push_back({sync::PodOp::kAdd, pod});
  }
  mirrors_->OnPodChanges(known);
}

void PodReports::OnPodChanges(std::span<const sync::PodChange> changes) {
  if (mirrors_ == nullptr) {
    for (const sync::PodChange& change : changes) {
      const PodUid uid(std::string(change.pod->hot().uid));
      if (change.op == sync::PodOp::kRemove) {
        early_pods_.erase(uid);
      } else if (change.pod->hot().IsStatic()) {
        early_pods_[uid] = change.pod;
      }
    }
    return;
  }
  for (const sync::PodChange& change : changes) {
    const kube::PodHotFields& pod = change.pod->hot();
    if (pod.IsStatic()) continue;  // of the API server are the others, and mirrors
    if (change.op == sync::PodOp::kRemove) {
      statuses_->OnApiPodGone(change.pod);
    } else {
      statuses_->OnApiPod(change.pod);
    }
  }
  mirrors_->OnPodChanges(changes);
}

void PodReports::OnSourceReady() {
  if (mirrors_ != nullptr) mirrors_->OnSourceReady();
}

void PodReports::OnPodGone(const sync::PodIdentity& pod) {
  if (mirrors_ != nullptr) mirrors_->OnStaticPodEnded(pod.ref);
}

void PodReports::SetNode(std::string uid) {
  if (mirrors_ != nullptr) mirrors_->SetNode(std::move(uid));
}

void PodReports::SetStatus(sync::PodStatusUpdate update) {
  if (statuses_ != nullptr) return statuses_->SetStatus(std::move(update));
  PodUid uid(std::string(update.pod->hot().uid));
  if (!*alive_) return;
  if (options_.has_api_server) {
    early_[std::move(uid)] = std::move(update);
    return;
  }
  seams_.loop.Post([this, alive = alive_, uid = std::move(uid), version = update.version] {
    if (*alive) arrived_->OnStatusSettled(uid, version);
  });
}

void PodReports::Forget(const PodUid& pod) {
  early_.erase(pod);
  if (statuses_ != nullptr) statuses_->Forget(pod);
}

}  // namespace denselet::app
