#include "app/agent/node_for_pods.h"

#include <algorithm>
#include <string>
#include <utility>

#include "kube/api/codec/sorted.h"
#include "kube/api/types.h"
#include "managers/node/node_object.h"
#include "sync/ports/api_typed.h"

namespace denselet::app {
namespace {

bool IsIpv6(const std::string& address) { return address.find(':') != std::string::npos; }

// The first of each family, in the node's order.
std::vector<std::string> HostIps(const kube::core::Node& node) {
  std::vector<std::string> ips;
  for (const char* type : {"InternalIP", "ExternalIP"}) {
    for (const kube::core::NodeAddress& address : node.status().addresses()) {
      if (address.type() != type) continue;
      const bool again = std::ranges::any_of(
          ips, [&](const std::string& ip) { return IsIpv6(ip) == IsIpv6(address.address()); });
      if (!again) ips.push_back(address.address());
    }
    if (!ips.empty()) return ips;
  }
  return ips;
}

sync::SpecNodeNow SpecViewOf(const kube::core::Node& node, bool recursive_read_only) {
  sync::SpecNodeNow view{.host_ips = HostIps(node), .recursive_read_only = recursive_read_only};
  view.prefers_ipv6 = !view.host_ips.empty() && IsIpv6(view.host_ips.front());
  for (const auto* entry : kube::Sorted(node.status().allocatable())) {
    const Result<kube::Quantity> amount = kube::Quantity::Parse(entry->second.string());
    if (amount) view.allocatable.emplace(entry->first, *amount);
  }
  return view;
}

}  // namespace

NodeForPods::NodeForPods(reactor::Loop& loop, Logger log, node::HostFactsSource& facts,
                         node::NodeInputsSource& inputs, node::NodeConfig config)
    : loop_(loop),
      log_(std::move(log)),
      source_(facts),
      inputs_(inputs),
      config_(std::move(config)) {}

NodeForPods::~NodeForPods() {
  cancel_.Cancel();
  loop_.Disarm(timer_);
}

void NodeForPods::Begin(node::MachineFacts machine, NodeForPodsUser& user) {
  user_ = &user;
  facts_.machine = std::move(machine);
  ReadNetwork();
}

void NodeForPods::ReadNetwork() {
  Context context;
  context.deadline = After(loop_.Now(), kReadTimeMax);
  context.cancel = cancel_.token();
  source_.ReadNetwork(context, [this, alive = cancel_.token()](Result<node::NetworkFacts> network) {
    if (alive.cancelled()) return;
    if (!network) {
      log_.Error(network.error(), "Could not read the node's network, trying again");
      timer_ = loop_.Arm(After(loop_.Now(), kPause), [this] { ReadNetwork(); });
      return;
    }
    facts_.network = *std::move(network);
    known_ = true;
    Refresh();
  });
}

void NodeForPods::Join(sync::ApiServer& api, const node::NodeCache& cache) {
  api_ = &api;
  cache_ = &cache;
  Refresh();
}

kube::core::Node NodeForPods::Current() const {
  if (cache_ != nullptr && cache_->node() != nullptr) return *cache_->node();
  const node::NodeInputs inputs = inputs_.Collect();
  node::NodeMemory memory;
  node::NodeNotes notes;  // the node's manager tells them
  return node::InitialNode({config_, facts_, inputs, {loop_.Now(), loop_.WallNow()}}, memory,
                           notes);
}

void NodeForPods::Refresh() {
  if (!known_) return;
  const kube::core::Node node = Current();
  const node::RuntimeInput runtime = inputs_.Collect().runtime;
  // Of the default handler, which all pods run with.
  const bool recursive_read_only =
      std::ranges::any_of(runtime.handlers, [](const node::RuntimeHandler& handler) {
        return handler.name.empty() && handler.recursive_read_only_mounts;
      });
  user_->OnNodeForAdmission(ViewOf(node));
  user_->OnNodeForSpecs(SpecViewOf(node, recursive_read_only));
  if (runtime.name.empty()) return;
  sync::StatusNode status{.runtime_name = runtime.name, .host_ips = HostIps(node)};
  status.prefers_ipv6 = !status.host_ips.empty() && IsIpv6(status.host_ips.front());
  status.recursive_read_only = recursive_read_only;
  user_->OnNodeForStatuses(status);
}

sync::NodeView NodeForPods::ViewOf(const kube::core::Node& node) const {
  sync::NodeView view = sync::ReadNodeView(node);
  view.supplemental_groups_policy =
      inputs_.Collect().runtime.supplemental_groups_policy.value_or(false);
  return view;
}

void NodeForPods::Fetch(const Context& context, reactor::Done<sync::NodeView> done) {
  if (api_ == nullptr) {
    loop_.Post([this, alive = cancel_.token(), done = std::move(done)]() mutable {
      if (!alive.cancelled()) done(ViewOf(Current()));
    });
    return;
  }
  sync::ApiRequest request{.object = {"", config_.flags.node_name}};
  sync::Get<kube::core::Node>(*api_, context, std::move(request),
                              [this, alive = cancel_.token(), done = std::move(done)](
                                  const Result<kube::core::Node>& node) mutable {
                                if (alive.cancelled()) return;
                                if (!node) return done(node.error());
                                done(ViewOf(*node));
                              });
}

}  // namespace denselet::app
