// A server that costs as little as gRPC allows, so that clients are what is measured: Version, and
// a stream of prepared events.
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "base/check.h"
#include "bench/cri/benches.h"
#include "cri/messages.h"

namespace denselet::bench {
namespace {

namespace pb = cri::pb;

grpc::ByteBuffer Encode(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return grpc::ByteBuffer(&slice, 1);
}

grpc::ByteBuffer VersionAnswer() {
  pb::VersionResponse version;
  version.set_version("0.1.0");
  version.set_runtime_name("fast");
  version.set_runtime_version("1");
  version.set_runtime_api_version("v1");
  return Encode(version);
}

// What a runtime says when a container of a pod of two has started.
grpc::ByteBuffer Event(int pod) {
  const std::string number = std::to_string(pod);
  const std::string uid =
      "00000000-0000-4000-8000-" + std::string(12 - number.size(), '0') + number;
  pb::ContainerEventResponse event;
  event.set_container_event_type(pb::CONTAINER_STARTED_EVENT);
  event.set_container_id(std::string(64, 'a'));
  event.set_created_at(1);
  pb::PodSandboxStatus& sandbox = *event.mutable_pod_sandbox_status();
  sandbox.set_id(std::string(64, 'b'));
  sandbox.mutable_metadata()->set_name("pod-" + number);
  sandbox.mutable_metadata()->set_namespace_("default");
  sandbox.mutable_metadata()->set_uid(uid);
  sandbox.mutable_network()->set_ip("10.0.0.1");
  const auto label = [&](auto& labels, const std::string& container) {
    labels["io.kubernetes.pod.name"] = "pod-" + number;
    labels["io.kubernetes.pod.namespace"] = "default";
    labels["io.kubernetes.pod.uid"] = uid;
    if (!container.empty()) labels["io.kubernetes.container.name"] = container;
  };
  label(*sandbox.mutable_labels(), "");
  for (const char* name : {"main", "sidecar"}) {
    pb::ContainerStatus& status = *event.add_containers_statuses();
    status.set_id(std::string(64, 'c'));
    status.mutable_metadata()->set_name(name);
    status.set_state(pb::CONTAINER_RUNNING);
    status.set_created_at(1);
    status.set_started_at(1);
    status.mutable_image()->set_image("registry.example/app:1");
    status.set_image_ref("sha256:" + std::string(64, 'd'));
    status.set_log_path("/var/log/pods/default_pod_" + uid + "/" + name + "/0.log");
    label(*status.mutable_labels(), name);
    auto& annotations = *status.mutable_annotations();
    annotations["io.kubernetes.container.hash"] = "6e980702";
    annotations["io.kubernetes.container.restartCount"] = "0";
    annotations["io.kubernetes.container.terminationMessagePath"] = "/dev/termination-log";
    annotations["io.kubernetes.container.terminationMessagePolicy"] = "File";
    annotations["io.kubernetes.pod.terminationGracePeriod"] = "30";
  }
  return Encode(event);
}

struct Answers {
  grpc::ByteBuffer version = VersionAnswer();
  std::vector<grpc::ByteBuffer> events;
  size_t events_count = 0;
};

class VersionCall final : public grpc::ServerGenericBidiReactor {
 public:
  explicit VersionCall(const Answers& answers) : answers_(answers) { StartRead(&request_); }
  void OnReadDone(bool) override {
    StartWriteAndFinish(&answers_.version, grpc::WriteOptions(), grpc::Status::OK);
  }
  void OnDone() override { delete this; }

 private:
  const Answers& answers_;
  grpc::ByteBuffer request_;
};

// Sends its events and then keeps quiet until the client goes.
class EventsCall final : public grpc::ServerGenericBidiReactor {
 public:
  explicit EventsCall(const Answers& answers) : answers_(answers) { StartRead(&request_); }
  void OnReadDone(bool) override { Next(); }
  void OnWriteDone(bool ok) override {
    if (ok) Next();
  }
  void OnCancel() override { Finish(grpc::Status::CANCELLED); }
  void OnDone() override { delete this; }

 private:
  void Next() {
    if (sent_ == answers_.events_count) return;
    StartWrite(&answers_.events[sent_++ % answers_.events.size()]);
  }

  const Answers& answers_;
  grpc::ByteBuffer request_;
  size_t sent_ = 0;
};

class Refusal final : public grpc::ServerGenericBidiReactor {
 public:
  Refusal() { Finish(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "not here")); }
  void OnDone() override { delete this; }
};

class Service final : public grpc::CallbackGenericService {
 public:
  explicit Service(const Answers& answers) : answers_(answers) {}
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    if (context->method() == "/runtime.v1.RuntimeService/Version") {
      return new VersionCall(answers_);
    }
    if (context->method() == "/runtime.v1.RuntimeService/GetContainerEvents") {
      return new EventsCall(answers_);
    }
    return new Refusal();
  }

 private:
  const Answers& answers_;
};

}  // namespace

int ServeFast(const std::string& socket, size_t events) {
  constexpr int kPods = 1000;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  Answers answers;
  for (int pod = 0; pod < kPods; ++pod) answers.events.push_back(Event(pod));
  answers.events_count = events;
  Service service(answers);
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket, grpc::InsecureServerCredentials());
  builder.RegisterCallbackGenericService(&service);
  const std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  CHECK(server != nullptr);
  std::puts("serving");
  std::fflush(stdout);
  int signal = 0;
  sigwait(&signals, &signal);
  server->Shutdown(gpr_time_0(GPR_CLOCK_REALTIME));
  return 0;
}

}  // namespace denselet::bench
