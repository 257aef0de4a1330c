#include "kube/client/request_line.h"

namespace denselet::kube {

RequestLine::Place RequestLine::Enter(Priority priority, reactor::Task go) {
  const Place place = next_place_++;
  waiting_.emplace(place, Waiting{priority, std::move(go)});
  by_urgency_.emplace(priority, place);
  if (!armed_) Pump();
  return place;
}

void RequestLine::Leave(Place place) {
  const auto found = waiting_.find(place);
  if (found == waiting_.end()) return;
  by_urgency_.erase({found->second.priority, place});
  waiting_.erase(found);
}

RequestLine::Line::iterator RequestLine::Next() {
  constexpr uint32_t kOvertakingsMax = 8;
  const auto urgent = waiting_.find(by_urgency_.begin()->second);
  const auto oldest = waiting_.begin();
  if (urgent != oldest && ++overtakings_ <= kOvertakingsMax) return urgent;
  overtakings_ = 0;
  return oldest;
}

void RequestLine::Pump() {
  const TimePoint now = loop_.Now();
  while (!waiting_.empty() && bucket_.TryTake(now)) {
    const auto next = Next();
    by_urgency_.erase({next->second.priority, next->first});
    loop_.Post(std::move(next->second.go));
    waiting_.erase(next);
  }
  armed_ = !waiting_.empty();
  if (!armed_) return;
  timer_ = loop_.Arm(bucket_.NextAt(now), [this] { Pump(); });
}

}  // namespace denselet::kube
