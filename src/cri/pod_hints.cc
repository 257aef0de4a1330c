#include "cri/pod_hints.h"

#include <utility>

namespace denselet::cri {

namespace {

constexpr sync::EventStreamState StateIn(uint64_t word) {
  return static_cast<sync::EventStreamState>(word & 0xff);
}

}  // namespace

std::shared_ptr<PodHints> PodHints::Make(reactor::Shard& shard, sync::RuntimeEventsUser& user,
                                         MetricSet<CriMetric>& metrics) {
  std::shared_ptr<PodHints> hints(new PodHints(shard, user, metrics));
  hints->Deliver();  // hangs up the first bell
  return hints;
}

PodHints::~PodHints() {
  delete marks_.exchange(nullptr);
  delete bell_.exchange(nullptr);  // gives its place back
}

void PodHints::Marks::Add(const sync::PodHint& hint) {
  if (all) return;
  const auto [mine, is_new] = pods.emplace(hint.pod, hint);
  if (!is_new) mine->second.Join(hint);
  if (pods.size() <= kMarksMax) return;
  all = true;
  pods.clear();
}

void PodHints::Marks::Take(Marks other) {
  events += other.events;
  all = all || other.all;
  if (all) pods.clear();
  for (const auto& [pod, hint] : other.pods) Add(hint);
  for (const int64_t stamp : other.created_at) {
    if (created_at.size() < kStampsMax) created_at.push_back(stamp);
  }
}

// A set that somebody else put back meanwhile, of a stream that is about to end, is taken along.
template <class Change>
void PodHints::Add(Change change) {
  std::unique_ptr<Marks> marks(marks_.exchange(nullptr));
  if (marks == nullptr) marks = std::make_unique<Marks>();
  change(*marks);
  while (true) {
    Marks* empty = nullptr;
    if (marks_.compare_exchange_strong(empty, marks.get())) break;
    const std::unique_ptr<Marks> others(marks_.exchange(nullptr));
    if (others != nullptr) marks->Take(std::move(*others));
  }
  (void)marks.release();
  Ring();
}

void PodHints::Mark(const sync::PodHint& hint, int64_t created_at) {
  Add([&](Marks& marks) {
    ++marks.events;
    if (marks.created_at.size() < kStampsMax) marks.created_at.push_back(created_at);
    marks.Add(hint);
  });
}

void PodHints::MarkAll() {
  Add([](Marks& marks) {
    ++marks.events;
    marks.all = true;
    marks.pods.clear();
  });
}

void PodHints::SetState(sync::EventStreamState state) {
  const uint64_t number = (state_.load() >> 8) + 1;
  state_.store(number << 8 | static_cast<uint64_t>(state));
  Ring();
}

void PodHints::Ring() {
  const std::unique_ptr<reactor::ForeignSlot> bell(bell_.exchange(nullptr));
  if (bell == nullptr) return;  // rung already: the shard is on its way
  bell->Post([self = shared_from_this()] { self->Deliver(); });
}

void PodHints::Close() {
  user_ = nullptr;
  shard_.loop().Disarm(timer_);
}

// The bell first: what is put back after the set was taken rings it.
void PodHints::Deliver() {
  if (user_ == nullptr) return;
  if (!HangBell()) {
    shard_.loop().Disarm(timer_);
    timer_ = shard_.loop().Arm(After(shard_.loop().Now(), kBellPause),
                               [self = shared_from_this()] { self->Deliver(); });
  }
  TellState();
  const std::unique_ptr<Marks> marks(marks_.exchange(nullptr));
  if (marks != nullptr && user_ != nullptr) TellMarks(*marks);
}

bool PodHints::HangBell() {
  std::optional<reactor::ForeignSlot> slot = shard_.ReserveForeign();
  if (!slot) return false;
  delete bell_.exchange(new reactor::ForeignSlot(std::move(*slot)));
  return true;
}

void PodHints::TellState() {
  const uint64_t word = state_.load();
  if (word == told_state_) return;
  const bool was_established =
      told_state_ != 0 && StateIn(told_state_) == sync::EventStreamState::kEstablished;
  told_state_ = word;
  // Lost and back between two turns: whoever hears the second must know of the first.
  if (was_established && StateIn(word) == sync::EventStreamState::kEstablished) {
    user_->OnStreamState(sync::EventStreamState::kConnecting);
  }
  if (user_ != nullptr) user_->OnStreamState(StateIn(word));
}

void PodHints::TellMarks(const Marks& marks) {
  metrics_.Counter(CriMetric::kEvents).Add(marks.events);
  const WallTime now = shard_.loop().WallNow();
  for (const int64_t created_at : marks.created_at) {
    const Duration latency = now - WallTime(Duration(created_at));
    if (created_at > 0 && latency >= Duration::zero()) {
      metrics_.Histogram(CriMetric::kEventLatency).Observe(latency);
    }
  }
  if (marks.all) {
    metrics_.Counter(CriMetric::kHintsLost).Increment();
    user_->OnHintsLost();
    return;
  }
  for (const auto& [pod, hint] : marks.pods) {
    if (user_ == nullptr) return;  // closed by what it was told
    user_->OnPodHint(hint);
  }
}

}  // namespace denselet::cri
