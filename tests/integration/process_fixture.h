// A runner of child processes on each real loop, on time that the test can push on, and helpers to
// see what children do.
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "reactor/api/io.h"
#include "reactor/process_runner.h"
#include "reactor/spawn.h"
#include "reactor/unique_fd.h"
#include "tests/integration/loop_fixture.h"
#include "tests/integration/resources.h"

namespace denselet::reactor {

// Real time, and more of it when the test says so: deadlines come when the test wants them.
class ShiftedClock final : public Clock {
 public:
  TimePoint Now() const override { return real_.Now() + shift_; }
  WallTime WallNow() const override { return real_.WallNow() + shift_; }
  void Advance(Duration d) { shift_ += d; }

 private:
  RealClock real_;
  Duration shift_{};
};

inline std::string ReadAll(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A zombie that its new parent has not reaped yet is not alive.
inline bool IsAlive(pid_t pid) {
  const std::string stat = ReadAll("/proc/" + std::to_string(pid) + "/stat");
  const size_t name_end = stat.rfind(") ");
  return name_end != std::string::npos && stat[name_end + 2] != 'Z' && stat[name_end + 2] != 'X';
}

// The line of a /proc/<pid>/status that says where its thread may run.
inline std::string CpusAllowed(const std::string& status) {
  const size_t begin = status.find("Cpus_allowed_list:");
  EXPECT_NE(begin, std::string::npos);
  return status.substr(begin, status.find('\n', begin) - begin);
}

// Neither running nor zombies.
inline bool HasChildren() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

// The child of this process, when there is one.
inline pid_t OnlyChild() {
  std::istringstream children(ReadAll("/proc/thread-self/children"));
  pid_t child = 0;
  children >> child;
  return child;
}

// A process that traces another and never asks for its end. Until the tracer is gone, the one that
// is traced can be killed but not reaped by its parent: so it looks like one that sleeps in the
// kernel and cannot be woken.
class Tracer {
 public:
  explicit Tracer(pid_t traced) {
    int told[2];
    EXPECT_EQ(::pipe2(told, O_CLOEXEC), 0);
    const UniqueFd reader(told[0]), writer(told[1]);
    pid_ = ::fork();
    if (pid_ == 0) {
      const char traces = ::ptrace(PTRACE_SEIZE, traced, nullptr, nullptr) == 0;
      (void)!::write(writer.get(), &traces, 1);
      while (true) ::pause();
    }
    char traces = 0;
    EXPECT_EQ(::read(reader.get(), &traces, 1), 1);
    traces_ = traces != 0;
  }
  ~Tracer() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  bool traces() const { return traces_; }

 private:
  pid_t pid_;
  bool traces_ = false;
};

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string name = std::filesystem::temp_directory_path() / "process_test.XXXXXX";
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = std::filesystem::canonical(name);
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline ProcessSpec Shell(std::string script) {
  return {.argv = {"/bin/sh", "-c", std::move(script)},
          .environment = {"PATH=/usr/bin:/bin"},
          .working_directory = "",
          .input = ""};
}

inline ProcessSpec Program(std::vector<std::string> argv) {
  return {.argv = std::move(argv), .environment = {}, .working_directory = "", .input = ""};
}

inline Context Until(TimePoint deadline) {
  Context context;
  context.deadline = deadline;
  return context;
}

inline Context CancelledBy(const CancelSource& source) {
  Context context;
  context.cancel = source.token();
  return context;
}

class ProcessTest : public LoopTest {
 protected:
  using Answer = std::optional<Result<ProcessResult>>;

  // However slow the machine: output that has no end is the subject of tests of its own.
  static constexpr ProcessRunnerOptions kPatient = {.output_wait_max = Hours(1)};

  static void SetUpTestSuite() {
    ::sigaction(SIGPIPE, nullptr, &sigpipe_before_);
    PrepareForChildren();
  }
  static void TearDownTestSuite() { ::sigaction(SIGPIPE, &sigpipe_before_, nullptr); }

  ProcessTest() {
    loop_ = *MakeEventLoop(GetParam(), time_);
    UseRunner(kPatient);
  }
  ~ProcessTest() override {
    runner_.reset();
    loop_.reset();
    EXPECT_FALSE(HasChildren());
  }

  void UseRunner(const ProcessRunnerOptions& options) {
    runner_ = std::make_unique<RealProcessRunner>(*loop_, options);
  }
  void UseLoop(const LoopOptions& options) {
    runner_.reset();
    loop_ = *MakeEventLoop(GetParam(), time_, options);
    UseRunner(kPatient);
  }

  ProcessDone Keep(Answer& answer) {
    return [&answer](Result<ProcessResult> result) {
      EXPECT_FALSE(answer.has_value()) << "called back twice";
      answer.emplace(std::move(result));
    };
  }

  void Start(const Context& context, ProcessSpec spec, Answer& answer) {
    runner_->Run(context, std::move(spec), Keep(answer));
    EXPECT_FALSE(answer.has_value()) << "called back inside Run";
  }
  [[nodiscard]] bool RunUntilAnswered(const Answer& answer) {
    return RunUntil([&] { return answer.has_value(); });
  }

  Result<ProcessResult> Run(const Context& context, ProcessSpec spec) {
    Answer answer;
    Start(context, std::move(spec), answer);
    if (RunUntilAnswered(answer)) return *std::move(answer);
    runner_.reset();  // or it would call back into this dead frame
    return Error(ErrorCode::kBug, "no answer came");
  }
  ProcessResult RunWell(ProcessSpec spec) {
    Result<ProcessResult> result = Run({}, std::move(spec));
    if (result) return *std::move(result);
    ADD_FAILURE() << result.error().message();
    return {};
  }
  Error RunBadly(const Context& context, ProcessSpec spec) {
    Result<ProcessResult> result = Run(context, std::move(spec));
    if (!result) return result.error();
    ADD_FAILURE() << "it ran";
    return Error(ErrorCode::kBug, "");
  }

  // Starts a shell that starts `grandchild`, tells its number and waits for it. Returns the number.
  pid_t StartWithGrandchild(const Context& context, const std::string& grandchild, Answer& answer) {
    const std::filesystem::path file = directory_.path() / "pid";
    std::filesystem::remove(file);
    Start(context, Shell(grandchild + " & echo $! > " + file.string() + "; wait"), answer);
    std::string told;
    EXPECT_TRUE(RunUntil([&] { return (told = ReadAll(file)).ends_with('\n'); }));
    const pid_t pid = std::stoi(told);
    EXPECT_TRUE(IsAlive(pid));
    return pid;
  }
  [[nodiscard]] bool RunUntilDead(pid_t pid) {
    return RunUntil([&] { return !IsAlive(pid); });
  }

  static inline struct sigaction sigpipe_before_ {};
  TemporaryDirectory directory_;
  ShiftedClock time_;
  std::unique_ptr<RealProcessRunner> runner_;
};

}  // namespace denselet::reactor
