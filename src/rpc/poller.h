// The one thread on which gRPC's completions arrive, shared by all endpoints of the process.
//
// gRPC's callback API brings at least two such threads, half as many as there are CPUs. They hand
// the polling on with every answer, a wake-up and a sleep each time, and when nothing came for a
// second they all sleep for 100 ms, deaf for what comes then. One thread has nobody to hand it to,
// and this one never sleeps but in the poll.
//
// Its price: what conversions, folds and sinks take, all other answers wait for.
#pragma once

#include <atomic>
#include <memory>

#include "base/result.h"

namespace grpc {
class CompletionQueue;
}

namespace denselet::rpc {

// Lives as long as somebody holds it; then nothing may be under way in its queue.
class Poller {
 public:
  class Tag {
   public:
    // What gRPC is given: last before the operation is asked of it, each time. What this thread
    // wrote before, OnCompletion sees. gRPC sees to that too, but by means that ThreadSanitizer
    // cannot see into.
    void* Hand() {
      handed_.store(true, std::memory_order_release);
      return this;
    }

   protected:
    ~Tag() = default;
    // On the poller's thread. `ok` as gRPC defines it for the operation.
    virtual void OnCompletion(bool ok) = 0;

   private:
    friend class Poller;
    void Arrive(bool ok) {
      (void)handed_.load(std::memory_order_acquire);
      OnCompletion(ok);
    }

    std::atomic<bool> handed_ = false;
  };

  // The process's; made with the first call, on a thread whose CPUs the poller inherits.
  // kOverloaded: there is no thread to be had.
  static Result<std::shared_ptr<Poller>> Get();
  ~Poller();
  Poller(const Poller&) = delete;
  Poller& operator=(const Poller&) = delete;

  grpc::CompletionQueue& queue();

 private:
  struct Inside;
  explicit Poller(std::unique_ptr<Inside> inside);

  const std::unique_ptr<Inside> inside_;
};

}  // namespace denselet::rpc
