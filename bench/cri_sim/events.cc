#include "bench/cri_sim/events.h"

#include <utility>

namespace denselet::cri_sim {
namespace {

constexpr Duration kHeldBackMax = Seconds(1);  // when no other event comes by

}  // namespace

EventHub::~EventHub() { Forget(); }

Status EventHub::Subscribe(CallPtr call) {
  if (subscribers_.size() == kSubscribersMax) {
    return Error(ErrorCode::kOverloaded, "too many subscribers");
  }
  Call& subscriber = *call;
  subscriber.on_cancel = [this, gone = &subscriber] {
    std::erase_if(subscribers_, [&](const CallPtr& one) { return one.get() == gone; });
  };
  subscribers_.push_back(std::move(call));
  while (!backlog_.empty()) {
    if (loop_.Now() - backlog_.front().at <= kBacklogAge) {
      subscriber.Send(std::move(backlog_.front().event));
      ++counters_.delivered;
    }
    backlog_.pop_front();
  }
  return Ok();
}

void EventHub::Publish(std::string event) {
  const EventFaults& faults = settings_.events;
  ++counters_.published;
  if (faults.lose > 0 && random_.Unit() < faults.lose) {
    ++counters_.lost;
    return;
  }
  const bool twice = faults.duplicate > 0 && random_.Unit() < faults.duplicate;
  if (faults.late > 0 && random_.Unit() < faults.late) {
    ++counters_.late;
    late_.Run(faults.lateness.Draw(random_),
              [this, twice, late = std::move(event)] { DeliverAll(late, twice); });
    return;
  }
  if (!held_back_ && faults.reorder > 0 && random_.Unit() < faults.reorder) {
    ++counters_.reordered;
    held_back_ = std::move(event);
    held_back_timer_ = loop_.Arm(After(loop_.Now(), kHeldBackMax), [this] {
      if (const auto held = std::exchange(held_back_, std::nullopt)) Deliver(*held);
    });
    return;
  }
  DeliverAll(event, twice);
}

void EventHub::DeliverAll(const std::string& event, bool twice) {
  Deliver(event);
  if (twice) {
    ++counters_.duplicated;
    Deliver(event);
  }
  if (const auto held = std::exchange(held_back_, std::nullopt)) {
    loop_.Disarm(held_back_timer_);
    Deliver(*held);
  }
}

void EventHub::Deliver(const std::string& event) {
  if (subscribers_.empty()) {
    if (backlog_.size() == kBacklogMax) {
      backlog_.pop_front();
      ++counters_.overflowed;
    }
    backlog_.push_back({loop_.Now(), event});
    return;
  }
  for (const CallPtr& subscriber : subscribers_) {
    if (subscriber->unsent() >= kQueueMax) {
      ++counters_.overflowed;
      continue;
    }
    subscriber->Send(event);
    ++counters_.delivered;
  }
}

void EventHub::Forget() {
  late_.Clear();
  loop_.Disarm(held_back_timer_);
  held_back_.reset();
  backlog_.clear();
}

}  // namespace denselet::cri_sim
