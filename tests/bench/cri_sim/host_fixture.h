// A simulated runtime in the test's process, and a client of it as gRPC makes one.
#pragma once

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "bench/cri_sim/host.h"
#include "k8s.io/cri-api/pkg/apis/runtime/v1/api.grpc.pb.h"

namespace denselet::cri_sim {

namespace cri = ::runtime::v1;

class HostTest : public testing::Test {
 protected:
  HostTest() {
    std::string pattern = testing::TempDir() + "/cri.XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~HostTest() override {
    host_.reset();
    std::filesystem::remove_all(folder_);
  }

  void Start(HostOptions options = {}) {
    options.socket = folder_ + "/s";
    options.control_socket = folder_ + "/c";
    options.identity.image_folder = folder_;
    options.print_violations = false;
    auto started = Host::Start(std::move(options));
    ASSERT_TRUE(started) << started.error().message();
    host_ = std::move(*started);
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 10);
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 10);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 50);
    arguments.SetMaxReceiveMessageSize(64 << 20);
    auto channel = grpc::CreateCustomChannel("unix:" + folder_ + "/s",
                                             grpc::InsecureChannelCredentials(), arguments);
    runtime_ = cri::RuntimeService::NewStub(channel);
    images_ = cri::ImageService::NewStub(channel);
  }

  // A call of RuntimeService: Call(&Stub::Version, request, response).
  template <class Request, class Response>
  grpc::Status Call(grpc::Status (cri::RuntimeService::Stub::*method)(grpc::ClientContext*,
                                                                      const Request&, Response*),
                    const Request& request, Response& response, int seconds = 30) {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    context.set_deadline(
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_seconds(seconds, GPR_TIMESPAN)));
    return (runtime_.get()->*method)(&context, request, &response);
  }

  static cri::PodSandboxConfig Pod(const std::string& name) {
    cri::PodSandboxConfig config;
    config.mutable_metadata()->set_name(name);
    config.mutable_metadata()->set_namespace_("default");
    config.mutable_metadata()->set_uid("uid-of-" + name);
    (*config.mutable_labels())["io.kubernetes.pod.uid"] = "uid-of-" + name;
    return config;
  }
  std::string RunPod(const cri::PodSandboxConfig& config) {
    cri::RunPodSandboxRequest request;
    *request.mutable_config() = config;
    cri::RunPodSandboxResponse response;
    const grpc::Status status = Call(&cri::RuntimeService::Stub::RunPodSandbox, request, response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.pod_sandbox_id();
  }
  std::string Create(const std::string& sandbox, const cri::PodSandboxConfig& pod,
                     const std::string& name, const std::string& script) {
    cri::CreateContainerRequest request;
    request.set_pod_sandbox_id(sandbox);
    *request.mutable_sandbox_config() = pod;
    request.mutable_config()->mutable_metadata()->set_name(name);
    request.mutable_config()->mutable_image()->set_image("busybox");
    request.mutable_config()->set_log_path(name + "/0.log");
    (*request.mutable_config()->mutable_labels())["io.kubernetes.pod.uid"] = pod.metadata().uid();
    for (const std::string& word : {std::string("sh"), std::string("-c"), script}) {
      request.mutable_config()->add_command(word);
    }
    cri::CreateContainerResponse response;
    const grpc::Status status =
        Call(&cri::RuntimeService::Stub::CreateContainer, request, response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.container_id();
  }
  void StartContainer(const std::string& id) {
    cri::StartContainerRequest request;
    request.set_container_id(id);
    cri::StartContainerResponse response;
    const grpc::Status status = Call(&cri::RuntimeService::Stub::StartContainer, request, response);
    EXPECT_TRUE(status.ok()) << status.error_message();
  }
  cri::ContainerStatus StatusOf(const std::string& id) {
    cri::ContainerStatusRequest request;
    request.set_container_id(id);
    cri::ContainerStatusResponse response;
    const grpc::Status status =
        Call(&cri::RuntimeService::Stub::ContainerStatus, request, response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return response.status();
  }

  std::string folder_;
  std::unique_ptr<Host> host_;
  std::unique_ptr<cri::RuntimeService::Stub> runtime_;
  std::unique_ptr<cri::ImageService::Stub> images_;
};

}  // namespace denselet::cri_sim
