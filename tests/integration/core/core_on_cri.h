// One life of the whole core over a real runtime: PLEG, workers, images, and the real leaves, on
// one shard of the test's own. Destroyed as if the process had died: nothing is brought to an end.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/random.h"
#include "cri/cri_shard.h"
#include "cri/event_stream.h"
#include "managers/hooks/hook_runner.h"
#include "managers/poddirs/log_links.h"
#include "managers/poddirs/pod_directories.h"
#include "managers/poddirs/pod_leftovers.h"
#include "managers/poddirs/termination_messages.h"
#include "reactor/blocking_pool.h"
#include "reactor/pool_file_system.h"
#include "sync/core/pod_core.h"
#include "sync/sources/pod_sources.h"
#include "sync/spec/pod_specs.h"
#include "tests/fakes/fake_pod_objects.h"

namespace denselet::tests {

class CoreOnCri final : private sync::PodShardUser,
                        private sync::PodCoreUser,
                        private sync::NodeFetcher,
                        private sync::PodStatusSink {
 public:
  struct Options {
    std::string folder = {};  // for the pods' directories and logs
    sync::PodCoreOptions core = {};
  };

  CoreOnCri(reactor::Shard& shard, reactor::FileSystem& files, cri::Connection& connection,
            Random& random, const Logger& log, const Options& options)
      : router_(shard),
        cri_(shard, connection, random, log),
        hooks_(shard.loop(), cri_.runtime(),
               [&loop = shard.loop()](const Context&, const std::string&, uint16_t,
                                      reactor::Done<std::vector<net::Address>> done) {
                 loop.Post([done = std::move(done)]() mutable {
                   done(Error(ErrorCode::kNotFound, "no names here"));
                 });
               }),
        links_(shard.loop(), files, log, options.folder + "/links"),
        directories_(shard.loop(), files, Folders(options), nullptr, &links_),
        leftovers_(shard.loop(), files, cri_.runtime(), Folders(options)),
        runtime_(shard.loop(), files, cri_.runtime(), log, {options.folder + "/data"}),
        objects_(shard.loop()),
        volumes_(shard.loop()),
        specs_({shard.loop(), files, objects_, volumes_}, SpecNode(options)),
        core_(1, CoreOptions(options)),
        loop_(shard.loop()) {
    core_.OpenHome({shard.loop(), random, log, router_, cri_.runtime(), cri_.images(), files,
                    static_cast<sync::NodeFetcher&>(*this), leftovers_});
    core_.OpenShard(0, {shard.loop(), random, log, router_, runtime_, directories_, hooks_, specs_},
                    static_cast<sync::PodShardUser&>(*this));
    core_.Begin(static_cast<sync::PodCoreUser&>(*this), static_cast<sync::PodStatusSink&>(*this));
    core_.SetNode(Node());
    core_.SetStatusNode({.runtime_name = "containerd"});
    sources_.emplace(shard.loop(), log, sync::PodSourcesOptions{.configured = options.core.sources},
                     core_.wishes());
    hints_ = cri::PodHints::Make(shard, core_.events(), cri_.metrics());
    stream_ = std::make_unique<cri::EventStream>(
        shard, cri_.runtime_client(), cri_.runtime(), random, log, cri_.metrics(),
        std::vector<std::shared_ptr<cri::PodHints>>{hints_});
    if (options.core.pleg.use_events) stream_->Start();
  }
  ~CoreOnCri() { Close(); }

  // It calls nobody more. Its mail must have been delivered before it is destroyed.
  void Close() {
    stream_.reset();
    hints_->Close();
    sources_.reset();
    core_.CloseShard(0);
    core_.CloseHome();
  }

  sync::PodCore& core() { return core_; }
  sync::PodShard& pods() { return *core_.pods(0); }
  sync::PodSources& sources() { return *sources_; }
  cri::CriShard& cri() { return cri_; }
  // Pods that are gone with all they had, since the start.
  uint64_t gone() const { return gone_; }
  const std::vector<std::string>& faults() const { return faults_; }
  const std::vector<std::string>& rejections() const { return rejections_; }
  // What people were told: "pod field Reason: message".
  const std::vector<std::string>& events() const { return events_; }
  // The phase that the newest status of the pod tells.
  std::string PhaseOf(const PodUid& pod) const { return StatusOf(pod).phase(); }
  kube::core::PodStatus StatusOf(const PodUid& pod) const {
    kube::core::PodStatus status;
    const auto found = statuses_.find(pod);
    if (found != statuses_.end()) status.ParseFromString(found->second);
    return status;
  }

 private:
  class Router final : public sync::ShardRouter {
   public:
    explicit Router(reactor::Shard& shard) : shard_(shard) {}
    uint32_t shards() const override { return 1; }
    Status Send(uint32_t to, UniqueFunction<void()> work) override {
      return shard_.Send(to, {},
                         [work = std::move(work)](const QueuedContext&) mutable { work(); });
    }

   private:
    reactor::Shard& shard_;
  };

  static managers::PodDirectoriesOptions Folders(const Options& options) {
    return {.root_folder = options.folder + "/data",
            .logs_folder = options.folder + "/logs",
            .links_folder = options.folder + "/links"};
  }

  static sync::SpecNode SpecNode(const Options& options) {
    sync::SpecNode node;
    node.pod_logs_dir = options.folder + "/logs";
    node.pods_dir = options.folder + "/data/pods";
    node.cgroup_v2 = false;
    node.memory_capacity_bytes = int64_t{1} << 30;
    return node;
  }

  static sync::PodCoreOptions CoreOptions(const Options& options) {
    sync::PodCoreOptions core = options.core;
    core.journal.directory = options.folder + "/journal";
    return core;
  }
  static sync::NodeView Node() {
    return {.name = "n1",
            .labels = {{"kubernetes.io/os", "linux"}},
            .allocatable = {{"cpu", 8000}, {"memory", int64_t{1} << 33}},
            .pods_max = 100'000};
  }

  // sync::NodeFetcher, sync::PodStatusSink: nobody is told, so all has arrived.
  void Fetch(const Context&, reactor::Done<sync::NodeView> done) override {
    loop_.Post([done = std::move(done)]() mutable { done(Node()); });
  }
  void SetStatus(sync::PodStatusUpdate update) override {
    const PodUid uid(std::string(update.pod->hot().uid));
    statuses_[uid] = std::move(update.status);
    core_.arrived().OnStatusSettled(uid, update.version);
  }
  void Forget(const PodUid& pod) override { statuses_.erase(pod); }

  // sync::PodShardUser, sync::PodCoreUser
  void OnPodChanged(const sync::PodWorker&) override {}
  void OnPodGone(const sync::PodIdentity&) override { ++gone_; }
  void OnPodEvent(const sync::ObjectEvent& event) override {
    events_.push_back(event.object.name + " " + event.object.field_path + " " + event.reason +
                      ": " + event.message);
  }
  void OnPodRejected(const kube::PodRef& pod, const sync::Rejection& rejection) override {
    rejections_.push_back(std::string(pod->hot().name) + ": " + rejection.message);
  }
  void OnPodFault(const sync::PodWorker& worker, const Error& error) override {
    faults_.push_back(worker.pod().ref.ToString() + ": " + error.message());
  }
  void OnPlegMode(const sync::PlegModeChange&) override {}

  Router router_;
  cri::CriShard cri_;
  managers::HookRunner hooks_;
  managers::LogLinks links_;
  managers::PodDirectories directories_;
  managers::PodLeftoverFinder leftovers_;
  managers::TerminationMessages runtime_;
  fakes::FakePodObjects objects_;
  fakes::FakePodVolumes volumes_;
  sync::PodSpecBuilder specs_;
  sync::PodCore core_;
  reactor::Loop& loop_;
  std::map<PodUid, std::string> statuses_;
  std::vector<std::string> rejections_;
  std::vector<std::string> events_;
  std::optional<sync::PodSources> sources_;
  std::shared_ptr<cri::PodHints> hints_;
  std::unique_ptr<cri::EventStream> stream_;
  uint64_t gone_ = 0;
  std::vector<std::string> faults_;
};

}  // namespace denselet::tests
