#include "rpc/poller.h"

#include <grpcpp/completion_queue.h>
#include <pthread.h>

#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "reactor/signals_blocked.h"

namespace denselet::rpc {

struct Poller::Inside {
  grpc::CompletionQueue queue;
  std::thread thread;

  void Run() {
    ::pthread_setname_np(::pthread_self(), "grpc-poller");
    void* tag = nullptr;
    bool ok = false;
    while (queue.Next(&tag, &ok)) static_cast<Tag*>(tag)->Arrive(ok);
  }
};

Poller::Poller(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}

Poller::~Poller() {
  inside_->queue.Shutdown();
  inside_->thread.join();
}

grpc::CompletionQueue& Poller::queue() { return inside_->queue; }

Result<std::shared_ptr<Poller>> Poller::Get() {
  static std::mutex mutex;
  static std::weak_ptr<Poller> shared;
  const std::lock_guard lock(mutex);
  if (std::shared_ptr<Poller> poller = shared.lock()) return poller;
  auto inside = std::make_unique<Inside>();
  try {
    const reactor::AllSignalsBlocked blocked;
    inside->thread = std::thread([&run = *inside] { run.Run(); });
  } catch (const std::system_error& error) {
    inside->queue.Shutdown();
    return Error(ErrorCode::kOverloaded, error.what()).With("start the thread that polls gRPC");
  }
  std::shared_ptr<Poller> poller(new Poller(std::move(inside)));
  shared = poller;
  return poller;
}

}  // namespace denselet::rpc
