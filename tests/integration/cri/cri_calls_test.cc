// Calls that no other test makes: what is asked of the runtime, to the field, and what the
// simulated one does of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "reactor/net/http1/fetch.h"
#include "tests/integration/cri/cri_sim_fixture.h"

namespace denselet::cri {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class CriCallsTest : public CriSimTest {
 protected:
  Result<std::string> OpenExec(const ContainerId& id, const sync::StreamOptions& options) {
    return Wait<std::string>([&](auto done) {
      runtime().OpenExec({}, id, {"sh", "-c", "id"}, options, std::move(done));
    });
  }
  Result<std::string> OpenAttach(const ContainerId& id, const sync::StreamOptions& options) {
    return Wait<std::string>(
        [&](auto done) { runtime().OpenAttach({}, id, options, std::move(done)); });
  }
  Result<std::string> OpenPortForward(const SandboxId& id) {
    return Wait<std::string>([&](auto done) {
      runtime().OpenPortForward({}, id, {80, 443}, std::move(done));
    });
  }
  Result<Unit> Checkpoint(const ContainerId& id, Duration timeout) {
    return Wait<Unit>(
        [&](auto done) { runtime().Checkpoint({}, id, "/tmp/x.tar", timeout, std::move(done)); });
  }
  Result<Unit> ReopenLog(const ContainerId& id) {
    return Wait<Unit>([&](auto done) { runtime().ReopenLog({}, id, std::move(done)); });
  }
  Result<Unit> SetPodCidr(const std::string& cidr) {
    return Wait<Unit>([&](auto done) { runtime().SetPodCidr({}, cidr, std::move(done)); });
  }
  Result<Unit> Update(const ContainerId& id, const sync::LinuxResources& resources) {
    return Wait<Unit>(
        [&](auto done) { runtime().UpdateResources({}, id, resources, std::move(done)); });
  }
  Result<Unit> UpdateSandbox(const SandboxId& id, const sync::LinuxResources& resources,
                             const sync::LinuxResources& overhead) {
    return Wait<Unit>([&](auto done) {
      runtime().UpdateSandboxResources({}, id, resources, overhead, std::move(done));
    });
  }
};
INSTANTIATE_LOOP_TEST(CriCallsTest);

TEST_P(CriCallsTest, StreamsAreAskedForAsTheyAreWanted) {
  Connect();
  const auto exec = OpenExec(ContainerId("c1"), {.standard_in = true, .terminal = true});
  ASSERT_TRUE(exec) << exec.error().message();
  EXPECT_EQ(*exec, "http://records/exec");
  EXPECT_EQ(server_->last("Exec"),
            R"(container_id: "c1" cmd: "sh" cmd: "-c" cmd: "id" tty: true stdin: true)");
  const auto attach = OpenAttach(ContainerId("c2"), {.standard_out = true, .standard_error = true});
  ASSERT_TRUE(attach) << attach.error().message();
  EXPECT_EQ(*attach, "http://records/attach");
  EXPECT_EQ(server_->last("Attach"), R"(container_id: "c2" stdout: true stderr: true)");
  const auto forward = OpenPortForward(SandboxId("s1"));
  EXPECT_EQ(server_->last("PortForward"), R"(pod_sandbox_id: "s1" port: 80 port: 443)");
  ASSERT_FALSE(forward) << "there is no URL";
  EXPECT_EQ(forward.error().code(), ErrorCode::kCorrupt);
}

TEST_P(CriCallsTest, ChangesAreAskedForAsTheyAreWanted) {
  Connect();
  ASSERT_TRUE(SetPodCidr("10.1.0.0/24"));
  EXPECT_THAT(server_->last("UpdateRuntimeConfig"), HasSubstr(R"(pod_cidr: "10.1.0.0/24")"));
  ASSERT_TRUE(ReopenLog(ContainerId("c1")));
  EXPECT_EQ(server_->last("ReopenContainerLog"), R"(container_id: "c1")");
  // Half a second must not become "the usual".
  ASSERT_TRUE(Checkpoint(ContainerId("c1"), Milliseconds(500)));
  EXPECT_EQ(server_->last("CheckpointContainer"),
            R"(container_id: "c1" location: "/tmp/x.tar" timeout: 1)");
  ASSERT_TRUE(Update(ContainerId("c1"), {.cpu_shares = 512, .memory_limit_bytes = 1 << 20}));
  EXPECT_EQ(server_->last("UpdateContainerResources"),
            R"(container_id: "c1" linux { cpu_shares: 512 memory_limit_in_bytes: 1048576 })");
  ASSERT_TRUE(UpdateSandbox(SandboxId("s1"), {.cpu_shares = 2}, {.cpu_shares = 3}));
  EXPECT_EQ(server_->last("UpdatePodSandboxResources"),
            R"(pod_sandbox_id: "s1" overhead { cpu_shares: 3 } resources { cpu_shares: 2 })");
}

TEST_P(CriCallsTest, WhatARuntimeDoesNotKnowIsUnsupportedInWhateverWords) {
  Connect();
  server_->SetFaults([](const std::string& method) {
    const bool by_code = method == "CheckpointContainer";
    return Fault{Fault::Kind::kRefuse,
                 by_code ? grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "no")
                         : grpc::Status(grpc::StatusCode::UNKNOWN, "this is not implemented")};
  });
  EXPECT_EQ(Checkpoint(ContainerId("c1"), {}).error().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(UpdateSandbox(SandboxId("s1"), {}, {}).error().code(), ErrorCode::kUnsupported);
}

class CriSimCallsTest : public CriCallsTest {
 protected:
  void MakePod() {
    StartBoth();
    const sync::SandboxSpec spec = Sandbox("p1", 0);
    const auto sandbox = Run(spec);
    ASSERT_TRUE(sandbox) << sandbox.error().message();
    sandbox_ = *sandbox;
    sync::ContainerSpec container = Container("p1", "app", 0);
    container.resources.cpu_shares = 100;
    const auto created = Create(sandbox_, container, spec);
    ASSERT_TRUE(created) << created.error().message();
    container_ = *created;
  }
  Result<net::HttpResponse> Get(const std::string& url) {
    const std::string rest = url.substr(std::string("http://127.0.0.1:").size());
    const auto port = static_cast<uint16_t>(std::stoi(rest));
    net::HttpRequest request;
    request.target = rest.substr(rest.find('/'));
    request.authority = "127.0.0.1";
    return Wait<net::HttpResponse>([&](auto done) {
      net::Fetch(loop(), {}, *net::Address::Ip("127.0.0.1", port), std::move(request), "", {},
                 std::move(done));
    });
  }
  std::string Violations() { return host_->Run(R"({"do":"violations"})"); }
  std::string Counters() { return host_->Run(R"({"do":"counters"})"); }

  SandboxId sandbox_;
  ContainerId container_;
};
INSTANTIATE_LOOP_TEST(CriSimCallsTest);

TEST_P(CriSimCallsTest, StreamsHaveAnAddressWhereSomebodyAnswers) {
  MakePod();
  ASSERT_TRUE(StartContainer(container_));
  for (const auto& [url, kind] :
       {std::pair(OpenExec(container_, {.standard_out = true}), "exec"),
        std::pair(OpenAttach(container_, {.standard_out = true}), "attach"),
        std::pair(OpenPortForward(sandbox_), "portforward")}) {
    ASSERT_TRUE(url) << url.error().message();
    EXPECT_THAT(*url, StartsWith("http://127.0.0.1:"));
    EXPECT_THAT(*url, HasSubstr(std::string("/") + kind + "/"));
    const auto answer = Get(*url);
    ASSERT_TRUE(answer) << answer.error().message();
    EXPECT_EQ(answer->status, 501) << "no streams in the simulated runtime";
  }
  for (const char* method : {"Exec", "Attach", "PortForward"}) {
    EXPECT_THAT(Counters(), HasSubstr(std::string("\"") + method + "\":{\"calls\":1,\"errors\":0"));
  }
  EXPECT_THAT(Violations(), HasSubstr("\"total\":0"));
}

TEST_P(CriSimCallsTest, StreamsToWhatDoesNotRunAreRefused) {
  MakePod();
  const auto attach = OpenAttach(container_, {});
  ASSERT_FALSE(attach);
  EXPECT_THAT(attach.error().message(), HasSubstr("CONTAINER_CREATED state"));
  EXPECT_THAT(Violations(), HasSubstr("exec-before-start"));
  EXPECT_EQ(OpenExec(ContainerId("none"), {}).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(OpenPortForward(SandboxId("none")).error().code(), ErrorCode::kNotFound);
}

TEST_P(CriSimCallsTest, ChangedResourcesAreReadBack) {
  MakePod();
  ASSERT_TRUE(StartContainer(container_));
  ASSERT_TRUE(Update(container_, {.cpu_shares = 700}));
  const auto pod = Read("p1");
  ASSERT_TRUE(pod) << pod.error().message();
  ASSERT_TRUE(pod->containers.at(0).resources);
  EXPECT_EQ(pod->containers[0].resources->cpu_shares, 700);
  EXPECT_TRUE(UpdateSandbox(sandbox_, {.cpu_shares = 700}, {}));
  EXPECT_EQ(UpdateSandbox(SandboxId("none"), {}, {}).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(Update(ContainerId("none"), {}).error().code(), ErrorCode::kNotFound);
  EXPECT_TRUE(SetPodCidr("10.1.0.0/24"));
  EXPECT_EQ(Checkpoint(container_, {}).error().code(), ErrorCode::kUnsupported);
  EXPECT_THAT(Violations(), HasSubstr("\"total\":0"));
}

TEST_P(CriSimCallsTest, ALogThatWasMovedAwayIsMadeAnew) {
  MakePod();
  ASSERT_TRUE(StartContainer(container_));
  const std::string path = folder_ + "/p1/app/0.log";
  ASSERT_TRUE(std::filesystem::exists(path));
  std::filesystem::rename(path, path + ".1");
  const auto reopened = ReopenLog(container_);
  ASSERT_TRUE(reopened) << reopened.error().message();
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_EQ(ReopenLog(ContainerId("none")).error().code(), ErrorCode::kNotFound);
}

}  // namespace
}  // namespace denselet::cri
