#include "tests/integration/rpc/scripted_server.h"

#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>

#include <charconv>
#include <optional>
#include <utility>

#include "base/check.h"

namespace denselet::rpc {

// Who takes it out of held_ finishes it.
class ScriptedServer::HeldCall final : public grpc::ServerUnaryReactor {
 public:
  explicit HeldCall(ScriptedServer& server) : server_(server) {}
  void OnCancel() override {
    {
      const std::lock_guard lock(server_.mutex_);
      if (server_.held_.erase(this) == 0) return;
    }
    Finish(grpc::Status::CANCELLED);
  }
  void OnDone() override { delete this; }

 private:
  ScriptedServer& server_;
};

class ScriptedServer::EventWriter final
    : public grpc::ServerWriteReactor<v1::ContainerEventResponse> {
 public:
  explicit EventWriter(ScriptedServer& server) : server_(server) {}

  // The caller holds the mutex.
  void Push(const std::string& id) {
    waiting_.push_back(id);
    if (!writing_) WriteNext();
  }
  void End(const grpc::Status& status) {
    end_ = status;
    if (!writing_) WriteNext();
  }
  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(server_.mutex_);
    writing_ = false;
    if (ok) WriteNext();
  }
  void OnCancel() override {
    const std::lock_guard lock(server_.mutex_);
    waiting_.clear();
    end_ = grpc::Status::CANCELLED;
    if (!writing_) WriteNext();
  }
  void OnDone() override {
    {
      const std::lock_guard lock(server_.mutex_);
      server_.writers_.erase(this);
    }
    delete this;
  }

 private:
  void WriteNext() {
    if (finished_) return;
    if (!waiting_.empty()) {
      message_.set_container_id(waiting_.front());
      waiting_.pop_front();
      writing_ = true;
      return StartWrite(&message_);
    }
    if (end_) {
      finished_ = true;
      Finish(*end_);
    }
  }

  ScriptedServer& server_;
  v1::ContainerEventResponse message_;
  std::deque<std::string> waiting_;
  std::optional<grpc::Status> end_;
  bool writing_ = false;
  bool finished_ = false;
};

class ScriptedServer::ListWriter final
    : public grpc::ServerWriteReactor<v1::StreamContainersResponse> {
 public:
  explicit ListWriter(int count) : count_(count) { Next(); }
  void OnWriteDone(bool ok) override {
    if (!ok) count_ = 0;
    Next();
  }
  void OnDone() override { delete this; }

 private:
  void Next() {
    if (count_-- <= 0) return Finish(grpc::Status::OK);
    message_.Clear();
    message_.add_containers()->set_id(std::to_string(count_));
    StartWrite(&message_);
  }
  int count_;
  v1::StreamContainersResponse message_;
};

ScriptedServer::ScriptedServer(const std::string& socket_path) {
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + socket_path, grpc::InsecureServerCredentials());
  builder.RegisterService(this);
  server_ = builder.BuildAndStart();
  CHECK(server_ != nullptr);
}

ScriptedServer::~ScriptedServer() { Kill(); }

void ScriptedServer::Kill() {
  if (server_ == nullptr) return;
  server_->Shutdown(gpr_time_0(GPR_CLOCK_MONOTONIC));
  server_->Wait();
  server_.reset();
}

std::vector<ArrivedCall> ScriptedServer::arrived() const {
  const std::lock_guard lock(mutex_);
  return arrived_;
}

size_t ScriptedServer::held() const {
  const std::lock_guard lock(mutex_);
  return held_.size();
}

void ScriptedServer::Release() {
  std::set<HeldCall*> held;
  {
    const std::lock_guard lock(mutex_);
    held = std::exchange(held_, {});
  }
  for (HeldCall* call : held) call->Finish(grpc::Status::OK);
}

size_t ScriptedServer::streams() const {
  const std::lock_guard lock(mutex_);
  return writers_.size();
}

void ScriptedServer::SendEvent(const std::string& id) {
  const std::lock_guard lock(mutex_);
  for (EventWriter* writer : writers_) writer->Push(id);
}

void ScriptedServer::EndStreams(const grpc::Status& status) {
  const std::lock_guard lock(mutex_);
  for (EventWriter* writer : writers_) writer->End(status);
}

void ScriptedServer::set_headers_at_once(bool at_once) {
  const std::lock_guard lock(mutex_);
  headers_at_once_ = at_once;
}

void ScriptedServer::RefuseStreams() {
  const std::lock_guard lock(mutex_);
  streams_refused_ = true;
}

grpc::ServerUnaryReactor* ScriptedServer::Follow(grpc::CallbackServerContext* context,
                                                 const std::string& text) {
  const auto trace = context->client_metadata().find("traceparent");
  const bool traced = trace != context->client_metadata().end();
  const bool hangs = text.starts_with("hang ");
  HeldCall* held = hangs ? new HeldCall(*this) : nullptr;
  const grpc::string_ref authority = context->ExperimentalGetAuthority();
  {
    const std::lock_guard lock(mutex_);
    arrived_.push_back(
        {.text = text,
         .traceparent = traced ? std::string(trace->second.data(), trace->second.size()) : "",
         .authority = std::string(authority.data(), authority.size())});
    if (hangs) held_.insert(held);
  }
  if (hangs) return held;
  grpc::Status status = grpc::Status::OK;
  if (text.starts_with("fail:")) {
    const size_t colon = text.find(':', 5);
    int code = 0;
    std::from_chars(text.data() + 5, text.data() + colon, code);
    status = grpc::Status(static_cast<grpc::StatusCode>(code),
                          text.substr(colon + 1, text.rfind(' ') - colon - 1));
  }
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

grpc::ServerUnaryReactor* ScriptedServer::Version(grpc::CallbackServerContext* context,
                                                  const v1::VersionRequest* request,
                                                  v1::VersionResponse* response) {
  response->set_version(request->version());
  return Follow(context, request->version());
}

grpc::ServerUnaryReactor* ScriptedServer::StopContainer(grpc::CallbackServerContext* context,
                                                        const v1::StopContainerRequest* request,
                                                        v1::StopContainerResponse*) {
  return Follow(context, request->container_id());
}

grpc::ServerWriteReactor<v1::ContainerEventResponse>* ScriptedServer::GetContainerEvents(
    grpc::CallbackServerContext*, const v1::GetEventsRequest*) {
  auto* writer = new EventWriter(*this);
  const std::lock_guard lock(mutex_);
  if (streams_refused_) {
    writer->End(grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "no events"));
    return writer;
  }
  if (headers_at_once_) writer->StartSendInitialMetadata();
  writers_.insert(writer);
  return writer;
}

grpc::ServerWriteReactor<v1::StreamContainersResponse>* ScriptedServer::StreamContainers(
    grpc::CallbackServerContext*, const v1::StreamContainersRequest* request) {
  return new ListWriter(std::stoi(request->filter().id()));
}

}  // namespace denselet::rpc
