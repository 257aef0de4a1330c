// The node as the API server has it, followed by a list-watch of this one object: what the first
// try of a status report starts from, and what other managers ask instead of the server.
//
// Lives on the API shard.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/repeated_trouble.h"
#include "base/unique_function.h"
#include "kube/api/fwd.h"
#include "reactor/api/loop.h"
#include "sync/ports/api_server.h"

namespace denselet::node {

class NodeCache final : private sync::ListWatchUser {
 public:
  NodeCache(const reactor::Loop& loop, Logger log, sync::ApiServer& api, std::string node_name);
  ~NodeCache();
  NodeCache(const NodeCache&) = delete;
  NodeCache& operator=(const NodeCache&) = delete;

  void Start();

  // Null: the server has none, or has not said so far.
  const kube::core::Node* node() const { return node_.get(); }
  // The server has told what there is.
  bool synced() const { return synced_; }
  // Runs it when the server has told, or at once when it has. The watch of pods waits for this.
  void WhenSynced(reactor::Task task);
  // Called after every change; of one who outlives this.
  void SetListener(UniqueFunction<void()> changed) { changed_ = std::move(changed); }

 private:
  void OnObject(std::string_view wire) override;
  void OnGone(const ObjectRef& object, std::string_view uid) override;
  void OnSynced() override;
  void OnTrouble(const Error& reason) override;
  void OnGoingOn() override;

  const reactor::Loop& loop_;
  const Logger log_;
  sync::ApiServer& api_;
  const std::string node_name_;
  std::unique_ptr<kube::core::Node> node_;
  bool synced_ = false;
  std::vector<reactor::Task> when_synced_;
  UniqueFunction<void()> changed_;
  RepeatedTrouble trouble_;
  std::unique_ptr<sync::ListWatch> list_watch_;
};

}  // namespace denselet::node
