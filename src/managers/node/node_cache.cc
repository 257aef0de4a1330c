#include "managers/node/node_cache.h"

#include <utility>

#include "sync/ports/api_typed.h"

namespace denselet::node {

NodeCache::NodeCache(const reactor::Loop& loop, Logger log, sync::ApiServer& api,
                     std::string node_name)
    : loop_(loop), log_(std::move(log)), api_(api), node_name_(std::move(node_name)) {}

NodeCache::~NodeCache() = default;

void NodeCache::Start() {
  CHECK(list_watch_ == nullptr);
  list_watch_ = api_.Follow(
      {.resource = kube::kNodes, .field_selector = "metadata.name=" + node_name_}, *this);
}

void NodeCache::WhenSynced(reactor::Task task) {
  if (synced_) return task();
  when_synced_.push_back(std::move(task));
}

void NodeCache::OnObject(std::string_view wire) {
  Result<kube::core::Node> node = sync::ParseObject<kube::core::Node>(wire);
  if (!node) return log_.Error(node.error(), "Could not read a node of the watch");
  // Only the one that was asked for; a server that does not select sends others too.
  if (node->metadata().name() != node_name_) return;
  node->mutable_metadata()->clear_managedfields();
  node_ = std::make_unique<kube::core::Node>(std::move(*node));
  if (changed_) changed_();
}

void NodeCache::OnGone(const ObjectRef& object, std::string_view) {
  if (object.name != node_name_) return;
  node_.reset();
  if (changed_) changed_();
}

void NodeCache::OnSynced() {
  synced_ = true;
  for (reactor::Task& task : std::exchange(when_synced_, {})) task();
}

void NodeCache::OnTrouble(const Error& reason) {
  if (!trouble_.IsNews(loop_.Now(), reason.message())) return;
  log_.Warning("Watch of the node was interrupted", Err(reason));
}

void NodeCache::OnGoingOn() {
  const std::optional<Duration> lasted = trouble_.Over(loop_.Now());
  if (lasted) log_.Info("Watch of the node goes on", KV("after", *lasted));
}

}  // namespace denselet::node
