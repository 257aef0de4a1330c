// Settings from JSON: what a scenario file, --set and the command `set` of the control socket say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "bench/cri_sim/settings.h"

namespace denselet::cri_sim {

class Json;

// "5ms", "uniform 1ms 10ms", "lognormal 5ms 0.5".
Result<Latency> ParseLatency(std::string_view text);

// Changes what `json` names and leaves the rest; an unknown key is an error and changes nothing.
Status ApplySettings(std::string_view json, Settings& settings);
Status ApplySettings(const Json& json, Settings& settings);

struct TimedCommand {
  Duration at;
  std::string command;  // JSON, for the control
};
struct Scenario {
  Settings settings;
  std::vector<TimedCommand> commands;  // from the key `at`
};
// YAML or JSON. An error says "NAME:LINE: " and what is wrong there.
Result<Scenario> ParseScenario(std::string_view yaml, const std::string& name);

}  // namespace denselet::cri_sim
