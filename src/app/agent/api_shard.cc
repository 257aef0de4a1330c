#include "app/agent/api_shard.h"

#include <string>
#include <utility>
#include <vector>

#include "app/agent/node_events.h"
#include "app/agent/object_ttl.h"
#include "kube/api/types.h"
#include "managers/node/address_choice.h"

namespace denselet::app {
namespace {

constexpr Duration kPrepareTimeMax = Seconds(30);
constexpr uint32_t kFolderMode = 0750;

node::HostFactsOptions FactsOptions(const AgentOptions& options) {
  const node::NodeFlags& flags = options.node.node.flags;
  return {.root_folder = options.root_folder,
          .name_to_resolve = node::NeedsNameService(flags) ? flags.node_name : ""};
}

}  // namespace

Result<std::unique_ptr<ApiShard>> ApiShard::Make(ShardBasics& basics, reactor::BlockingPool& pool,
                                                 cri::CriShard& cri, const AgentOptions& options,
                                                 Failed failed) {
  Result<std::unique_ptr<LocalLeaves>> leaves = LocalLeaves::Make(basics.shard(), pool);
  if (!leaves) return leaves.error();
  return std::unique_ptr<ApiShard>(
      new ApiShard(basics, cri, options, *std::move(leaves), std::move(failed)));
}

ApiShard::ApiShard(ShardBasics& basics, cri::CriShard& cri, const AgentOptions& options,
                   std::unique_ptr<LocalLeaves> leaves, Failed failed)
    : basics_(basics),
      cri_(cri),
      options_(options),
      log_(basics.log()),
      failed_(std::move(failed)),
      leaves_(std::move(leaves)),
      url_dialer_(
          basics.loop(),
          [&leaves = *leaves_](const Context& context, const std::string& host, uint16_t port,
                               reactor::Done<std::vector<net::Address>> done) {
            leaves.Lookup(context, host, port, std::move(done));
          }),
      facts_(basics.loop(), leaves_->files(), leaves_->host_calls(), FactsOptions(options_)),
      runtime_(std::make_unique<RuntimeSide>(
          RuntimeSideSeams{basics.loop(), log_, cri.runtime(), cri.images()},
          RuntimeSideOptions{.endpoint = options_.runtime.runtime_endpoint,
                             .images_max = options_.server ? options_.node.node.images_max : 0})),
      node_for_pods_(std::make_unique<NodeForPods>(basics.loop(), log_, facts_, *runtime_,
                                                   options_.node.node)),
      reports_({basics.loop(), basics.random(), log_},
               {.node_name = options_.node.node.flags.node_name,
                .has_api_server = options_.server.has_value()}),
      resolv_conf_(std::make_unique<ResolvConfFile>(
          basics.loop(), leaves_->files(), leaves_->watcher(), options_.pods.spec.resolv_conf_path,
          [this](Result<std::string> text) { OnResolvConf(std::move(text)); })) {}

ApiShard::~ApiShard() { Stop(); }

void ApiShard::Stop() {
  stage_ = Stage::kStopped;
  cancel_.Cancel();
  cri_.images().WhenChanged({});
  reports_.Stop();
  resolv_conf_.reset();
  if (side_ != nullptr) side_->LeaveServer();
  node_.reset();
  node_for_pods_.reset();
  access_.reset();
  runtime_.reset();
}

// Files first: what they refuse from then on ends the questions to the machine.
void ApiShard::StopLeaves(reactor::Task stopped) {
  leaves_->Stop(
      [this, stopped = std::move(stopped)]() mutable { facts_.Stop(std::move(stopped)); });
}

void ApiShard::Prepare(reactor::Done<node::MachineFacts> done) {
  const auto context = [this] {
    return Context{.deadline = After(basics_.loop().Now(), kPrepareTimeMax),
                   .priority = Priority::kCritical,
                   .cancel = cancel_.token(),
                   .trace = {}};
  };
  const Error ends(ErrorCode::kCancelled, "the agent ends");
  // Before any pod is told of: each sandbox needs resolv.conf, and mounts are made below the root.
  auto look = [this, alive = cancel_.token(), context,
               ends](reactor::Done<node::MachineFacts> asker) {
    resolv_conf_->Start([this, alive, context, ends, asker = std::move(asker)]() mutable {
      if (alive.cancelled()) return asker(ends);
      facts_.ReadMachine(context(), std::move(asker));
    });
  };
  auto share = [this, alive = cancel_.token(), context, ends,
                look](reactor::Done<node::MachineFacts> asker) {
    leaves_->MakeSharedMount(
        context(), options_.root_folder,
        [this, alive, ends, look, asker = std::move(asker)](const Result<bool>& made) mutable {
          if (alive.cancelled()) return asker(ends);
          if (const Status shared = CheckShared(made); !shared) return asker(shared.error());
          look(std::move(asker));
        });
  };
  leaves_->files().MakeDirectories(
      context(), options_.OwnFolder(), kFolderMode, reactor::Durability::kSynced,
      [alive = cancel_.token(), ends, share, done = std::move(done)](const Status& made) mutable {
        if (!made) return done(made.error().With("make the agent's folder"));
        if (alive.cancelled()) return done(ends);
        share(std::move(done));
      });
}

// Who may not mount cannot run pods that need it either; all others are not left to find out by
// themselves that mounts do not propagate.
Status ApiShard::CheckShared(const Result<bool>& made) {
  if (made && *made) {
    log_.Info("Made the root directory a shared mount", KV("path", options_.root_folder));
  }
  if (made) return Ok();
  if (made.error().code() != ErrorCode::kPermission) {
    return made.error().With("make the root directory a shared mount");
  }
  log_.Info("Mounts of pods do not propagate: the root directory is on no shared mount",
            KV("path", options_.root_folder), KV("reason", made.error().message()));
  return Ok();
}

void ApiShard::OnResolvConf(Result<std::string> text) {
  if (!text) log_.Error(text.error(), "Could not read the node's resolv.conf");
  if (side_ != nullptr) return side_->SetResolvConf(std::move(text));
  resolv_conf_text_ = std::move(text);
}

void ApiShard::Begin(const node::MachineFacts& machine, PodSide& side) {
  stage_ = Stage::kRunning;
  side_ = &side;
  if (resolv_conf_text_) side_->SetResolvConf(*std::exchange(resolv_conf_text_, {}));
  sync::PodCore& pods = side.core();
  pods_ = &pods;
  reports_.SetUsers(pods.arrived(), static_cast<sync::EndingStaticPods&>(*this));
  node_for_pods_->Begin(machine, static_cast<NodeForPodsUser&>(*this));
  runtime_->WhenKnown([this] { node_for_pods_->Refresh(); });
  runtime_->AskOfPleg([this, &pods] { return pods.pleg().WhyUnhealthy(basics_.loop().Now()); });
  // Until it has told how it is nothing is started on it.
  pods.SetRuntimeTrouble({.runtime = "container runtime status check may not have completed yet"});
  runtime_->WhenTroubled([this, &pods](const sync::RuntimeTrouble& trouble) {
    pods.SetRuntimeTrouble(trouble);
    // Whether the node is ready hangs on it: the cluster is told now, not with the next report.
    if (node_ != nullptr && node_->node() != nullptr) node_->node()->ReportNow();
  });
  runtime_->WhenAnswersAgain([&pods] { pods.pleg().OnRuntimeBack(); });
  // Images are pulled on this shard, by the core's home.
  cri_.images().WhenChanged([this] { runtime_->OnImagesChanged(); });
  runtime_->Start();
  node_ = std::make_unique<NodeSide>(MakeNodeSeams(), options_.node);
  if (options_.server) {
    access_ = std::make_unique<ServerAccess>(MakeServerSeams(), *options_.server,
                                             static_cast<ServerAccessUser&>(*this));
    return;
  }
  log_.Info("Standalone mode, no API client");
  log_.Info("No api server defined - no events will be sent to API server");
}

NodeSideSeams ApiShard::MakeNodeSeams() {
  return {basics_.loop(),
          basics_.random(),
          log_,
          leaves_->files(),
          leaves_->watcher(),
          [this](const Context& context, const managers::ManifestUrl& url,
                 reactor::Done<std::unique_ptr<net::Stream>> done) {
            url_dialer_.Dial(context, url, std::move(done));
          },
          facts_,
          *runtime_,
          &pods_->wishes(),
          &reports_};
}

ServerAccessSeams ApiShard::MakeServerSeams() {
  const auto make_lookup = [&leaves = *leaves_]() -> kube::Lookup {
    return [&leaves](const Context& context, const std::string& host, uint16_t port,
                     reactor::Done<std::vector<net::Address>> done) {
      leaves.Lookup(context, host, port, std::move(done));
    };
  };
  return {basics_.loop(),     basics_.random(),     log_,       leaves_->files(),
          leaves_->watcher(), leaves_->processes(), make_lookup};
}

MetricsSnapshot ApiShard::Metrics() {
  MetricsSnapshot all;
  const auto add = [&all](MetricsSnapshot part) { (void)all.Merge(std::move(part)); };
  if (node_ != nullptr && node_->node() != nullptr) add(node_->node()->metrics().Gather());
  if (reports_.statuses() != nullptr) add(reports_.statuses()->metrics().Gather());
  if (access_ != nullptr) add(access_->Metrics());
  return all;
}

void ApiShard::OnPlegMode(const sync::PlegModeChange& change) {
  if (node_ == nullptr) return;
  OnPodEvent(EventOf(change, options_.node.node.flags.node_name));
}

void ApiShard::OnPodRejected(const kube::PodRef& pod, const sync::Rejection& rejection) {
  if (node_ == nullptr) return;
  const kube::PodHotFields& hot = pod->hot();
  node_->recorder().Record({.kind = "Pod",
                            .ns = std::string(hot.ns),
                            .name = std::string(hot.name),
                            .uid = std::string(hot.uid),
                            .resource_version = std::string(hot.resource_version)},
                           sync::EventType::kWarning, rejection.reason, rejection.message);
}

void ApiShard::OnPodEvent(const sync::ObjectEvent& event) {
  if (node_ == nullptr) return;
  node_->recorder().Record(event.object, event.type, event.reason, event.message);
}

void ApiShard::OnServer(sync::ApiServer& api) {
  side_->JoinServer(api);
  node_->Join(api);
  node::NodeCache& cache = node_->node()->cache();
  cache.SetListener([this] { OnNodeChanged(); });
  node_for_pods_->Join(api, cache);
}

void ApiShard::OnNodeChanged() {
  const kube::core::Node* const node = node_->node()->cache().node();
  const bool there = node != nullptr && !node->metadata().has_deletiontimestamp();
  reports_.SetNode(there ? node->metadata().uid() : "");
  side_->SetObjectTtl(node == nullptr ? std::nullopt : ObjectTtlOf(*node));
  node_for_pods_->Refresh();
}

void ApiShard::OnHopeless(const Error& reason) { Fail(reason); }

void ApiShard::Fail(const Error& reason) {
  if (Failed failed = std::exchange(failed_, nullptr)) failed(reason);
}

}  // namespace denselet::app
