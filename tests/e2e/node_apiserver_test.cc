// A node in a real cluster, with a node's own rights: run by node_test.sh, beside control_plane.sh.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "managers/events/event_sender.h"
#include "managers/node/address_choice.h"
#include "managers/node/host_facts.h"
#include "managers/node/node_manager.h"
#include "reactor/blocking_pool.h"
#include "reactor/pool_file_system.h"
#include "sync/ports/api_typed.h"
#include "tests/e2e/api_client_fixture.h"
#include "tests/fakes/capturing_log_sink.h"

namespace denselet::node {
namespace {

using kube::core::Node;
using sync::coordination::Lease;
using testing::HasSubstr;

struct FakeInputs final : NodeInputsSource {
  explicit FakeInputs(reactor::Loop& l) : loop(l) {}
  NodeInputs Collect() override {
    NodeInputs inputs;
    if (!ready) return inputs;
    inputs.runtime.name = "containerd";
    inputs.runtime.synced_at = loop.Now();
    inputs.runtime.network_error.reset();
    return inputs;
  }

  reactor::Loop& loop;
  bool ready = false;
};

// The base's client is the administrator's; the node has its own.
class NodeApiServerTest : public kube::ApiClientTest {
 protected:
  NodeApiServerTest()
      : name_("e2e-node-" + Backend()),
        shard_(0, *loop_, 1, reactor::MailLimits{}, all_),
        pool_(clock_),
        files_(std::make_unique<reactor::PoolFileSystem>(shard_, pool_)),
        calls_(shard_, pool_),
        inputs_(*loop_) {
    all_.push_back(&shard_);
    auto tls = net::TlsClient::Make({.authorities = PkiFile("ca.crt"),
                                     .certificate = PkiFile("node-" + name_ + ".crt"),
                                     .key = PkiFile("node-" + name_ + ".key"),
                                     .protocols = {"h2"}});
    EXPECT_TRUE(tls) << tls.error().message();
    node_tls_ = std::make_unique<net::TlsClient>(std::move(*tls));
    kube::ApiTransportOptions options;
    options.authority = Setting("DENSELET_APISERVER");
    options.user_agent = "denselet-test";
    node_transport_ = std::make_unique<kube::ApiTransport>(
        loop(), random_, options, credentials_,
        [this](const Context& context, reactor::Done<std::unique_ptr<net::Stream>> done) {
          Dial(*node_tls_, context, std::move(done));
        });
    node_ = std::make_unique<kube::ApiClient>(loop(), random_, *node_transport_,
                                              kube::ApiClientOptions{});
    config_.flags.node_name = name_;
    config_.flags.hostname = "e2e-host";
    config_.flags.kubelet_version = "v1.36.3";
    config_.status_update_interval = Seconds(2);
    config_.lease_duration_seconds = 4;
  }
  ~NodeApiServerTest() override {
    manager_.reset();
    events_.reset();
    if (facts_ != nullptr) {
      bool answered = false;
      facts_->Stop([&] { answered = true; });
      EXPECT_TRUE(RunUntil([&] { return answered; }));
      facts_.reset();
    }
    node_.reset();
    node_transport_.reset();
    bool stopped = false;
    files_->Stop([&] { stopped = true; });
    EXPECT_TRUE(RunUntil([&] { return stopped; }));
    files_.reset();
    pool_.Stop();
  }

  static std::string Backend() {
    return GetParam() == reactor::Backend::kEpoll ? "epoll" : "uring";
  }

  void Start() {
    events_ = std::make_unique<events::EventSender>(*loop_, random_, Logger(output_), *node_,
                                                    events::EventSenderOptions{.host = name_});
    facts_ = std::make_unique<HostFactsReader>(
        *loop_, *files_, calls_,
        HostFactsOptions{.root_folder = "/",
                         .name_to_resolve = NeedsNameService(config_.flags) ? name_ : ""});
    manager_ = std::make_unique<NodeManager>(
        NodeSeams{*loop_, random_, Logger(output_), *node_, *events_, *facts_, inputs_}, config_);
    manager_->Start();
  }

  // What the node's own watch has shown.
  const Node* Seen() const { return manager_->cache().node(); }
  std::string Ready() const {
    const auto* condition = Seen() == nullptr ? nullptr : FindCondition(Seen()->status(), "Ready");
    return condition == nullptr ? "" : condition->status() + ": " + condition->message();
  }
  Result<Lease> GetLease() {
    return Await<Lease>([&](auto done) {
      sync::Get<Lease>(*node_, {}, {.object = {"kube-node-lease", name_}}, std::move(done));
    });
  }
  template <class T>
  void DeleteAsAdmin(const ObjectRef& object) {
    const Status deleted = Await<Unit>([&](auto done) {
      sync::Delete<T>(*client_, {}, {.object = object, .grace_seconds = 0}, std::move(done));
    });
    EXPECT_TRUE(deleted || deleted.error().code() == ErrorCode::kNotFound)
        << deleted.error().message();
  }

  const std::string name_;
  std::vector<reactor::Shard*> all_;
  reactor::Shard shard_;
  reactor::BlockingPool pool_;
  std::unique_ptr<reactor::PoolFileSystem> files_;
  RealHostCalls calls_;
  FakeInputs inputs_;
  NodeConfig config_;
  std::unique_ptr<net::TlsClient> node_tls_;
  std::unique_ptr<kube::ApiTransport> node_transport_;
  std::unique_ptr<kube::ApiClient> node_;
  LogVerbosity verbosity_;
  CapturingLogSink sink_;
  LogOutput output_{.format = {}, .clock = clock_, .verbosity = verbosity_, .sink = sink_};
  std::unique_ptr<events::EventSender> events_;
  std::unique_ptr<HostFactsReader> facts_;
  std::unique_ptr<NodeManager> manager_;
};
INSTANTIATE_LOOP_TEST(NodeApiServerTest);

TEST_P(NodeApiServerTest, ANodeRegistersRenewsItsLeaseAndReportsItsStatus) {
  DeleteAsAdmin<Node>({"", name_});
  DeleteAsAdmin<Lease>({"kube-node-lease", name_});
  Start();
  ASSERT_TRUE(RunUntil([&] { return !Ready().empty(); }));
  EXPECT_EQ(Ready(),
            "False: [container runtime status check may not have completed yet, network state "
            "unknown]");
  const Node node = *Seen();
  EXPECT_EQ(node.metadata().labels().at("kubernetes.io/hostname"), "e2e-host");
  EXPECT_GT(node.status().addresses_size(), 0);
  EXPECT_NE(node.status().capacity().at("cpu").string(), "0");
  EXPECT_NE(node.status().capacity().at("ephemeral-storage").string(), "0");
  EXPECT_EQ(node.status().conditions_size(), 4);

  // The lease: renewed by updates of one object, which the node owns.
  Result<Lease> first = Error(ErrorCode::kNotFound, "");
  ASSERT_TRUE(RunUntil([&] { return manager_->Snapshot().lease_renewed_at > TimePoint(); }));
  first = GetLease();
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ(first->metadata().ownerreferences(0).uid(), node.metadata().uid());
  const TimePoint renewed_at = manager_->Snapshot().lease_renewed_at;
  ASSERT_TRUE(RunUntil([&] { return manager_->Snapshot().lease_renewed_at > renewed_at; }));
  const Result<Lease> second = GetLease();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->metadata().uid(), first->metadata().uid());
  EXPECT_NE(second->metadata().resourceversion(), first->metadata().resourceversion());

  // Ready as soon as the runtime is.
  inputs_.ready = true;
  ASSERT_TRUE(RunUntil([&] { return Ready().starts_with("True"); }));
  EXPECT_EQ(Ready(), "True: kubelet is posting ready status");

  // Events went through, and nothing was forbidden.
  ASSERT_TRUE(RunUntil([&] { return events_->stage() == events::EventSender::Stage::kIdle; }));
  EXPECT_EQ(events_->rejected(), 0);
  for (const CapturingLogSink::Line& line : sink_.lines()) {
    EXPECT_THAT(line.text, testing::Not(HasSubstr("orbidden"))) << line.text;
    EXPECT_THAT(line.text, testing::Not(HasSubstr("said 403"))) << line.text;
  }
}

// With an instance of its own: others would miss the server.
class NodeOutageTest : public NodeApiServerTest {
 protected:
  static void ControlPlane(const std::string& command) {
    EXPECT_EQ(std::system(("control_plane.sh " + command).c_str()), 0) << command;
  }
};
INSTANTIATE_LOOP_TEST(NodeOutageTest);

TEST_P(NodeOutageTest, AServerThatWasAwayFindsTheNodeAgain) {
  inputs_.ready = true;
  Start();
  // The node of an earlier test may be there already, and ready.
  ASSERT_TRUE(RunUntil([&] {
    const NodeSnapshot at = manager_->Snapshot();
    return at.registered && at.stage == "resting" && at.lease_renewed_at > TimePoint();
  }));
  ASSERT_TRUE(RunUntil([&] { return Ready().starts_with("True"); }));
  ControlPlane("stop kube-apiserver");
  const TimePoint away_since = clock_.Now();
  inputs_.ready = false;  // a change that is not to be lost
  ASSERT_TRUE(RunUntil([&] { return manager_->Snapshot().report == "fetching"; }));
  ControlPlane("start kube-apiserver");
  ASSERT_TRUE(RunUntil([&] { return manager_->Snapshot().lease_renewed_at > away_since; }));
  ASSERT_TRUE(RunUntil([&] { return Ready().starts_with("False"); }));
}

TEST_P(NodeApiServerTest, AnExistingNodeIsTakenOverAndADeletedOneStaysAway) {
  DeleteAsAdmin<Node>({"", name_});
  Node old;
  old.mutable_metadata()->set_name(name_);
  (*old.mutable_metadata()->mutable_labels())["kubernetes.io/hostname"] = "old";
  const Result<Node> made =
      Await<Node>([&](auto done) { sync::Create<Node>(*client_, {}, {}, old, std::move(done)); });
  ASSERT_TRUE(made) << made.error().message();
  inputs_.ready = true;
  Start();
  ASSERT_TRUE(RunUntil([&] { return Ready().starts_with("True"); }));
  EXPECT_EQ(Seen()->metadata().uid(), made->metadata().uid());
  EXPECT_EQ(Seen()->metadata().labels().at("kubernetes.io/hostname"), "e2e-host");

  DeleteAsAdmin<Node>({"", name_});
  // Its reports go on, and find nobody.
  ASSERT_TRUE(RunUntil([&] { return Seen() == nullptr; }));
  ASSERT_TRUE(RunUntil([&] {
    return sink_.Take().find("Node is not known to the API server") != std::string::npos;
  }));
  EXPECT_EQ(Seen(), nullptr);
}

}  // namespace
}  // namespace denselet::node
