// Arms and disarms timers at random on every shard: none runs early, twice, or after it was
// disarmed.
#include <iterator>
#include <map>
#include <string>

#include "tests/sim/scenario.h"

namespace denselet::sim {
namespace {

class TimerActor final : public Actor {
 public:
  explicit TimerActor(World& world) : world_(world) {
    for (uint32_t shard = 0; shard < world.size(); ++shard) Tick(shard);
  }

  void Finish() override { finishing_ = true; }

  void Check(std::vector<std::string>& problems) const override {
    if (early_ != 0) problems.push_back("timers ran early: " + std::to_string(early_));
    if (ran_ + disarmed_ != armed_) problems.push_back("timers were lost or ran twice");
    if (ran_after_disarm_ != 0) problems.push_back("disarmed timers ran");
  }

 private:
  struct Armed {
    uint32_t shard;
    reactor::TimerId id;
  };

  void Tick(uint32_t shard) {
    if (finishing_) return;
    reactor::Loop& loop = world_.loop(shard);
    for (uint64_t i = world_.random().Below(4); i > 0; --i) ArmOne(shard);
    if (!timers_.empty() && world_.random().Below(2) == 0) {
      auto victim = timers_.begin();
      std::advance(victim, static_cast<std::ptrdiff_t>(world_.random().Below(timers_.size())));
      // Each loop's timers are its own to touch.
      if (victim->second.shard == shard) Disarm(shard, victim->first);
    }
    const auto pause = Milliseconds(1 + static_cast<int64_t>(world_.random().Below(40)));
    loop.Arm(loop.Now() + pause, [this, shard] { Tick(shard); });
  }

  void ArmOne(uint32_t shard) {
    reactor::Loop& loop = world_.loop(shard);
    const auto distance = Microseconds(static_cast<int64_t>(world_.random().Below(3'000'000)));
    const TimePoint when = loop.Now() + distance;
    const uint64_t number = armed_++;
    const reactor::TimerId id = loop.Arm(when, [this, shard, when, number] {
      world_.Note("timer " + std::to_string(number));
      ++ran_;
      if (world_.loop(shard).Now() < when) ++early_;
      if (timers_.erase(number) == 0) ++ran_after_disarm_;
    });
    timers_[number] = {shard, id};
  }

  void Disarm(uint32_t shard, uint64_t number) {
    if (world_.loop(shard).Disarm(timers_[number].id)) {
      ++disarmed_;
      timers_.erase(number);
    }
  }

  World& world_;
  std::map<uint64_t, Armed> timers_;
  bool finishing_ = false;
  uint64_t armed_ = 0, ran_ = 0, disarmed_ = 0, early_ = 0, ran_after_disarm_ = 0;
};

}  // namespace

std::unique_ptr<Actor> MakeTimerActor(World& world) { return std::make_unique<TimerActor>(world); }

}  // namespace denselet::sim
