// What ./dev sim runs: actors that load the reactor's parts on simulated loops while the world
// misbehaves, then in peace, and then say what was wrong. Everything they do is a function of the
// seed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/world.h"

namespace denselet::sim {

class Actor {
 public:
  virtual ~Actor() = default;
  // The faults are over; what is under way is brought to its end and nothing new is begun.
  virtual void Finish() = 0;
  // After everything has come to rest.
  virtual void Check(std::vector<std::string>& problems) const = 0;
};

std::unique_ptr<Actor> MakeTimerActor(World& world);
std::unique_ptr<Actor> MakeMailActor(World& world);
std::unique_ptr<Actor> MakeEchoActor(World& world);
std::unique_ptr<Actor> MakeFileActor(World& world);

struct ScenarioResult {
  uint64_t trace_hash = 0;
  uint64_t trace_lines = 0;
  Duration virtual_time{};
  std::vector<std::string> problems;
};

ScenarioResult RunReactorScenario(uint64_t seed, Trace::Mode mode);

}  // namespace denselet::sim
