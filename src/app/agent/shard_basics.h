// What everything on a shard is given, whatever its role: time, chance and a log. Also reports
// turns that were too long, and keeps the log's local time right when clocks are put forward.
//
// One for each shard, made and destroyed there by Agent.
#pragma once

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "reactor/real_random.h"
#include "reactor/shard.h"

namespace denselet::app {

// How everybody logs.
struct LogSettings {
  LogStyle style = LogStyle::kText;
  LogLevels levels = {};
};

class ShardBasics {
 public:
  ShardBasics(reactor::Shard& shard, const Clock& clock, const LogVerbosity& verbosity,
              LogStyle style, LogSink& sink);
  ~ShardBasics();
  ShardBasics(const ShardBasics&) = delete;
  ShardBasics& operator=(const ShardBasics&) = delete;

  reactor::Shard& shard() { return shard_; }
  reactor::Loop& loop() { return shard_.loop(); }
  Random& random() { return random_; }
  Logger log() const { return Logger(output_); }

 private:
  void FollowTimeZone();

  reactor::Shard& shard_;
  reactor::RealRandom random_;
  LogOutput output_;
  reactor::TimerId time_zone_timer_;
};

// Of the calling thread, now.
LogFormat MakeLogFormat(LogStyle style, const Clock& clock);

}  // namespace denselet::app
