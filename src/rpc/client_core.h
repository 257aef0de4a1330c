// The inside of Client (client.h): what answers on their way look for. Not for users.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/cancel.h"
#include "base/slot_map.h"
#include "reactor/gate.h"
#include "rpc/client.h"
#include "rpc/slow_calls.h"

namespace denselet::rpc {

class ClientCore : public std::enable_shared_from_this<ClientCore> {
 public:
  ClientCore(reactor::Shard& shard, Endpoint& endpoint, std::span<const ClassOptions> classes,
             Random& random, MetricSet<RpcMetric>& metrics, CallMetrics* calls,
             std::optional<Logger> log);

  void Start(const Context& context, const Method& method, const CallOptions& options,
             std::shared_ptr<Operation> operation);
  void Stop(reactor::Task stopped);
  // The client goes: takes everything back, runs nothing.
  void Abandon();
  // gRPC is done with this call.
  void OnEnded(SlotKey key);

  Endpoint& endpoint() { return endpoint_; }
  LimiterState StateOf(ClassId call_class) const {
    return classes_.at(call_class)->limiter.state();
  }
  uint64_t under_way() const { return calls_.size(); }

 private:
  enum class Stage : uint8_t {
    kWaiting,  // in the queue of its class
    kSent,     // with gRPC
    kEnding,   // has its error; the Done is posted
  };

  struct Call {
    std::shared_ptr<Operation> operation;
    const Method* method;
    Duration expected;
    Context context;
    reactor::Gate::Pass pass;
    Stage stage = Stage::kWaiting;
    Limiter::Ticket ticket = {};
    reactor::TimerId wait_timer = {};
    CancelRegistration cancel = {};
    bool cancelled = false;
    TimePoint sent_at = {};
    Duration timeout = {};       // from then on
    TimePoint slow_at = kNever;  // to be told then
    bool told_slow = false;
    std::optional<Error> error = {};  // of kEnding
  };

  struct Class {
    Class(const ClassOptions& class_options, const LimiterOptions& share, std::string_view endpoint,
          MetricSet<RpcMetric>& metrics);

    const ClassOptions& options;
    Limiter limiter;
    std::map<Limiter::Ticket, SlotKey> tickets;  // of the waiting: who is who
    reactor::TimerId look_timer = {};
    TimePoint look_at = kNever;
    GaugeCell &limit, &running, &stuck, &waiting;
    HistogramCell& waited;
  };

  enum class Why : uint8_t { kBreaker, kFull, kDeadline, kCancelled };

  Class& ClassOf(const Method& method) { return *classes_.at(method.call_class); }
  const MethodCells& CellsOf(const Method& method);

  void Queue(SlotKey key);
  void Pump(Class& of);
  void Send(Class& of, const Limiter::Turn& turn, SlotKey key);
  void Show(Class& of);
  void ShowBreaker();
  void OnCancel(SlotKey key);
  void LeaveQueue(SlotKey key, Why why, std::string_view text);
  void Refuse(SlotKey key, Why why, std::string_view text);
  void Judge(const Call& call, TimePoint now);
  void Finish(SlotKey key, std::optional<Error> error);
  void LookForSlowAt(TimePoint when);
  void LookForSlow();

  reactor::Shard& shard_;
  reactor::Loop& loop_;
  Endpoint& endpoint_;
  Random& random_;
  MetricSet<RpcMetric>& metrics_;
  CallMetrics* const call_metrics_;
  GaugeCell& breaker_;
  std::vector<std::unique_ptr<Class>> classes_;
  std::vector<std::optional<MethodCells>> cells_;  // by method's id
  reactor::Gate gate_;
  SlotMap<Call> calls_;  // after the gate: the calls hold passes
  SlowCalls slow_;
  reactor::TimerId slow_timer_ = {};
  TimePoint slow_look_at_ = kNever;
  bool abandoned_ = false;
};

}  // namespace denselet::rpc
