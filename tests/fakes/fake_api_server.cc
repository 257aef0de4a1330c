#include "tests/fakes/fake_api_server.h"

#include <algorithm>
#include <utility>

#include "base/cancel.h"
#include "kube/api/codec/envelope.h"
#include "kube/api/objects/resource.h"
#include "kube/client/api_failure.h"
#include "tests/fakes/fake_list_watch.h"

namespace denselet::fakes {
namespace {

constexpr Duration kTimeout = Minutes(1);
constexpr Duration kReconnect = Milliseconds(500);
constexpr uint32_t kTriesMax = 10;
constexpr Duration kWakePause = Seconds(5);

Error CancelledError() {
  return Error(ErrorCode::kCancelled, "nobody waits for the answer any more");
}

}  // namespace

// One request: on its way, with the server, on its way back.
class FakeApiServer::Call final : public reactor::Deletable {
 public:
  Call(FakeApiServer& server, uint64_t number, const Context& context, sync::ApiRequest request,
       reactor::Done<sync::ApiObject> done)
      : server_(server),
        number_(number),
        context_(context),
        request_(std::move(request)),
        done_(std::move(done)) {
    if (context_.deadline == kNever) context_ = context_.WithTimeout(Now(), kTimeout);
    if (context_.cancel.cancelled()) {
      answer_ = CancelledError();
      Wait(Duration::zero());
      return;
    }
    cancelled_ = context_.cancel.OnCancel([this] {
      answer_ = CancelledError();
      Wait(Duration::zero());
    });
    Wait(server_.Delay());
  }
  // One that nobody waits for.
  Call(FakeApiServer& server, uint64_t number, Duration arrives, sync::ApiRequest request)
      : server_(server), number_(number), request_(std::move(request)) {
    context_ = context_.WithTimeout(Now(), arrives + kTimeout);
    Wait(arrives);
  }
  ~Call() override { server_.loop_.Disarm(timer_); }

  void Abandon() {
    cancelled_.Forget();
    done_ = nullptr;
  }

 private:
  TimePoint Now() const { return server_.loop_.Now(); }

  void Told(FakeApiFault fault) {
    if (done_) server_.Told(fault, request_.resource, request_.object);
  }

  void Wait(Duration pause) {
    server_.loop_.Disarm(timer_);
    timer_ =
        server_.loop_.Arm(std::min(After(Now(), pause), context_.deadline), [this] { OnTimer(); });
  }

  void OnTimer() {
    if (answer_ && (!executed_ || !context_.Expired(Now()))) return Finish(*std::move(answer_));
    if (context_.Expired(Now())) return Finish(TooLate());
    Arrive();
  }

  Error TooLate() const {
    if (executed_ && request_.verb != sync::ApiVerb::kGet) {
      return Error(ErrorCode::kUnknownOutcome, "no answer before the deadline");
    }
    return Error(ErrorCode::kDeadlineExceeded, "no answer before the deadline");
  }

  void Arrive() {
    if (!server_.up_) return Wait(kReconnect);
    if (server_.Chance(server_.faults_.lost_request)) {
      Told(FakeApiFault::kLostRequest);
      answer_ = Error(ErrorCode::kUnavailable, "the connection was lost");
      return Wait(server_.Delay());
    }
    if (done_ && request_.verb != sync::ApiVerb::kGet &&
        server_.Chance(server_.faults_.late_request)) {
      Told(FakeApiFault::kLateRequest);
      server_.SendLate(request_);
      answer_ = Error(ErrorCode::kUnknownOutcome, "the connection was lost");
      return Wait(server_.Delay());
    }
    ++server_.counters_.requests;
    ++tries_;
    executed_ = true;
    const ModelAnswer answer = server_.model_.Serve(request_, server_.loop_.WallNow());
    const kube::ApiFailure failure =
        answer.ok() ? kube::ApiFailure()
                    : kube::ReadApiFailure(answer.http_status, {},
                                           kube::EncodeEnvelope(answer.type, answer.wire));
    if (!answer.ok() && failure.IsWorthRetrying() && tries_ < kTriesMax) {
      executed_ = false;
      Told(FakeApiFault::kBusy);
      return Wait(failure.retry_after.value_or(kReconnect));
    }
    if (server_.Chance(server_.faults_.lost_answer)) {
      ++server_.counters_.lost_answers;
      Told(FakeApiFault::kLostAnswer);
      answer_ = Error(request_.verb == sync::ApiVerb::kGet ? ErrorCode::kUnavailable
                                                           : ErrorCode::kUnknownOutcome,
                      "the connection was lost before the answer came");
    } else if (!answer.ok()) {
      answer_ = kube::ToError(failure, request_.verb);
    } else {
      answer_ = sync::ApiObject{answer.type.kind == "Status" ? "" : answer.wire};
    }
    Wait(server_.Delay());
  }

  void Finish(Result<sync::ApiObject> result) {
    cancelled_.Forget();
    reactor::Done<sync::ApiObject> done = std::move(done_);
    const auto found = server_.calls_.find(number_);
    server_.loop_.DeferDelete(std::move(found->second));
    server_.calls_.erase(found);
    if (done) done(std::move(result));
  }

  FakeApiServer& server_;
  const uint64_t number_;
  Context context_;
  const sync::ApiRequest request_;
  reactor::Done<sync::ApiObject> done_;
  std::optional<Result<sync::ApiObject>> answer_;
  uint32_t tries_ = 0;
  bool executed_ = false;
  CancelRegistration cancelled_;
  reactor::TimerId timer_;
};

FakeApiServer::FakeApiServer(reactor::Loop& loop, Random& random, ApiModel& model)
    : loop_(loop), random_(random), model_(model) {
  subscription_ = model_.Subscribe([this] {
    if (!up_) return;
    for (FakeListWatch* list_watch : list_watches_) list_watch->OnChange();
  });
}

FakeApiServer::~FakeApiServer() { model_.Unsubscribe(subscription_); }

Duration FakeApiServer::Delay() {
  const Duration range = faults_.delay_max - faults_.delay_min;
  if (range <= Duration::zero()) return faults_.delay_min;
  return faults_.delay_min +
         Duration(static_cast<int64_t>(random_.Below(static_cast<uint64_t>(range.count()))));
}

void FakeApiServer::Told(FakeApiFault fault, const kube::Resource& resource,
                         const ObjectRef& object) {
  if (on_fault_ && resource.plural == kube::kPods.plural && !object.name.empty())
    on_fault_(fault, object);
}

void FakeApiServer::Send(const Context& context, sync::ApiRequest request,
                         reactor::Done<sync::ApiObject> done) {
  const uint64_t number = next_call_++;
  calls_.emplace(
      number, std::make_unique<Call>(*this, number, context, std::move(request), std::move(done)));
}

// Not lost a second time.
void FakeApiServer::SendLate(sync::ApiRequest request) {
  const auto late = Duration(
      static_cast<int64_t>(random_.Below(static_cast<uint64_t>(faults_.late_max.count()) + 1)));
  const uint64_t number = next_call_++;
  calls_.emplace(number, std::make_unique<Call>(*this, number, late, std::move(request)));
}

void FakeApiServer::Abandon() {
  for (auto& [number, call] : calls_) call->Abandon();
}

std::unique_ptr<sync::ListWatch> FakeApiServer::Follow(sync::ListWatchSpec spec,
                                                       sync::ListWatchUser& user) {
  return std::make_unique<FakeListWatch>(*this, std::move(spec), user);
}

void FakeApiServer::Crash() {
  up_ = false;
  for (FakeListWatch* list_watch : list_watches_) list_watch->OnCrash();
}

void FakeApiServer::Start() {
  up_ = true;
  if (loop_.Now() < wake_not_before_) return;
  wake_not_before_ = After(loop_.Now(), kWakePause);
  for (FakeListWatch* list_watch : list_watches_) list_watch->OnServerBack();
}

}  // namespace denselet::fakes
