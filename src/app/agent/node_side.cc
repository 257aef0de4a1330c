#include "app/agent/node_side.h"

#include <utility>

#include "kube/client/pod_source.h"

namespace denselet::app {

sync::SourceSet SourcesOf(const NodeSideOptions& options) {
  sync::SourceSet sources;
  if (options.has_api_server) sources.Add(sync::SourceKind::kApi);
  if (options.pod_files) sources.Add(sync::SourceKind::kFile);
  if (options.pod_url) sources.Add(sync::SourceKind::kHttp);
  return sources;
}

NodeSide::NodeSide(NodeSideSeams seams, NodeSideOptions options)
    : seams_(std::move(seams)),
      options_(std::move(options)),
      logged_events_(seams_.loop, seams_.log),
      wishes_(seams_.pods, seams_.reports),
      sources_(seams_.loop, seams_.log, {.configured = SourcesOf(options_)}, *this) {
  if (options_.pod_files) {
    pod_files_ = std::make_unique<managers::FileSource>(seams_.loop, seams_.files, seams_.watcher,
                                                        *options_.pod_files, sources_);
  }
  if (options_.pod_url) {
    pod_url_ = std::make_unique<managers::HttpSource>(seams_.loop, std::move(seams_.dial),
                                                      *options_.pod_url, sources_);
  }
}

NodeSide::~NodeSide() = default;

void NodeSide::Join(sync::ApiServer& api) {
  CHECK(options_.has_api_server && node_ == nullptr);
  const std::string& name = options_.node.flags.node_name;
  events_ = std::make_unique<events::EventSender>(seams_.loop, seams_.random, seams_.log, api,
                                                  events::EventSenderOptions{.host = name});
  node_ = std::make_unique<node::NodeManager>(
      node::NodeSeams{seams_.loop, seams_.random, seams_.log, api, *events_, seams_.facts,
                      seams_.inputs},
      options_.node);
  node_->Start();
  if (seams_.reports != nullptr) seams_.reports->Join(api, sources_);
  // Who looks at a pod looks at the node, too: admission needs its labels and what it has.
  node_->cache().WhenSynced([this, &api] {
    // Its first answer: before that there were only tries.
    seams_.log.Info("Joined the API server", KV("node", options_.node.flags.node_name));
    api_pods_ = std::make_unique<kube::ApiPodSource>(api, NodeName(options_.node.flags.node_name),
                                                     sources_);
  });
}

sync::EventRecorder& NodeSide::recorder() {
  if (events_ != nullptr) return *events_;
  return logged_events_;
}

// PodSources has them and logs them.
void NodeSide::OnPodChanges(sync::SourceKind source, std::span<const sync::PodChange> changes) {
  wishes_.OnPodChanges(source, changes);
}

void NodeSide::OnPodRefused(sync::SourceKind source, const sync::RefusedPod& refused) {
  const kube::PodHotFields& pod = refused.pod->hot();
  const std::string name(pod.name);
  // The kubelet's words where it has some, and the files, which it does not tell.
  const std::string which = name + "_" + std::string(pod.ns) + "(" + std::string(pod.uid) + ")";
  const std::string files =
      source == sync::SourceKind::kFile ? " (" + refused.reason.message() + ")" : "";
  const std::string why = refused.reason.code() == ErrorCode::kAlreadyExists
                              ? " due to duplicate pod name \"" + name + "\"" + files
                              : ": " + refused.reason.message();
  recorder().Record(
      {.kind = "Pod", .ns = std::string(pod.ns), .name = name, .uid = std::string(pod.uid)},
      sync::EventType::kWarning, "FailedValidation",
      "Error validating pod " + which + " from " + std::string(SourceName(source)) + why +
          ", ignoring");
}

// Both are logged there, too; what depends on a source asks PodSources.
void NodeSide::OnSourceReady(sync::SourceKind source) { wishes_.OnSourceReady(source); }
void NodeSide::OnSourceLate(sync::SourceKind source) { wishes_.OnSourceLate(source); }

}  // namespace denselet::app
