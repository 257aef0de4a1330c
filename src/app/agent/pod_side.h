// The pods of the node: the core over the agent's shards, with the runtime and the machine behind
// its ports.
//
//   home (the API shard)   PodCore's home, the runtime's event stream, what pods refer to on the
//                          API server, news of the node
//   every shard            PodCore's part, pod directories, volumes, hooks, specifications, the
//                          front of what pods refer to
//
// Owned by Agent. What names a shard is called there. Opened: every shard, then Begin. Closed: home
// and shards, in any order; then StopLeaves and DestroyShard of each; destroyed itself when the
// shards have ended.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/agent/node_news.h"
#include "app/agent/shard_basics.h"
#include "cri/cri_shard.h"
#include "cri/event_stream.h"
#include "managers/hooks/hook_runner.h"
#include "managers/poddirs/log_links.h"
#include "managers/poddirs/pod_directories.h"
#include "managers/poddirs/pod_leftovers.h"
#include "managers/poddirs/termination_messages.h"
#include "managers/secrets/pod_objects_front.h"
#include "managers/secrets/pod_objects_home.h"
#include "managers/volume/volume_manager.h"
#include "reactor/blocking_pool.h"
#include "reactor/pool_disk_jobs.h"
#include "reactor/pool_file_system.h"
#include "sync/core/pod_core.h"
#include "sync/spec/pod_specs.h"

namespace denselet::app {

struct PodSideOptions {
  sync::PodCoreOptions core = {};
  std::vector<std::string> allowed_sysctls = {};  // beside the safe ones
  sync::SpecNode spec = {};
  managers::PodDirectoriesOptions directories = {};
  managers::PodObjectsOptions objects = {};
};

class PodSide {
 public:
  PodSide(uint32_t shards, PodSideOptions options);
  ~PodSide();
  PodSide(const PodSide&) = delete;
  PodSide& operator=(const PodSide&) = delete;

  // Home, which is shard 0, first.
  void OpenShard(uint32_t shard, ShardBasics& basics, reactor::BlockingPool& pool,
                 reactor::BlockingPool& volume_pool, cri::CriShard& cri, sync::NodeFetcher& nodes);
  // On the home shard: from here on the runtime is listed, and wishes are taken. `statuses` is
  // where they go.
  void Begin(sync::PodCoreUser& user, sync::PodStatusSink& statuses);
  // On the home shard, between Begin and CloseHome.
  sync::PodCore& core() { return core_; }
  // What pods refer to can be asked for from now on, until LeaveServer.
  void JoinServer(sync::ApiServer& api);
  void LeaveServer();
  // The node's word on how long what pods refer to counts
  // (configMapAndSecretChangeDetectionStrategy Cache); nothing: it has none.
  void SetObjectTtl(std::optional<Duration> ttl);
  void SetSpecNode(const sync::SpecNodeNow& node);
  void SetResolvConf(Result<std::string> text);

  // Nothing of it calls anybody from here on.
  void CloseHome();
  void CloseShard(uint32_t shard);
  // After CloseShard: `stopped` is posted when the last file operation has ended.
  void StopLeaves(uint32_t shard, reactor::Task stopped);
  void DestroyShard(uint32_t shard);

 private:
  class OnShard;
  struct Home {
    Home(ShardBasics& given, cri::CriShard& runtime)
        : log(given.log()), basics(given), cri(runtime) {}
    const Logger log;
    ShardBasics& basics;
    cri::CriShard& cri;
    std::shared_ptr<cri::PodHints> hints = {};
    std::unique_ptr<cri::EventStream> stream = {};
    std::unique_ptr<NodeNewsRound> news = {};
  };

  const PodSideOptions options_;
  sync::PodCore core_;
  std::unique_ptr<Home> home_;
  std::unique_ptr<managers::PodObjectsHome> objects_;  // the home shard's
  std::vector<std::unique_ptr<OnShard>> on_shards_;    // each its shard's, but for its place
};

}  // namespace denselet::app
