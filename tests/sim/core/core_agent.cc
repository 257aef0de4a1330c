#include "tests/sim/core/core_agent.h"

#include <utility>

#include "kube/api/types.h"
#include "tests/sim/core/sim_pods.h"

namespace denselet::sim {

// What one shard's part of the core stands on. Mail of an agent that is no more is dropped.
class CoreAgent::OnShard final : public sync::PodShardUser, public sync::ShardRouter {
 public:
  OnShard(CoreAgent& agent, uint32_t index, fakes::FakeRuntimeHost& host, PodLeaves& leaves,
          const Logger& log)
      : agent_(agent),
        index_(index),
        runtime_(agent.world_.loop(index), host),
        leaves_(leaves, agent.world_.loop(index), runtime_, log) {}

  reactor::Loop& loop() { return agent_.world_.loop(index_); }
  fakes::FakeRuntime& runtime() { return runtime_; }
  PodLeaves::OfShard& leaves() { return leaves_; }

  // sync::ShardRouter
  uint32_t shards() const override { return agent_.world_.size(); }
  Status Send(uint32_t to, UniqueFunction<void()> work) override {
    return agent_.world_.shard(index_).Send(
        to, {}, [alive = agent_.alive_, work = std::move(work)](const QueuedContext&) mutable {
          if (*alive) work();
        });
  }

  // sync::PodShardUser
  void OnPodDecided(const sync::PodWorker& worker, const sync::Decision& decision) override {
    agent_.user_.OnPodDecided(worker, decision);
  }
  void OnPodChanged(const sync::PodWorker& worker) override {
    agent_.user_.OnPodChanged(index_, worker);
  }
  void OnPodGone(const sync::PodIdentity& pod) override { agent_.user_.OnPodGone(pod); }
  void OnPodFault(const sync::PodWorker& worker, const Error& error) override {
    agent_.user_.OnPodFault(worker, error);
  }
  void OnPodHeldBack(const sync::PodIdentity& pod, const kube::PodRef&) override {
    agent_.user_.OnPodHeldBack(pod);
  }

 private:
  CoreAgent& agent_;
  const uint32_t index_;
  fakes::FakeRuntime runtime_;
  PodLeaves::OfShard leaves_;
};

// The API server as this agent has it: each request is a call with which the agent may die; what
// was sent by then is on its way.
class CoreAgent::Api final : public sync::ApiServer {
 public:
  Api(fakes::FakeRuntimeHost& host, fakes::FakeApiServer& server) : host_(host), server_(server) {}

  void Send(const Context& context, sync::ApiRequest request,
            reactor::Done<sync::ApiObject> done) override {
    if (host_.CountCall()) server_.Send(context, std::move(request), std::move(done));
  }
  std::unique_ptr<sync::ListWatch> Follow(sync::ListWatchSpec spec,
                                          sync::ListWatchUser& user) override {
    return server_.Follow(std::move(spec), user);
  }
  void Abandon() { server_.Abandon(); }

 private:
  fakes::FakeRuntimeHost& host_;
  fakes::FakeApiServer& server_;
};

namespace {

sync::NodeView Node(const CoreAgentOptions& options) {
  return {.name = kSimNode,
          .labels = {{"kubernetes.io/os", "linux"}},
          .allocatable = {{"cpu", options.milli_cpus}, {"memory", int64_t{1} << 40}},
          .pods_max = 1000};
}

}  // namespace

sync::PodCoreOptions CoreAgent::CoreOptions(const CoreAgentOptions& options) {
  sync::PodCoreOptions core{.pleg = options.pleg,
                            .shard = options.shard,
                            .images = options.images,
                            .journal = options.journal,
                            .node = options.node,
                            .housekeeping = options.housekeeping,
                            .dead_containers_max = options.dead_containers_max,
                            .sources = options.sources};
  core.journal.directory = "/journal";
  return core;
}

CoreAgent::CoreAgent(World& world, fakes::FakeRuntimeHost& host, PodLeaves& leaves,
                     const Logger& log, const CoreAgentOptions& options, CoreAgentUser& user)
    : world_(world),
      user_(user),
      alive_(std::make_shared<bool>(true)),
      random_(world.random().Next()),
      files_(world.loop(0), random_, leaves.disk()),
      node_(Node(options)),
      api_(options.api == nullptr ? nullptr : std::make_unique<Api>(host, *options.api)),
      reports_({world.loop(0), random_, log},
               {.node_name = kSimNode, .has_api_server = options.api != nullptr}),
      core_(world.size(), CoreOptions(options)),
      hints_refused_(Open(host, leaves, log)) {
  sources_ = std::make_unique<sync::PodSources>(
      world_.loop(0), log, sync::PodSourcesOptions{.configured = options.sources},
      static_cast<sync::DesiredPodsUser&>(*this));
  events_ = std::make_unique<fakes::FakeEventStream>(world_.loop(0), host, options.events,
                                                     core_.events());
}

const CounterCell& CoreAgent::Open(fakes::FakeRuntimeHost& host, PodLeaves& leaves,
                                   const Logger& log) {
  host.AgentStarted();
  host.model().AgentStarted();
  for (uint32_t i = 0; i < world_.size(); ++i) {
    on_shards_.push_back(std::make_unique<OnShard>(*this, i, host, leaves, log));
  }
  OnShard& home = *on_shards_[sync::PodCore::kHome];
  core_.OpenHome({home.loop(), random_, log, home, home.runtime(), home.runtime(), files_,
                  static_cast<sync::NodeFetcher&>(*this), home.leaves().leftovers()});
  for (uint32_t i = 0; i < world_.size(); ++i) {
    OnShard& part = *on_shards_[i];
    core_.OpenShard(i,
                    {part.loop(), random_, log, part, part.runtime(), part.leaves(), part.leaves(),
                     part.leaves()},
                    part);
  }
  core_.Begin(static_cast<sync::PodCoreUser&>(*this), static_cast<sync::PodStatusSink&>(*this));
  reports_.SetUsers(core_.arrived(), static_cast<sync::EndingStaticPods&>(*this));
  dispatcher_ = &core_.dispatcher();
  wishes_.emplace(&core_.wishes(), &reports_);
  core_.SetNode(node_);
  core_.SetStatusNode({.runtime_name = "fake", .host_ips = {"192.0.2.1"}});
  return core_.pleg().metrics().Counter(sync::PlegMetric::kDiscardEvents);
}

// Nobody cancels what a killed agent has asked for.
CoreAgent::~CoreAgent() {
  *alive_ = false;
  if (api_ != nullptr) api_->Abandon();
}

void CoreAgent::Join() {
  world_.loop(0).Post([this, alive = alive_] {
    if (!*alive || api_ == nullptr) return;
    reports_.Join(*api_, *sources_);
    reports_.statuses_for_tests()->faults_for_tests() = status_faults_;
    reports_.mirrors_for_tests()->faults_for_tests() = mirror_faults_;
    reports_.SetNode("uid-of-n1");
    api_pods_ = std::make_unique<kube::ApiPodSource>(*api_, NodeName(kSimNode), *sources_);
  });
}

void CoreAgent::Fetch(const Context&, reactor::Done<sync::NodeView> done) {
  world_.loop(0).Post([this, alive = alive_, done = std::move(done)]() mutable {
    if (*alive) done(node_);
  });
}

void CoreAgent::SetStatus(sync::PodStatusUpdate update) {
  user_.OnStatus(update);
  reports_.SetStatus(std::move(update));
}

void CoreAgent::Forget(const PodUid& pod) {
  user_.OnStatusForgotten(pod);
  reports_.Forget(pod);
}

void CoreAgent::OnOwner(const PodUid& pod, std::function<void(sync::PodShard&)> work) {
  const uint32_t owner = sync::ShardOf(pod, shards());
  world_.loop(owner).Post([this, alive = alive_, owner, work = std::move(work)] {
    if (*alive) work(shard(owner));
  });
}

void CoreAgent::SetTrouble(const sync::RuntimeTrouble& trouble) {
  world_.loop(0).Post([this, alive = alive_, trouble] {
    if (*alive) core_.SetRuntimeTrouble(trouble);
  });
}

void CoreAgent::OnSources(std::function<void(sync::PodSources&)> work) {
  world_.loop(0).Post([this, alive = alive_, work = std::move(work)] {
    if (*alive) work(*sources_);
  });
}

}  // namespace denselet::sim
