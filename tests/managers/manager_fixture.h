// One simulated loop with virtual time, a scripted API server on it, and a log that is kept.
#pragma once

#include <gtest/gtest.h>

#include "base/log.h"
#include "base/random.h"
#include "tests/fakes/capturing_log_sink.h"
#include "tests/fakes/scripted_api_server.h"
#include "tests/sim/world.h"

namespace denselet::tests {

class ManagerTest : public testing::Test {
 protected:
  using Fate = ScriptedApiServer::Fate;

  reactor::Loop& loop() { return world_.loop(0); }
  Logger log() { return Logger(output_); }
  TimePoint now() { return world_.clock().Now(); }
  void RunFor(Duration time) { world_.RunUntil(After(now(), time)); }

  sim::World world_{{.seed = 1, .shards = 1}};
  LogVerbosity verbosity_;
  CapturingLogSink sink_;
  LogOutput output_{.format = {}, .clock = world_.clock(), .verbosity = verbosity_, .sink = sink_};
  SeededRandom random_{7};
  ScriptedApiServer api_{world_.loop(0)};
};

inline ScriptedApiServer::Fate Serve() { return {}; }
inline ScriptedApiServer::Fate Refuse(ErrorCode code) {
  return {ScriptedApiServer::Fate::Kind::kRefuse, code};
}
// In the server's own words.
inline ScriptedApiServer::Fate Answer(ErrorCode code) {
  return {ScriptedApiServer::Fate::Kind::kRefuse, code, true};
}
inline ScriptedApiServer::Fate Hang() { return {ScriptedApiServer::Fate::Kind::kHang}; }
inline ScriptedApiServer::Fate ServeAndLose() {
  return {ScriptedApiServer::Fate::Kind::kServeAndLose};
}

}  // namespace denselet::tests
