// The node as its pods need it: for admission (labels, taints, what there is to give) and for their
// statuses (addresses, the runtime's name) and specifications (addresses, what there is to give).
// From the API server once it shows the node; before that, and without one, made of what the
// machine and the configuration say.
//
//   reading (network, again every second until it is known) --> known --(the server's node
//   changes)-->
//
// Lives on the API shard; destroying it ends it. What it is given outlives it.
#pragma once

#include <memory>
#include <optional>

#include "base/cancel.h"
#include "base/log.h"
#include "base/unique_function.h"
#include "managers/node/host_facts.h"
#include "managers/node/node_cache.h"
#include "managers/node/node_config.h"
#include "managers/node/node_inputs.h"
#include "managers/node/node_status.h"
#include "reactor/api/loop.h"
#include "sync/admission/admission_desk.h"
#include "sync/spec/node_facts.h"
#include "sync/status/pod_status.h"

namespace denselet::app {

class NodeForPodsUser {
 public:
  virtual void OnNodeForAdmission(sync::NodeView node) = 0;
  virtual void OnNodeForStatuses(const sync::StatusNode& node) = 0;
  virtual void OnNodeForSpecs(const sync::SpecNodeNow& node) = 0;

 protected:
  ~NodeForPodsUser() = default;
};

class NodeForPods final : public sync::NodeFetcher {
 public:
  static constexpr Duration kReadTimeMax = Seconds(5);
  static constexpr Duration kPause = Seconds(1);

  NodeForPods(reactor::Loop& loop, Logger log, node::HostFactsSource& facts,
              node::NodeInputsSource& inputs, node::NodeConfig config);
  ~NodeForPods() override;
  NodeForPods(const NodeForPods&) = delete;
  NodeForPods& operator=(const NodeForPods&) = delete;

  void Begin(node::MachineFacts machine, NodeForPodsUser& user);
  void Join(sync::ApiServer& api, const node::NodeCache& cache);
  // Something it depends on has changed: the runtime is known, the server shows another node.
  void Refresh();

  // sync::NodeFetcher
  void Fetch(const Context& context, reactor::Done<sync::NodeView> done) override;

 private:
  void ReadNetwork();
  kube::core::Node Current() const;
  sync::NodeView ViewOf(const kube::core::Node& node) const;

  reactor::Loop& loop_;
  const Logger log_;
  node::HostFactsSource& source_;
  node::NodeInputsSource& inputs_;
  const node::NodeConfig config_;
  NodeForPodsUser* user_ = nullptr;
  node::HostFacts facts_;
  bool known_ = false;
  sync::ApiServer* api_ = nullptr;
  const node::NodeCache* cache_ = nullptr;
  CancelSource cancel_;
  reactor::TimerId timer_ = {};
};

}  // namespace denselet::app
