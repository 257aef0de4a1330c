// When to tell people of a trouble that comes again and again: at once when it begins and when its
// cause changes, then at growing intervals while it lasts, and once when it is over.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace denselet {

class RepeatedTrouble {
 public:
  // Of one cause: doubled from min to max.
  static constexpr Duration kIntervalMin = Seconds(30);
  static constexpr Duration kIntervalMax = Minutes(10);
  // Between causes that take turns, and between troubles that come and go: from none to the
  // interval's maximum, doubled with each that is told. Calm for so long, and it starts over.
  static constexpr Duration kChangeMin = Seconds(1);
  static constexpr Duration kCalm = Minutes(1);

  // It was seen again. True: tell it now.
  bool IsNews(TimePoint now, std::string_view cause) {
    if (!seen_) Begin(now);
    seen_ = true;
    const bool changed = !told_ || cause != cause_;
    if (now < After(told_at_, changed ? change_pause_ : interval_)) return false;
    if (changed) {
      change_pause_ = std::clamp(2 * change_pause_, Duration(kChangeMin), Duration(kIntervalMax));
      interval_ = std::max(change_pause_, Duration(kIntervalMin));
    } else {
      interval_ = std::min(2 * interval_, Duration(kIntervalMax));
    }
    told_ = true;
    told_at_ = now;
    cause_ = cause;
    return true;
  }

  // People know of it, with this cause.
  bool IsTold(std::string_view cause) const { return told_ && cause == cause_; }
  // When a cause that is not told yet becomes news, if it stays until then.
  TimePoint NewsAt() const { return After(told_at_, change_pause_); }

  // It is gone. For how long it was there, if anybody was told of it.
  std::optional<Duration> Over(TimePoint now) {
    const bool was_told = seen_ && told_;
    if (seen_) over_at_ = now;
    seen_ = told_ = false;
    if (!was_told) return std::nullopt;
    return now - since_;
  }

  bool seen() const { return seen_; }

 private:
  void Begin(TimePoint now) {
    since_ = now;
    if (now >= After(over_at_, kCalm)) change_pause_ = {};
  }

  bool seen_ = false;  // it is there
  bool told_ = false;  // and was told
  TimePoint since_;
  TimePoint told_at_ = TimePoint::min();
  TimePoint over_at_ = TimePoint::min();
  Duration change_pause_{};
  Duration interval_ = kIntervalMin;
  std::string cause_;  // as told
};

}  // namespace denselet
