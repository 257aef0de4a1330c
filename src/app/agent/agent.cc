#include "app/agent/agent.h"

#include <latch>
#include <utility>

namespace denselet::app {
namespace {

// A call that hangs is a dead server's file system or name service: nothing that we wait for.
constexpr Duration kPoolStopTimeMax = Seconds(2);
// More than the steps of any question to the machine (node::HostFactsReader has the longest).
constexpr int kTurnsOfRefusals = 8;

}  // namespace

Agent::Agent(const AgentProcess& process)
    : process_(process), pool_(process.clock, {.stop_wait_max = kPoolStopTimeMax}) {}

Agent::~Agent() { Stop(); }

Result<std::unique_ptr<Agent>> Agent::Start(const AgentProcess& process,
                                            const AgentOptions& options) {
  std::unique_ptr<Agent> agent(new Agent(process));
  if (const Status started = agent->StartShards(options); !started) return started.error();
  if (const Status started = agent->StartRoles(options); !started) return started.error();
  return agent;
}

Status Agent::StartShards(const AgentOptions& options) {
  auto shards =
      reactor::Shards::Start({.count = options.shards, .backend = options.backend}, process_.clock);
  if (!shards) return shards.error();
  shards_ = *std::move(shards);
  on_shards_.resize(shards_->size());
  for (uint32_t i = 0; i < shards_->size(); ++i) {
    const Result<LogSink*> sink = process_.log_writer.AddProducer("shard");
    if (!sink) return sink.error().With("log of a shard");
    shards_->RunAndWait(i, [&](reactor::Shard& shard) {
      on_shards_[i].basics = std::make_unique<ShardBasics>(
          shard, process_.clock, process_.verbosity, options.log.style, **sink);
    });
  }
  return Ok();
}

Status Agent::StartRoles(const AgentOptions& options) {
  Status status = Ok();
  OnShard& home = on_shards_[kApiShard];
  shards_->RunAndWait(kApiShard, [&](reactor::Shard&) {
    auto made =
        ApiShard::Make(*home.basics, pool_, options, [&end = process_.end] { end.Tell(1); });
    if (made) {
      home.api = *std::move(made);
    } else {
      status = made.error();
    }
  });
  return status;
}

void Agent::Stop() {
  if (shards_ == nullptr) return;
  OnShard* const home = on_shards_.empty() ? nullptr : &on_shards_[kApiShard];
  const bool has_api = home != nullptr && home->api != nullptr;
  if (has_api) shards_->RunAndWait(kApiShard, [home](reactor::Shard&) { home->api->Stop(); });
  pool_.Stop();
  if (has_api) {
    // Shared: the shard is still inside count_down() when wait() here returns.
    const auto stopped = std::make_shared<std::latch>(1);
    shards_->RunAndWait(kApiShard, [&](reactor::Shard&) {
      home->api->StopLeaves([stopped] { stopped->count_down(); });
    });
    stopped->wait();
    // What was refused meanwhile is told in a later turn, and may ask for something else then.
    for (int i = 0; i < kTurnsOfRefusals; ++i) {
      shards_->RunAndWait(kApiShard, [](reactor::Shard&) {});
    }
  }
  for (uint32_t i = 0; i < on_shards_.size(); ++i) {
    shards_->RunAndWait(i, [&](reactor::Shard&) {
      on_shards_[i].api.reset();
      on_shards_[i].basics.reset();
    });
  }
  shards_->Stop();
  shards_.reset();
}

}  // namespace denselet::app
