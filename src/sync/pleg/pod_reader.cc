#include "sync/pleg/pod_reader.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace denselet::sync {

PodReader::PodReader(reactor::Loop& loop, Random& random, Runtime& runtime, EpochCounter& epochs,
                     ObservedStore& store, const PodReaderOptions& options, PodReaderUser& user)
    : loop_(loop),
      random_(random),
      runtime_(runtime),
      epochs_(epochs),
      store_(store),
      options_(options),
      user_(user),
      alive_(std::make_shared<bool>(true)) {
  CHECK(options_.reads_max >= 2);
}

PodReader::~PodReader() {
  *alive_ = false;
  for (auto& [uid, entry] : pods_) {
    loop_.Disarm(entry.timer);
    if (entry.cancel != nullptr) entry.cancel->Cancel();
  }
}

void PodReader::Mark(const PodUid& pod, Urgency urgency) {
  Entry& entry = pods_[pod];
  entry.due = true;
  entry.dropped = false;
  const bool urgent = urgency == Urgency::kUrgent;
  if (urgent && !entry.urgent && !entry.reading) {
    entry.urgent = true;
    const TimePoint soon = After(loop_.Now(), options_.backoff_min);
    if (entry.not_before > soon) {
      loop_.Disarm(entry.timer);
      entry.timer = {};
      entry.not_before = soon;
    }
  }
  if (!entry.reading) Enqueue(pod, entry);
  Pump();
}

// Into the line it belongs to, or to sleep until its back-off is over.
void PodReader::Enqueue(const PodUid& pod, Entry& entry) {
  if (entry.not_before > loop_.Now()) {
    loop_.Disarm(entry.timer);
    entry.timer = loop_.Arm(entry.not_before, [this, pod] {
      const auto found = pods_.find(pod);
      if (found == pods_.end() || found->second.reading) return;
      found->second.not_before = {};
      Enqueue(pod, found->second);
      Pump();
    });
    return;
  }
  const bool suspect = health_.count(pod) != 0;
  std::list<PodUid>& line = suspect ? suspects_ : entry.urgent ? urgent_ : normal_;
  if (entry.line == &line) return;
  LeaveLine(entry);
  entry.line = &line;
  entry.place = line.insert(line.end(), pod);
}

void PodReader::LeaveLine(Entry& entry) {
  if (entry.line == nullptr) return;
  entry.line->erase(entry.place);
  entry.line = nullptr;
}

void PodReader::Pump() {
  size_t healthy = reading_ - suspects_reading_;
  const size_t suspects_max = std::max<size_t>(1, options_.reads_max / 4);
  const size_t healthy_max = options_.reads_max - suspects_max;
  while (StartFrom(urgent_, healthy_max, healthy)) {
  }
  while (StartFrom(normal_, healthy_max, healthy)) {
  }
  size_t suspects = suspects_reading_;
  while (StartFrom(suspects_, suspects_max, suspects)) {
  }
}

bool PodReader::StartFrom(std::list<PodUid>& line, size_t limit, size_t& used) {
  if (line.empty() || used >= limit) return false;
  const PodUid pod = line.front();
  Entry& entry = pods_.at(pod);
  LeaveLine(entry);
  CHECK(!entry.reading && entry.due);
  if (entry.not_before > loop_.Now()) return true;  // what backs off has its timer
  ++used;
  Start(pod, entry);
  return true;
}

void PodReader::Start(const PodUid& pod, Entry& entry) {
  entry.due = false;
  entry.urgent = false;
  entry.reading = true;
  entry.suspect = health_.count(pod) != 0;
  entry.began = loop_.Now();
  entry.number = next_number_++;
  ++reading_;
  if (entry.suspect) ++suspects_reading_;
  // Before the request: what the answer shows holds at least as of now (invariant 2).
  entry.epoch = epochs_.Next();
  entry.cancel = std::make_unique<CancelSource>();
  Context context;
  context.cancel = entry.cancel->token();
  const auto* const seen = store_.Find(pod);
  context.pod = std::make_shared<const ContextPod>(
      ContextPod{seen == nullptr ? ObjectRef{} : seen->pod.pod.ref, pod});
  context = context.WithTimeout(loop_.Now(), options_.deadline);
  runtime_.ReadPod(context, pod,
                   [this, alive = alive_, pod, number = entry.number](Result<ObservedPod> answer) {
                     if (*alive) OnAnswer(pod, number, std::move(answer));
                   });
}

void PodReader::OnAnswer(const PodUid& pod, uint64_t number, Result<ObservedPod> answer) {
  const auto found = pods_.find(pod);
  CHECK(found != pods_.end() && found->second.number == number);
  Entry& entry = found->second;
  CHECK(entry.reading);
  entry.reading = false;
  --reading_;
  if (entry.suspect) --suspects_reading_;
  const Duration took = loop_.Now() - entry.began;
  if (entry.dropped && !entry.due) {
    pods_.erase(found);
    return Pump();
  }
  // Dropped and marked again while its read was being cancelled.
  if (!answer && answer.error().code() == ErrorCode::kCancelled) {
    entry.due = true;
    Enqueue(pod, entry);
    return Pump();
  }
  if (!answer) {
    Failed(pod, entry, answer.error());
    return Pump();
  }
  health_.erase(pod);
  const Epoch epoch = store_.faults_for_tests().stamp_at_arrival ? epochs_.Next() : entry.epoch;
  // Drawn before this answer came, and so before all that is asked for from here on (invariant 2).
  CHECK(epoch != 0 && epoch <= epochs_.last());
  const Applied applied = store_.Apply(pod, epoch, *std::move(answer));
  if (entry.due) {
    Enqueue(pod, entry);
  } else {
    pods_.erase(found);
  }
  user_.OnRead(pod, applied, took);
  Pump();
}

void PodReader::Failed(const PodUid& pod, Entry& entry, const Error& error) {
  PodReadHealth& health = health_[pod];
  if (health.failures == 0) health.failing_since = loop_.Now();
  const uint32_t doublings = std::min<uint32_t>(health.failures, 10);
  ++health.failures;
  health.last_error = error.message();
  const Duration pause = std::min(options_.backoff_min * (1 << doublings), options_.backoff_max);
  entry.due = true;
  entry.not_before = After(loop_.Now(), random_.Jitter(pause, 0.2));
  Enqueue(pod, entry);
  user_.OnReadFailed(pod, error);
}

void PodReader::ListAnswered(Epoch epoch, RuntimeWas was) {
  const TimePoint now = loop_.Now();
  for (auto& [pod, health] : health_) {
    const auto found = pods_.find(pod);
    if (found == pods_.end()) continue;
    Entry& entry = found->second;
    if (entry.reading || entry.not_before <= now || entry.epoch >= epoch) continue;
    const bool woken_lately =
        health.woken_at && now < After(*health.woken_at, options_.backoff_max);
    if (woken_lately && was == RuntimeWas::kThere) continue;
    health.woken_at = now;
    loop_.Disarm(entry.timer);
    entry.not_before = {};
    Enqueue(pod, entry);
  }
  Pump();
}

void PodReader::Drop(const PodUid& pod) {
  health_.erase(pod);
  const auto found = pods_.find(pod);
  if (found == pods_.end()) return;
  loop_.Disarm(found->second.timer);
  LeaveLine(found->second);
  if (!found->second.reading) {
    pods_.erase(found);
    return;
  }
  found->second.due = false;
  found->second.dropped = true;
  found->second.cancel->Cancel();
}

bool PodReader::IsMarked(const PodUid& pod) const {
  const auto found = pods_.find(pod);
  return found != pods_.end() && !found->second.dropped;
}

bool PodReader::Covers(const PodUid& pod, Epoch epoch) const {
  const auto found = pods_.find(pod);
  if (found == pods_.end() || found->second.dropped) return false;
  const Entry& entry = found->second;
  if (entry.reading && entry.epoch > epoch) return true;
  return entry.due && (entry.reading || entry.not_before <= loop_.Now());
}

TimePoint PodReader::RetryAt(const PodUid& pod) const {
  const auto found = pods_.find(pod);
  return found == pods_.end() || found->second.reading ? TimePoint{} : found->second.not_before;
}

bool PodReader::IsReading(const PodUid& pod) const {
  const auto found = pods_.find(pod);
  return found != pods_.end() && found->second.reading && !found->second.dropped;
}

const PodReadHealth* PodReader::Health(const PodUid& pod) const {
  const auto found = health_.find(pod);
  return found == health_.end() ? nullptr : &found->second;
}

Epoch PodReader::OldestUnderWay() const {
  Epoch oldest = epochs_.Next();
  for (const auto& [uid, entry] : pods_) {
    if (entry.reading) oldest = std::min(oldest, entry.epoch);
  }
  return oldest;
}

}  // namespace denselet::sync
