#include "sync/pleg/pleg.h"

#include <algorithm>
#include <utility>

namespace denselet::sync {

std::string_view PlegModeName(PlegMode mode) {
  switch (mode) {
    case PlegMode::kListsLead:
      return "lists";
    case PlegMode::kEventsLead:
      return "events";
  }
  return "";
}

Pleg::Pleg(reactor::Loop& loop, Random& random, const Logger& log, Runtime& runtime,
           EpochCounter& epochs, PlegShards& shards, uint32_t shard_count,
           const PlegOptions& options, PlegUser& user)
    : loop_(loop),
      random_(random),
      log_(log),
      runtime_(runtime),
      epochs_(epochs),
      shards_(shards),
      options_(options),
      user_(user),
      clean_needed_(options.clean_lists_to_trust_min),
      cross_check_period_(options.cross_check_period_max),
      born_(loop.Now()),
      hints_(shard_count),
      alive_(std::make_shared<bool>(true)) {
  CHECK(options_.cross_check_period_min <= options_.cross_check_period_max);
  history_.push_back({mode_, loop_.Now(),
                      options_.use_events
                          ? "the agent started"
                          : "the agent started, with events switched off by configuration"});
  metrics_.Gauge(PlegMetric::kEvented).Set(0);
  ArmNext(Duration::zero());
}

Pleg::~Pleg() {
  *alive_ = false;
  loop_.Disarm(timer_);
  if (list_cancel_ != nullptr) list_cancel_->Cancel();
}

// Where events lead, lists are rare; but one that is asked for and does not come tells as much as
// where they are not.
std::string Pleg::WhyUnhealthy(TimePoint now) const {
  const auto say = [](Duration ago, Duration limit) {
    if (ago <= limit) return std::string();
    const auto whole = std::chrono::duration_cast<Seconds>(ago);
    return "pleg was last seen active " + FormatDuration(whole) + " ago; threshold is " +
           FormatDuration(limit);
  };
  const Duration limit = mode_ == PlegMode::kEventsLead ? options_.unhealthy_after_events_lead
                                                        : options_.unhealthy_after_lists_lead;
  if (std::string why = say(now - std::max(born_, last_list_), limit); !why.empty()) return why;
  return failing_since_ ? say(now - *failing_since_, options_.unhealthy_after_lists_lead) : "";
}

Duration Pleg::Period() const {
  return mode_ == PlegMode::kEventsLead ? cross_check_period_ : options_.relist_period;
}

void Pleg::ArmNext(Duration pause) {
  loop_.Disarm(timer_);
  timer_ = loop_.Arm(After(loop_.Now(), pause), [this] { StartList(); });
}

void Pleg::RelistNow() {
  must_relist_ = true;
  if (list_cancel_ != nullptr || parts_open_ != 0) return CheckAListComes();
  // However often that is asked for: never more often than without a stream.
  const TimePoint soonest = After(list_began_, options_.relist_period);
  ArmNext(list_number_ == 0 ? Duration::zero() : std::max(soonest - loop_.Now(), Duration::zero()));
  CheckAListComes();
}

// Whatever was lost is made up for by the next list, so there always is one to come (invariant 9).
void Pleg::CheckAListComes() const {
  CHECK(must_relist_ && (list_cancel_ != nullptr || timer_ != reactor::TimerId{}));
}

void Pleg::StartList() {
  timer_ = {};
  if (list_cancel_ != nullptr) return;
  must_relist_ = false;
  list_proves_stream_ = stream_ == EventStreamState::kEstablished;
  list_missed_ = 0;
  parts_open_ = 0;
  list_began_ = loop_.Now();
  if (list_before_ != TimePoint{}) {
    metrics_.Histogram(PlegMetric::kRelistInterval).Observe(list_began_ - list_before_);
  }
  list_before_ = list_began_;
  list_cancel_ = std::make_unique<CancelSource>();
  Context context;
  context.priority = mode_ == PlegMode::kEventsLead ? Priority::kBackground : Priority::kNormal;
  context.cancel = list_cancel_->token();
  const uint64_t number = ++list_number_;
  // Before the request: a sandbox made while the list is on its way is not covered by it (R8).
  list_epoch_ = epochs_.Next();
  runtime_.ListAll(context.WithTimeout(loop_.Now(), options_.list_deadline),
                   [this, alive = alive_, number](Result<RuntimeList> answer) {
                     if (*alive) OnList(number, std::move(answer));
                   });
}

void Pleg::OnList(uint64_t number, Result<RuntimeList> answer) {
  CHECK(number == list_number_ && list_cancel_ != nullptr);
  list_cancel_.reset();
  metrics_.Histogram(PlegMetric::kRelistDuration).Observe(loop_.Now() - list_began_);
  if (!answer) {
    if (trouble_.IsNews(loop_.Now(), answer.error().message())) {
      log_.Error(answer.error(), "Could not list the runtime's pods");
    }
    if (!failing_since_) failing_since_ = list_began_;
    clean_lists_ = 0;
    was_away_ = true;
    runtime_was_ = RuntimeWas::kAway;
    must_relist_ = true;
    ArmNext(random_.Jitter(options_.relist_period, 0.2));
    return;
  }
  last_list_ = loop_.Now();
  failing_since_.reset();
  if (const auto lasted = trouble_.Over(last_list_)) {
    log_.Info("The runtime's pods can be listed again", KV("after", *lasted));
  }
  metrics_.Gauge(PlegMetric::kLastSeen)
      .Set(static_cast<double>(loop_.WallNow().time_since_epoch().count()) / 1e9);
  if (faults_.epoch_after_list) list_epoch_ = epochs_.Next();
  Distribute(list_epoch_, *std::move(answer));
}

void Pleg::Distribute(Epoch epoch, RuntimeList list) {
  CHECK(epoch != 0 && epoch <= epochs_.last());  // drawn before the answer came (invariant 2)
  const uint32_t shards = static_cast<uint32_t>(hints_.size());
  std::vector<std::vector<ListedPod>> parts(shards);
  for (ListedPod& pod : list.pods) {
    const uint32_t owner = ShardOf(pod.pod.uid, shards);
    parts[owner].push_back(std::move(pod));
  }
  parts_open_ = shards;
  // The word of a shard can be lost too, when our own mailbox is full; then the next list judges.
  ArmNext(options_.relist_period);
  const uint64_t number = list_number_;
  const RuntimeWas was = std::exchange(runtime_was_, RuntimeWas::kThere);
  for (uint32_t i = 0; i < shards; ++i) {
    const Status sent = shards_.Listed(i, epoch, was, std::move(parts[i]),
                                       [this, alive = alive_, number](uint64_t missed) {
                                         if (*alive) OnChecked(number, missed);
                                       });
    if (!sent) {
      metrics_.Counter(PlegMetric::kDiscardEvents).Increment();
      must_relist_ = true;
      if (was == RuntimeWas::kAway) runtime_was_ = was;
      OnChecked(number, 0);
    }
  }
}

void Pleg::OnChecked(uint64_t number, uint64_t missed) {
  if (number != list_number_ || parts_open_ == 0) return;
  list_missed_ += missed;
  if (--parts_open_ == 0) Judge();
}

// All shards have compared: what does the list say about the stream?
void Pleg::Judge() {
  if (mode_ == PlegMode::kEventsLead) {
    missed_total_ += list_missed_;
    metrics_.Counter(PlegMetric::kMissedEvents).Add(list_missed_);
    if (list_missed_ > 0 && !faults_.ignore_missed) {
      clean_checks_ = 0;
      cross_check_period_ = std::max(cross_check_period_ / 4, options_.cross_check_period_min);
      log_.Info("Events were missed; lists come more often", KV("missed", list_missed_),
                KV("period", FormatDuration(cross_check_period_)));
    } else if (++clean_checks_ >= options_.clean_checks_to_lengthen) {
      clean_checks_ = 0;
      cross_check_period_ = std::min(cross_check_period_ * 2, options_.cross_check_period_max);
      clean_needed_ = std::max(clean_needed_ / 2, options_.clean_lists_to_trust_min);
    }
    // However bad or good the stream is, lists come (invariant 11).
    CHECK(cross_check_period_ >= options_.cross_check_period_min &&
          cross_check_period_ <= options_.cross_check_period_max);
  } else if (list_proves_stream_ && stream_ == EventStreamState::kEstablished && !must_relist_) {
    if (++clean_lists_ >= clean_needed_ && options_.use_events) {
      CHECK(list_epoch_ > established_);  // subscribed before, listed after (invariant 10)
      SetMode(PlegMode::kEventsLead, "the stream of events is up and a list has proved it");
    }
  }
  metrics_.Gauge(PlegMetric::kCrossCheckPeriod)
      .Set(std::chrono::duration<double>(cross_check_period_).count());
  const bool soon = must_relist_;
  if (faults_.never_cross_check && mode_ == PlegMode::kEventsLead) {
    loop_.Disarm(timer_);
    return;
  }
  ArmNext(soon ? std::min(Period(), options_.relist_period) : Period());
}

void Pleg::SetMode(PlegMode mode, std::string why) {
  if (mode_ == mode) return;
  mode_ = mode;
  clean_checks_ = 0;
  if (mode == PlegMode::kEventsLead) trusted_since_ = loop_.Now();
  history_.push_back({mode, loop_.Now(), std::move(why)});
  if (history_.size() > options_.history_max) history_.pop_front();
  metrics_.Gauge(PlegMetric::kEvented).Set(mode == PlegMode::kEventsLead ? 1 : 0);
  metrics_.Counter(PlegMetric::kModeChanges, PlegModeName(mode)).Increment();
  log_.Info("PLEG changed its mode", KV("mode", PlegModeName(mode)),
            KV("why", history_.back().why));
  user_.OnPlegMode(history_.back());
}

void Pleg::OnPodHint(const PodHint& hint) {
  auto& hints = hints_[ShardOf(hint.pod, static_cast<uint32_t>(hints_.size()))];
  const auto [mine, is_new] = hints.emplace(hint.pod, hint);
  if (!is_new) mine->second.Join(hint);
  if (std::exchange(flush_posted_, true)) return;
  loop_.Post([this, alive = alive_] {
    if (*alive) FlushHints();
  });
}

// One message a shard and turn, however many events came.
void Pleg::FlushHints() {
  flush_posted_ = false;
  for (uint32_t i = 0; i < hints_.size(); ++i) {
    if (hints_[i].empty()) continue;
    std::vector<PodHint> hints;
    hints.reserve(hints_[i].size());
    for (auto& [pod, hint] : hints_[i]) hints.push_back(std::move(hint));
    hints_[i].clear();
    if (!shards_.Hint(i, std::move(hints))) {
      metrics_.Counter(PlegMetric::kDiscardEvents).Increment();
      RelistNow();
    }
  }
}

void Pleg::OnRuntimeBack() {
  runtime_was_ = RuntimeWas::kAway;
  RelistNow();
}

void Pleg::OnHintsLost() {
  if (!faults_.ignore_hints_lost) RelistNow();
}

void Pleg::ListForStream() {
  const bool broke_soon = std::exchange(broke_soon_, false);
  const bool was_away = std::exchange(was_away_, false);
  if (broke_soon && !was_away) {
    clean_needed_ = std::min(clean_needed_ * 2, options_.clean_lists_to_trust_max);
  }
  RelistNow();
  // The failed list before it was none; this comes once after each time that the runtime was away.
  if (was_away && list_cancel_ == nullptr && parts_open_ == 0) ArmNext(Duration::zero());
}

void Pleg::OnStreamState(EventStreamState state) {
  const EventStreamState before = std::exchange(stream_, state);
  clean_lists_ = 0;
  switch (state) {
    case EventStreamState::kEstablished:
      established_ = epochs_.last();
      if (faults_.trust_at_once) {
        SetMode(PlegMode::kEventsLead, "a fault put in on purpose");
        return ArmNext(Period());
      }
      // Subscribed; now the list that the stream is to be trusted from on (invariant 10).
      return ListForStream();
    case EventStreamState::kConnecting:
      if (before != EventStreamState::kEstablished) break;
      runtime_was_ = RuntimeWas::kAway;
      break;
    case EventStreamState::kUnsupported:
      break;
  }
  if (mode_ == PlegMode::kEventsLead) {
    broke_soon_ = loop_.Now() - trusted_since_ < options_.flapping_within;
    was_away_ = false;
    SetMode(PlegMode::kListsLead, state == EventStreamState::kUnsupported
                                      ? "the runtime has no stream of events"
                                      : "the stream of events was lost");
  }
  RelistNow();
}

}  // namespace denselet::sync
