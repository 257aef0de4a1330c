// The API server goes away and comes back, with less memory than before: nobody who follows its
// pods misses an update. Run by control_plane.sh, with an instance of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <vector>

#include "tests/e2e/api_client_fixture.h"
#include "tests/e2e/desired_pods_fixture.h"
#include "tests/e2e/many_pods.h"

namespace denselet::e2e {
namespace {

constexpr char kNode[] = "outage-node";
constexpr char kNamespace[] = "outage";
constexpr size_t kPods = 20;

// A client on a loop of its own.
class Client : public kube::ApiServerClient {
 public:
  explicit Client(reactor::Backend backend) : ApiServerClient(backend) {
    kube::ApiClientOptions options;
    options.requests_per_second = 0;
    Connect(options);
  }

  void Turn() { loop_->RunTurn(After(clock_.Now(), Milliseconds(2))); }
  void Follow() { desired_.emplace(*loop_, clock_, *client_, kNode); }
  const DesiredPodsOfNode& desired() const { return *desired_; }
  kube::ApiClient& api() { return *client_; }
  uint64_t dials() const {
    const auto counters = transport_->counters(kube::ApiLane::kWatches);
    return counters.connected + counters.dials_failed;
  }

 private:
  std::optional<DesiredPodsOfNode> desired_;
};

// Changes one pod after the other, again and again and through every failure.
class Writer {
 public:
  Writer(kube::ApiClient& api, const ManyPods& pods) : api_(api), pods_(pods) {}

  void Begin() { Send(); }
  void End() { ending_ = true; }
  bool ended() const { return ended_; }
  int written() const { return written_; }
  int failures() const { return failures_; }
  // Of pod i, in the end.
  std::string LastOf(size_t i) const { return last_[i]; }

 private:
  void Send() {
    const auto pod = static_cast<size_t>(written_) % kPods;
    const std::string value = "w" + std::to_string(written_);
    api_.Send({},
              {.verb = sync::ApiVerb::kPatch,
               .resource = kube::kPods,
               .object = {kNamespace, pods_.NameOf(pod)},
               .body = R"({"metadata":{"labels":{")" + std::string(ManyPods::kLabel) + R"(":")" +
                       value + R"("}}})"},
              [this, pod, value](const Result<sync::ApiObject>& answer) {
                if (!answer) return ++failures_, Send();  // also when it may have had an effect
                last_[pod] = value;
                ++written_;
                if (ending_) {
                  ended_ = true;
                } else {
                  Send();
                }
              });
  }

  kube::ApiClient& api_;
  const ManyPods& pods_;
  bool ending_ = false, ended_ = false;
  int written_ = 0, failures_ = 0;
  std::array<std::string, kPods> last_;
};

class WatchOutageTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const reactor::Backend backend : reactor::AvailableBackends()) {
      clients_.push_back(std::make_unique<Client>(backend));
    }
    pods_.emplace(
        clients_[0]->api(),
        ManyPodsOptions{.ns = kNamespace, .node = kNode, .count = kPods, .pod = SmallPod()});
    pods_->Create();
    ASSERT_TRUE(RunUntil([&] { return !pods_->busy(); }));
    ASSERT_FALSE(pods_->failed()) << pods_->failed()->message();
    for (const auto& client : clients_) client->Follow();
    ASSERT_TRUE(RunUntil([&] { return All([](const auto& pods) { return pods.ready(); }); }));
  }

  template <class Predicate>
  [[nodiscard]] bool RunUntil(Predicate done) {
    const TimePoint limit = After(clock_.Now(), Minutes(1));
    while (!done()) {
      if (clock_.Now() > limit) {
        ADD_FAILURE() << "nothing happened for a minute";
        return false;
      }
      for (const auto& client : clients_) client->Turn();
    }
    return true;
  }
  template <class Predicate>
  bool All(Predicate fits) const {
    return std::ranges::all_of(clients_, [&](const auto& c) { return fits(c->desired()); });
  }
  static void Shell(const std::string& command) {
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }
  static std::string LabelOf(const DesiredPodsOfNode& desired, const std::string& name) {
    const auto pod = desired.Find(name);
    if (!pod) return "";
    const auto found = pod->metadata().labels().find(ManyPods::kLabel);
    return found == pod->metadata().labels().end() ? "" : found->second;
  }

  const reactor::RealClock clock_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::optional<ManyPods> pods_;
};

TEST_F(WatchOutageTest, NoUpdateIsLostWhenTheServerIsRestartedAmidThem) {
  Writer writer(clients_[0]->api(), *pods_);
  writer.Begin();
  ASSERT_TRUE(RunUntil([&] { return writer.written() > 50; }));
  const std::string done = testing::TempDir() + "/restarted." + std::to_string(::getpid());
  std::vector<uint64_t> dials_before;
  for (const auto& client : clients_) dials_before.push_back(client->dials());
  Shell("(control_plane.sh restart kube-apiserver && touch '" + done + "') &");
  ASSERT_TRUE(RunUntil([&] { return std::filesystem::exists(done); }));
  std::filesystem::remove(done);
  const int so_far = writer.written();
  ASSERT_TRUE(RunUntil([&] { return writer.written() > so_far + 50; }));
  writer.End();
  ASSERT_TRUE(RunUntil([&] { return writer.ended(); }));

  ASSERT_TRUE(RunUntil([&] {
    return All([&](const DesiredPodsOfNode& desired) {
      for (size_t i = 0; i < kPods; ++i) {
        if (LabelOf(desired, pods_->NameOf(i)) != writer.LastOf(i)) return false;
      }
      return true;
    });
  }));
  for (size_t i = 0; i < clients_.size(); ++i) {
    // It was away, and was not asked in a tight loop while it was.
    EXPECT_GE(clients_[i]->desired().troubles(), 1);
    EXPECT_LE(clients_[i]->desired().troubles(), 30);
    EXPECT_LE(clients_[i]->dials() - dials_before[i], 100u);
    EXPECT_EQ(clients_[i]->desired().size(), kPods);
  }
}

TEST_F(WatchOutageTest, WhatHappenedBeforeTheServersMemoryIsFoundByANewList) {
  // While nobody turns the loops, nobody follows; and what is changed after a restart does not even
  // come as far as our sockets. Something that is no pod moves the versions on before it.
  const std::string kubectl = "kubectl -n " + std::string(kNamespace) + " ";
  Shell(kubectl + "create configmap other >/dev/null");
  Shell("control_plane.sh restart kube-apiserver");
  Shell(kubectl + "label pod " + pods_->NameOf(0) + " " + ManyPods::kLabel +
        "=unseen --overwrite >/dev/null");
  Shell(kubectl + "delete pod " + pods_->NameOf(1) + " --grace-period=0 --force >/dev/null 2>&1");
  Shell(kubectl + "run unseen --image=none --overrides='{\"spec\":{\"nodeName\":\"" + kNode +
        "\",\"automountServiceAccountToken\":false}}' >/dev/null");
  Shell("control_plane.sh compact $(" + kubectl +
        "get pod unseen -o jsonpath={.metadata.resourceVersion})");

  ASSERT_TRUE(RunUntil([&] {
    return All([&](const DesiredPodsOfNode& desired) {
      return desired.Find("unseen") && !desired.Find(pods_->NameOf(1));
    });
  }));
  for (const auto& client : clients_) {
    EXPECT_EQ(LabelOf(client->desired(), pods_->NameOf(0)), "unseen");
    EXPECT_EQ(client->desired().size(), kPods);
    EXPECT_TRUE(client->desired().Logged("too old resource version"));
  }
}

}  // namespace
}  // namespace denselet::e2e
