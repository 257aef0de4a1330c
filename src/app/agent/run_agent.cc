#include "app/agent/run_agent.h"

#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/agent/agent.h"
#include "app/agent/agent_locks.h"
#include "app/agent/calm_after_work.h"
#include "app/agent/shard_basics.h"
#include "app/crash_record.h"
#include "app/version.h"
#include "reactor/cpus.h"
#include "reactor/log_writer.h"
#include "reactor/net/local_socket.h"
#include "reactor/program_end.h"
#include "reactor/spare_memory.h"
#include "reactor/spawn.h"

namespace denselet::app {
namespace {

constexpr Seconds kStopTimeMax{20};
constexpr Duration kLogStopTimeMax = Seconds(2);
constexpr Duration kLogFlushTimeMax = Milliseconds(200);
// How often main looks whether a shard hangs, and how long a turn may last before that is told.
constexpr Duration kStuckCheckPeriod = Seconds(10);
constexpr Duration kStuckAfter = Seconds(5);

// From here on every thread and child of ours is born on these CPUs. False: none of them may be
// used.
bool UseCpus(const std::vector<int>& numbers) {
  if (numbers.empty()) return true;
  const reactor::Cpus wanted = reactor::Cpus::Of(numbers).And(reactor::Cpus::OfThisThread());
  wanted.ApplyToThisThread();
  return !wanted.empty();
}

void TellStuck(const reactor::Shards& shards, const Clock& clock, const Logger& log) {
  for (const reactor::StuckShard& stuck : shards.FindStuck(clock.Now(), kStuckAfter)) {
    log.Warning("A shard hangs", KV("shard", stuck.shard), KV("since", stuck.for_long),
                KV("doing", stuck.doing));
  }
}

reactor::ProgramEnd::Reason AwaitEnd(reactor::ProgramEnd& end, Agent& agent, const Clock& clock,
                                     const Logger& log) {
  CalmAfterWork work;
  while (true) {
    if (const auto reason = end.Wait(kStuckCheckPeriod)) return *reason;
    TellStuck(agent.shards(), clock, log);
    if (work.Look(clock.Now(), reactor::CpuTimeUsed())) agent.SpareMemory();
  }
}

// Pods run also where nobody can ask about them.
std::optional<net::LocalSocket> OpenLocalSocket(const std::string& path, const Logger& log) {
  if (path.empty()) return std::nullopt;
  Result<net::LocalSocket> opened = net::LocalSocket::Open(path);
  if (opened) return *std::move(opened);
  log.Error(opened.error(), "Could not listen for denseletctl", KV("path", path));
  return std::nullopt;
}

Result<int> RunBeside(AgentProcess process, const AgentOptions& options, const Logger& log) {
  const Result<AgentLocks> locks = TakeLocks(options, process.end, log);
  if (!locks) return locks.error();
  if (locks->ended) return locks->ended->exit_code;
  std::optional<net::LocalSocket> local = OpenLocalSocket(options.socket, log);
  process.local_socket = local ? &*local : nullptr;
  const Result<std::unique_ptr<Agent>> agent = Agent::Start(process, options);
  if (!agent) return agent.error();
  const reactor::ProgramEnd::Reason reason = AwaitEnd(process.end, **agent, process.clock, log);
  reactor::ProgramEnd::Hurry(kStopTimeMax);
  // What a shard has said of why comes first.
  (void)process.log_writer.Flush(kLogFlushTimeMax);
  if (reason.signal == 0 && !reason.file_opened) {
    log.Info("Stopping, for it cannot run");
  } else {
    log.Info("Stopping", KV("signal", reason.signal), KV("lockFileOpened", reason.file_opened));
  }
  (*agent)->Stop();
  log.Info("Stopped");
  // Last, where whoever started it looks.
  if ((*agent)->failure()) return *(*agent)->failure();
  return reason.exit_code;
}

}  // namespace

Result<int> RunAgentProcess(const AgentOptions& options, const Clock& clock) {
  const bool cpus_used = UseCpus(options.cpus);
  reactor::PrepareForChildren();
  const auto end = reactor::ProgramEnd::Make();
  if (!end) return end.error();
  const LogFormat format = MakeLogFormat(options.log.style, clock);
  reactor::LogWriterOptions writer_options;
  writer_options.format = format;
  writer_options.producers_max = std::max<size_t>(writer_options.producers_max, options.shards + 8);
  const auto writer = reactor::LogWriter::Start(STDERR_FILENO, clock, writer_options);
  if (!writer) return writer.error().With("start the log");
  const Result<LogSink*> sink = (*writer)->AddProducer("main");
  if (!sink) return sink.error();
  LogVerbosity verbosity;
  if (const Status set = verbosity.Set(options.log.levels); !set) return set.error();
  const LogOutput output{.format = format, .clock = clock, .verbosity = verbosity, .sink = **sink};
  const Logger log(output);

  if (!cpus_used) log.Warning("None of the reserved CPUs may be used, all others are");
  const std::string crashes = options.OwnFolder() + "/crashes";
  if (const Status installed = InstallCrashRecorder(crashes, clock); !installed) {
    return installed.error();
  }
  log.Info("Starting", KV("version", kDenseletVersion),
           KV("node", options.node.node.flags.node_name),
           KV("reactor", reactor::BackendName(options.reactor.backend)));
  if (options.reactor.without_uring) {
    log.Info("Could not use io_uring", Err(*options.reactor.without_uring));
  }
  AgentOptions wary = options;
  wary.pods.core.shard.held_back = PodsToHoldBack(ReadCrashRecord(crashes));
  Result<int> code = RunBeside({clock, verbosity, log, **writer, **end}, wary, log);
  if (!code) {
    // Behind what shards have said.
    (void)(*writer)->Flush(kLogFlushTimeMax);
    log.Error(code.error(), "Failed to run the agent");
    code = 1;
  } else if (*code == 0) {
    ForgetCrashes(crashes);
  }
  (void)(*writer)->Stop(kLogStopTimeMax);
  return code;
}

}  // namespace denselet::app
