// The thread that takes log lines from the rings of their producers and writes them to a
// descriptor: so that no shard ever waits for a disk, a pipe or a terminal.
//
// Owned by main: started before the first producer logs, stopped after the last one has. Each
// producing thread (a shard, main) gets a sink of its own.
//
// Lines are written when they come: the first one wakes the writer. Then it looks again every
// flush_delay until there was nothing, and only then sleeps for good. So a producer makes at most
// one system call per flush_delay (plus one for every quarter of its ring), a line waits
// flush_delay at most, and a burst is one write. Lines of one producer keep their order; between
// producers there is none within flush_delay, as their time stamps show.
//
// And when the descriptor does not take them? A full pipe or a slow disk holds up this thread only:
// rings fill, drop their newest lines and count them. A write that fails (EPIPE, ENOSPC) loses the
// lines of that write and counts them; the next lines try again. Either way a line in the log tells
// the number as soon as something can be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_ring.h"
#include "base/result.h"

namespace denselet::reactor {

struct LogWriterOptions {
  LogFormat format;  // of the writer's own lines
  LogRingConfig ring;
  size_t producers_max = 64;
  // Not seen by a person, and of no weight against fsync-less logging; 200 wake-ups a second at
  // most. A ring holds what a shard logs in that time even at 50 MB/s.
  Duration flush_delay = Milliseconds(5);
};

struct LogWriterStats {
  uint64_t written_total = 0;  // lines
  uint64_t dropped_total = 0;  // by full rings
  uint64_t lost_total = 0;     // by writes that failed
  uint64_t wakeups_total = 0;  // system calls of producers
};

class LogWriter {
 public:
  // The descriptor is duplicated. It may be blocking or not.
  static Result<std::unique_ptr<LogWriter>> Start(int fd, const Clock& clock,
                                                  const LogWriterOptions& options = {});
  // Stops with little patience, a second; call Stop() before.
  ~LogWriter();

  // Any thread. The sink is for one thread, and lives as long as the writer. `name`, a literal, is
  // what a line about its dropped lines says. kOverloaded: producers_max have one.
  Result<LogSink*> AddProducer(const char* name);

  // What was logged before this call is written when it returns; or kDeadlineExceeded. Not on a
  // shard: it waits.
  Status Flush(Duration wait_max);

  // Writes what is there and ends the thread. After wait_max it is left behind, stuck in its write
  // or giving up. Not on a shard.
  Status Stop(Duration wait_max);

  // Any thread.
  LogWriterStats stats() const;

 private:
  class State;

  explicit LogWriter(std::shared_ptr<State> state);

  // Shared with the thread, which outlives this object when its descriptor is stuck.
  const std::shared_ptr<State> state_;
};

}  // namespace denselet::reactor
