#include "bench/cri_sim/dispatcher.h"

#include <algorithm>
#include <utility>

namespace denselet::cri_sim {

struct Dispatcher::Passage {
  std::string method;
  std::string request;
  CallPtr call;
  CallPlan plan;
  MethodCounters* counters = nullptr;
  bool counted_out = false;
};

namespace {

// Counts what a streaming handler's call ends with, which nobody else sees.
class CountedCall final : public Call {
 public:
  CountedCall(CallPtr inner, UniqueFunction<void(bool failed)> ended)
      : inner_(std::move(inner)), ended_(std::move(ended)) {}
  void Send(std::string message) override {
    if (message.size() <= message_bytes_max()) return inner_->Send(std::move(message));
    Finish(TooLong(message.size(), message_bytes_max()));
  }
  void Finish(RpcStatus status) override {
    if (auto ended = std::exchange(ended_, nullptr)) ended(!status.ok());
    inner_->Finish(std::move(status));
  }
  size_t unsent() const override { return inner_->unsent(); }
  size_t message_bytes_max() const override { return inner_->message_bytes_max(); }
  bool ended() const override { return inner_->ended(); }

 private:
  CallPtr inner_;
  UniqueFunction<void(bool)> ended_;
};

}  // namespace

void Dispatcher::Begin(std::string_view path, std::string request, const CallPtr& call) {
  const size_t slash = path.rfind('/');
  const std::string_view service = path.substr(0, slash);
  const std::string method(path.substr(slash + 1));
  const bool known_service =
      service == "/runtime.v1.RuntimeService" || service == "/runtime.v1.ImageService";
  if (!known_service || table_.find(method) == table_.end()) {
    violations_.Add(loop_.WallNow(), "unknown-method", "call of " + std::string(path));
    return call->Finish({12, "unknown method " + method + " for service " +
                                 std::string(service.substr(std::min<size_t>(1, service.size())))});
  }
  if (!table_.find(method)->second.readable(request)) {
    violations_.Add(loop_.WallNow(), "unreadable-request",
                    method + ": " + std::to_string(request.size()) +
                        " bytes that protobuf cannot read as its request");
    return call->Finish({13, "grpc: error unmarshalling request"});
  }
  auto passage = std::make_shared<Passage>();
  passage->method = method;
  passage->request = std::move(request);
  passage->call = call;
  passage->plan = PlanCall(settings_, method, random_);
  MethodCounters& counters = counters_[method];
  passage->counters = &counters;
  ++counters.calls;
  counters.in_flight_max = std::max(counters.in_flight_max, ++counters.in_flight);
  call->on_cancel = [this, weak = std::weak_ptr<Passage>(passage)] {
    if (const auto cancelled = weak.lock()) Ended(*cancelled, true, false);
  };
  Before(passage);
}

void Dispatcher::Ended(Passage& passage, bool cancelled, bool failed) {
  if (std::exchange(passage.counted_out, true)) return;
  --passage.counters->in_flight;
  passage.counters->cancelled += cancelled ? 1 : 0;
  passage.counters->errors += failed ? 1 : 0;
}

void Dispatcher::Pass(const std::shared_ptr<Passage>& passage, const CallPlan::Part& part,
                      reactor::Task next) {
  reactor::Task then = std::move(next);
  if (part.hang) {
    then = [this, passage, go_on = std::move(then)]() mutable {
      std::erase_if(hung_, [](const Hung& one) {
        const auto still = one.passage.lock();
        return still == nullptr || still->call->ended();
      });
      if (hung_.size() >= kHungMax) {
        return Finish(passage, Error(ErrorCode::kOverloaded, "too many calls hang"));
      }
      hung_.push_back({passage->method, passage, std::move(go_on)});
    };
  }
  if (part.wait > Duration::zero()) {
    later_.Run(part.wait, std::move(then));
  } else {
    then();
  }
}

void Dispatcher::Before(const std::shared_ptr<Passage>& passage) {
  if (passage->plan.unimplemented) {
    return Finish(passage, Error(ErrorCode::kUnsupported, "unknown method " + passage->method));
  }
  Pass(passage, passage->plan.before, [this, passage] {
    if (passage->call->ended()) return;
    if (passage->plan.before.fail) {
      Ended(*passage, false, true);
      return passage->call->Finish({passage->plan.error_code, passage->plan.error_message});
    }
    Effect(passage);
  });
}

void Dispatcher::Effect(const std::shared_ptr<Passage>& passage) {
  Method& method = table_.find(passage->method)->second;
  if (method.unary) {
    return method.unary(passage->request, [this, passage](Result<std::string> result) {
      After(passage, std::move(result));
    });
  }
  auto counted = std::make_shared<CountedCall>(
      passage->call, [this, passage](bool failed) { Ended(*passage, false, failed); });
  passage->call->on_cancel = [this, passage, counted] {
    Ended(*passage, true, false);
    if (counted->on_cancel) counted->on_cancel();
  };
  method.stream(passage->request, counted);
}

void Dispatcher::After(const std::shared_ptr<Passage>& passage, Result<std::string> result) {
  Pass(passage, passage->plan.after, [this, passage, answer = std::move(result)]() mutable {
    if (passage->plan.after.fail) {
      Ended(*passage, false, true);
      return passage->call->Finish({passage->plan.error_code, passage->plan.error_message});
    }
    Finish(passage, std::move(answer));
  });
}

void Dispatcher::Finish(const std::shared_ptr<Passage>& passage, Result<std::string> result) {
  const size_t bytes_max = passage->call->message_bytes_max();
  const bool too_long = result && result->size() > bytes_max;
  Ended(*passage, false, !result || too_long);
  if (!result) return passage->call->Finish(ToRpcStatus(result.error()));
  if (too_long) return passage->call->Finish(TooLong(result->size(), bytes_max));
  passage->call->Send(std::move(*result));
  passage->call->Finish({});
}

size_t Dispatcher::Release(const std::string& method) {
  std::list<Hung> released;
  for (auto it = hung_.begin(); it != hung_.end();) {
    const auto next = std::next(it);
    if (method.empty() || it->method == method) released.splice(released.end(), hung_, it);
    it = next;
  }
  size_t count = 0;
  for (Hung& one : released) {
    const auto passage = one.passage.lock();
    if (passage == nullptr || passage->call->ended()) continue;
    ++count;
    one.go_on();
  }
  return count;
}

void Dispatcher::ResetCounters() {
  for (auto& [name, counters] : counters_) {
    const uint64_t in_flight = counters.in_flight;
    counters = {};
    counters.in_flight = counters.in_flight_max = in_flight;
  }
}

}  // namespace denselet::cri_sim
