#include "app/agent/pod_side.h"

#include <utility>

#include "reactor/net/resolve.h"

namespace denselet::app {

// What one shard's part of the core stands on.
class PodSide::OnShard final : public sync::PodShardUser,
                               public sync::ShardRouter,
                               private sync::PodObjectsUser,
                               private sync::PodMountsUser {
 public:
  OnShard(ShardBasics& basics, reactor::BlockingPool& pool, reactor::BlockingPool& volume_pool,
          cri::CriShard& cri, const PodSideOptions& options, sync::PodCore& core,
          const managers::PodObjectsHome::Handle& home)
      : shard_(basics.shard()),
        core_(core),
        log_(basics.log()),
        files_(shard_, pool),
        disk_jobs_(shard_, volume_pool),
        objects_(shard_, home, sync::PodCore::kHome),
        volumes_(basics.loop(), basics.random(), disk_jobs_, objects_, basics.log(),
                 {.node = {.root_folder = options.directories.root_folder,
                           .selinux = options.spec.selinux}}),
        log_links_(basics.loop(), files_, basics.log(), options.directories.links_folder),
        directories_(basics.loop(), files_, options.directories, &volumes_, &log_links_),
        leftovers_(basics.loop(), files_, cri.runtime(), options.directories),
        runtime_(basics.loop(), files_, cri.runtime(), basics.log(),
                 {options.directories.root_folder, options.spec.selinux}),
        hooks_(basics.loop(), cri.runtime(),
               [this, &pool](const Context& context, const std::string& host, uint16_t port,
                             reactor::Done<std::vector<net::Address>> done) {
                 net::Resolve(shard_, pool, context, host, port, std::move(done));
               }),
        specs_({basics.loop(), files_, objects_, volumes_}, options.spec) {
    // Volumes first: a pod that is woken finds its files renewed, or on their way.
    objects_.AddUser(volumes_);
    objects_.AddUser(static_cast<sync::PodObjectsUser&>(*this));
    volumes_.SetUser(static_cast<sync::PodMountsUser&>(*this));
  }

  void Take(const NodeNews& news) {
    specs_.SetNode(news.node);
    volumes_.SetNode(news.node.allocatable, news.node.recursive_read_only);
    specs_.SetResolvConf(news.resolv_conf);
  }

  sync::Runtime& runtime() { return runtime_; }
  sync::PodResources& directories() { return directories_; }
  sync::PodHooks& hooks() { return hooks_; }
  sync::PodSpecs& specs() { return specs_; }
  sync::PodLeftovers& leftovers() { return leftovers_; }
  managers::LogLinks& log_links() { return log_links_; }
  reactor::FileSystem& files() { return files_; }
  void Stop(reactor::Task stopped) {
    disk_jobs_.Stop(
        [this, stopped = std::move(stopped)]() mutable { files_.Stop(std::move(stopped)); });
  }

  // sync::ShardRouter
  uint32_t shards() const override { return shard_.shards(); }
  Status Send(uint32_t to, UniqueFunction<void()> work) override {
    return shard_.Send(to, {}, [work = std::move(work)](const QueuedContext&) mutable { work(); });
  }

  // sync::PodShardUser
  void OnPodChanged(const sync::PodWorker& worker) override {
    log_.V(4).Info("Pod worker moved on", KV("pod", worker.pod().ref.ToString()),
                   KV("podUID", worker.pod().uid.value()),
                   KV("phase", sync::PhaseName(worker.state().phase)),
                   KV("waitsFor", sync::WaitName(worker.waits().what)));
  }
  // PodShard logs both.
  void OnPodGone(const sync::PodIdentity&) override {}
  void OnPodFault(const sync::PodWorker&, const Error&) override {}

 private:
  // sync::PodObjectsUser: a pod may wait for it.
  void OnObjectChanged(const PodUid& pod, const sync::ObjectKey&) override {
    if (sync::PodShard* const pods = core_.pods(shard_.index())) pods->ObjectsChanged(pod);
  }
  // sync::PodMountsUser
  void OnVolumeNotRenewed(const PodUid& pod, const sync::VolumeFault& fault) override {
    if (sync::PodShard* const pods = core_.pods(shard_.index())) pods->VolumeNotRenewed(pod, fault);
  }
  void OnVolumeRenewed(const PodUid& pod, const std::string& volume) override {
    if (sync::PodShard* const pods = core_.pods(shard_.index())) pods->VolumeRenewed(pod, volume);
  }

  reactor::Shard& shard_;
  sync::PodCore& core_;
  const Logger log_;
  reactor::PoolFileSystem files_;
  reactor::PoolDiskJobs disk_jobs_;
  managers::PodObjectsFront objects_;
  managers::VolumeManager volumes_;
  managers::LogLinks log_links_;
  managers::PodDirectories directories_;
  managers::PodLeftoverFinder leftovers_;
  managers::TerminationMessages runtime_;
  managers::HookRunner hooks_;
  sync::PodSpecBuilder specs_;
};

PodSide::PodSide(uint32_t shards, PodSideOptions options)
    : options_(std::move(options)), core_(shards, options_.core), on_shards_(shards) {}

PodSide::~PodSide() = default;

void PodSide::OpenShard(uint32_t shard, ShardBasics& basics, reactor::BlockingPool& pool,
                        reactor::BlockingPool& volume_pool, cri::CriShard& cri,
                        sync::NodeFetcher& nodes) {
  if (shard == sync::PodCore::kHome) {
    objects_ = std::make_unique<managers::PodObjectsHome>(basics.shard(), basics.random(),
                                                          options_.objects);
  }
  on_shards_[shard] = std::make_unique<OnShard>(basics, pool, volume_pool, cri, options_, core_,
                                                objects_->handle());
  OnShard& part = *on_shards_[shard];
  if (shard == sync::PodCore::kHome) {
    home_ = std::make_unique<Home>(basics, cri);
    home_->news =
        std::make_unique<NodeNewsRound>(basics.shard(), [this](uint32_t to, const NodeNews& news) {
          if (on_shards_[to] != nullptr) on_shards_[to]->Take(news);
        });
    core_.OpenHome({basics.loop(), basics.random(), basics.log(), part, cri.runtime(), cri.images(),
                    part.files(), nodes, part.leftovers()});
  }
  core_.OpenShard(shard,
                  {basics.loop(), basics.random(), basics.log(), part, part.runtime(),
                   part.directories(), part.hooks(), part.specs()},
                  part);
}

void PodSide::Begin(sync::PodCoreUser& user, sync::PodStatusSink& statuses) {
  on_shards_[sync::PodCore::kHome]->log_links().Prepare();
  core_.Begin(user, statuses);
  if (!options_.core.pleg.use_events) {
    home_->log.Info("The runtime's events are switched off by configuration; lists lead");
    return;
  }
  reactor::Shard& shard = home_->basics.shard();
  home_->hints = cri::PodHints::Make(shard, core_.events(), home_->cri.metrics());
  home_->stream = std::make_unique<cri::EventStream>(
      shard, home_->cri.runtime_client(), home_->cri.runtime(), home_->basics.random(), home_->log,
      home_->cri.metrics(), std::vector<std::shared_ptr<cri::PodHints>>{home_->hints});
  home_->stream->Start();
}

void PodSide::JoinServer(sync::ApiServer& api) { objects_->Join(api); }

void PodSide::LeaveServer() {
  if (objects_ != nullptr) objects_->Stop();
}

void PodSide::SetObjectTtl(std::optional<Duration> ttl) {
  if (objects_ != nullptr) objects_->objects().SetTtl(ttl);
}

void PodSide::SetSpecNode(const sync::SpecNodeNow& node) { home_->news->SetNode(node); }

void PodSide::SetResolvConf(Result<std::string> text) {
  home_->news->SetResolvConf(std::move(text));
}

void PodSide::CloseHome() {
  if (home_ == nullptr) return;
  LeaveServer();
  home_->stream.reset();
  if (home_->hints != nullptr) home_->hints->Close();
  core_.CloseHome();
  home_.reset();
}

void PodSide::CloseShard(uint32_t shard) { core_.CloseShard(shard); }

void PodSide::StopLeaves(uint32_t shard, reactor::Task stopped) {
  if (on_shards_[shard] == nullptr) return stopped();
  on_shards_[shard]->Stop(std::move(stopped));
}

void PodSide::DestroyShard(uint32_t shard) {
  on_shards_[shard].reset();
  if (shard == sync::PodCore::kHome) objects_.reset();
}

}  // namespace denselet::app
