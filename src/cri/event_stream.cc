#include "cri/event_stream.h"

#include <algorithm>
#include <utility>

#include "cri/messages.h"
#include "cri/methods.h"
#include "cri/observed_messages.h"
#include "rpc/call.h"
#include "sync/ports/pod_shard.h"

namespace denselet::cri {

// Runs on gRPC's thread; owned by the call. Its only way back is the one place it was given.
class EventStream::Sink final : public rpc::StreamSink<pb::ContainerEventResponse> {
 public:
  Sink(std::vector<std::shared_ptr<PodHints>> hints, reactor::ForeignSlot slot,
       std::weak_ptr<EventStream*> stream, uint64_t attempt,
       std::shared_ptr<const std::atomic<bool>> assumed)
      : hints_(std::move(hints)),
        slot_(std::move(slot)),
        stream_(std::move(stream)),
        attempt_(attempt),
        assumed_(std::move(assumed)) {}

  void OnEstablished() override {
    if (assumed_->load()) return MarkAll();
    slot_.Post([stream = stream_, attempt = attempt_] {
      if (const auto self = stream.lock()) (*self)->OnProven(attempt);
    });
  }

  void OnMessage(pb::ContainerEventResponse& event) override {
    const std::optional<sync::PodHint> hint = ReadHint(event);
    if (hint) {
      const uint32_t shard = sync::ShardOf(hint->pod, static_cast<uint32_t>(hints_.size()));
      return hints_[shard]->Mark(*hint, event.created_at());
    }
    MarkAll();
  }

 private:
  void MarkAll() {
    for (const auto& hints : hints_) hints->MarkAll();
  }

  const std::vector<std::shared_ptr<PodHints>> hints_;
  reactor::ForeignSlot slot_;
  const std::weak_ptr<EventStream*> stream_;
  const uint64_t attempt_;
  const std::shared_ptr<const std::atomic<bool>> assumed_;
};

EventStream::EventStream(reactor::Shard& shard, rpc::Client& client, sync::Runtime& runtime,
                         Random& random, Logger log, MetricSet<CriMetric>& metrics,
                         std::vector<std::shared_ptr<PodHints>> hints, EventStreamOptions options)
    : shard_(shard),
      loop_(shard.loop()),
      client_(client),
      runtime_(runtime),
      random_(random),
      log_(std::move(log)),
      metrics_(metrics),
      hints_(std::move(hints)),
      options_(options),
      self_(std::make_shared<EventStream*>(this)) {}

EventStream::~EventStream() {
  loop_.Disarm(timer_);
  if (cancel_ != nullptr) cancel_->Cancel();
}

std::string_view EventStream::StageName(Stage stage) {
  switch (stage) {
    case Stage::kIdle:
      return "idle";
    case Stage::kOpening:
      return "opening";
    case Stage::kEstablished:
      return "established";
    case Stage::kPausing:
      return "pausing";
    case Stage::kUnsupported:
      return "unsupported";
  }
  return "";
}

void EventStream::Start() {
  CHECK(snapshot_.stage == Stage::kIdle);
  Open();
}

void EventStream::TryNow() {
  if (snapshot_.stage != Stage::kPausing && snapshot_.stage != Stage::kUnsupported) return;
  loop_.Disarm(timer_);
  Open();
}

void EventStream::Enter(Stage stage) {
  snapshot_.stage = stage;
  snapshot_.since = loop_.Now();
  sync::EventStreamState state = sync::EventStreamState::kConnecting;
  if (stage == Stage::kEstablished) state = sync::EventStreamState::kEstablished;
  if (stage == Stage::kUnsupported) state = sync::EventStreamState::kUnsupported;
  // A test whether a runtime has learned to send events is nobody's concern until it has.
  if (stage == Stage::kOpening && told_ == sync::EventStreamState::kUnsupported) return;
  if (told_ == state) return;
  told_ = state;
  for (const auto& hints : hints_) hints->SetState(state);
}

void EventStream::Open() {
  std::optional<reactor::ForeignSlot> slot = shard_.ReserveForeign();
  if (!slot) return Pause(Stage::kPausing, NextPause());
  // Whoever waits between two attempts to connect would make us wait too.
  client_.endpoint().TryConnectNow();
  const uint64_t attempt = ++snapshot_.attempts;
  opened_at_ = loop_.Now();
  cancel_ = std::make_unique<CancelSource>();
  assumed_ = std::make_shared<std::atomic<bool>>(false);
  Enter(Stage::kOpening);
  Context context;
  context.priority = Priority::kCritical;
  context.cancel = cancel_->token();
  const std::weak_ptr<EventStream*> weak = self_;
  rpc::OpenStream<pb::ContainerEventResponse>(
      client_, context, methods::kGetContainerEvents, pb::GetEventsRequest(),
      std::make_unique<Sink>(hints_, std::move(*slot), weak, attempt, assumed_),
      [weak, attempt](Result<Unit> result) {
        if (const auto self = weak.lock()) (*self)->OnEnded(attempt, std::move(result));
      });
  AskWhetherThere(attempt);
}

void EventStream::AskWhetherThere(uint64_t attempt) {
  Context context;
  context.priority = Priority::kCritical;
  context.cancel = cancel_->token();
  runtime_.Version(context, [weak = std::weak_ptr(self_),
                             attempt](Result<sync::RuntimeVersion> version) {
    const auto self = weak.lock();
    if (self == nullptr) return;
    EventStream& stream = **self;
    if (attempt != stream.snapshot_.attempts || stream.snapshot_.stage != Stage::kOpening) return;
    // An answer that cannot be is one too. Without any, the stream will end as well, or the
    // runtime is slow: it is asked again.
    if (!version && version.error().code() != ErrorCode::kCorrupt) {
      stream.timer_ = stream.loop_.Arm(After(stream.loop_.Now(), stream.options_.pause_max),
                                       [&stream, attempt] { stream.AskWhetherThere(attempt); });
      return;
    }
    stream.timer_ = stream.loop_.Arm(After(stream.loop_.Now(), stream.options_.settle), [&stream] {
      stream.assumed_->store(true);
      stream.Establish();
    });
  });
}

void EventStream::OnProven(uint64_t attempt) {
  if (attempt != snapshot_.attempts || snapshot_.stage != Stage::kOpening) return;
  loop_.Disarm(timer_);
  Establish();
}

void EventStream::Establish() {
  ended_at_once_ = 0;
  ++snapshot_.established;
  metrics_.Counter(CriMetric::kStreamSuccesses).Increment();
  log_.V(2).Info("Receiving events of the container runtime");
  Enter(Stage::kEstablished);
  timer_ = loop_.Arm(After(loop_.Now(), options_.held_after), [this] { OnHeld(); });
}

// Not before: of a stream that comes and goes, each time would else be the first.
void EventStream::OnHeld() {
  snapshot_.failures = 0;
  if (const std::optional<Duration> was_lost = lost_.Over(loop_.Now())) {
    log_.Info("Receiving events of the container runtime again",
              KV("after", *was_lost - (loop_.Now() - opened_at_)));
  }
}

void EventStream::OnEnded(uint64_t attempt, Result<Unit> result) {
  if (attempt != snapshot_.attempts) return;
  loop_.Disarm(timer_);
  const bool at_once = loop_.Now() - opened_at_ < options_.ends_at_once;
  if (result) {
    // Twice, because a runtime that is going down may end its streams in order.
    ended_at_once_ = at_once ? ended_at_once_ + 1 : 0;
    if (ended_at_once_ >= 2) {
      snapshot_.last_error = Error(ErrorCode::kUnsupported, "the stream of events ends at once");
      return Pause(Stage::kUnsupported, options_.unsupported_pause);
    }
    snapshot_.last_error = Error(ErrorCode::kUnavailable, "the runtime ended the stream of events");
    return Pause(Stage::kPausing, NextPause());
  }
  snapshot_.last_error = result.error();
  if (result.error().code() == ErrorCode::kUnsupported) {
    return Pause(Stage::kUnsupported, options_.unsupported_pause);
  }
  metrics_.Counter(CriMetric::kStreamErrors).Increment();
  if (lost_.IsNews(loop_.Now(), result.error().message())) {
    if (snapshot_.established > 0) {
      log_.Error(result.error(), "Lost the events of the container runtime");
    } else {
      log_.Error(result.error(), "Could not follow the events of the container runtime");
    }
  }
  Pause(Stage::kPausing, NextPause());
}

void EventStream::Pause(Stage stage, Duration pause) {
  cancel_.reset();
  if (stage == Stage::kUnsupported && told_ != sync::EventStreamState::kUnsupported) {
    log_.Info("Container runtime sends no events, relisting instead");
  }
  Enter(stage);
  snapshot_.retry_at = After(loop_.Now(), random_.Jitter(pause, options_.jitter));
  timer_ = loop_.Arm(snapshot_.retry_at, [this] { Open(); });
}

Duration EventStream::NextPause() {
  const uint32_t doublings = std::min(snapshot_.failures++, 16u);
  return std::min(options_.pause_max, options_.pause_min * (int64_t{1} << doublings));
}

}  // namespace denselet::cri
