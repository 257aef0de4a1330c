// The simulated runtime through gRPC, as a kubelet uses it.
#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "bench/cri_sim/ask.h"
#include "bench/cri_sim/command_check.h"
#include "tests/bench/cri_sim/host_fixture.h"

namespace denselet::cri_sim {
namespace {

using Stub = cri::RuntimeService::Stub;
using testing::HasSubstr;

HostOptions WithImages() {
  HostOptions options;
  options.settings.images_present = true;
  return options;
}

TEST_F(HostTest, EveryCallOfTheServicesIsKnown) {
  Start();
  host_->OnShard([](Simulator& simulator) {
    const auto* const file = cri::VersionRequest::descriptor()->file();
    for (const char* service : {"RuntimeService", "ImageService"}) {
      const auto* const methods = file->FindServiceByName(service);
      for (int i = 0; i < methods->method_count(); ++i) {
        EXPECT_TRUE(simulator.Knows(methods->method(i)->name())) << methods->method(i)->name();
        EXPECT_TRUE(IsMethodName(methods->method(i)->name())) << methods->method(i)->name();
      }
    }
  });
}

TEST_F(HostTest, APodLivesItsLife) {
  Start(WithImages());
  cri::PodSandboxConfig pod = Pod("web");
  pod.set_log_directory(folder_ + "/logs");
  const std::string sandbox = RunPod(pod);
  const std::string container = Create(sandbox, pod, "main", "echo hello; sleep inf");
  EXPECT_EQ(StatusOf(container).state(), cri::CONTAINER_CREATED);
  StartContainer(container);
  cri::ContainerStatus status = StatusOf(container);
  EXPECT_EQ(status.state(), cri::CONTAINER_RUNNING);
  EXPECT_EQ(status.image().image(), "docker.io/library/busybox:latest");
  EXPECT_EQ(status.log_path(), folder_ + "/logs/main/0.log");
  EXPECT_GT(status.started_at(), 0);

  cri::PodSandboxStatusRequest about;
  about.set_pod_sandbox_id(sandbox);
  cri::PodSandboxStatusResponse told;
  ASSERT_TRUE(Call(&Stub::PodSandboxStatus, about, told).ok());
  EXPECT_EQ(told.status().metadata().uid(), "uid-of-web");
  EXPECT_EQ(told.status().network().ip(), "127.1.0.1");
  ASSERT_EQ(told.containers_statuses_size(), 1);
  EXPECT_EQ(told.containers_statuses(0).id(), container);

  cri::StopContainerRequest stop;
  stop.set_container_id(container);
  stop.set_timeout(30);
  cri::StopContainerResponse stopped;
  ASSERT_TRUE(Call(&Stub::StopContainer, stop, stopped).ok());
  status = StatusOf(container);
  EXPECT_EQ(status.state(), cri::CONTAINER_EXITED);
  EXPECT_EQ(status.exit_code(), 143);
  EXPECT_EQ(status.reason(), "Error");
  EXPECT_THAT(host_->Run(R"({"do":"violations"})"), HasSubstr("\"total\":0"));
  std::ostringstream log;
  log << std::ifstream(folder_ + "/logs/main/0.log").rdbuf();
  EXPECT_THAT(log.str(), HasSubstr(" stdout F hello\n"));
}

TEST_F(HostTest, ListsAreFiltered) {
  Start(WithImages());
  for (const char* name : {"a", "b", "c"}) {
    const std::string sandbox = RunPod(Pod(name));
    StartContainer(Create(sandbox, Pod(name), "main", "sleep inf"));
    Create(sandbox, Pod(name), "other", "sleep inf");
  }
  cri::ListContainersRequest request;
  cri::ListContainersResponse response;
  ASSERT_TRUE(Call(&Stub::ListContainers, request, response).ok());
  EXPECT_EQ(response.containers_size(), 6);
  request.mutable_filter()->mutable_state()->set_state(cri::CONTAINER_RUNNING);
  ASSERT_TRUE(Call(&Stub::ListContainers, request, response).ok());
  EXPECT_EQ(response.containers_size(), 3);
  (*request.mutable_filter()->mutable_label_selector())["io.kubernetes.pod.uid"] = "uid-of-b";
  ASSERT_TRUE(Call(&Stub::ListContainers, request, response).ok());
  ASSERT_EQ(response.containers_size(), 1);
  EXPECT_EQ(response.containers(0).metadata().name(), "main");
  cri::ListPodSandboxRequest pods;
  (*pods.mutable_filter()->mutable_label_selector())["io.kubernetes.pod.uid"] = "uid-of-b";
  cri::ListPodSandboxResponse sandboxes;
  ASSERT_TRUE(Call(&Stub::ListPodSandbox, pods, sandboxes).ok());
  ASSERT_EQ(sandboxes.items_size(), 1);
  EXPECT_EQ(sandboxes.items(0).id(), response.containers(0).pod_sandbox_id());
}

TEST_F(HostTest, AStreamedListHasWhatTheOtherHas) {
  Start();
  host_->Run(R"({"do":"populate","pods":700,"containers":2})");
  grpc::ClientContext context;
  const auto reader = runtime_->StreamContainers(&context, {});
  cri::StreamContainersResponse part;
  int messages = 0, containers = 0;
  while (reader->Read(&part)) {
    ++messages;
    containers += part.containers_size();
  }
  EXPECT_TRUE(reader->Finish().ok());
  EXPECT_EQ(containers, 1400);
  EXPECT_EQ(messages, 3);
}

TEST_F(HostTest, ExecSyncAnswersAsTheCommandSays) {
  Start(WithImages());
  const std::string id = Create(RunPod(Pod("web")), Pod("web"), "main", "sleep inf");
  StartContainer(id);
  cri::ExecSyncRequest request;
  request.set_container_id(id);
  for (const char* word : {"sh", "-c", "echo out; exit 4"}) request.add_cmd(word);
  cri::ExecSyncResponse response;
  ASSERT_TRUE(Call(&Stub::ExecSync, request, response).ok());
  EXPECT_EQ(response.exit_code(), 4);
  EXPECT_EQ(response.stdout(), "out\n");
  request.set_cmd(2, "sleep 60");
  request.set_timeout(1);
  EXPECT_EQ(Call(&Stub::ExecSync, request, response).error_code(),
            grpc::StatusCode::DEADLINE_EXCEEDED);
  host_->Run(R"({"do":"set","settings":{"exec":[{"match":"sleep","script":"exit 9",)"
             R"("stderr":"no"}]}})");
  ASSERT_TRUE(Call(&Stub::ExecSync, request, response).ok());
  EXPECT_EQ(response.exit_code(), 9);
  EXPECT_EQ(response.stderr(), "no");
}

TEST_F(HostTest, AnImageTakesTheTimeThatItsSizeAsksFor) {
  HostOptions options;
  options.settings.image_bandwidth = 100'000'000;
  options.settings.image_size = 10'000'000;
  Start(std::move(options));
  cri::PullImageRequest request;
  request.mutable_image()->set_image("example.org/big");
  cri::PullImageResponse response;
  grpc::ClientContext context;
  const auto begun = host_->Now();
  ASSERT_TRUE(images_->PullImage(&context, request, &response).ok());
  EXPECT_GE(host_->Now() - begun, Milliseconds(100));
  EXPECT_THAT(response.image_ref(), HasSubstr("sha256:"));
  cri::ImageStatusRequest about;
  about.mutable_image()->set_image(response.image_ref());
  cri::ImageStatusResponse told;
  grpc::ClientContext another;
  ASSERT_TRUE(images_->ImageStatus(&another, about, &told).ok());
  EXPECT_EQ(told.image().size(), 10'000'000u);
  EXPECT_EQ(told.image().repo_tags(0), "example.org/big:latest");
}

TEST_F(HostTest, UnknownIdsAreAnsweredAsCriSays) {
  Start();
  cri::StopPodSandboxRequest stop;
  stop.set_pod_sandbox_id("nobody");
  cri::StopPodSandboxResponse stopped;
  EXPECT_TRUE(Call(&Stub::StopPodSandbox, stop, stopped).ok());
  cri::RemoveContainerRequest remove;
  remove.set_container_id("nobody");
  cri::RemoveContainerResponse removed;
  EXPECT_TRUE(Call(&Stub::RemoveContainer, remove, removed).ok());
  cri::ContainerStatusRequest about;
  about.set_container_id("nobody");
  cri::ContainerStatusResponse told;
  const grpc::Status status = Call(&Stub::ContainerStatus, about, told);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(),
            "an error occurred when try to find container \"nobody\": not found");
  cri::RunPodSandboxRequest nameless;
  cri::RunPodSandboxResponse made;
  EXPECT_EQ(Call(&Stub::RunPodSandbox, nameless, made).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(host_->Run(R"({"do":"violations"})"), HasSubstr("sandbox-metadata"));
}

TEST_F(HostTest, TheControlAnswersOverItsSocket) {
  Start();
  host_->Run(R"({"do":"populate","pods":3,"containers":2})");
  EXPECT_THAT(*Ask(folder_ + "/c", R"({"do":"state"})"), HasSubstr("\"containersRunning\":6,"));
  EXPECT_THAT(*Ask(folder_ + "/c", R"({"do":"fly"})"), HasSubstr("unknown command"));
  EXPECT_THAT(*Ask(folder_ + "/c", "nonsense"), HasSubstr("\"ok\":false"));
  EXPECT_THAT(*Ask(folder_ + "/c", R"({"do":"crash","downtim":"5s"})"),
              HasSubstr(R"(unknown member \"downtim\" of crash)"));
  EXPECT_THAT(*Ask(folder_ + "/c", R"({"do":"exit","pod":"nope"})"), HasSubstr("no pod is meant"));
  EXPECT_THAT(*Ask(folder_ + "/c", R"({"do":"exit","pod":"*","container":"nope"})"),
              HasSubstr(R"(no container \"nope\")"));
  EXPECT_THAT(*Ask(folder_ + "/c", R"({"do":"exit","pod":"*","code":"x"})"),
              HasSubstr("code: wanted a number"));
  for (const char* code : {"99999999999", "-1.5", "256"}) {
    EXPECT_THAT(host_->Run(R"({"do":"exit","pod":"*","code":)" + std::string(code) + "}"),
                HasSubstr("from 0 to 255"));
  }
  EXPECT_THAT(host_->Run(R"({"do":"exit"})"), HasSubstr("pod: wanted NAMESPACE/NAME"));
  EXPECT_THAT(host_->Run(R"({"do":"addImage","image":"a:1","size":-1})"),
              HasSubstr("size: wanted a count, got -1"));
  EXPECT_THAT(host_->Run("{}"), HasSubstr("no command"));
  EXPECT_THAT(*Ask(folder_ + "/c", R"({"do":"crash","downtime":"-1s"})"),
              HasSubstr("downtime: wanted 0s or more"));
  EXPECT_THAT(*Ask(folder_ + "/c", R"({"do":"populate","pods":-1})"), HasSubstr("1 or more"));
  EXPECT_THAT(*Ask(folder_ + "/c", R"({"do":"health","pod":"*"})"), HasSubstr("true or false"));
  EXPECT_THAT(*Ask(folder_ + "/c", R"({"do":"set","settings":{"methods":{"Versoin":{}}}})"),
              HasSubstr(R"(no method \"Versoin\")"));
  cri::VersionRequest request;
  cri::VersionResponse response;
  ASSERT_TRUE(Call(&Stub::Version, request, response).ok());
  EXPECT_EQ(response.version(), "0.1.0");
  EXPECT_THAT(*Ask(folder_ + "/c", R"({"do":"counters"})"),
              HasSubstr(R"("Version":{"calls":1,"errors":0)"));
}

TEST_F(HostTest, ASecondOneDoesNotTakeTheSocketOfTheFirst) {
  Start();
  HostOptions options;
  options.socket = folder_ + "/s";
  options.identity.image_folder = folder_;
  const auto second = Host::Start(std::move(options));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message(), HasSubstr("somebody serves on"));
  cri::VersionRequest request;
  cri::VersionResponse response;
  EXPECT_TRUE(Call(&Stub::Version, request, response).ok());
}

TEST_F(HostTest, ASecondOneDoesNotTakeAwayTheControlSocketOfTheFirst) {
  Start();
  HostOptions options;
  options.socket = folder_ + "/other";
  options.control_socket = folder_ + "/c";
  options.identity.image_folder = folder_;
  const auto second = Host::Start(std::move(options));
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message(), HasSubstr("somebody serves on"));
  EXPECT_THAT(*Ask(folder_ + "/c", R"({"do":"state"})"), HasSubstr(R"("ok":true)"));
}

TEST_F(HostTest, ItSaysWhyThereCanBeNoSocket) {
  const auto why = [this](const std::string& socket) {
    HostOptions options;
    options.socket = socket;
    options.identity.image_folder = folder_;
    const auto started = Host::Start(std::move(options));
    return started ? "" : started.error().message();
  };
  EXPECT_THAT(why(folder_ + "/none/s"), HasSubstr("No such file or directory"));
  EXPECT_THAT(why(folder_), HasSubstr("something else than a socket"));
  EXPECT_THAT(why("unix:///run/s"), HasSubstr("not a URL"));
}

}  // namespace
}  // namespace denselet::cri_sim
