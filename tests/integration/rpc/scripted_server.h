// A real gRPC server on a unix socket that does as the requests say. The service is CRI's because
// its code is there; nothing of its meaning is used.
//
// The text of a request (Version's version, StopContainer's container_id) is a verb and a name:
//   answer NAME            at once
//   hang NAME              when released, or never
//   fail:CODE:TEXT NAME    a status of that number
#pragma once

#include <grpcpp/server.h>
#include <grpcpp/support/server_callback.h>
#include <k8s.io/cri-api/pkg/apis/runtime/v1/api.grpc.pb.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace denselet::rpc {

namespace v1 = ::runtime::v1;

struct ArrivedCall {
  std::string text;
  std::string traceparent;
  std::string authority;
};

// Owned by a test. Handlers run on gRPC's threads and keep their notes under the mutex.
class ScriptedServer final : private v1::RuntimeService::CallbackService {
 public:
  explicit ScriptedServer(const std::string& socket_path);
  ~ScriptedServer() override;

  // Ends at once: what is under way is cut off. Also done by the destructor.
  void Kill();

  std::vector<ArrivedCall> arrived() const;
  size_t held() const;
  // Answers the calls that hang now.
  void Release();

  // Streams of events.
  size_t streams() const;
  void SendEvent(const std::string& id);
  void EndStreams(const grpc::Status& status);
  // False: headers go with the first message, as servers in Go do it.
  void set_headers_at_once(bool at_once);
  // Streams are answered with Unimplemented.
  void RefuseStreams();

 private:
  class HeldCall;
  class EventWriter;
  class ListWriter;

  grpc::ServerUnaryReactor* Version(grpc::CallbackServerContext* context,
                                    const v1::VersionRequest* request,
                                    v1::VersionResponse* response) override;
  grpc::ServerUnaryReactor* StopContainer(grpc::CallbackServerContext* context,
                                          const v1::StopContainerRequest* request,
                                          v1::StopContainerResponse* response) override;
  grpc::ServerWriteReactor<v1::ContainerEventResponse>* GetContainerEvents(
      grpc::CallbackServerContext* context, const v1::GetEventsRequest* request) override;
  // As many messages as the filter's id says.
  grpc::ServerWriteReactor<v1::StreamContainersResponse>* StreamContainers(
      grpc::CallbackServerContext* context, const v1::StreamContainersRequest* request) override;

  grpc::ServerUnaryReactor* Follow(grpc::CallbackServerContext* context, const std::string& text);

  mutable std::mutex mutex_;
  std::vector<ArrivedCall> arrived_;
  std::set<HeldCall*> held_;
  std::set<EventWriter*> writers_;
  bool headers_at_once_ = true;
  bool streams_refused_ = false;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace denselet::rpc
