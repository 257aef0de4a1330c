// The agent as far as it stands behind its ports: the node in the cluster, its events, and the pods
// that it is to run. Everything real (sockets, files, certificates) is given, so that simulations
// run the same code.
//
//   made --> local sources (files, URL) tell --> Join: node, lease, events --> the node's watch has
//   spoken --> pods of the API server
//
// Lives on the API shard; destroying it ends it. What it is given outlives it.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "app/agent/logged_events.h"
#include "app/agent/pod_reports.h"
#include "app/agent/wish_fan_out.h"
#include "base/log.h"
#include "base/random.h"
#include "managers/events/event_sender.h"
#include "managers/node/node_manager.h"
#include "managers/source/file_source.h"
#include "managers/source/http_source.h"
#include "reactor/api/file_system.h"
#include "reactor/api/loop.h"
#include "reactor/api/path_watcher.h"
#include "sync/ports/api_server.h"
#include "sync/sources/pod_sources.h"

namespace denselet::kube {
class ApiPodSource;
}

namespace denselet::app {

struct NodeSideOptions {
  node::NodeConfig node = {};
  // Without an API server the node has its local pods only, and registers nowhere.
  bool has_api_server = true;
  std::optional<managers::FileSourceOptions> pod_files = {};
  std::optional<managers::HttpSourceOptions> pod_url = {};
};

struct NodeSideSeams {
  reactor::Loop& loop;
  Random& random;
  Logger log;
  reactor::FileSystem& files;
  reactor::PathWatcher& watcher;
  managers::UrlDial dial;
  node::HostFactsSource& facts;
  node::NodeInputsSource& inputs;
  // Who runs the pods; null: nobody.
  sync::DesiredPodsUser* pods = nullptr;
  // Who tells the API server of them; null: nobody.
  PodReports* reports = nullptr;
};

// Where its pods come from.
sync::SourceSet SourcesOf(const NodeSideOptions& options);

class NodeSide final : private sync::DesiredPodsUser {
 public:
  NodeSide(NodeSideSeams seams, NodeSideOptions options);
  ~NodeSide();
  NodeSide(const NodeSide&) = delete;
  NodeSide& operator=(const NodeSide&) = delete;

  // The API server can be asked from now on. Once.
  void Join(sync::ApiServer& api);

  const sync::PodSources& pods() const { return sources_; }
  // Null before Join.
  node::NodeManager* node() { return node_.get(); }
  const events::EventSender* event_sender() const { return events_.get(); }
  // For who has something to tell on this shard: sent once there is a server, logged before.
  sync::EventRecorder& recorder();

 private:
  // sync::DesiredPodsUser
  void OnPodChanges(sync::SourceKind source, std::span<const sync::PodChange> changes) override;
  void OnPodRefused(sync::SourceKind source, const sync::RefusedPod& refused) override;
  void OnSourceReady(sync::SourceKind source) override;
  void OnSourceLate(sync::SourceKind source) override;

  NodeSideSeams seams_;
  const NodeSideOptions options_;
  LoggedEvents logged_events_;
  WishFanOut wishes_;
  sync::PodSources sources_;
  std::unique_ptr<events::EventSender> events_;
  std::unique_ptr<node::NodeManager> node_;
  // They tell sources_.
  std::unique_ptr<managers::FileSource> pod_files_;
  std::unique_ptr<managers::HttpSource> pod_url_;
  std::unique_ptr<kube::ApiPodSource> api_pods_;
};

}  // namespace denselet::app
