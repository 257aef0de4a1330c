#include "app/agent/shard_basics.h"

#include <unistd.h>

#include "reactor/local_time.h"

namespace denselet::app {
namespace {

// Clocks are put forward at full quarters of an hour, in every time zone.
constexpr Duration kQuarter = Minutes(15);

}  // namespace

LogFormat MakeLogFormat(LogStyle style, const Clock& clock) {
  return {.style = style,
          .utc_offset = reactor::UtcOffset(clock.WallNow()),
          .thread_id = static_cast<uint64_t>(::gettid())};
}

ShardBasics::ShardBasics(reactor::Shard& shard, const Clock& clock, const LogVerbosity& verbosity,
                         LogStyle style, LogSink& sink)
    : shard_(shard),
      output_{.format = MakeLogFormat(style, clock),
              .clock = clock,
              .verbosity = verbosity,
              .sink = sink} {
  shard_.loop().OnStall([log = log(), index = shard.index()](const reactor::Stall& stall) {
    log.Warning("A turn of a shard took long", KV("shard", index), KV("took", stall.took),
                KV("doing", stall.doing));
  });
  FollowTimeZone();
}

ShardBasics::~ShardBasics() {
  shard_.loop().Disarm(time_zone_timer_);
  shard_.loop().OnStall(nullptr);
}

void ShardBasics::FollowTimeZone() {
  const WallTime now = loop().WallNow();
  output_.format.utc_offset = reactor::UtcOffset(now);
  const Duration into_quarter = now.time_since_epoch() % kQuarter;
  time_zone_timer_ =
      loop().Arm(After(loop().Now(), kQuarter - into_quarter), [this] { FollowTimeZone(); });
}

}  // namespace denselet::app
