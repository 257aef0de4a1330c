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
// Until all is as it was, once the server is ready again; most of it for machines that are busy.
constexpr Duration kBackMax = Seconds(6);

// A client on a loop of its own.
class Client : public kube::ApiServerClient {
 public:
  explicit Client(reactor::Backend backend) : ApiServerClient(backend) {
    kube::ApiClientOptions options;
    options.requests_per_second = 0;
    Connect(options);
  }

  void Turn() { loop_->RunTurn(After(clock_.Now(), Milliseconds(2))); }
  void Follow() {
    desired_.emplace(*loop_, clock_, *client_, kNode);
    Beat();
  }
  bool BeatSince(TimePoint when) const { return last_beat_ >= when; }
  const DesiredPodsOfNode& desired() const { return *desired_; }
  kube::ApiClient& api() { return *client_; }
  uint64_t dials() const {
    const auto counters = transport_->counters(kube::ApiLane::kWatches);
    return counters.connected + counters.dials_failed;
  }

 private:
  // As a node's lease: again and again, and at once when it was in vain.
  void Beat() {
    client_->Send(Context{}.WithTimeout(clock_.Now(), Seconds(10)),
                  {.verb = sync::ApiVerb::kGet,
                   .resource = kube::kConfigMaps,
                   .object = {kNamespace, "beat"},
                   .traffic = sync::ApiTraffic::kHeartbeat},
                  [this](const Result<sync::ApiObject>& answer) {
                    const bool ok = answer || answer.error().code() == ErrorCode::kNotFound;
                    if (ok) last_beat_ = clock_.Now();
                    loop_->Arm(After(clock_.Now(), ok ? Seconds(1) : Seconds(0)),
                               [this] { Beat(); });
                  });
  }

  std::optional<DesiredPodsOfNode> desired_;
  TimePoint last_beat_ = TimePoint::min();
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
  [[nodiscard]] bool RunUntil(Predicate done, Duration time = Minutes(1)) {
    const TimePoint limit = After(clock_.Now(), time);
    while (!done()) {
      if (clock_.Now() > limit) {
        ADD_FAILURE() << "it did not happen in " << FormatDuration(time);
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
  // While the clients go on.
  [[nodiscard]] bool ShellMeanwhile(const std::string& command) {
    const std::string done = testing::TempDir() + "/done." + std::to_string(::getpid());
    Shell("(" + command + " && touch '" + done + "') &");
    const bool ran = RunUntil([&] { return std::filesystem::exists(done); });
    std::filesystem::remove(done);
    return ran;
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
  std::vector<uint64_t> dials_before;
  for (const auto& client : clients_) dials_before.push_back(client->dials());
  ASSERT_TRUE(ShellMeanwhile("control_plane.sh restart kube-apiserver"));
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

TEST_F(WatchOutageTest, EverybodyIsBackSoonAfterTheServer) {
  ASSERT_TRUE(ShellMeanwhile("control_plane.sh stop kube-apiserver"));
  const TimePoint end = After(clock_.Now(), Seconds(20));
  ASSERT_TRUE(RunUntil([&] { return clock_.Now() >= end; }));
  ASSERT_TRUE(ShellMeanwhile("control_plane.sh start kube-apiserver"));
  const TimePoint back = clock_.Now();
  Writer writer(clients_[0]->api(), *pods_);
  writer.Begin();
  writer.End();  // with this one
  EXPECT_TRUE(RunUntil(
      [&] {
        return std::ranges::all_of(clients_, [&](const auto& c) { return c->BeatSince(back); }) &&
               All([&](const DesiredPodsOfNode& desired) {
                 return writer.ended() && LabelOf(desired, pods_->NameOf(0)) == writer.LastOf(0);
               });
      },
      kBackMax));
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

  ASSERT_TRUE(RunUntil(
      [&] {
        return All([&](const DesiredPodsOfNode& desired) {
          return desired.Find("unseen") && !desired.Find(pods_->NameOf(1));
        });
      },
      kBackMax));
  for (const auto& client : clients_) {
    EXPECT_EQ(LabelOf(client->desired(), pods_->NameOf(0)), "unseen");
    EXPECT_EQ(client->desired().size(), kPods);
  }
}

}  // namespace
}  // namespace denselet::e2e
