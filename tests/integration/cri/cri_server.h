// A container runtime in this process behind real gRPC on a unix socket: sandboxes, containers and
// images that are nothing but records, events, and faults as a test asks for them.
//
// Handlers run on gRPC's threads, one thread a call, and keep everything under one mutex.
#pragma once

#include <grpcpp/server.h>
#include <k8s.io/cri-api/pkg/apis/runtime/v1/api.grpc.pb.h>

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace denselet::cri {

namespace v1 = ::runtime::v1;

struct Fault {
  enum class Kind : uint8_t {
    kNone,
    kRefuse,   // no effect, the status
    kLose,     // the effect, and the status instead of the answer
    kHang,     // no effect until the caller gives up
    kHangDone  // the effect, and no answer until the caller gives up
  };
  Kind kind = Kind::kNone;
  grpc::Status status = {};
};

class CriServer final {
 public:
  explicit CriServer(const std::string& socket_path);
  ~CriServer();

  // Asked for every call, under the mutex, with the method's name: "CreateContainer".
  void SetFaults(std::function<Fault(const std::string&)> faults);
  int calls(const std::string& method) const;
  // The last request of those that have no record to show for it, as protobuf prints it.
  std::string last(const std::string& method) const;

  // What it has; the ids are "s1", "c2" and so on.
  size_t sandboxes() const;
  size_t containers() const;
  void Drop(const std::string& container);  // behind the client's back
  std::vector<std::string> ContainersOf(const std::string& pod_uid) const;

  size_t streams() const;
  void SendEvent(const std::string& pod_uid);
  void SendEventOfNobody();
  void EndStreams(const grpc::Status& status);
  enum class Events : uint8_t { kHeadersAtOnce, kHeadersWithTheFirst, kNone, kEndAtOnce };
  void SetEvents(Events events);
  void SetListStreams(bool has);

 private:
  class Runtime;
  class Images;
  struct State;

  const std::unique_ptr<State> state_;
  const std::unique_ptr<Runtime> runtime_;
  const std::unique_ptr<Images> images_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace denselet::cri
