#include "app/agent/api_shard.h"

#include <string>
#include <utility>
#include <vector>

#include "managers/node/address_choice.h"

namespace denselet::app {
namespace {

constexpr Duration kFoldersTimeMax = Seconds(30);
constexpr uint32_t kFolderMode = 0750;

node::HostFactsOptions FactsOptions(const AgentOptions& options) {
  const node::NodeFlags& flags = options.node.node.flags;
  return {.root_folder = options.root_folder,
          .name_to_resolve = node::NeedsNameService(flags) ? flags.node_name : ""};
}

}  // namespace

Result<std::unique_ptr<ApiShard>> ApiShard::Make(ShardBasics& basics, reactor::BlockingPool& pool,
                                                 const AgentOptions& options, Failed failed) {
  Result<std::unique_ptr<LocalLeaves>> leaves = LocalLeaves::Make(basics.shard(), pool);
  if (!leaves) return leaves.error();
  std::unique_ptr<ApiShard> made(
      new ApiShard(basics, options, *std::move(leaves), std::move(failed)));
  made->MakeFolders();
  return made;
}

ApiShard::ApiShard(ShardBasics& basics, const AgentOptions& options,
                   std::unique_ptr<LocalLeaves> leaves, Failed failed)
    : basics_(basics),
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
      facts_(leaves_->files(), leaves_->host_calls(), FactsOptions(options_)) {}

ApiShard::~ApiShard() { Stop(); }

void ApiShard::Stop() {
  stage_ = Stage::kStopped;
  cancel_.Cancel();
  node_.reset();
  access_.reset();
}

void ApiShard::MakeFolders() {
  const Context context{.deadline = After(basics_.loop().Now(), kFoldersTimeMax),
                        .priority = Priority::kCritical,
                        .cancel = cancel_.token(),
                        .trace = {}};
  leaves_->files().MakeDirectories(context, options_.OwnFolder(), kFolderMode,
                                   [this, alive = cancel_.token()](Status made) {
                                     if (alive.cancelled()) return;
                                     if (!made)
                                       return Fail(made.error().With("make the agent's folder"));
                                     Begin();
                                   });
}

void ApiShard::Begin() {
  stage_ = Stage::kRunning;
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
          inputs_};
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

void ApiShard::OnServer(sync::ApiServer& api) {
  log_.Info("Joined the API server", KV("node", options_.node.node.flags.node_name));
  node_->Join(api);
}

void ApiShard::OnHopeless(const Error& reason) { Fail(reason); }

void ApiShard::Fail(const Error& reason) {
  log_.Error(reason, "Failed to run the agent");
  if (Failed failed = std::exchange(failed_, nullptr)) failed();
}

}  // namespace denselet::app
