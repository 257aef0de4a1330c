#include "managers/events/event_sender.h"

#include <algorithm>
#include <utility>

#include "sync/ports/api_typed.h"

namespace denselet::events {

namespace {

enum class Verdict : uint8_t { kRejected, kUnreachable };

// Whatever the server says is its last word, as for client-go: it was reached, and one event that
// it cannot take must not hold up the others. Only who did not get there tries again.
Verdict Judge(const Error& error) {
  if (error.answered()) return Verdict::kRejected;
  switch (error.code()) {
    case ErrorCode::kInvalid:
    case ErrorCode::kNotFound:  // of a create: the namespace is gone
    case ErrorCode::kAlreadyExists:
    case ErrorCode::kConflict:
    case ErrorCode::kPermission:
    case ErrorCode::kUnsupported:
    case ErrorCode::kBug:
      return Verdict::kRejected;
    case ErrorCode::kUnavailable:
    case ErrorCode::kOverloaded:
    case ErrorCode::kDeadlineExceeded:
    case ErrorCode::kUnknownOutcome:
    case ErrorCode::kCancelled:
    case ErrorCode::kCorrupt:
    case ErrorCode::kIo:
      return Verdict::kUnreachable;
  }
  return Verdict::kRejected;
}

std::string_view TypeName(sync::EventType type) {
  return type == sync::EventType::kNormal ? "Normal" : "Warning";
}

}  // namespace

EventSender::EventSender(reactor::Loop& loop, Random& random, Logger log, sync::ApiServer& api,
                         EventSenderOptions options)
    : loop_(loop),
      random_(random),
      log_(std::move(log)),
      event_log_(log_),
      api_(api),
      options_(std::move(options)),
      queue_(kQueueMax) {}

EventSender::~EventSender() {
  loop_.Disarm(timer_);
  cancel_.Cancel();
}

template <class T>
reactor::Done<T> EventSender::Guarded(void (EventSender::*method)(Result<T>)) {
  return [this, method, alive = cancel_.token()](Result<T> answer) {
    if (!alive.cancelled()) (this->*method)(std::move(answer));
  };
}

void EventSender::RecordWithAnnotations(const sync::EventObject& object, sync::EventType type,
                                        std::string_view reason, std::string message,
                                        const sync::EventAnnotations& annotations) {
  event_log_.Write(loop_.Now(), object, type, reason, message);
  if (queue_.full()) {
    ++dropped_;
    if (++dropped_in_a_row_ > 1) return;
    log_.Error("Unable to record event: too many queued events, dropped event",
               KV("object", ObjectRef{object.ns, object.name}), KV("reason", reason),
               KV("message", message));
    return;
  }
  if (dropped_in_a_row_ > 0 && queue_.size() <= queue_.entries_max() / 2) {
    log_.Warning("Events were dropped, now there is room again", KV("dropped", dropped_in_a_row_));
    dropped_in_a_row_ = 0;
  }
  Waiting waiting{MakeEvent(object, type, reason, std::move(message), annotations),
                  {loop_.Now(), loop_.WallNow()}};
  CHECK(queue_.TryPush(std::move(waiting)));
  if (stage_ != Stage::kIdle) return;
  stage_ = Stage::kPosted;
  loop_.Post([this, alive = cancel_.token()] {
    if (!alive.cancelled()) Next();
  });
}

// Never the same twice: it is a part of the name.
WallTime EventSender::NextStamp() {
  const WallTime now = loop_.WallNow();
  last_stamp_ = now > last_stamp_ ? now : last_stamp_ + Duration(1);
  return last_stamp_;
}

std::unique_ptr<Event> EventSender::MakeEvent(const sync::EventObject& object, sync::EventType type,
                                              std::string_view reason, std::string message,
                                              const sync::EventAnnotations& annotations) {
  const WallTime stamp = NextStamp();
  auto event = std::make_unique<Event>();
  auto& meta = *event->mutable_metadata();
  meta.set_name(ValidEventName(object.name, stamp, random_));
  meta.set_namespace_(object.ns.empty() ? "default" : object.ns);
  for (const auto& [name, value] : annotations) (*meta.mutable_annotations())[name] = value;

  auto& about = *event->mutable_involvedobject();
  about.set_kind(object.kind);
  if (!object.ns.empty()) about.set_namespace_(object.ns);
  about.set_name(object.name);
  if (!object.uid.empty()) about.set_uid(object.uid);
  about.set_apiversion(object.api_version);
  if (!object.resource_version.empty()) about.set_resourceversion(object.resource_version);
  if (!object.field_path.empty()) about.set_fieldpath(object.field_path);

  event->set_type(std::string(TypeName(type)));
  event->set_reason(std::string(reason));
  event->set_message(std::move(message));
  event->set_count(1);
  const int64_t seconds = ToTimestamp(stamp).seconds;
  event->mutable_firsttimestamp()->set_seconds(seconds);
  event->mutable_lasttimestamp()->set_seconds(seconds);
  event->mutable_source()->set_component(options_.component);
  event->mutable_source()->set_host(options_.host);
  event->set_reportingcomponent(options_.component);
  event->set_reportinginstance(options_.host);
  return event;
}

void EventSender::Next() {
  event_.reset();
  stage_ = Stage::kIdle;
  // Many at once may be of one object and all be dropped, which costs next to nothing; there are at
  // most as many as fit the queue.
  while (std::optional<Waiting> waiting = queue_.TryPop()) {
    decision_ = correlator_.Correlate(*waiting->event, waiting->moment);
    if (decision_.verdict == EventCorrelator::Verdict::kDrop) continue;
    event_ = std::move(waiting->event);
    tries_ = 0;
    return Send();
  }
}

void EventSender::Send() {
  switch (decision_.verdict) {
    case EventCorrelator::Verdict::kDrop:
      return Next();
    case EventCorrelator::Verdict::kCreate:
      return Create();
    case EventCorrelator::Verdict::kPatch:
      break;
  }
  stage_ = Stage::kPatching;
  const auto& meta = event_->metadata();
  sync::Patch<Event>(
      api_, MakeContext(),
      {.object = {meta.namespace_(), meta.name()}, .traffic = sync::ApiTraffic::kEvents},
      decision_.patch, Guarded<Event>(&EventSender::OnPatched));
}

void EventSender::Create() {
  stage_ = Stage::kCreating;
  sync::Create<Event>(
      api_, MakeContext(),
      {.object = {event_->metadata().namespace_(), ""}, .traffic = sync::ApiTraffic::kEvents},
      *event_, Guarded<Event>(&EventSender::OnCreated));
}

void EventSender::OnPatched(Result<Event> event) {
  if (event) return OnSent(*event);
  // The server forgets events after an hour.
  if (event.error().code() == ErrorCode::kNotFound) return Create();
  OnFailed(event.error().With("patch event"));
}

void EventSender::OnCreated(Result<Event> event) {
  if (event) return OnSent(*event);
  OnFailed(event.error().With("create event"));
}

void EventSender::OnSent(const Event& event) {
  correlator_.OnSent(event);
  Next();
}

void EventSender::OnFailed(const Error& error) {
  if (Judge(error) == Verdict::kRejected) return GiveUp(error);
  ++tries_;
  if (tries_ >= kTriesMax) {
    ++rejected_;
    log_.Error(error, "Unable to write event (retry limit exceeded!)",
               KV("event", event_->metadata().name()), KV("reason", event_->reason()),
               KV("tries", tries_));
    return Next();
  }
  log_.Error(error, "Unable to write event (may retry after sleeping)",
             KV("event", event_->metadata().name()), KV("try", tries_));
  stage_ = Stage::kPausing;
  // The first is random: not all nodes come back at once when the server does.
  const Duration pause =
      tries_ > 1
          ? kPause
          : Duration(static_cast<int64_t>(static_cast<double>(kPause.count()) * random_.Unit()));
  timer_ = loop_.Arm(After(loop_.Now(), pause), [this] { Send(); });
}

void EventSender::GiveUp(const Error& error) {
  ++rejected_;
  // It is there, or its namespace is about to go: no fault of anybody.
  const bool expected =
      error.code() == ErrorCode::kAlreadyExists || error.code() == ErrorCode::kConflict;
  if (expected) {
    log_.V(5).Info("Server rejected event (will not retry!)",
                   KV("event", event_->metadata().name()), Err(error));
  } else {
    log_.Error(error, "Server rejected event (will not retry!)",
               KV("event", event_->metadata().name()), KV("reason", event_->reason()));
  }
  Next();
}

Context EventSender::MakeContext() const {
  return {.deadline = After(loop_.Now(), options_.request_time_max),
          .priority = Priority::kBackground,
          .cancel = cancel_.token(),
          .trace = {}};
}

}  // namespace denselet::events
