#include "tests/integration/cri/cri_server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <chrono>
#include <deque>
#include <optional>

namespace denselet::cri {

namespace {

constexpr const char* kUid = "io.kubernetes.pod.uid";

template <class Labels>
bool Matches(const Labels& wanted, const Labels& labels) {
  const auto uid = wanted.find(kUid);
  if (uid == wanted.end()) return true;
  const auto found = labels.find(kUid);
  return found != labels.end() && found->second == uid->second;
}

grpc::Status NotFound(const std::string& id) {
  return {grpc::StatusCode::NOT_FOUND, "an error occurred when try to find \"" + id + "\""};
}

}  // namespace

struct CriServer::State {
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::function<Fault(const std::string&)> faults;
  std::map<std::string, int> calls;
  std::map<std::string, std::string> requests;  // the last of each
  bool stopping = false;
  int64_t clock = 1'700'000'000'000'000'000;
  int next_id = 1;
  std::map<std::string, v1::PodSandboxStatus> sandboxes;
  struct Held {
    v1::ContainerStatus status;
    std::string sandbox;
  };
  std::map<std::string, Held> containers;
  std::map<std::string, v1::Image> images;

  Events events = Events::kHeadersAtOnce;
  bool list_streams = true;
  struct Stream {
    std::deque<v1::ContainerEventResponse> waiting;
    std::optional<grpc::Status> end;
  };
  std::vector<Stream*> streams;

  // Runs `effect` as the fault of this call says.
  template <class Effect>
  grpc::Status Serve(const char* method, grpc::ServerContext* context, Effect effect) {
    std::unique_lock lock(mutex);
    ++calls[method];
    if (context->IsCancelled()) return {grpc::StatusCode::CANCELLED, "given up"};
    const Fault fault = faults ? faults(method) : Fault{};
    if (fault.kind == Fault::Kind::kRefuse) return fault.status;
    if (fault.kind == Fault::Kind::kHang) {
      Hang(lock, context);
      return {grpc::StatusCode::CANCELLED, "given up"};
    }
    grpc::Status status = effect();
    if (fault.kind == Fault::Kind::kLose) return fault.status;
    if (fault.kind == Fault::Kind::kHangDone) Hang(lock, context);
    return status;
  }

  void Hang(std::unique_lock<std::mutex>& lock, grpc::ServerContext* context) {
    while (!stopping && !context->IsCancelled()) {
      changed.wait_for(lock, std::chrono::milliseconds(5));
    }
  }

  void Announce(const std::string& uid, v1::ContainerEventType type) {
    v1::ContainerEventResponse event;
    event.set_container_event_type(type);
    event.set_created_at(clock);
    if (!uid.empty()) {
      (*event.mutable_pod_sandbox_status()->mutable_labels())[kUid] = uid;
    }
    for (Stream* stream : streams) stream->waiting.push_back(event);
    changed.notify_all();
  }
};

class CriServer::Runtime final : public v1::RuntimeService::Service {
 public:
  explicit Runtime(State& state) : state_(state) {}

  grpc::Status Version(grpc::ServerContext* context, const v1::VersionRequest*,
                       v1::VersionResponse* response) override {
    return state_.Serve("Version", context, [&] {
      response->set_version("0.1.0");
      response->set_runtime_name("records");
      response->set_runtime_version("1.0");
      response->set_runtime_api_version("v1");
      return grpc::Status::OK;
    });
  }

  grpc::Status Status(grpc::ServerContext* context, const v1::StatusRequest*,
                      v1::StatusResponse* response) override {
    return state_.Serve("Status", context, [&] {
      for (const char* type : {"RuntimeReady", "NetworkReady"}) {
        auto& condition = *response->mutable_status()->add_conditions();
        condition.set_type(type);
        condition.set_status(true);
      }
      return grpc::Status::OK;
    });
  }

  grpc::Status RunPodSandbox(grpc::ServerContext* context, const v1::RunPodSandboxRequest* request,
                             v1::RunPodSandboxResponse* response) override {
    return state_.Serve("RunPodSandbox", context, [&] {
      const std::string id = "s" + std::to_string(state_.next_id++);
      v1::PodSandboxStatus& status = state_.sandboxes[id];
      status.set_id(id);
      *status.mutable_metadata() = request->config().metadata();
      status.set_created_at(++state_.clock);
      *status.mutable_labels() = request->config().labels();
      status.mutable_network()->set_ip("10.0.0.1");
      response->set_pod_sandbox_id(id);
      Announce(status.labels(), v1::ContainerEventType::CONTAINER_STARTED_EVENT);
      return grpc::Status::OK;
    });
  }

  grpc::Status StopPodSandbox(grpc::ServerContext* context,
                              const v1::StopPodSandboxRequest* request,
                              v1::StopPodSandboxResponse*) override {
    return state_.Serve("StopPodSandbox", context, [&] {
      const auto found = state_.sandboxes.find(request->pod_sandbox_id());
      if (found == state_.sandboxes.end()) return NotFound(request->pod_sandbox_id());
      found->second.set_state(v1::PodSandboxState::SANDBOX_NOTREADY);
      for (auto& [id, held] : state_.containers) {
        if (held.sandbox == request->pod_sandbox_id()) Exit(held.status);
      }
      Announce(found->second.labels(), v1::ContainerEventType::CONTAINER_STOPPED_EVENT);
      return grpc::Status::OK;
    });
  }

  grpc::Status RemovePodSandbox(grpc::ServerContext* context,
                                const v1::RemovePodSandboxRequest* request,
                                v1::RemovePodSandboxResponse*) override {
    return state_.Serve("RemovePodSandbox", context, [&] {
      std::erase_if(state_.containers, [&](const auto& entry) {
        return entry.second.sandbox == request->pod_sandbox_id();
      });
      if (state_.sandboxes.erase(request->pod_sandbox_id()) == 0) {
        return NotFound(request->pod_sandbox_id());
      }
      return grpc::Status::OK;
    });
  }

  grpc::Status PodSandboxStatus(grpc::ServerContext* context,
                                const v1::PodSandboxStatusRequest* request,
                                v1::PodSandboxStatusResponse* response) override {
    return state_.Serve("PodSandboxStatus", context, [&] {
      const auto found = state_.sandboxes.find(request->pod_sandbox_id());
      if (found == state_.sandboxes.end()) return NotFound(request->pod_sandbox_id());
      *response->mutable_status() = found->second;
      return grpc::Status::OK;
    });
  }

  grpc::Status ListPodSandbox(grpc::ServerContext* context,
                              const v1::ListPodSandboxRequest* request,
                              v1::ListPodSandboxResponse* response) override {
    return state_.Serve("ListPodSandbox", context, [&] {
      for (const auto& [id, status] : state_.sandboxes) {
        if (!Matches(request->filter().label_selector(), status.labels())) continue;
        Describe(status, *response->add_items());
      }
      return grpc::Status::OK;
    });
  }

  grpc::Status StreamPodSandboxes(
      grpc::ServerContext* context, const v1::StreamPodSandboxesRequest*,
      grpc::ServerWriter<v1::StreamPodSandboxesResponse>* writer) override {
    return state_.Serve("StreamPodSandboxes", context, [&] {
      if (!state_.list_streams) return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "unknown");
      for (const auto& [id, status] : state_.sandboxes) {
        v1::StreamPodSandboxesResponse part;
        Describe(status, *part.add_pod_sandboxes());
        writer->Write(part);
      }
      return grpc::Status::OK;
    });
  }

  grpc::Status CreateContainer(grpc::ServerContext* context,
                               const v1::CreateContainerRequest* request,
                               v1::CreateContainerResponse* response) override {
    return state_.Serve("CreateContainer", context, [&] {
      if (!state_.sandboxes.contains(request->pod_sandbox_id())) {
        return NotFound(request->pod_sandbox_id());
      }
      const std::string id = "c" + std::to_string(state_.next_id++);
      State::Held& held = state_.containers[id];
      held.sandbox = request->pod_sandbox_id();
      held.status.set_id(id);
      *held.status.mutable_metadata() = request->config().metadata();
      held.status.set_created_at(++state_.clock);
      *held.status.mutable_image() = request->config().image();
      held.status.set_image_ref(request->config().image().image());
      *held.status.mutable_labels() = request->config().labels();
      *held.status.mutable_annotations() = request->config().annotations();
      response->set_container_id(id);
      Announce(held.status.labels(), v1::ContainerEventType::CONTAINER_CREATED_EVENT);
      return grpc::Status::OK;
    });
  }

  grpc::Status StartContainer(grpc::ServerContext* context,
                              const v1::StartContainerRequest* request,
                              v1::StartContainerResponse*) override {
    return Change("StartContainer", context, request->container_id(), [&](State::Held& held) {
      held.status.set_state(v1::ContainerState::CONTAINER_RUNNING);
      held.status.set_started_at(++state_.clock);
      Announce(held.status.labels(), v1::ContainerEventType::CONTAINER_STARTED_EVENT);
    });
  }

  grpc::Status StopContainer(grpc::ServerContext* context, const v1::StopContainerRequest* request,
                             v1::StopContainerResponse*) override {
    return Change("StopContainer", context, request->container_id(), [&](State::Held& held) {
      Exit(held.status);
      Announce(held.status.labels(), v1::ContainerEventType::CONTAINER_STOPPED_EVENT);
    });
  }

  grpc::Status RemoveContainer(grpc::ServerContext* context,
                               const v1::RemoveContainerRequest* request,
                               v1::RemoveContainerResponse*) override {
    return state_.Serve("RemoveContainer", context, [&] {
      return state_.containers.erase(request->container_id()) == 0
                 ? NotFound(request->container_id())
                 : grpc::Status::OK;
    });
  }

  grpc::Status ListContainers(grpc::ServerContext* context,
                              const v1::ListContainersRequest* request,
                              v1::ListContainersResponse* response) override {
    return state_.Serve("ListContainers", context, [&] {
      for (const auto& [id, held] : state_.containers) {
        if (!request->filter().id().empty() && id != request->filter().id()) continue;
        if (!Matches(request->filter().label_selector(), held.status.labels())) continue;
        Describe(held, *response->add_containers());
      }
      return grpc::Status::OK;
    });
  }

  grpc::Status StreamContainers(grpc::ServerContext* context, const v1::StreamContainersRequest*,
                                grpc::ServerWriter<v1::StreamContainersResponse>* writer) override {
    return state_.Serve("StreamContainers", context, [&] {
      if (!state_.list_streams) return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "unknown");
      for (const auto& [id, held] : state_.containers) {
        v1::StreamContainersResponse part;
        Describe(held, *part.add_containers());
        writer->Write(part);
      }
      return grpc::Status::OK;
    });
  }

  grpc::Status ContainerStatus(grpc::ServerContext* context,
                               const v1::ContainerStatusRequest* request,
                               v1::ContainerStatusResponse* response) override {
    return Change("ContainerStatus", context, request->container_id(),
                  [&](State::Held& held) { *response->mutable_status() = held.status; });
  }

  grpc::Status UpdateRuntimeConfig(grpc::ServerContext* context,
                                   const v1::UpdateRuntimeConfigRequest* request,
                                   v1::UpdateRuntimeConfigResponse*) override {
    return Note("UpdateRuntimeConfig", context, *request);
  }
  grpc::Status UpdateContainerResources(grpc::ServerContext* context,
                                        const v1::UpdateContainerResourcesRequest* request,
                                        v1::UpdateContainerResourcesResponse*) override {
    return Note("UpdateContainerResources", context, *request);
  }
  grpc::Status UpdatePodSandboxResources(grpc::ServerContext* context,
                                         const v1::UpdatePodSandboxResourcesRequest* request,
                                         v1::UpdatePodSandboxResourcesResponse*) override {
    return Note("UpdatePodSandboxResources", context, *request);
  }
  grpc::Status ReopenContainerLog(grpc::ServerContext* context,
                                  const v1::ReopenContainerLogRequest* request,
                                  v1::ReopenContainerLogResponse*) override {
    return Note("ReopenContainerLog", context, *request);
  }
  grpc::Status CheckpointContainer(grpc::ServerContext* context,
                                   const v1::CheckpointContainerRequest* request,
                                   v1::CheckpointContainerResponse*) override {
    return Note("CheckpointContainer", context, *request);
  }
  grpc::Status Exec(grpc::ServerContext* context, const v1::ExecRequest* request,
                    v1::ExecResponse* response) override {
    response->set_url("http://records/exec");
    return Note("Exec", context, *request);
  }
  grpc::Status Attach(grpc::ServerContext* context, const v1::AttachRequest* request,
                      v1::AttachResponse* response) override {
    response->set_url("http://records/attach");
    return Note("Attach", context, *request);
  }
  // Without the URL that it owes.
  grpc::Status PortForward(grpc::ServerContext* context, const v1::PortForwardRequest* request,
                           v1::PortForwardResponse*) override {
    return Note("PortForward", context, *request);
  }

  grpc::Status ExecSync(grpc::ServerContext* context, const v1::ExecSyncRequest* request,
                        v1::ExecSyncResponse* response) override {
    return state_.Serve("ExecSync", context, [&] {
      response->set_stdout("out " + std::to_string(request->timeout()) + " ");
      response->set_stderr("err");
      response->set_exit_code(3);
      return grpc::Status::OK;
    });
  }

  grpc::Status GetContainerEvents(grpc::ServerContext* context, const v1::GetEventsRequest*,
                                  grpc::ServerWriter<v1::ContainerEventResponse>* writer) override {
    std::unique_lock lock(state_.mutex);
    ++state_.calls["GetContainerEvents"];
    if (state_.events == Events::kNone) {
      return {grpc::StatusCode::UNIMPLEMENTED, "unknown method GetContainerEvents"};
    }
    if (state_.events == Events::kEndAtOnce) return grpc::Status::OK;
    if (state_.events == Events::kHeadersAtOnce) writer->SendInitialMetadata();
    State::Stream stream;
    state_.streams.push_back(&stream);
    while (!state_.stopping && !context->IsCancelled() && !stream.end) {
      if (stream.waiting.empty()) {
        state_.changed.wait_for(lock, std::chrono::milliseconds(5));
        continue;
      }
      const v1::ContainerEventResponse event = std::move(stream.waiting.front());
      stream.waiting.pop_front();
      lock.unlock();
      writer->Write(event);
      lock.lock();
    }
    std::erase(state_.streams, &stream);
    return stream.end.value_or(grpc::Status(grpc::StatusCode::UNAVAILABLE, "going down"));
  }

 private:
  template <class Labels>
  void Announce(const Labels& labels, v1::ContainerEventType type) {
    const auto uid = labels.find(kUid);
    state_.Announce(uid == labels.end() ? "" : uid->second, type);
  }
  static void Exit(v1::ContainerStatus& status) {
    if (status.state() == v1::ContainerState::CONTAINER_RUNNING) {
      status.set_finished_at(status.started_at() + 1);
    }
    status.set_state(v1::ContainerState::CONTAINER_EXITED);
  }
  template <class Request>
  grpc::Status Note(const char* method, grpc::ServerContext* context, const Request& request) {
    return state_.Serve(method, context, [&] {
      state_.requests[method] = request.ShortDebugString();
      return grpc::Status::OK;
    });
  }
  template <class Act>
  grpc::Status Change(const char* method, grpc::ServerContext* context, const std::string& id,
                      Act act) {
    return state_.Serve(method, context, [&] {
      const auto found = state_.containers.find(id);
      if (found == state_.containers.end()) return NotFound(id);
      act(found->second);
      return grpc::Status::OK;
    });
  }
  static void Describe(const v1::PodSandboxStatus& status, v1::PodSandbox& item) {
    item.set_id(status.id());
    *item.mutable_metadata() = status.metadata();
    item.set_state(status.state());
    item.set_created_at(status.created_at());
    *item.mutable_labels() = status.labels();
  }
  static void Describe(const State::Held& held, v1::Container& item) {
    item.set_id(held.status.id());
    item.set_pod_sandbox_id(held.sandbox);
    *item.mutable_metadata() = held.status.metadata();
    item.set_state(held.status.state());
    item.set_created_at(held.status.created_at());
    *item.mutable_labels() = held.status.labels();
  }

  State& state_;
};

class CriServer::Images final : public v1::ImageService::Service {
 public:
  explicit Images(State& state) : state_(state) {}

  grpc::Status ImageStatus(grpc::ServerContext* context, const v1::ImageStatusRequest* request,
                           v1::ImageStatusResponse* response) override {
    return state_.Serve("ImageStatus", context, [&] {
      const auto found = state_.images.find(request->image().image());
      if (found != state_.images.end()) *response->mutable_image() = found->second;
      return grpc::Status::OK;
    });
  }
  grpc::Status PullImage(grpc::ServerContext* context, const v1::PullImageRequest* request,
                         v1::PullImageResponse* response) override {
    return state_.Serve("PullImage", context, [&] {
      v1::Image& image = state_.images[request->image().image()];
      image.set_id("sha256:" + request->image().image());
      image.set_size(42);
      image.set_username(request->auth().username());
      response->set_image_ref(image.id());
      return grpc::Status::OK;
    });
  }
  grpc::Status ListImages(grpc::ServerContext* context, const v1::ListImagesRequest*,
                          v1::ListImagesResponse* response) override {
    return state_.Serve("ListImages", context, [&] {
      for (const auto& [name, image] : state_.images) *response->add_images() = image;
      return grpc::Status::OK;
    });
  }
  grpc::Status StreamImages(grpc::ServerContext* context, const v1::StreamImagesRequest*,
                            grpc::ServerWriter<v1::StreamImagesResponse>* writer) override {
    return state_.Serve("StreamImages", context, [&] {
      if (!state_.list_streams) return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "unknown");
      for (const auto& [name, image] : state_.images) {
        v1::StreamImagesResponse part;
        *part.add_images() = image;
        writer->Write(part);
      }
      return grpc::Status::OK;
    });
  }
  grpc::Status ImageFsInfo(grpc::ServerContext* context, const v1::ImageFsInfoRequest*,
                           v1::ImageFsInfoResponse* response) override {
    return state_.Serve("ImageFsInfo", context, [&] {
      response->add_image_filesystems()->mutable_fs_id()->set_mountpoint("/var/lib/records");
      return grpc::Status::OK;
    });
  }

 private:
  State& state_;
};

CriServer::CriServer(const std::string& socket_path)
    : state_(std::make_unique<State>()),
      runtime_(std::make_unique<Runtime>(*state_)),
      images_(std::make_unique<Images>(*state_)) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket_path, grpc::InsecureServerCredentials());
  builder.RegisterService(runtime_.get());
  builder.RegisterService(images_.get());
  server_ = builder.BuildAndStart();
}

CriServer::~CriServer() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    state_->changed.notify_all();
  }
  server_->Shutdown(std::chrono::system_clock::time_point());
  server_->Wait();
}

void CriServer::SetFaults(std::function<Fault(const std::string&)> faults) {
  const std::lock_guard lock(state_->mutex);
  state_->faults = std::move(faults);
}

int CriServer::calls(const std::string& method) const {
  const std::lock_guard lock(state_->mutex);
  return state_->calls[method];
}

std::string CriServer::last(const std::string& method) const {
  const std::lock_guard lock(state_->mutex);
  return state_->requests[method];
}

size_t CriServer::sandboxes() const {
  const std::lock_guard lock(state_->mutex);
  return state_->sandboxes.size();
}

size_t CriServer::containers() const {
  const std::lock_guard lock(state_->mutex);
  return state_->containers.size();
}

void CriServer::Drop(const std::string& container) {
  const std::lock_guard lock(state_->mutex);
  state_->containers.erase(container);
}

std::vector<std::string> CriServer::ContainersOf(const std::string& pod_uid) const {
  const std::lock_guard lock(state_->mutex);
  std::vector<std::string> ids;
  for (const auto& [id, held] : state_->containers) {
    const auto uid = held.status.labels().find(kUid);
    if (uid != held.status.labels().end() && uid->second == pod_uid) ids.push_back(id);
  }
  return ids;
}

size_t CriServer::streams() const {
  const std::lock_guard lock(state_->mutex);
  return state_->streams.size();
}

void CriServer::SendEvent(const std::string& pod_uid) {
  const std::lock_guard lock(state_->mutex);
  state_->Announce(pod_uid, v1::ContainerEventType::CONTAINER_STARTED_EVENT);
}

void CriServer::SendEventOfNobody() { SendEvent(""); }

void CriServer::EndStreams(const grpc::Status& status) {
  const std::lock_guard lock(state_->mutex);
  for (State::Stream* stream : state_->streams) stream->end = status;
  state_->changed.notify_all();
}

void CriServer::SetEvents(Events events) {
  const std::lock_guard lock(state_->mutex);
  state_->events = events;
}

void CriServer::SetListStreams(bool has) {
  const std::lock_guard lock(state_->mutex);
  state_->list_streams = has;
}

}  // namespace denselet::cri
