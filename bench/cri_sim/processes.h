// What goes on inside simulated containers: scripts run on timers, signals end them. A container
// without a script costs nothing here.
//
// Owned by the Simulator, on its shard; tells the Model when a process ends.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_function.h"
#include "bench/cri_sim/later.h"
#include "bench/cri_sim/log_writer.h"
#include "bench/cri_sim/model.h"
#include "bench/cri_sim/script.h"
#include "reactor/api/loop.h"

namespace denselet::cri_sim {

struct ExecOutcome {
  bool timed_out = false;
  int32_t exit_code = 0;
  std::string output;
};

class Processes {
 public:
  Processes(reactor::Loop& loop, Model& model, LogWriter& logs)
      : loop_(loop), model_(model), logs_(logs), later_(loop) {}
  ~Processes();

  // The container has just been started.
  void Start(Container& container);
  // SIGTERM, then SIGKILL after `grace`; `done` when it has ended.
  void Terminate(Container& container, Duration grace, reactor::Task done);
  // From the model: it has ended.
  void Stopped(Container& container);

  // A command run beside it, which takes `timeout` at most (zero: any time). Exits with 137 when
  // the container ends first.
  void Exec(Container& container, std::string_view script, Duration timeout,
            UniqueFunction<void(ExecOutcome)> done);

 private:
  struct Process {
    std::vector<ScriptStep> steps;
    size_t next = 0;
    Duration term_time{};
    int32_t term_code = 143;
    bool ignores_term = false;
    reactor::TimerId step, log, term, kill;
    std::vector<reactor::Task> waiting;
  };

  Process& Of(Container& container);
  void Run(const std::string& id);
  void RunLog(const std::string& id, Duration every, const std::string& text);
  // Null when the container or its process is no more.
  Process* Find(const std::string& id, Container*& container);
  // False: the script goes on later or not at all.
  bool RunStep(Container& container, Process& process, const ScriptStep& step);
  void End(const std::string& id, int32_t code, std::string_view reason);
  void WriteLine(const Container& container, std::string_view text);

  reactor::Loop& loop_;
  Model& model_;
  LogWriter& logs_;
  std::map<std::string, Process> running_;  // by container id
  Later later_;                             // beginnings and commands
};

}  // namespace denselet::cri_sim
