#include "tests/sim/core/core_agent.h"

#include <utility>

namespace denselet::sim {

class CoreAgent::Router final : public sync::ShardRouter {
 public:
  Router(CoreAgent& agent, uint32_t here) : agent_(agent), here_(here) {}
  uint32_t shards() const override { return agent_.world_.size(); }
  Status Send(uint32_t to, UniqueFunction<void()> work) override {
    return agent_.Send(here_, to, std::move(work));
  }

 private:
  CoreAgent& agent_;
  const uint32_t here_;
};

struct CoreAgent::ShardUser final : sync::PodShardUser {
  ShardUser(CoreAgent& a, uint32_t i) : agent(a), index(i) {}

  void OnPodDecided(const sync::PodWorker& worker, const sync::Decision& decision) override {
    agent.user_.OnPodDecided(worker, decision);
  }
  void OnPodChanged(const sync::PodWorker& worker) override {
    agent.user_.OnPodChanged(index, worker);
  }
  // The name is given on by the dispatcher, on the shard of the sources.
  void OnPodGone(const sync::PodIdentity& pod) override {
    agent.user_.OnPodGone(pod);
    Tell(pod);
  }
  void OnPodFault(const sync::PodWorker& worker, const Error& error) override {
    agent.user_.OnPodFault(worker, error);
  }
  void OnPodHeldBack(const sync::PodIdentity& pod, const kube::PodRef&) override {
    agent.user_.OnPodHeldBack(pod);
  }
  // Must arrive: another pod may wait for the name.
  void Tell(const sync::PodIdentity& pod) {
    CoreAgent* a = &agent;
    const Status sent = agent.Send(index, 0, [a, pod] { a->dispatcher_->OnPodGone(pod); });
    if (sent) return;
    agent.world_.loop(index).Arm(After(agent.world_.loop(index).Now(), Milliseconds(10)),
                                 [this, alive = agent.alive_, pod] {
                                   if (*alive) Tell(pod);
                                 });
  }

  CoreAgent& agent;
  const uint32_t index;
};

CoreAgent::CoreAgent(World& world, fakes::FakeRuntimeHost& host, PodLeaves& leaves,
                     const Logger& log, const CoreAgentOptions& options, CoreAgentUser& user)
    : world_(world),
      user_(user),
      alive_(std::make_shared<bool>(true)),
      random_(world.random().Next()) {
  host.AgentStarted();
  host.model().AgentStarted();
  for (uint32_t i = 0; i < world_.size(); ++i) {
    auto part = std::make_unique<Part>();
    part->router = std::make_unique<Router>(*this, i);
    part->runtime = std::make_unique<fakes::FakeRuntime>(world_.loop(i), host);
    part->leaves = std::make_unique<PodLeaves::OfShard>(leaves, world_.loop(i));
    part->user = std::make_unique<ShardUser>(*this, i);
    parts_.push_back(std::move(part));
  }
  puller_ =
      std::make_unique<sync::ImagePuller>(world_.loop(0), *parts_[0]->runtime, options.images);
  desk_ = std::make_unique<sync::ImageDesk>(world_.loop(0), *puller_, *parts_[0]->router);
  for (uint32_t i = 0; i < world_.size(); ++i) {
    Part& part = *parts_[i];
    part.images = std::make_unique<sync::RemoteImages>(world_.loop(i), *part.router, i, *desk_, 0);
    part.pods = std::make_unique<sync::PodShard>(sync::PodShardPorts{.loop = world_.loop(i),
                                                                     .random = random_,
                                                                     .log = log,
                                                                     .runtime = *part.runtime,
                                                                     .epochs = epochs_,
                                                                     .resources = *part.leaves,
                                                                     .images = *part.images,
                                                                     .hooks = *part.leaves,
                                                                     .specs = *part.leaves},
                                                 options.shard, *part.user);
    part.pods->SetNode(options.node);
  }
  dispatcher_ = std::make_unique<sync::PodDispatcher>(world_.loop(0), log, *this, world_.size(),
                                                      options.sources);
  sources_ = std::make_unique<sync::PodSources>(
      world_.loop(0), log, sync::PodSourcesOptions{.configured = options.sources}, *dispatcher_);
  pleg_ = std::make_unique<sync::Pleg>(world_.loop(0), random_, log, *parts_[0]->runtime, epochs_,
                                       *this, world_.size(), options.pleg, *this);
  events_ = std::make_unique<fakes::FakeEventStream>(world_.loop(0), host, options.events, *pleg_);
}

CoreAgent::~CoreAgent() { *alive_ = false; }

Status CoreAgent::Send(uint32_t from, uint32_t to, UniqueFunction<void()> work) {
  return world_.shard(from).Send(
      to, {}, [alive = alive_, work = std::move(work)](const QueuedContext&) mutable {
        if (*alive) work();
      });
}

Status CoreAgent::Hint(uint32_t shard, std::vector<PodUid> pods) {
  return Noted(
      Send(0, shard, [this, shard, pods = std::move(pods)] { parts_[shard]->pods->Hint(pods); }));
}

Status CoreAgent::Noted(Status sent) {
  if (!sent) refused_at_ = world_.clock().Now();
  return sent;
}

Status CoreAgent::Listed(uint32_t shard, sync::Epoch epoch, std::vector<sync::ListedPod> pods,
                         UniqueFunction<void(uint64_t)> checked) {
  return Noted(Send(
      0, shard,
      [this, shard, epoch, pods = std::move(pods), checked = std::move(checked)]() mutable {
        const uint64_t missed = parts_[shard]->pods->Listed(epoch, pods);
        const Status sent =
            Send(shard, 0, [missed, checked = std::move(checked)]() mutable { checked(missed); });
        static_cast<void>(sent);  // PLEG has a timer for that
      }));
}

Status CoreAgent::Wish(uint32_t shard, sync::PodWish wish) {
  return Send(0, shard,
              [this, shard, wish = std::move(wish)] { parts_[shard]->pods->Update(wish); });
}

Status CoreAgent::SourcesReady(uint32_t shard) {
  return Send(0, shard, [this, shard] { parts_[shard]->pods->SourcesReady(); });
}

void CoreAgent::OnOwner(const PodUid& pod, std::function<void(sync::PodShard&)> work) {
  const uint32_t owner = sync::ShardOf(pod, shards());
  world_.loop(owner).Post([this, alive = alive_, owner, work = std::move(work)] {
    if (*alive) work(*parts_[owner]->pods);
  });
}

void CoreAgent::SetNode(const sync::NodeFacts& node) {
  for (uint32_t i = 0; i < shards(); ++i) {
    world_.loop(i).Post([this, alive = alive_, i, node] {
      if (*alive) parts_[i]->pods->SetNode(node);
    });
  }
}

void CoreAgent::OnSources(std::function<void(sync::PodSources&)> work) {
  world_.loop(0).Post([this, alive = alive_, work = std::move(work)] {
    if (*alive) work(*sources_);
  });
}

}  // namespace denselet::sim
