#include "app/agent/agent_locks.h"

#include <string>
#include <utility>

#include "reactor/file_calls.h"

namespace denselet::app {
namespace {

constexpr Duration kLockPeriod = Milliseconds(100);
constexpr uint32_t kFolderMode = 0750;
constexpr uint32_t kJournalMode = 0700;

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

Status TakeHeld(const std::string& path, std::optional<reactor::FileLock>& lock) {
  Result<std::optional<reactor::FileLock>> taken = reactor::FileLock::Try(path);
  if (!taken) return taken.error();
  lock = *std::move(taken);
  if (lock) return lock->WriteHolder();
  const std::optional<int64_t> holder = reactor::FileLock::ReadHolder(path);
  const std::string who = holder ? "process " + std::to_string(*holder) : "another process";
  return Error(ErrorCode::kAlreadyExists, "another agent runs with it, " + who);
}

Status TakeRoot(const AgentOptions& options, AgentLocks& locks) {
  const Status made = reactor::file_calls::MakeDirectories(options.OwnFolder(), kFolderMode,
                                                           reactor::Durability::kSynced);
  if (!made) return made.error().With("make the agent's folder");
  const Status taken = TakeHeld(options.OwnFolder() + "/lock", locks.root);
  if (!taken && taken.error().code() == ErrorCode::kAlreadyExists) {
    return taken.error().With("root directory", options.root_folder);
  }
  return taken;
}

// The journal passes over names that begin with a dot.
Status TakeJournal(const AgentOptions& options, const Logger& log, AgentLocks& locks) {
  const std::string& folder = options.pods.core.journal.directory;
  if (folder.empty()) return Ok();
  const Status made =
      reactor::file_calls::MakeDirectories(folder, kJournalMode, reactor::Durability::kSynced);
  const Status taken = made ? TakeHeld(folder + "/.lock", locks.journal) : made;
  if (taken) return Ok();
  if (made && taken.error().code() == ErrorCode::kAlreadyExists) {
    return taken.error().With("journal", folder);
  }
  log.Error(taken.error(), "Could not lock the journal", KV("directory", folder));
  return Ok();
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
  if (const Status taken = TakeJournal(options, log, locks); !taken) return taken.error();
  return locks;
}

}  // namespace denselet::app
