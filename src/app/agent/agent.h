// The composition root: what is made, in which order, on which shard; and how it stops.
//
//   Start                                         Stop
//   1. the connection to the container runtime    1. roles, on their shards: they call nobody more
//   2. the blocking pool, the shards              2. the blocking pool: what hangs is left behind
//   3. on every shard: ShardBasics, CriShard      3. leaves (files), when the last has answered
//   4. on shard 0: ApiShard, prepared             4. the rest of each shard, then the shards
//   5. on every shard: PodSide; ApiShard begins,
//      then LocalApi, on shard 0 beside it
//                                                 5. the connection, when gRPC has let go of it
//
// A role is one class for each kind of shard, made by constructor on its shard with what it needs
// from here. Owned by main; all calls are for main's thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/agent/agent_options.h"
#include "app/agent/api_shard.h"
#include "app/agent/pod_side.h"
#include "app/agent/shard_basics.h"
#include "app/local_api/local_api.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "cri/connection.h"
#include "cri/cri_shard.h"
#include "reactor/blocking_pool.h"
#include "reactor/log_writer.h"
#include "reactor/net/local_socket.h"
#include "reactor/program_end.h"
#include "reactor/shards.h"

namespace denselet::app {

// Of the whole process; they outlive the agent.
struct AgentProcess {
  const Clock& clock;
  const LogVerbosity& verbosity;
  const Logger& log;  // main's
  reactor::LogWriter& log_writer;
  reactor::ProgramEnd& end;
  net::LocalSocket* local_socket = nullptr;  // null: nobody is answered locally
};

class Agent final : private LocalApiSource {
 public:
  static Result<std::unique_ptr<Agent>> Start(const AgentProcess& process,
                                              const AgentOptions& options);
  ~Agent();
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  const reactor::Shards& shards() const { return *shards_; }
  void Stop();
  // Why it cannot run, if that ended it; after Stop.
  const std::optional<Error>& failure() const { return failure_; }

  // A burst of work is over: gives back what it has left. From main; returns at once.
  void SpareMemory();

 private:
  explicit Agent(const AgentProcess& process);

  Status StartShards(const AgentOptions& options);
  Status StartRoles(const AgentOptions& options);
  Status MakeApiShard(const AgentOptions& options);
  Result<node::MachineFacts> PrepareApiShard();
  Status OpenPods(const AgentOptions& options, const node::MachineFacts& machine);
  void StartLocalApi(const AgentOptions& options);
  void StopLeaves();

  // LocalApiSource
  MetricsSnapshot MetricsOfShard(uint32_t shard) override;
  MetricsSnapshot MetricsOfHome() override;

  // What one shard has.
  struct OnShard {
    std::unique_ptr<ShardBasics> basics;
    std::unique_ptr<cri::CriShard> cri;
    std::unique_ptr<ApiShard> api;        // on kApiShard only
    std::unique_ptr<LocalApi> local_api;  // there, too, if it has a socket
  };
  static constexpr uint32_t kApiShard = 0;

  const AgentProcess process_;
  std::optional<Error> failure_;                 // written on kApiShard
  std::unique_ptr<cri::Connection> connection_;  // before the shards: it outlives what they have
  reactor::BlockingPool pool_;
  // Of its own: volumes that hang take none of the threads that all else needs.
  reactor::BlockingPool volume_pool_;
  std::unique_ptr<reactor::Shards> shards_;
  std::unique_ptr<PodSide> pods_;
  std::vector<OnShard> on_shards_;  // each entry is its shard's own, but for its place
};

}  // namespace denselet::app
