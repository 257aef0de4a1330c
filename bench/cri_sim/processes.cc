#include "bench/cri_sim/processes.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

namespace denselet::cri_sim {
namespace {

using Kind = ScriptStep::Kind;

constexpr Duration kLogEveryMin = Milliseconds(1);

// Nobody is hurt when it cannot be written: the kubelet then finds no message.
void WriteTerminationMessage(const std::string& path, std::string_view text) {
  if (path.empty()) return;
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t written = write(fd, text.data(), text.size());
  close(fd);
}

}  // namespace

Processes::~Processes() {
  for (auto& [id, process] : running_) {
    for (const reactor::TimerId timer : {process.step, process.log, process.term, process.kill}) {
      loop_.Disarm(timer);
    }
  }
}

Processes::Process& Processes::Of(Container& container) { return running_[container.id]; }

Processes::Process* Processes::Find(const std::string& id, Container*& container) {
  const auto found = running_.find(id);
  container = model_.FindContainer(id);
  return found == running_.end() || container == nullptr ? nullptr : &found->second;
}

void Processes::Start(Container& container) {
  if (container.spec.script.empty()) return;
  Of(container).steps = ParseScript(container.spec.script);
  // Not inside the call that starts it: the start is answered first.
  later_.Run({}, [this, id = container.id] { Run(id); });
}

void Processes::Run(const std::string& id) {
  for (;;) {
    Container* container = nullptr;
    Process* const process = Find(id, container);
    if (process == nullptr || process->next == process->steps.size()) return;
    const ScriptStep step = process->steps[process->next++];
    if (!RunStep(*container, *process, step)) return;
  }
}

bool Processes::RunStep(Container& container, Process& process, const ScriptStep& step) {
  const std::string id = container.id;
  const bool last = process.next == process.steps.size();
  switch (step.kind) {
    case Kind::kSleep:
      if (step.time == Duration::max()) return false;
      process.step = loop_.Arm(After(loop_.Now(), step.time),
                               [this, id, last] { last ? End(id, 0, {}) : Run(id); });
      return false;
    case Kind::kEcho:
      WriteLine(container, step.text);
      if (last) End(id, 0, {});
      return !last;
    case Kind::kLog:
      RunLog(id, std::max(step.time, kLogEveryMin), step.text);
      return true;
    case Kind::kExit:
      End(id, step.code, {});
      return false;
    case Kind::kOom:
      End(id, step.code, "OOMKilled");
      return false;
    case Kind::kMessage:
      WriteTerminationMessage(container.spec.termination_path, step.text);
      return true;
    case Kind::kHealthy:
      container.sandbox->healthy = true;
      return true;
    case Kind::kUnhealthy:
      container.sandbox->healthy = false;
      return true;
    case Kind::kOnTerm:
      process.term_time = step.time;
      process.term_code = step.code;
      return true;
    case Kind::kIgnoreTerm:
      process.ignores_term = true;
      return true;
    case Kind::kOther:
      return true;  // as the last one it runs for ever: nothing comes after it
  }
  CHECK(false);
}

void Processes::RunLog(const std::string& id, Duration every, const std::string& text) {
  Container* container = nullptr;
  Process* const process = Find(id, container);
  if (process == nullptr) return;
  WriteLine(*container, text);
  process->log =
      loop_.Arm(After(loop_.Now(), every), [this, id, every, text] { RunLog(id, every, text); });
}

void Processes::WriteLine(const Container& container, std::string_view text) {
  if (container.spec.log_path.empty()) return;
  // A full disk is the kubelet's to notice; the container goes on.
  (void)static_cast<bool>(logs_.Write(container.spec.log_path, loop_.WallNow(), "stdout", text));
}

void Processes::End(const std::string& id, int32_t code, std::string_view reason) {
  Container* const container = model_.FindContainer(id);
  if (container == nullptr || container->state != ContainerState::kRunning) return;
  if (reason.empty()) reason = code == 0 ? "Completed" : "Error";
  model_.Exit(*container, code, reason, loop_.WallNow());
}

void Processes::Terminate(Container& container, Duration grace, reactor::Task done) {
  Process& process = Of(container);
  process.waiting.push_back(std::move(done));
  const std::string id = container.id;
  loop_.Disarm(process.kill);  // a later, shorter grace counts
  process.kill = loop_.Arm(After(loop_.Now(), grace), [this, id] { End(id, 137, {}); });
  if (process.ignores_term) return;
  loop_.Disarm(process.term);
  process.term = loop_.Arm(After(loop_.Now(), process.term_time),
                           [this, id, code = process.term_code] { End(id, code, {}); });
}

void Processes::Stopped(Container& container) {
  logs_.Close(container.spec.log_path);
  auto node = running_.extract(container.id);
  if (node.empty()) return;
  Process& process = node.mapped();
  for (const reactor::TimerId timer : {process.step, process.log, process.term, process.kill}) {
    loop_.Disarm(timer);
  }
  for (reactor::Task& done : process.waiting) loop_.Post(std::move(done));
}

void Processes::Exec(Container& container, std::string_view script, Duration timeout,
                     UniqueFunction<void(ExecOutcome)> done) {
  ExecOutcome outcome;
  Duration time{};
  for (const ScriptStep& step : ParseScript(script)) {
    if (step.kind == Kind::kSleep) {
      time = After(TimePoint(time), step.time).time_since_epoch();
    } else if (step.kind == Kind::kEcho) {
      outcome.output += step.text + "\n";
    } else if (step.kind == Kind::kHealthy) {
      outcome.exit_code = container.sandbox->healthy ? 0 : 1;
    } else if (step.kind == Kind::kUnhealthy) {
      container.sandbox->healthy = false;
    } else if (step.kind == Kind::kExit || step.kind == Kind::kOom) {
      outcome.exit_code = step.code;
      break;
    }
  }
  if (timeout > Duration::zero() && time > timeout) {
    outcome.timed_out = true;
    time = timeout;
  }
  if (time == Duration::max()) time = Hours(24 * 365);
  later_.Run(time, [this, id = container.id, result = std::move(outcome),
                    answer = std::move(done)]() mutable {
    const Container* const still = model_.FindContainer(id);
    if (still == nullptr || still->state != ContainerState::kRunning) result.exit_code = 137;
    answer(std::move(result));
  });
}

}  // namespace denselet::cri_sim
