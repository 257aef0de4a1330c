// Credentials out of a kubeconfig on a real loop, with real files, inotify and child processes, on
// time that the test can push on.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/client/kube_credentials.h"
#include "reactor/blocking_pool.h"
#include "reactor/inotify_watcher.h"
#include "reactor/pool_file_system.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/integration/process_fixture.h"
#include "tests/integration/test_files.h"

namespace denselet::kube {

class KubeCredentialsTest : public testing::TestWithParam<reactor::Backend> {
 protected:
  static void SetUpTestSuite() {
    ::sigaction(SIGPIPE, nullptr, &sigpipe_before_);
    reactor::PrepareForChildren();
  }
  static void TearDownTestSuite() { ::sigaction(SIGPIPE, &sigpipe_before_, nullptr); }

  KubeCredentialsTest() : loop_(*reactor::MakeEventLoop(GetParam(), clock_)) {
    all_.push_back(&shard_);
    watcher_ = *reactor::InotifyWatcher::Make(*loop_, {});
    access_.server = "http://127.0.0.1:1";
  }
  ~KubeCredentialsTest() override {
    credentials_.reset();
    bool stopped = false;
    files_.Stop([&] { stopped = true; });
    EXPECT_TRUE(RunUntil([&] { return stopped; }));
  }

  reactor::Loop& loop() { return *loop_; }
  template <class Predicate>
  [[nodiscard]] bool RunUntil(Predicate done) {
    return reactor::RunLoopUntil(*loop_, clock_, std::move(done));
  }

  std::string Path(const std::string& name) const { return dir_.path() / name; }
  // Atomically, as who renews credentials does.
  void Replace(const std::string& name, const std::string& text) {
    reactor::Put(Path(".fresh"), text);
    std::filesystem::rename(Path(".fresh"), Path(name));
  }
  // A program that does this when it runs; each run leaves a line in the file "runs".
  void WritePlugin(const std::string& script) {
    std::ofstream(Path("plugin")) << "#!/bin/sh\necho run >>" << Path("runs") << "\n" << script;
    std::filesystem::permissions(Path("plugin"), std::filesystem::perms::owner_all);
    access_.exec = ExecPlugin{.api_version = "client.authentication.k8s.io/v1",
                              .command = Path("plugin"),
                              .args = {},
                              .environment = {{"PLUGIN_SETTING", "set"}},
                              .install_hint = "install it",
                              .provide_cluster_info = true};
  }
  static std::string TokenAnswer(const std::string& token, const std::string& expires = "") {
    return R"(cat <<END
{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":")" +
           token + "\"" + (expires.empty() ? "" : R"(,"expirationTimestamp":")" + expires + "\"") +
           "}}\nEND\n";
  }
  int Runs() const {
    std::ifstream runs(Path("runs"));
    int count = 0;
    for (std::string line; std::getline(runs, line);) ++count;
    return count;
  }

  void Make() {
    options_.environment = {"PATH=/usr/bin:/bin"};
    credentials_ = std::make_unique<KubeCredentials>(
        CredentialParts{*loop_, files_, *watcher_, processes_, Logger(log_)}, access_, options_,
        [this] { ++renewed_; });
  }
  Status WhenReady() {
    std::optional<Status> ready;
    credentials_->WhenReady({}, [&](Status status) {
      EXPECT_FALSE(ready.has_value()) << "answered twice";
      ready.emplace(std::move(status));
    });
    EXPECT_FALSE(ready.has_value()) << "answered inside the call";
    if (!RunUntil([&] { return ready.has_value(); })) return Error(ErrorCode::kBug, "no answer");
    return *ready;
  }
  std::string Authorization() {
    const std::string* const value = credentials_->Authorization();
    return value == nullptr ? "(none)" : *value;
  }
  bool RunUntilAuthorizationIs(const std::string& value) {
    return RunUntil([&] { return Authorization() == value; });
  }

  reactor::ShiftedClock clock_;
  std::unique_ptr<reactor::EventLoop> loop_;
  std::vector<reactor::Shard*> all_;
  reactor::Shard shard_{0, *loop_, 1, reactor::MailLimits{}, all_};
  reactor::BlockingPool pool_{clock_};
  reactor::PoolFileSystem files_{shard_, pool_};
  std::unique_ptr<reactor::InotifyWatcher> watcher_;
  reactor::RealProcessRunner processes_{*loop_};
  reactor::TemporaryDirectory dir_;
  CapturingLogSink sink_;
  LogVerbosity verbosity_;
  LogOutput log_{.format = {}, .clock = clock_, .verbosity = verbosity_, .sink = sink_};
  ClusterAccess access_;
  KubeCredentialsOptions options_;
  std::unique_ptr<KubeCredentials> credentials_;
  int renewed_ = 0;
  static inline struct sigaction sigpipe_before_ {};
};

}  // namespace denselet::kube
