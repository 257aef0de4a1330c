#include "app/agent/agent.h"

#include <latch>
#include <optional>
#include <utility>

#include "app/agent/pod_options.h"
#include "reactor/spare_memory.h"

namespace denselet::app {
namespace {

// A call that hangs is a dead server's file system or name service: nothing that we wait for.
constexpr Duration kPoolStopTimeMax = Seconds(2);

}  // namespace

Agent::Agent(const AgentProcess& process)
    : process_(process),
      pool_(process.clock, {.stop_wait_max = kPoolStopTimeMax}),
      volume_pool_(process.clock, {.stop_wait_max = kPoolStopTimeMax}) {}

Agent::~Agent() { Stop(); }

Result<std::unique_ptr<Agent>> Agent::Start(const AgentProcess& process,
                                            const AgentOptions& options) {
  std::unique_ptr<Agent> agent(new Agent(process));
  // From here, so that gRPC's threads are born on the CPUs that main has.
  Result<std::unique_ptr<cri::Connection>> connection =
      cri::Connection::Make(options.runtime, process.clock);
  if (!connection) return connection.error();
  agent->connection_ = *std::move(connection);
  if (const Status started = agent->StartShards(options); !started) return started.error();
  if (const Status started = agent->StartRoles(options); !started) return started.error();
  return agent;
}

Status Agent::StartShards(const AgentOptions& options) {
  auto shards = reactor::Shards::Start({.count = options.shards,
                                        .backend = options.reactor.backend,
                                        .otherwise = options.reactor.otherwise},
                                       process_.clock);
  if (!shards) return shards.error();
  shards_ = *std::move(shards);
  if (shards_->denied()) {
    process_.log.Warning("Could not use io_uring, running on another reactor",
                         KV("reactor", reactor::BackendName(shards_->backend())),
                         Err(*shards_->denied()));
  }
  on_shards_.resize(shards_->size());
  for (uint32_t i = 0; i < shards_->size(); ++i) {
    const Result<LogSink*> sink = process_.log_writer.AddProducer("shard");
    if (!sink) return sink.error().With("log of a shard");
    shards_->RunAndWait(i, [&](reactor::Shard& shard) {
      on_shards_[i].basics = std::make_unique<ShardBasics>(
          shard, process_.clock, process_.verbosity, options.log.style, **sink);
      ShardBasics& basics = *on_shards_[i].basics;
      on_shards_[i].cri =
          std::make_unique<cri::CriShard>(shard, *connection_, basics.random(), basics.log());
    });
  }
  return Ok();
}

Status Agent::StartRoles(const AgentOptions& options) {
  if (const Status made = MakeApiShard(options); !made) return made.error();
  const Result<node::MachineFacts> machine = PrepareApiShard();
  if (!machine) return machine.error();
  if (const Status opened = OpenPods(options, *machine); !opened) return opened;
  shards_->RunAndWait(kApiShard, [&](reactor::Shard&) {
    ApiShard& api = *on_shards_[kApiShard].api;
    pods_->Begin(api, api.reports());
    api.Begin(*machine, *pods_);
    StartLocalApi(options);
  });
  return Ok();
}

void Agent::StartLocalApi(const AgentOptions& options) {
  if (process_.local_socket == nullptr) return;
  OnShard& home = on_shards_[kApiShard];
  home.local_api = std::make_unique<LocalApi>(
      LocalApiSeams{home.basics->shard(), home.basics->log(), pods_->core(), home.api->files(),
                    static_cast<LocalApiSource&>(*this)},
      LocalApiOptions{.node = options.node.node.flags.node_name,
                      .runtime_endpoint = options.runtime.runtime_endpoint,
                      .has_api_server = options.server.has_value()});
  home.local_api->Listen(process_.local_socket->Take(), process_.local_socket->address());
}

MetricsSnapshot Agent::MetricsOfShard(uint32_t shard) {
  MetricsSnapshot all;
  OnShard& part = on_shards_[shard];
  sync::PodShard* const pods = pods_->core().pods(shard);
  if (part.cri == nullptr || pods == nullptr) return all;
  for (MetricsSnapshot one :
       {part.cri->metrics().Gather(), part.cri->rpc_metrics().Gather(), pods->metrics().Gather()}) {
    // One that does not fit is left out; a test looks at all of them.
    (void)all.Merge(std::move(one));
  }
  return all;
}

MetricsSnapshot Agent::MetricsOfHome() {
  MetricsSnapshot all = pods_->core().pleg().metrics().Gather();
  (void)all.Merge(on_shards_[kApiShard].api->Metrics());
  return all;
}

Status Agent::MakeApiShard(const AgentOptions& options) {
  Status status = Ok();
  OnShard& home = on_shards_[kApiShard];
  shards_->RunAndWait(kApiShard, [&](reactor::Shard&) {
    auto made =
        ApiShard::Make(*home.basics, pool_, *home.cri, options, [this](const Error& reason) {
          failure_ = reason;
          process_.end.Tell(1);
        });
    if (made) {
      home.api = *std::move(made);
    } else {
      status = made.error();
    }
  });
  return status;
}

// Main waits: without the machine nobody can begin.
Result<node::MachineFacts> Agent::PrepareApiShard() {
  struct Answer {
    std::latch came{1};
    std::optional<Result<node::MachineFacts>> machine;
  };
  // Shared: the shard is still inside count_down() when wait() here returns.
  const auto answer = std::make_shared<Answer>();
  shards_->RunAndWait(kApiShard, [&](reactor::Shard&) {
    on_shards_[kApiShard].api->Prepare([answer](Result<node::MachineFacts> machine) {
      answer->machine = std::move(machine);
      answer->came.count_down();
    });
  });
  answer->came.wait();
  return *answer->machine;
}

Status Agent::OpenPods(const AgentOptions& options, const node::MachineFacts& machine) {
  PodSideOptions pods = options.pods;
  if (const Status added = AddMachine(machine, pods); !added) return added;
  pods_ = std::make_unique<PodSide>(shards_->size(), std::move(pods));
  for (uint32_t i = 0; i < shards_->size(); ++i) {
    shards_->RunAndWait(i, [&](reactor::Shard&) {
      pods_->OpenShard(i, *on_shards_[i].basics, pool_, volume_pool_, *on_shards_[i].cri,
                       on_shards_[kApiShard].api->nodes());
    });
  }
  return Ok();
}

void Agent::SpareMemory() {
  for (uint32_t i = 0; i < shards_->size(); ++i) {
    // One that has no room for it is not calm.
    (void)shards_->TryPost(i, [this, i](reactor::Shard& shard) {
      const reactor::ActivityScope scope(shard.loop().activity(), "spare memory");
      if (sync::PodStatuses* const statuses = pods_->core().statuses(i)) statuses->ForgetParsed();
      reactor::EmptyThreadCache();
      reactor::ReturnFreePages();
    });
  }
  reactor::EmptyThreadCache();
}

void Agent::StopLeaves() {
  const auto wait_for = [this](uint32_t shard, auto stop) {
    // Shared: the shard is still inside count_down() when wait() here returns.
    const auto stopped = std::make_shared<std::latch>(1);
    shards_->RunAndWait(shard,
                        [&](reactor::Shard&) { stop([stopped] { stopped->count_down(); }); });
    stopped->wait();
  };
  if (ApiShard* const api = on_shards_[kApiShard].api.get()) {
    wait_for(kApiShard, [api](reactor::Task stopped) { api->StopLeaves(std::move(stopped)); });
  }
  for (uint32_t i = 0; pods_ != nullptr && i < shards_->size(); ++i) {
    wait_for(i, [this, i](reactor::Task stopped) { pods_->StopLeaves(i, std::move(stopped)); });
  }
}

void Agent::Stop() {
  if (shards_ == nullptr) return;
  for (uint32_t i = 0; i < on_shards_.size(); ++i) {
    shards_->RunAndWait(i, [this, i](reactor::Shard&) {
      on_shards_[i].local_api.reset();
      if (on_shards_[i].api != nullptr) on_shards_[i].api->Stop();
      if (pods_ != nullptr) pods_->CloseShard(i);
      if (pods_ != nullptr && i == kApiShard) pods_->CloseHome();
    });
  }
  pool_.Stop();
  volume_pool_.Stop();
  if (!on_shards_.empty()) StopLeaves();
  for (uint32_t i = 0; i < on_shards_.size(); ++i) {
    shards_->RunAndWait(i, [this, i](reactor::Shard&) {
      if (pods_ != nullptr) pods_->DestroyShard(i);
      on_shards_[i].api.reset();
      on_shards_[i].cri.reset();
      on_shards_[i].basics.reset();
    });
  }
  shards_->Stop();
  shards_.reset();
  pods_.reset();
  connection_.reset();
}

}  // namespace denselet::app
