// That this agent is the only one: on its root directory, on the folder of its journal, which may
// lie elsewhere, and, where --lock-file names one, among all that were given that file.
#pragma once

#include <optional>

#include "app/agent/agent_options.h"
#include "base/log.h"
#include "base/result.h"
#include "reactor/file_lock.h"
#include "reactor/program_end.h"

namespace denselet::app {

// Given back with the process. The root goes before the file: who waits for the file wants the root
// next.
struct AgentLocks {
  std::optional<reactor::FileLock> file = {};
  std::optional<reactor::FileLock> root = {};
  std::optional<reactor::FileLock> journal = {};
  // Set: the program is to end, and holds nothing.
  std::optional<reactor::ProgramEnd::Reason> ended = {};
};

// Waits for the lock file, as the kubelet does, until `end` comes. A root that another agent has is
// an error which names its process: two of them would fight for the same pods. So is a journal that
// another one writes: each would remove the other's files. Makes both folders; a journal's folder
// that cannot be made or locked now is told, for the journal tries on.
Result<AgentLocks> TakeLocks(const AgentOptions& options, reactor::ProgramEnd& end,
                             const Logger& log);

}  // namespace denselet::app
