#include "app/agent/agent_locks.h"

#include <string>
#include <utility>

#include "reactor/file_calls.h"

namespace denselet::app {
namespace {

constexpr Duration kLockPeriod = Milliseconds(100);
constexpr uint32_t kFolderMode = 0750;

Status TakeFile(const AgentOptions& options, reactor::ProgramEnd& end, const Logger& log,
                AgentLocks& locks) {
  log.Info("Acquiring file lock", KV("path", options.lock_file));
  while (true) {
    Result<std::optional<reactor::FileLock>> taken = reactor::FileLock::Try(options.lock_file);
    if (!taken) return taken.error().With("acquire file lock");
    locks.file = *std::move(taken);
    if (locks.file) break;
    locks.ended = end.Wait(kLockPeriod);
    if (locks.ended) return Ok();
  }
  if (!options.exit_on_lock_contention) return Ok();
  log.Info("Watching for inotify events", KV("path", options.lock_file));
  return end.EndWhenOpened(options.lock_file);
}

Status TakeRoot(const AgentOptions& options, AgentLocks& locks) {
  const Status made = reactor::file_calls::MakeDirectories(options.OwnFolder(), kFolderMode);
  if (!made) return made.error().With("make the agent's folder");
  const std::string path = options.OwnFolder() + "/lock";
  Result<std::optional<reactor::FileLock>> taken = reactor::FileLock::Try(path);
  if (!taken) return taken.error();
  locks.root = *std::move(taken);
  if (locks.root) return locks.root->WriteHolder();
  const std::optional<int64_t> holder = reactor::FileLock::ReadHolder(path);
  const std::string who = holder ? "process " + std::to_string(*holder) : "another process";
  return Error(ErrorCode::kAlreadyExists, "another agent runs with it, " + who)
      .With("root directory", options.root_folder);
}

}  // namespace

Result<AgentLocks> TakeLocks(const AgentOptions& options, reactor::ProgramEnd& end,
                             const Logger& log) {
  AgentLocks locks;
  if (!options.lock_file.empty()) {
    if (const Status taken = TakeFile(options, end, log, locks); !taken) return taken.error();
    if (locks.ended) return locks;
  }
  if (const Status taken = TakeRoot(options, locks); !taken) return taken.error();
  return locks;
}

}  // namespace denselet::app
