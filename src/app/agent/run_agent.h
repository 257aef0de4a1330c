// The agent as a process: log, signals, crash record and CPUs around Agent.
#pragma once

#include "app/agent/agent_options.h"
#include "base/clock.h"
#include "base/result.h"

namespace denselet::app {

// Until a signal ends it (0) or it cannot go on (1, and the log says why). An error: it could not
// begin at all. Called by main, before the program has threads.
Result<int> RunAgentProcess(const AgentOptions& options, const Clock& clock);

}  // namespace denselet::app
