#include "tests/fakes/fake_event_stream.h"

#include <algorithm>
#include <utility>

namespace denselet::fakes {
namespace {
constexpr Duration kRetryMax = Milliseconds(500);
constexpr Duration kWatchRuntime = Milliseconds(200);
}  // namespace

FakeEventStream::FakeEventStream(reactor::Loop& loop, FakeRuntimeHost& host, FakeEventFaults faults,
                                 sync::RuntimeEventsUser& user)
    : loop_(loop), host_(host), faults_(faults), user_(user), alive_(std::make_shared<bool>(true)) {
  subscription_ = host_.model().Subscribe([this](const sync::PodHint& hint) { OnChanged(hint); });
  Arm(host_.Delay(), [this] { TryConnect(); });
}

FakeEventStream::~FakeEventStream() {
  *alive_ = false;
  host_.model().Unsubscribe(subscription_);
}

void FakeEventStream::Arm(Duration delay, reactor::Task task) {
  // The world's time: events come between turns, when the loop's own reading is old.
  loop_.Arm(After(host_.model().Now(), delay), [alive = alive_, task = std::move(task)]() mutable {
    if (*alive) task();
  });
}

void FakeEventStream::Set(sync::EventStreamState state) {
  if (state_ == state && state != sync::EventStreamState::kConnecting) return;
  state_ = state;
  if (state == sync::EventStreamState::kEstablished) established_at_ = loop_.Now();
  user_.OnStreamState(state);
}

void FakeEventStream::TryConnect() {
  if (!faults_.supported) return Set(sync::EventStreamState::kUnsupported);
  if (host_.up()) {
    if (state_ != sync::EventStreamState::kEstablished) {
      life_ = host_.life();
      Set(sync::EventStreamState::kEstablished);
    } else if (life_ != host_.life()) {
      Set(sync::EventStreamState::kConnecting);
    }
  } else if (state_ == sync::EventStreamState::kEstablished) {
    Set(sync::EventStreamState::kConnecting);
  }
  const Duration pause = state_ == sync::EventStreamState::kEstablished
                             ? kWatchRuntime
                             : Duration(static_cast<int64_t>(
                                   host_.random().Below(static_cast<uint64_t>(kRetryMax.count()))));
  Arm(pause, [this] { TryConnect(); });
}

void FakeEventStream::Break() {
  if (established()) Set(sync::EventStreamState::kConnecting);
}

void FakeEventStream::OnChanged(const sync::PodHint& hint) {
  if (!established() || life_ != host_.life()) return;
  const auto below = [this](Duration d) {
    return Duration(
        static_cast<int64_t>(host_.random().Below(static_cast<uint64_t>(d.count()) + 1)));
  };
  const auto fault = [this, &hint](double chance, FakeEventFault what) {
    const bool happens = host_.Chance(chance);
    if (happens) host_.Told(what, hint.pod);
    return happens;
  };
  if (fault(faults_.lost, FakeEventFault::kLost)) return;
  if (fault(faults_.lost_told, FakeEventFault::kLostTold)) {
    return Arm(below(faults_.delay_max), [this] {
      lost_at_ = loop_.Now();
      user_.OnHintsLost();
    });
  }
  if (fault(faults_.broken, FakeEventFault::kBroken)) {
    return Arm(Duration::zero(), [this] { Break(); });
  }
  const bool late = fault(faults_.late, FakeEventFault::kLate);
  Deliver(hint, below(late ? faults_.late_max : faults_.delay_max));
  if (fault(faults_.repeated, FakeEventFault::kRepeated)) Deliver(hint, below(faults_.delay_max));
}

void FakeEventStream::Deliver(const sync::PodHint& hint, Duration delay) {
  Arm(delay, [this, hint] {
    if (established()) user_.OnPodHint(hint);
  });
}

}  // namespace denselet::fakes
