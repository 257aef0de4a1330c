#include "rpc/client.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "rpc/client_core.h"

namespace denselet::rpc {
namespace {

// What the end of a call says about how much the other side can bear. A timeout before our own is
// the other side's word about something else: a command that took too long, say.
Limiter::Verdict VerdictOf(const std::optional<Failure>& failure, Duration took, Duration timeout) {
  if (!failure) return Limiter::Verdict::kAnswered;
  switch (failure->code) {
    case GrpcCode::kDeadlineExceeded:
      if (took < timeout) return Limiter::Verdict::kAnswered;
      return failure->sent ? Limiter::Verdict::kOverload : Limiter::Verdict::kNone;
    case GrpcCode::kResourceExhausted:
      return Limiter::Verdict::kOverload;
    case GrpcCode::kUnavailable:
    case GrpcCode::kCancelled:
      return Limiter::Verdict::kNone;
    case GrpcCode::kOk:
    case GrpcCode::kUnknown:
    case GrpcCode::kInvalidArgument:
    case GrpcCode::kNotFound:
    case GrpcCode::kAlreadyExists:
    case GrpcCode::kPermissionDenied:
    case GrpcCode::kFailedPrecondition:
    case GrpcCode::kAborted:
    case GrpcCode::kOutOfRange:
    case GrpcCode::kUnimplemented:
    case GrpcCode::kInternal:
    case GrpcCode::kDataLoss:
    case GrpcCode::kUnauthenticated:
      return Limiter::Verdict::kAnswered;
  }
  return Limiter::Verdict::kAnswered;
}

// Of which either may be without end.
Duration Sum(Duration a, Duration b) { return After(TimePoint(a), b).time_since_epoch(); }

uint32_t PlacesFor(std::span<const ClassOptions> classes) {
  uint32_t places = Client::kRefusedMax;
  for (const ClassOptions& of : classes) places += of.limits.queue_max + of.limits.limit_max;
  return places;
}

std::string_view CodeLabel(uint8_t why) {
  static constexpr std::string_view kLabels[] = {"breaker", "full", "deadline", "cancelled"};
  return kLabels[why];
}

}  // namespace

LimiterOptions ShareOf(const LimiterOptions& all, uint32_t index, uint32_t shards) {
  CHECK(shards > 0 && index < shards);
  const auto share = [&](uint32_t number) {
    return std::max(1u, number / shards + (index < number % shards ? 1 : 0));
  };
  LimiterOptions mine = all;
  mine.limit_min = share(all.limit_min);
  mine.limit_max = share(all.limit_max);
  mine.limit_start = std::clamp(share(all.limit_start), mine.limit_min, mine.limit_max);
  return mine;
}

LimiterOptions LimitsOn(const ClassOptions& of, uint32_t index, uint32_t shards) {
  switch (of.limits_of) {
    case LimitsOf::kProcess:
      return ShareOf(of.limits, index, shards);
    case LimitsOf::kShard:
      return of.limits;
  }
  return of.limits;
}

Client::Client(reactor::Shard& shard, Endpoint& endpoint, std::span<const ClassOptions> classes,
               Random& random, MetricSet<RpcMetric>& metrics, CallMetrics* calls,
               std::optional<Logger> log)
    : core_(std::make_shared<ClientCore>(shard, endpoint, classes, random, metrics, calls,
                                         std::move(log))) {}

Client::~Client() { core_->Abandon(); }

void Client::Start(const Context& context, const Method& method, const CallOptions& options,
                   std::shared_ptr<Operation> operation) {
  core_->Start(context, method, options, std::move(operation));
}

void Client::Stop(reactor::Task stopped) { core_->Stop(std::move(stopped)); }
Endpoint& Client::endpoint() { return core_->endpoint(); }
LimiterState Client::StateOf(ClassId call_class) const { return core_->StateOf(call_class); }
uint64_t Client::under_way() const { return core_->under_way(); }

ClientCore::Class::Class(const ClassOptions& class_options, const LimiterOptions& share,
                         std::string_view endpoint, MetricSet<RpcMetric>& metrics)
    : options(class_options),
      limiter(share),
      limit(metrics.Gauge(RpcMetric::kLimit, endpoint, class_options.name)),
      running(metrics.Gauge(RpcMetric::kRunning, endpoint, class_options.name)),
      stuck(metrics.Gauge(RpcMetric::kStuck, endpoint, class_options.name)),
      waiting(metrics.Gauge(RpcMetric::kWaiting, endpoint, class_options.name)),
      waited(metrics.Histogram(RpcMetric::kWaited, endpoint, class_options.name)) {}

ClientCore::ClientCore(reactor::Shard& shard, Endpoint& endpoint,
                       std::span<const ClassOptions> classes, Random& random,
                       MetricSet<RpcMetric>& metrics, CallMetrics* calls, std::optional<Logger> log)
    : shard_(shard),
      loop_(shard.loop()),
      endpoint_(endpoint),
      random_(random),
      metrics_(metrics),
      call_metrics_(calls),
      breaker_(metrics.Gauge(RpcMetric::kBreaker, endpoint.name())),
      gate_(shard.loop()),
      calls_(PlacesFor(classes)),
      slow_(std::move(log), endpoint.name()) {
  for (const ClassOptions& options : classes) {
    const LimiterOptions share = LimitsOn(options, shard.index(), shard.shards());
    classes_.push_back(std::make_unique<Class>(options, share, endpoint.name(), metrics));
    Show(*classes_.back());
  }
  ShowBreaker();
}

const MethodCells& ClientCore::CellsOf(const Method& method) {
  CHECK(method.id < kMethodsMax);
  if (cells_.size() <= method.id) cells_.resize(method.id + 1u);
  std::optional<MethodCells>& cells = cells_[method.id];
  if (!cells) cells = call_metrics_ == nullptr ? MethodCells{} : call_metrics_->CellsOf(method);
  return *cells;
}

void ClientCore::Start(const Context& context, const Method& method, const CallOptions& options,
                       std::shared_ptr<Operation> operation) {
  if (const MethodCells& cells = CellsOf(method); cells.calls != nullptr) cells.calls->Increment();
  std::optional<reactor::Gate::Pass> pass = gate_.Enter();
  std::optional<SlotKey> key;
  if (pass) {
    key = calls_.Insert({.operation = operation,
                         .method = &method,
                         .expected = options.expected,
                         .context = context,
                         .pass = std::move(*pass)});
  }
  if (!key) {  // the table is full, or nothing starts any more
    const bool closed = gate_.closed();
    Error error(closed ? ErrorCode::kCancelled : ErrorCode::kOverloaded,
                closed ? "the client has stopped" : "too many calls are under way");
    if (const MethodCells& cells = CellsOf(method); cells.errors != nullptr) {
      cells.errors->Increment();
    }
    loop_.Post([client = weak_from_this(), operation, error = error.With(method.name)]() mutable {
      const std::shared_ptr<ClientCore> core = client.lock();
      if (core != nullptr && !core->abandoned_) operation->Deliver(std::move(error));
    });
    return;
  }
  const TimePoint now = loop_.Now();
  if (context.cancel.cancelled()) return Refuse(*key, Why::kCancelled, "cancelled before it began");
  if (context.Expired(now)) {
    return Refuse(*key, Why::kDeadline, "the deadline passed before it began");
  }
  if (endpoint_.BreakerRefuses(now)) {
    return Refuse(*key, Why::kBreaker, endpoint_.WhyUnreachable());
  }
  Queue(*key);
}

void ClientCore::Queue(SlotKey key) {
  const TimePoint now = loop_.Now();
  Call& call = *calls_.Find(key);
  Class& of = ClassOf(*call.method);
  const Limiter::Entered entered = of.limiter.Enter(call.context.priority, call.expected, now);
  if (entered.displaced) {
    const auto displaced = of.tickets.find(*entered.displaced);
    const SlotKey other = displaced->second;
    of.tickets.erase(displaced);
    Refuse(other, Why::kFull, "made room for a more urgent call");
  }
  if (!entered.ticket) return Refuse(key, Why::kFull, "too many calls wait for their turn");
  call.ticket = *entered.ticket;
  of.tickets.emplace(call.ticket, key);
  call.cancel = call.context.cancel.OnCancel([client = weak_from_this(), key] {
    if (const std::shared_ptr<ClientCore> core = client.lock()) core->OnCancel(key);
  });
  Pump(of);
  if (Call* waiting = calls_.Find(key); waiting != nullptr && waiting->stage == Stage::kWaiting) {
    const TimePoint until = std::min(waiting->context.deadline, After(now, of.options.wait_max));
    waiting->wait_timer = loop_.Arm(until, [client = weak_from_this(), key] {
      if (const std::shared_ptr<ClientCore> core = client.lock()) {
        core->LeaveQueue(key, Why::kDeadline, "the deadline passed while it waited for its turn");
      }
    });
  }
}

// Starts who may start, and looks again when the next call gets stuck.
void ClientCore::Pump(Class& of) {
  const TimePoint now = loop_.Now();
  while (const std::optional<Limiter::Turn> turn = of.limiter.StartNext(now)) {
    const auto ticket = of.tickets.find(turn->ticket);
    const SlotKey key = ticket->second;
    of.tickets.erase(ticket);
    Send(of, *turn, key);
  }
  Show(of);
  const TimePoint look_at = of.limiter.NextLook();
  if (look_at == of.look_at) return;
  loop_.Disarm(of.look_timer);
  of.look_at = look_at;
  of.look_timer = {};
  if (look_at == kNever) return;
  of.look_timer = loop_.Arm(look_at, [client = weak_from_this(), &of] {
    const std::shared_ptr<ClientCore> core = client.lock();
    if (core == nullptr || core->abandoned_) return;
    of.look_at = kNever;
    of.limiter.Look(core->loop_.Now());
    core->Pump(of);
  });
}

void ClientCore::Send(Class& of, const Limiter::Turn& turn, SlotKey key) {
  const TimePoint now = loop_.Now();
  Call& call = *calls_.Find(key);
  loop_.Disarm(call.wait_timer);
  const auto give_back = [&](Why why, std::string_view text) {
    of.limiter.End(turn.ticket, Limiter::Verdict::kNone, {}, now);
    Refuse(key, why, text);
  };
  if (!endpoint_.EnterBreaker(now)) {
    return give_back(Why::kBreaker, endpoint_.WhyUnreachable());
  }
  std::optional<reactor::ForeignSlot> slot = shard_.ReserveForeign();
  if (!slot) return give_back(Why::kFull, "too many answers are awaited");
  of.waited.Observe(turn.waited);
  call.stage = Stage::kSent;
  call.sent_at = endpoint_.clock().Now();
  call.timeout = std::min(Sum(of.options.deadline, call.expected), call.context.Left(now));
  call.slow_at = After(now, Sum(of.options.patience, call.expected));
  LookForSlowAt(call.slow_at);
  const Trace trace =
      call.context.trace.valid() ? call.context.trace.Child(random_) : Trace::Start(random_);
  // Nothing runs back in here from Begin, but its own copy keeps the operation whatever it does.
  const std::shared_ptr<Operation> operation = call.operation;
  operation->Begin({endpoint_, trace.TraceParent(), call.timeout},
                   {std::move(*slot), weak_from_this(), key}, operation);
}

void ClientCore::Show(Class& of) {
  const LimiterState state = of.limiter.state();
  of.limit.Set(state.limit);
  of.running.Set(state.running);
  of.stuck.Set(state.stuck);
  of.waiting.Set(state.waiting);
}

void ClientCore::ShowBreaker() { breaker_.Set(static_cast<double>(endpoint_.breaker().state)); }

void ClientCore::OnCancel(SlotKey key) {
  Call* call = calls_.Find(key);
  if (call == nullptr) return;
  switch (call->stage) {
    case Stage::kWaiting:
      return LeaveQueue(key, Why::kCancelled, "cancelled while it waited for its turn");
    case Stage::kSent:
      call->cancelled = true;
      return call->operation->Cancel();
    case Stage::kEnding:
      return;
  }
}

void ClientCore::LeaveQueue(SlotKey key, Why why, std::string_view text) {
  Call* call = calls_.Find(key);
  if (call == nullptr || call->stage != Stage::kWaiting) return;
  Class& of = ClassOf(*call->method);
  of.limiter.Withdraw(call->ticket);
  of.tickets.erase(call->ticket);
  Refuse(key, why, text);
  Show(of);
}

// The call is in no queue and was not sent: it ends in the next turn.
void ClientCore::Refuse(SlotKey key, Why why, std::string_view text) {
  static constexpr ErrorCode kCodes[] = {ErrorCode::kUnavailable, ErrorCode::kOverloaded,
                                         ErrorCode::kDeadlineExceeded, ErrorCode::kCancelled};
  Call& call = *calls_.Find(key);
  const auto index = static_cast<uint8_t>(why);
  metrics_
      .Counter(RpcMetric::kRefused, endpoint_.name(), ClassOf(*call.method).options.name,
               CodeLabel(index))
      .Increment();
  call.stage = Stage::kEnding;
  Error error(kCodes[index], std::string(text));
  // What the breaker says are the words of a call that was made.
  call.error = why == Why::kBreaker ? std::move(error) : error.With(call.method->name);
  loop_.Disarm(call.wait_timer);
  loop_.Post([client = weak_from_this(), key] {
    const std::shared_ptr<ClientCore> core = client.lock();
    if (core == nullptr) return;
    if (Call* ending = core->calls_.Find(key)) core->Finish(key, std::move(ending->error));
  });
}

void ClientCore::OnEnded(SlotKey key) {
  Call* call = calls_.Find(key);
  if (call == nullptr) return;  // abandoned
  const TimePoint now = loop_.Now();
  Judge(*call, now);
  std::optional<Error> error;
  if (std::optional<Failure> failure = call->operation->failure()) {
    failure->cancelled = call->cancelled;
    error = ToError(*failure, call->method->effect);
    if (call->method->translate != nullptr) {
      error = call->method->translate(*failure, std::move(*error));
    }
  }
  Class& of = ClassOf(*call->method);
  Finish(key, std::move(error));
  if (!abandoned_) Pump(of);
}

// What the end of a call says about the other side.
void ClientCore::Judge(const Call& call, TimePoint now) {
  const Duration took = std::max(call.operation->ended_at() - call.sent_at, Duration::zero());
  const std::optional<Failure>& failure = call.operation->failure();
  const Limiter::Verdict verdict = VerdictOf(failure, took, call.timeout);
  const bool unavailable = failure && failure->code == GrpcCode::kUnavailable;
  if (unavailable && !failure->sent) {
    endpoint_.OnUnreachable(now, ToError(*failure, call.method->effect).message());
  }
  // "Unavailable" over a connection is the word of somebody who is there, or was a moment ago.
  if (verdict == Limiter::Verdict::kAnswered || (unavailable && failure->sent)) {
    endpoint_.OnReachable(now);
  }
  ShowBreaker();
  ClassOf(*call.method).limiter.End(call.ticket, verdict, took, now);
  const bool was_sent = !failure || failure->sent;
  HistogramCell* latency = CellsOf(*call.method).latency;
  if (was_sent && latency != nullptr) latency->Observe(took);
}

// A timer that is early looks once for nothing; one for each call would be set and taken back with
// each, and hardly ever needed.
void ClientCore::LookForSlowAt(TimePoint when) {
  if (!slow_.wanted() || when >= slow_look_at_) return;
  loop_.Disarm(slow_timer_);
  slow_look_at_ = when;
  slow_timer_ = loop_.Arm(when, [client = weak_from_this()] {
    if (const std::shared_ptr<ClientCore> core = client.lock()) core->LookForSlow();
  });
}

void ClientCore::LookForSlow() {
  const TimePoint now = loop_.Now();
  slow_look_at_ = kNever;
  TimePoint next = kNever;
  uint64_t unnamed = 0;
  calls_.ForEach([&](SlotKey, Call& call) {
    if (call.stage != Stage::kSent || call.told_slow) return;
    if (call.slow_at > now) {
      next = std::min(next, call.slow_at);
      return;
    }
    const Duration out = endpoint_.clock().Now() - call.sent_at;
    call.told_slow = slow_.Tell(*call.method, call.context, out, now);
    unnamed += call.told_slow ? 0 : 1;
  });
  if (unnamed > 0) {
    slow_.TellUnnamed(unnamed);
    next = std::min(next, After(now, SlowCalls::kRetryPause));
  }
  if (next != kNever) LookForSlowAt(std::max(next, After(now, SlowCalls::kLookPause)));
}

// The last thing of a call; the Done may destroy the client.
void ClientCore::Finish(SlotKey key, std::optional<Error> error) {
  std::optional<Call> call = calls_.Remove(key);
  if (call->told_slow) {
    slow_.TellEnd(*call->method, call->context, call->operation->ended_at() - call->sent_at, error);
  }
  const bool failed = error || call->operation->unusable();
  if (CounterCell* errors = CellsOf(*call->method).errors; failed && errors != nullptr) {
    errors->Increment();
  }
  call->cancel.Forget();
  call->operation->Deliver(std::move(error));
}

void ClientCore::Stop(reactor::Task stopped) {
  std::vector<SlotKey> keys;
  calls_.ForEach([&keys](SlotKey key, Call&) { keys.push_back(key); });
  for (const SlotKey key : keys) OnCancel(key);
  gate_.Close(std::move(stopped));
}

void ClientCore::Abandon() {
  abandoned_ = true;
  loop_.Disarm(slow_timer_);
  for (const std::unique_ptr<Class>& of : classes_) loop_.Disarm(of->look_timer);
  for (Call& call : calls_.TakeAll()) {
    loop_.Disarm(call.wait_timer);
    if (call.stage == Stage::kSent) call.operation->Cancel();
    call.operation->Forget();
  }
}

}  // namespace denselet::rpc
