// What the status manager asks the API server for, and what it makes of the answers.
#include <algorithm>
#include <utility>

#include "managers/status/status_manager.h"

namespace denselet::managers {
namespace {

// All go before the tokens and objects of pods that start: few are under way at a time, and one
// that waits in the client's line keeps back what there is to tell of its pod next, however urgent.
Priority PriorityOf(Urgency urgency) {
  switch (urgency) {
    case Urgency::kEnd:
      return Priority::kCritical;
    case Urgency::kReadiness:
    case Urgency::kNormal:
    case Urgency::kMayWait:
      break;
  }
  return Priority::kReadiness;
}

Duration BackOff(Duration first, Duration most, uint32_t failures) {
  Duration pause = first;
  for (uint32_t i = 1; i < failures && pause < most; ++i) pause *= 2;
  return std::min(pause, most);
}

bool IsSilence(ErrorCode code) {
  return code == ErrorCode::kUnknownOutcome || code == ErrorCode::kDeadlineExceeded;
}

// It did not get its turn under kubeAPIQPS, or found a queue of ours full: the server was not
// asked.
bool IsOurs(const Error& error) {
  return error.code() == ErrorCode::kOverloaded && !error.answered();
}

}  // namespace

Result<StatusManager::Work> StatusManager::PlanNow(const PodUid& pod, const Entry& entry,
                                                   const kube::PodAtRest& shown) {
  if (judged_ && judged_->pod == pod) return std::move(std::exchange(judged_, {})->work);
  return Plan(entry, shown, Purpose::kSending);
}

// From what is known now, which may be more than when the pod got in line.
void StatusManager::Send(const PodUid& pod, Entry& entry) {
  const kube::PodRef shown = ShownOf(entry);
  Result<Work> work = shown ? PlanNow(pod, entry, *shown) : Result<Work>(Work{});
  if (!work || work->kind == Work::Kind::kNothing || work->kind == Work::Kind::kNotYet) {
    return Judge(pod, entry);
  }
  entry.held_since.reset();
  entry.urgency = work->urgency;
  entry.based_on = std::string(shown->hot().resource_version);
  sync::ApiRequest request{.resource = kube::kPods, .object = entry.name};
  if (work->kind == Work::Kind::kDelete) {
    request.verb = sync::ApiVerb::kDelete;
    request.grace_seconds = 0;
    request.uid_precondition = std::string(shown->hot().uid);
    return Ask(pod, entry, Stage::kDeleting, std::move(request));
  }
  request.verb = sync::ApiVerb::kPatch;
  request.subresource = "status";
  log_.V(3).Info("Patch status for pod", Pod(entry.name), Uid(pod), KV("patch", work->patch));
  request.body = std::move(work->patch);
  if (faults_.settle_early) Settle(pod, entry);
  Ask(pod, entry, Stage::kPatching, std::move(request));
}

void StatusManager::Ask(const PodUid& pod, Entry& entry, Stage stage, sync::ApiRequest request) {
  entry.stage = stage;
  entry.sent = entry.wanted.version;
  ++requests_;
  const Context context{.deadline = After(loop_.Now(), options_.request_time_max),
                        .priority = PriorityOf(entry.urgency),
                        .cancel = cancel_.token(),
                        .trace = {}};
  api_.Send(context, std::move(request),
            [this, alive = cancel_.token(), pod,
             generation = entry.generation](Result<sync::ApiObject> answer) {
              if (!alive.cancelled()) OnAnswer(pod, generation, std::move(answer));
            });
}

void StatusManager::OnAnswer(const PodUid& pod, uint64_t generation,
                             Result<sync::ApiObject> answer) {
  --requests_;
  NoteServer(answer);
  const auto found = entries_.find(pod);
  if (found != entries_.end() && found->second.generation == generation) {
    Entry& entry = found->second;
    const Stage stage = std::exchange(entry.stage, Stage::kResting);
    if (stage == Stage::kPatching) OnPatched(pod, entry, std::move(answer));
    if (stage == Stage::kReading) OnRead(pod, entry, std::move(answer));
    if (stage == Stage::kDeleting) OnDeleted(pod, entry, std::move(answer));
  }
  Pump();
}

void StatusManager::OnPatched(const PodUid& pod, Entry& entry, Result<sync::ApiObject> answer) {
  if (!answer) {
    switch (answer.error().code()) {
      case ErrorCode::kNotFound:
        LoseShown(entry);
        return Judge(pod, entry);
      case ErrorCode::kInvalid:
        entry.refused = entry.sent;
        [[fallthrough]];
      case ErrorCode::kConflict:
        log_.V(3).Info("Reading a pod whose status was not taken", Pod(entry.name), Uid(pod),
                       KV("err", answer.error().message()));
        return Read(pod, entry);
      case ErrorCode::kAlreadyExists:
      case ErrorCode::kPermission:
      case ErrorCode::kUnavailable:
      case ErrorCode::kOverloaded:
      case ErrorCode::kDeadlineExceeded:
      case ErrorCode::kUnknownOutcome:
      case ErrorCode::kCancelled:
      case ErrorCode::kUnsupported:
      case ErrorCode::kCorrupt:
      case ErrorCode::kIo:
      case ErrorCode::kBug:
        break;
    }
    return OnFailure(pod, entry, answer.error(), "patch pod status");
  }
  entry.failures = 0;
  entry.refused.reset();
  entry.taken = entry.sent;
  entry.taken_at = loop_.Now();
  metrics_.Histogram(StatusMetric::kSyncDuration).Observe(loop_.Now() - entry.changed);
  entry.changed = loop_.Now();
  log_.V(4).Info("Patched the status of a pod", Pod(entry.name), Uid(pod));
  auto now = kube::PodAtRest::FromWire(answer->wire);
  if (!now) return OnFailure(pod, entry, now.error(), "read patched pod");
  entry.taken_for = std::string((*now)->hot().uid);
  // The newest that there is may be newer than what was sent: that is settled with its own answer.
  if (entry.taken == entry.wanted.version) Settle(pod, entry);
  Show(*now);
  Judge(pod, entry);
}

// There is a newer version, or another pod in its place. The watch will tell, too, but not always
// soon.
void StatusManager::Read(const PodUid& pod, Entry& entry) {
  Ask(pod, entry, Stage::kReading,
      {.verb = sync::ApiVerb::kGet, .resource = kube::kPods, .object = entry.name});
}

void StatusManager::OnRead(const PodUid& pod, Entry& entry, Result<sync::ApiObject> answer) {
  if (!answer) {
    if (answer.error().code() != ErrorCode::kNotFound) {
      return OnFailure(pod, entry, answer.error(), "get pod");
    }
    LoseShown(entry);
    return Judge(pod, entry);
  }
  auto now = kube::PodAtRest::FromWire(answer->wire);
  if (!now) return OnFailure(pod, entry, now.error(), "read pod");
  const bool same_version = (*now)->hot().resource_version == entry.based_on;
  // Read after all that was told before: it counts, whatever its version says.
  shown_[entry.name] = *now;
  if (!same_version) return Judge(pod, entry);
  const Error why(ErrorCode::kInvalid, "the API server does not take it");
  if (entry.refused != entry.sent) {
    return OnFailure(pod, entry, why, "patch pod status");
  }
  log_.Error(why, "Could not bring a pod's status to the API server", Pod(entry.name), Uid(pod));
  entry.failures = 0;
  Pause(pod, entry, options_.refused_pause);
  Judge(pod, entry);  // a newer status need not wait
}

void StatusManager::OnDeleted(const PodUid& pod, Entry& entry, Result<sync::ApiObject> answer) {
  if (!answer && answer.error().code() == ErrorCode::kConflict) return Read(pod, entry);
  const bool gone = answer || answer.error().code() == ErrorCode::kNotFound;
  if (!gone) return OnFailure(pod, entry, answer.error(), "delete pod that ended");
  entry.failures = 0;
  log_.V(2).Info("Deleted a pod that ended from the API server", Pod(entry.name), Uid(pod));
  LoseShown(entry);
  Judge(pod, entry);
}

void StatusManager::OnFailure(const PodUid& pod, Entry& entry, const Error& error,
                              std::string_view doing) {
  // When the server is away all pause together, and one line in the log is enough for all.
  if (ConcernsAll(error)) return Judge(pod, entry);
  ++entry.failures;
  if (!IsOurs(error)) {
    log_.Error(error.With(doing), "Could not bring a pod's status to the API server",
               Pod(entry.name), Uid(pod), KV("failures", entry.failures));
  } else if (crowded_.IsNews(loop_.Now(), "")) {
    log_.Warning("Statuses of pods are late, requests to the API server wait for each other",
                 Pod(entry.name), Uid(pod), Err(error.With(doing)));
  }
  const Duration pause = BackOff(options_.retry_min, options_.retry_max, entry.failures);
  Pause(pod, entry, random_.Jitter(pause, 0.2));
  Judge(pod, entry);  // the watch may have told that it was done
}

// The server was not reached, or wants to be left alone: all wait, not only this pod. So, too, when
// it answered nobody for as long as a request may take; else it is the request that hangs.
bool StatusManager::ConcernsAll(const Error& error) const {
  const ErrorCode code = error.code();
  if (IsOurs(error)) return false;
  if (code == ErrorCode::kUnavailable || code == ErrorCode::kOverloaded) return true;
  return IsSilence(code) && loop_.Now() >= After(answered_at_, options_.request_time_max);
}

void StatusManager::NoteServer(const Result<sync::ApiObject>& answer) {
  if (answer || !ConcernsAll(answer.error())) {
    const bool unclear = !answer && (IsSilence(answer.error().code()) || IsOurs(answer.error()) ||
                                     answer.error().code() == ErrorCode::kCancelled);
    if (unclear) return;
    answered_at_ = loop_.Now();
    if (requests_ == 0 && line_.empty()) crowded_.Over(loop_.Now());
    if (troubles_ == 0) return;
    log_.Info("The API server takes statuses of pods again", KV("tries", troubles_));
    troubles_ = 0;
    quiet_until_ = {};
    return;
  }
  if (loop_.Now() < quiet_until_) return;  // of the same trouble
  if (++troubles_ == 1) {
    log_.Error(answer.error(), "The API server does not take statuses of pods, trying on");
  }
  const Duration pause = BackOff(options_.retry_min, options_.retry_max, troubles_);
  quiet_until_ = After(loop_.Now(), random_.Jitter(pause, 0.2));
  loop_.Disarm(quiet_timer_);
  quiet_timer_ = loop_.Arm(quiet_until_, [this] { Pump(); });
}

// The server has no such pod. What came in its place meanwhile stays.
void StatusManager::LoseShown(const Entry& entry) {
  const kube::PodRef shown = ShownOf(entry);
  if (shown && shown->hot().resource_version == entry.based_on) shown_.erase(entry.name);
}

}  // namespace denselet::managers
