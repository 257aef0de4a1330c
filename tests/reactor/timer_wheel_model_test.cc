// The wheel against a model: a multimap in the promised order.
#include "reactor/timer_wheel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/random.h"

namespace denselet::reactor {
namespace {

constexpr size_t kNoMax = std::numeric_limits<size_t>::max();
constexpr Duration kNs(1);

constexpr TimePoint At(Duration since_start) { return TimePoint(since_start); }

enum class Disarming { kNone, kSome };

// Does the same to a wheel and to a multimap, whose order is the promised one: by tick, and in a
// tick by arming.
class ModelCheck {
 public:
  ModelCheck(uint64_t seed, Disarming disarming)
      : random_(seed),
        disarming_(disarming),
        now_(At(Duration(static_cast<int64_t>(random_.Next()) >> random_.Below(64)))),
        wheel_(now_) {}

  // Ends early when the clock does. Returns how many steps it took.
  int Run(int steps_max) {
    int steps = 0;
    for (; steps < steps_max && now_ < kNever && !testing::Test::HasFailure(); ++steps) {
      Step();
      CheckState();
    }
    return steps;
  }

  size_t ran() const { return ran_; }

 private:
  struct Entry {
    TimerId id;
    std::multimap<int64_t, uint64_t>::iterator place;  // in due_
    bool never;
  };

  void Step() {
    const uint64_t dice = random_.Below(100);
    if (dice < 45) return Arm();
    if (dice < 75) return DisarmAny();
    RunDue();
  }

  // Between nothing and centuries, each magnitude as likely as the others.
  Duration AnyDistance(uint64_t bits_max = 63) {
    const uint64_t mask = (uint64_t{1} << random_.Below(bits_max + 1)) - 1;
    const auto distance = static_cast<int64_t>(random_.Next() & mask);
    // Whole milliseconds half of the time: more timers in the same tick, and on borders.
    return Duration(random_.Below(2) == 0 ? distance : distance / 1'000'000 * 1'000'000);
  }

  TimePoint AnyTime() {
    const uint64_t dice = random_.Below(100);
    if (dice < 2) return kNever;
    if (dice < 8) return After(now_, -AnyDistance());
    if (dice < 10) return now_;
    if (dice < 30 && !due_.empty()) return At(Milliseconds(due_.begin()->first));
    if (dice < 50) return After(now_, Milliseconds(random_.Below(3000)));
    return After(now_, AnyDistance());
  }

  void Arm() {
    const TimePoint when = AnyTime();
    const int64_t tick =
        when > now_ ? std::chrono::ceil<Milliseconds>(when.time_since_epoch()).count() : NowTick();
    const uint64_t name = ++armed_count_;
    const TimerId id = wheel_.Arm(when, [this, name] { OnRun(name); });
    const bool never = tick > std::chrono::floor<Milliseconds>(kNever.time_since_epoch()).count();
    armed_[name] = {id, never ? due_.end() : due_.emplace(tick, name), never};
    names_.push_back(name);
  }

  // Half of the names are those of timers that are no longer armed.
  void DisarmAny() {
    if (disarming_ == Disarming::kNone || names_.empty()) return;
    const size_t at = random_.Below(names_.size());
    const uint64_t name = names_[at];
    names_[at] = names_.back();
    names_.pop_back();
    const auto found = armed_.find(name);
    if (found == armed_.end()) {
      ASSERT_FALSE(wheel_.Disarm(past_ids_.at(name)));
      return;
    }
    ASSERT_TRUE(wheel_.Disarm(found->second.id));
    if (!found->second.never) {
      disarmed_ticks_.insert(found->second.place->first);
      due_.erase(found->second.place);
    }
    Forget(found);
    if (random_.Below(2) == 0) names_.push_back(name);
  }

  void Forget(std::unordered_map<uint64_t, Entry>::iterator entry) {
    past_ids_[entry->first] = entry->second.id;
    armed_.erase(entry);
  }

  void RunDue() {
    const uint64_t dice = random_.Below(100);
    if (dice < 30) {
      now_ = std::max(now_, wheel_.NextDue() == kNever ? now_ : wheel_.NextDue());
    } else if (dice < 40) {
      now_ = std::max(now_, wheel_.NextDue() == kNever ? now_ : wheel_.NextDue() - kNs);
    } else if (dice < 90) {
      now_ = After(now_, Microseconds(random_.Below(2'000'000)));
    } else {
      now_ = After(now_, AnyDistance(dice < 99 ? 50 : 63));  // too many centuries end the clock
    }
    const size_t tasks_max = random_.Below(4) == 0 ? random_.Below(5) : kNoMax;
    armed_before_run_ = armed_count_;
    const size_t ran_before = ran_;
    const size_t ran_now = wheel_.RunDue(now_, tasks_max);
    ASSERT_EQ(ran_now, ran_ - ran_before);
    ASSERT_TRUE(ran_now == tasks_max || !HasRunnable());
  }

  bool HasRunnable() const {
    return !due_.empty() && due_.begin()->first <= NowTick() &&
           due_.begin()->second <= armed_before_run_;
  }

  void OnRun(uint64_t name) {
    ++ran_;
    ASSERT_TRUE(HasRunnable());
    ASSERT_EQ(due_.begin()->second, name);
    due_.erase(due_.begin());
    Forget(armed_.find(name));
    const uint64_t dice = random_.Below(10);
    if (dice < 3) Arm();
    if (dice >= 2 && dice < 4) DisarmAny();
  }

  void CheckState() {
    ASSERT_EQ(wheel_.size(), armed_.size());
    const TimePoint next = wheel_.NextDue();
    const TimePoint exact = due_.empty() ? kNever
                            : due_.begin()->first <= NowTick()
                                ? now_
                                : At(Milliseconds(due_.begin()->first));
    if (next == exact) return;
    ASSERT_LT(next, exact);
    ASSERT_GT(next, now_);
    ASSERT_TRUE(disarmed_ticks_.contains(
        std::chrono::floor<Milliseconds>(next.time_since_epoch()).count()));
  }

  int64_t NowTick() const {
    return std::chrono::floor<Milliseconds>(now_.time_since_epoch()).count();
  }

  SeededRandom random_;
  const Disarming disarming_;
  TimePoint now_;
  std::multimap<int64_t, uint64_t> due_;  // tick to name; equal ticks in the order of insertion
  std::unordered_map<uint64_t, Entry> armed_;
  std::unordered_map<uint64_t, TimerId> past_ids_;
  std::vector<uint64_t> names_;
  std::set<int64_t> disarmed_ticks_;
  uint64_t armed_count_ = 0;
  uint64_t armed_before_run_ = 0;
  size_t ran_ = 0;
  TimerWheel wheel_;  // last: its tasks refer to the rest
};

TEST(TimerWheel, BehavesLikeAMultimap) {
  int steps = 0;
  size_t ran = 0;
  for (uint64_t seed = 1; steps < 300'000 && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    ModelCheck check(seed, seed % 4 == 0 ? Disarming::kNone : Disarming::kSome);
    steps += check.Run(5000);
    ran += check.ran();
  }
  EXPECT_GT(ran, 50'000u);  // it did check something
}

}  // namespace
}  // namespace denselet::reactor
