#include "bench/cri_sim/grpc_server.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "bench/cri_sim/live_socket.h"

namespace denselet::cri_sim {
namespace {

std::string ToString(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  std::string out;
  if (!buffer.Dump(&slices).ok()) return out;
  for (const grpc::Slice& slice : slices) {
    out.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return out;
}

// gRPC frees the string when it has sent it.
grpc::ByteBuffer ToBuffer(std::string text) {
  auto* const kept = new std::string(std::move(text));
  const grpc::Slice slice(
      kept->data(), kept->size(), [](void* p) { delete static_cast<std::string*>(p); }, kept);
  return grpc::ByteBuffer(&slice, 1);
}

}  // namespace

// What a call posts from gRPC's threads holds it; gRPC's own hold ends with OnDone. Everything but
// the overrides of the reactor runs on the shard, and nothing is asked of gRPC after Finish: until
// that, OnDone does not come.
//
// gRPC sees to it that a reaction finds what was written before the call that led to it, but by
// means that ThreadSanitizer cannot see into: HandOver and Arrive say it again.
class GrpcCall final : public grpc::ServerGenericBidiReactor,
                       public Call,
                       public std::enable_shared_from_this<GrpcCall> {
 public:
  GrpcCall(Inbox& inbox, std::string path, int message_bytes_max)
      : inbox_(inbox),
        path_(std::move(path)),
        message_bytes_max_(static_cast<size_t>(message_bytes_max)) {}

  void Start(std::shared_ptr<GrpcCall> self, void* owner, GrpcServer::OnCall begin) {
    self_ = std::move(self);
    owner_ = owner;
    begin_ = begin;
    HandOver();
    StartRead(&request_);
  }

  void OnReadDone(bool ok) override {
    Arrive();
    inbox_.Post([call = shared_from_this(), ok, request = ok ? ToString(request_) : std::string()] {
      if (call->ended()) return;
      if (!ok) return call->Finish({13, "no request came"});
      call->begin_(call->owner_, call->path_, request, call);
    });
  }
  void OnWriteDone(bool) override {
    Arrive();
    inbox_.Post([call = shared_from_this()] { call->Written(); });
  }
  void OnCancel() override {
    Arrive();
    inbox_.Post([call = shared_from_this()] { call->Cancelled(); });
  }
  void OnDone() override {
    Arrive();
    self_.reset();
  }

  void Send(std::string message) override {
    if (ended() || status_) return;
    waiting_.push_back(std::move(message));
    if (!writing_) Write();
  }
  void Finish(RpcStatus status) override {
    if (ended() || status_) return;
    on_cancel = nullptr;
    status_ = std::move(status);
    if (!writing_ && waiting_.empty()) End();
  }
  size_t unsent() const override { return waiting_.size(); }
  size_t message_bytes_max() const override { return message_bytes_max_; }
  bool ended() const override { return ended_; }

 private:
  void HandOver() { handed_over_.store(true, std::memory_order_release); }
  void Arrive() const { (void)handed_over_.load(std::memory_order_acquire); }

  void Write() {
    writing_ = true;
    response_ = ToBuffer(std::move(waiting_.front()));
    waiting_.pop_front();
    HandOver();
    StartWrite(&response_);
  }
  void Written() {
    writing_ = false;
    if (ended()) return;
    if (!waiting_.empty()) return Write();
    if (status_) End();
  }
  void Cancelled() {
    if (ended()) return;
    waiting_.clear();
    status_ = RpcStatus{1, "cancelled"};
    auto tell = std::exchange(on_cancel, nullptr);
    End();
    if (tell) tell();
  }
  void End() {
    ended_ = true;
    on_cancel = nullptr;
    HandOver();
    grpc::ServerGenericBidiReactor::Finish(
        grpc::Status(static_cast<grpc::StatusCode>(status_->code), status_->message));
  }

  Inbox& inbox_;
  const std::string path_;
  const size_t message_bytes_max_;
  std::shared_ptr<GrpcCall> self_;
  void* owner_ = nullptr;
  GrpcServer::OnCall begin_ = nullptr;
  grpc::ByteBuffer request_, response_;
  std::deque<std::string> waiting_;
  std::optional<RpcStatus> status_;
  bool writing_ = false, ended_ = false;
  std::atomic<bool> handed_over_ = false;
};

class GrpcServer::Service final : public grpc::CallbackGenericService {
 public:
  explicit Service(GrpcServer& server) : server_(server) {}
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    auto call = std::make_shared<GrpcCall>(server_.inbox_, context->method(),
                                           server_.options_.message_bytes_max);
    GrpcCall* const reactor = call.get();
    reactor->Start(std::move(call), server_.owner_, server_.begin_);
    return reactor;
  }

 private:
  GrpcServer& server_;
};

struct GrpcServer::Running {
  std::unique_ptr<grpc::Server> server;
};

GrpcServer::GrpcServer(Inbox& inbox, GrpcServerOptions options, void* owner, OnCall begin)
    : inbox_(inbox), options_(std::move(options)), owner_(owner), begin_(begin) {}

GrpcServer::~GrpcServer() { Stop(); }

Status GrpcServer::Start() {
  if (Status free = CheckIsFree(options_.socket); !free) return free;
  service_ = std::make_unique<Service>(*this);
  grpc::ServerBuilder builder;
  builder.AddListeningPort("unix:" + options_.socket, grpc::InsecureServerCredentials());
  builder.RegisterCallbackGenericService(service_.get());
  builder.SetMaxReceiveMessageSize(options_.message_bytes_max);
  builder.SetMaxSendMessageSize(options_.message_bytes_max);
  auto server = builder.BuildAndStart();
  if (server == nullptr) {
    return Error(ErrorCode::kIo, "could not serve on " + options_.socket);
  }
  running_ = std::make_unique<Running>(Running{std::move(server)});
  return Ok();
}

void GrpcServer::Stop() {
  if (running_ == nullptr) return;
  running_->server->Shutdown(gpr_time_0(GPR_CLOCK_REALTIME));
  running_.reset();
  unlink(options_.socket.c_str());
}

}  // namespace denselet::cri_sim
