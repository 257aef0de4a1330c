// The role of the shard that talks to the API server: everything that is one for the whole node.
//
//   Prepare: the agent's folders are made, the machine is looked at
//   Begin:   the container runtime is looked at, the local pods are read, the way to the API server
//            is opened; once it is open, the node joins
//
// Made and destroyed on its shard, by Agent. Stop() ends all that it does; the destructor comes
// when the leaves have stopped, too.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/agent/agent_options.h"
#include "app/agent/local_leaves.h"
#include "app/agent/node_for_pods.h"
#include "app/agent/node_side.h"
#include "app/agent/pod_reports.h"
#include "app/agent/pod_side.h"
#include "app/agent/resolv_conf_file.h"
#include "app/agent/runtime_side.h"
#include "app/agent/server_access.h"
#include "app/agent/shard_basics.h"
#include "base/cancel.h"
#include "base/metrics_snapshot.h"
#include "base/unique_function.h"
#include "cri/cri_shard.h"
#include "managers/node/host_facts.h"
#include "managers/source/url_dialer.h"
#include "sync/core/pod_core.h"

namespace denselet::app {

class ApiShard final : public sync::PodCoreUser,
                       private ServerAccessUser,
                       private NodeForPodsUser,
                       private sync::EndingStaticPods {
 public:
  enum class Stage : uint8_t { kPreparing, kRunning, kStopped };

  // Called once at most: the agent cannot go on, and has logged why.
  using Failed = UniqueFunction<void(const Error&)>;

  static Result<std::unique_ptr<ApiShard>> Make(ShardBasics& basics, reactor::BlockingPool& pool,
                                                cri::CriShard& cri, const AgentOptions& options,
                                                Failed failed);
  ~ApiShard();
  ApiShard(const ApiShard&) = delete;
  ApiShard& operator=(const ApiShard&) = delete;

  // Answers once, within two minutes.
  void Prepare(reactor::Done<node::MachineFacts> done);
  // After that. `pods` runs what the node is to run; it goes after Stop.
  void Begin(const node::MachineFacts& machine, PodSide& pods);
  sync::NodeFetcher& nodes() { return *node_for_pods_; }
  sync::PodStatusSink& reports() { return reports_; }
  reactor::FileSystem& files() { return leaves_->files(); }
  // Of all that is here.
  MetricsSnapshot Metrics();

  // sync::PodCoreUser
  void OnPlegMode(const sync::PlegModeChange& change) override;
  void OnPodRejected(const kube::PodRef& pod, const sync::Rejection& rejection) override;
  void OnPodGone(const sync::PodIdentity& pod) override { reports_.OnPodGone(pod); }
  void OnPodEvent(const sync::ObjectEvent& event) override;

  // Nothing of it calls anybody from here on.
  void Stop();
  // After Stop: `stopped` is posted when the last question to the machine has ended.
  void StopLeaves(reactor::Task stopped);

 private:
  ApiShard(ShardBasics& basics, cri::CriShard& cri, const AgentOptions& options,
           std::unique_ptr<LocalLeaves> leaves, Failed failed);

  // ServerAccessUser
  void OnServer(sync::ApiServer& api) override;
  void OnHopeless(const Error& reason) override;
  // NodeForPodsUser
  void OnNodeForAdmission(sync::NodeView node) override { pods_->SetNode(std::move(node)); }
  void OnNodeForStatuses(const sync::StatusNode& node) override { pods_->SetStatusNode(node); }
  void OnNodeForSpecs(const sync::SpecNodeNow& node) override { side_->SetSpecNode(node); }
  // sync::EndingStaticPods
  bool StillEnds(const ObjectRef& pod) const override { return pods_->dispatcher().StillEnds(pod); }

  void Fail(const Error& reason);
  Status CheckShared(const Result<bool>& made);
  NodeSideSeams MakeNodeSeams();
  void OnNodeChanged();
  void OnResolvConf(Result<std::string> text);
  ServerAccessSeams MakeServerSeams();

  ShardBasics& basics_;
  cri::CriShard& cri_;
  const AgentOptions options_;
  const Logger log_;
  Failed failed_;
  Stage stage_ = Stage::kPreparing;
  CancelSource cancel_;

  // The machine and the container runtime; then who uses them.
  const std::unique_ptr<LocalLeaves> leaves_;
  managers::UrlDialer url_dialer_;
  node::HostFactsReader facts_;
  std::unique_ptr<RuntimeSide> runtime_;
  std::unique_ptr<NodeForPods> node_for_pods_;
  PodReports reports_;
  PodSide* side_ = nullptr;
  sync::PodCore* pods_ = nullptr;                        // of side_
  std::optional<Result<std::string>> resolv_conf_text_;  // read before there is a side to tell
  std::unique_ptr<ResolvConfFile> resolv_conf_;
  std::unique_ptr<ServerAccess> access_;
  std::unique_ptr<NodeSide> node_;  // uses the server that access_ has
};

}  // namespace denselet::app
