// A shard of each backend on the test's own thread, the client, and a runtime of records to call.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/random.h"
#include "cri/connection.h"
#include "cri/cri_shard.h"
#include "cri/names.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/integration/cri/cri_server.h"
#include "tests/integration/loop_fixture.h"

namespace denselet::cri {

inline sync::SandboxSpec SandboxOf(const std::string& pod, uint32_t attempt = 0) {
  return {.pod = {.ref = {.ns = "default", .name = "name-of-" + pod}, .uid = PodUid(pod)},
          .attempt = attempt,
          .labels = {{std::string(kPodUidLabel), pod}}};
}

inline sync::ContainerSpec ContainerOf(const std::string& pod, const std::string& name,
                                       uint32_t attempt = 0) {
  return {.pod = PodUid(pod),
          .name = name,
          .attempt = attempt,
          .image = "sha256:1",
          .labels = {{std::string(kPodUidLabel), pod}}};
}

class CriTest : public reactor::ShardTest {
 protected:
  CriTest() {
    std::string folder = "/tmp/denselet-cri-XXXXXX";
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    server_ = std::make_unique<CriServer>(folder_ + "/s");
  }
  ~CriTest() override {
    cri_.reset();
    if (connection_ != nullptr) {
      EXPECT_TRUE(RunUntil([&] {
        return connection_->runtime().calls_held() == 0 && connection_->images().calls_held() == 0;
      }));
    }
    connection_.reset();
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Connect(Duration request_timeout = Minutes(2)) {
    Connect(ConnectionOptions{.runtime_endpoint = "unix://" + folder_ + "/s",
                              .request_timeout = Patiently(request_timeout)});
  }
  void Connect(const ConnectionOptions& options) {
    auto made = Connection::Make(options, clock_);
    ASSERT_TRUE(made) << made.error().message();
    connection_ = *std::move(made);
    cri_ = std::make_unique<CriShard>(shard_, *connection_, random_, log());
  }

  // Starts a call by `start` (void(Done<T>)) and waits for its end.
  template <class T, class Start>
  Result<T> Wait(Start start) {
    std::optional<Result<T>> answer;
    start(reactor::Done<T>([&answer](Result<T> result) {
      EXPECT_FALSE(answer.has_value()) << "answered twice";
      answer = std::move(result);
    }));
    EXPECT_FALSE(answer.has_value()) << "answered inside the call";
    if (!RunUntil([&] { return answer.has_value(); })) {
      return Error(ErrorCode::kBug, "no answer came");
    }
    return *std::move(answer);
  }

  Result<SandboxId> Run(const sync::SandboxSpec& spec) {
    return Wait<SandboxId>([&](auto done) { runtime().RunSandbox({}, spec, std::move(done)); });
  }
  Result<ContainerId> Create(const SandboxId& sandbox, const sync::ContainerSpec& spec,
                             const sync::SandboxSpec& of) {
    return Wait<ContainerId>(
        [&](auto done) { runtime().CreateContainer({}, sandbox, spec, of, std::move(done)); });
  }
  Result<Unit> StartContainer(const ContainerId& id) {
    return Wait<Unit>([&](auto done) { runtime().StartContainer({}, id, std::move(done)); });
  }
  Result<sync::ObservedPod> Read(const std::string& pod) {
    return Wait<sync::ObservedPod>(
        [&](auto done) { runtime().ReadPod({}, PodUid(pod), std::move(done)); });
  }
  Result<sync::RuntimeList> List() {
    return Wait<sync::RuntimeList>([&](auto done) { runtime().ListAll({}, std::move(done)); });
  }

  CriRuntime& runtime() { return cri_->runtime(); }
  Logger log() { return Logger(output_); }

  std::string folder_;
  SeededRandom random_{11};
  LogVerbosity verbosity_;
  CapturingLogSink sink_;
  LogOutput output_{.format = {}, .clock = clock_, .verbosity = verbosity_, .sink = sink_};
  std::unique_ptr<CriServer> server_;
  std::unique_ptr<Connection> connection_;
  std::unique_ptr<CriShard> cri_;
};

inline std::function<Fault(const std::string&)> Always(const std::string& method, Fault fault) {
  return [method, fault](const std::string& asked) { return asked == method ? fault : Fault{}; };
}

}  // namespace denselet::cri
