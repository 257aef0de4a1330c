#include "app/agent/server_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fakes/capturing_log_sink.h"
#include "tests/sim/sim_file_system.h"
#include "tests/sim/sim_path_watcher.h"
#include "tests/sim/world.h"

namespace denselet::app {
namespace {

using testing::HasSubstr;
using testing::Not;

class NoProcesses final : public reactor::ProcessRunner {
 public:
  void Run(const Context&, reactor::ProcessSpec, reactor::ProcessDone) override {}
};

// A node's files, and a network in which nobody listens.
class ServerAccessTest : public testing::Test, private ServerAccessUser {
 protected:
  ServerAccessTest() {
    EXPECT_TRUE(disk_.MakeDirectories("/etc/kubernetes", 0755));
    EXPECT_TRUE(disk_.MakeDirectories("/pki", 0755));
    options_.bootstrap.kubeconfig_path = "/etc/kubernetes/kubelet.conf";
    options_.bootstrap.node_name = "n1";
    options_.certificate_folder = "/pki";
  }

  void Write(const std::string& path, const std::string& user) {
    const std::string text =
        "apiVersion: v1\nkind: Config\ncurrent-context: c\n"
        "clusters: [{name: c, cluster: {server: 'https://127.0.0.1:6443'}}]\n"
        "contexts: [{name: c, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {" +
        user + "}}]\n";
    EXPECT_TRUE(disk_.ReplaceFile(path, text, 0600, reactor::Durability::kSynced, {}));
  }
  std::string RunFor(Duration time) {
    ServerAccessSeams seams{.loop = world_.loop(0),
                            .random = world_.random(),
                            .log = Logger(output_),
                            .files = files_,
                            .watcher = watcher_,
                            .processes = processes_,
                            .make_lookup = []() -> kube::Lookup {
                              return [](const Context&, const std::string&, uint16_t,
                                        reactor::Done<std::vector<net::Address>>) {};
                            }};
    ServerAccess access(std::move(seams), options_, *this);
    world_.RunUntil(After(world_.clock().Now(), time));
    return sink_.Take();
  }

  void OnServer(sync::ApiServer&) override { ++opened_; }
  void OnHopeless(const Error& reason) override { hopeless_.push_back(reason.message()); }

  sim::World world_{{.seed = 1, .shards = 1}};
  sim::Disk disk_;
  sim::SimFileSystem files_{world_.loop(0), world_.random(), disk_};
  sim::SimPathWatcher watcher_{world_.loop(0), world_.random()};
  NoProcesses processes_;
  LogVerbosity verbosity_;
  CapturingLogSink sink_;
  LogOutput output_{.format = {}, .clock = world_.clock(), .verbosity = verbosity_, .sink = sink_};
  ServerAccessOptions options_;
  int opened_ = 0;
  std::vector<std::string> hopeless_;
};

TEST_F(ServerAccessTest, WhatTheKubeconfigNamesAndNobodyCanReadIsSaidOnce) {
  Write("/etc/kubernetes/kubelet.conf", "tokenFile: /nowhere/token");
  const std::string lines = RunFor(Minutes(1));
  ASSERT_EQ(hopeless_.size(), 1u);
  EXPECT_THAT(hopeless_[0], HasSubstr("/nowhere/token"));
  EXPECT_THAT(lines, Not(HasSubstr("/nowhere/token"))) << "who hears it logs it";
  EXPECT_EQ(opened_, 0);
}

// As the kubelet it goes on: there are servers that let anybody in.
TEST_F(ServerAccessTest, AKubeconfigWithoutCredentialsIsPointedOutOnce) {
  Write("/etc/kubernetes/kubelet.conf", "");
  const std::string lines = RunFor(Minutes(1));
  EXPECT_EQ(opened_, 1);
  EXPECT_TRUE(hopeless_.empty());
  const size_t first = lines.find("Found no credentials in the kubeconfig");
  ASSERT_NE(first, std::string::npos) << lines;
  EXPECT_EQ(lines[lines.rfind('\n', first) + 1], 'W');
  EXPECT_EQ(lines.find("Found no credentials", first + 1), std::string::npos);
  const std::string line = lines.substr(first, lines.find('\n', first) - first);
  EXPECT_THAT(line, HasSubstr("kubeconfig=\"/etc/kubernetes/kubelet.conf\""));
  EXPECT_THAT(line, HasSubstr("user=\"u\""));
}

TEST_F(ServerAccessTest, AKubeconfigWithCredentialsOfAnyKindIsNot) {
  for (const char* user : {"token: t", "username: u, password: p", "tokenFile: /nowhere"}) {
    Write("/etc/kubernetes/kubelet.conf", user);
    EXPECT_THAT(RunFor(Minutes(1)), Not(HasSubstr("Found no credentials"))) << user;
  }
}

TEST_F(ServerAccessTest, ABootstrapKubeconfigWithoutCredentialsIsPointedOutByItsName) {
  options_.bootstrap.rotation = kube::BootstrapOptions::Rotation::kOn;
  options_.bootstrap.bootstrap_kubeconfig_path = "/etc/kubernetes/bootstrap.conf";
  Write("/etc/kubernetes/bootstrap.conf", "");
  const std::string lines = RunFor(Seconds(10));
  EXPECT_THAT(lines, HasSubstr("Found no credentials in the kubeconfig"));
  EXPECT_THAT(lines, HasSubstr("kubeconfig=\"/etc/kubernetes/bootstrap.conf\" user=\"u\""));
}

TEST_F(ServerAccessTest, ACertificateThatIsStillToComeIsNotMissed) {
  options_.bootstrap.rotation = kube::BootstrapOptions::Rotation::kOn;
  options_.bootstrap.bootstrap_kubeconfig_path = "/etc/kubernetes/bootstrap.conf";
  Write("/etc/kubernetes/bootstrap.conf", "token: boot");
  const std::string lines = RunFor(Seconds(10));
  EXPECT_THAT(lines, HasSubstr("asked for with the bootstrap kubeconfig"));
  EXPECT_THAT(lines, Not(HasSubstr("Could not read credentials")));
  EXPECT_TRUE(hopeless_.empty());
}

}  // namespace
}  // namespace denselet::app
