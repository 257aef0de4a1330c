#include "kube/client/request_line.h"

#include <charconv>

namespace denselet::kube {
namespace {

std::string Text(double number) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof(text), number);
  return error == std::errc() ? std::string(text, end) : std::string();
}

}  // namespace

RequestLine::Place RequestLine::Enter(Priority priority, reactor::Task go) {
  const Place place = next_place_++;
  waiting_.emplace(place, Waiting{priority, std::move(go)});
  by_urgency_.emplace(priority, place);
  if (!armed_) Pump();
  return place;
}

void RequestLine::Leave(Place place) {
  const auto found = waiting_.find(place);
  if (found != waiting_.end()) {
    by_urgency_.erase({found->second.priority, place});
    waiting_.erase(found);
    return;
  }
  bucket_.GiveBack();
  if (armed_) Rearm(loop_.Now());
}

RequestLine::Line::iterator RequestLine::Next() {
  const auto urgent = waiting_.find(by_urgency_.begin()->second);
  const auto oldest = waiting_.begin();
  if (urgent != oldest && ++overtakings_ <= kOvertakingsMax) return urgent;
  overtakings_ = 0;
  return oldest;
}

void RequestLine::Pump() {
  armed_ = false;
  const TimePoint now = loop_.Now();
  while (!waiting_.empty() && bucket_.TryTake(now)) {
    const auto next = Next();
    by_urgency_.erase({next->second.priority, next->first});
    loop_.Post(std::move(next->second.go));
    waiting_.erase(next);
  }
  if (!waiting_.empty()) Rearm(now);
}

void RequestLine::Rearm(TimePoint now) {
  loop_.Disarm(timer_);
  armed_ = true;
  timer_ = loop_.Arm(bucket_.NextAt(now), [this] { Pump(); });
}

Error RequestLine::TooLate() const {
  return Error(ErrorCode::kOverloaded, "it did not get its turn in time under " + setting_ + " (" +
                                           Text(bucket_.per_second()) + " a second); " +
                                           std::to_string(waiting_.size()) +
                                           " other requests of ours wait, too");
}

}  // namespace denselet::kube
