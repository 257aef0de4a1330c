#include "reactor/process_runner.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "reactor/api/io.h"
#include "reactor/spawn.h"

namespace denselet::reactor {
namespace {

constexpr size_t kReadBytes = 16 << 10;
// Between looks at a child whose end could not be waited for, or not be had yet.
constexpr Duration kWatchRetry = Milliseconds(50);

Error IoError(int32_t result, std::string_view doing) {
  // EBUSY is the loop's word for its own bound.
  if (result != -EBUSY) return Error::FromErrno(-result, doing);
  return Error(ErrorCode::kOverloaded, "the loop has too many operations under way").With(doing);
}

// Standard output or standard error, until its end.
struct Output {
  UniqueFd fd;  // closed at its end
  std::string text;
  bool cut = false;
  OpId op;
  std::array<std::byte, kReadBytes> buffer;

  void Keep(size_t bytes, size_t bytes_max) {
    const size_t kept = std::min(bytes, bytes_max - text.size());
    text.append(reinterpret_cast<const char*>(buffer.data()), kept);
    if (kept < bytes) cut = true;
  }
};

struct Input {
  UniqueFd fd;  // closed when all is written, or nobody reads any more
  std::string text;
  size_t written = 0;
  OpId op;
};

// One child from its start to its answer, or, when the kernel keeps it for longer than anybody
// waits, to its end.
//
// Shared by its callbacks in the loop, and owned by nobody else: it lives until the last of them
// has run, or has died with the loop. The child is reaped last, so that its group's number stays
// its own for as long as the group may have to be killed.
class RunningProcess : public std::enable_shared_from_this<RunningProcess> {
 public:
  RunningProcess(Loop& loop, const ProcessRunnerOptions& options, ProcessSpec spec, Spawned spawned,
                 Gate::Pass pass, Gate& stuck, ProcessDone done)
      : loop_(loop),
        options_(options),
        program_(std::move(spec.argv.front())),
        output_bytes_max_(spec.output_bytes_max),
        child_(std::move(spawned.child)),
        pass_(std::move(pass)),
        stuck_(stuck),
        done_(std::move(done)) {
    input_.fd = std::move(spawned.input);
    input_.text = std::move(spec.input);
    output_.fd = std::move(spawned.output);
    error_output_.fd = std::move(spawned.error_output);
  }

  void Start(const Context& context, const CancelToken& runner_gone) {
    for (const int fd : {child_.pidfd(), output_.fd.get(), error_output_.fd.get()}) {
      loop_.io().Adopt(fd);
    }
    Watch();
    Read(output_);
    Read(error_output_);
    if (input_.fd) {
      loop_.io().Adopt(input_.fd.get());
      Write();
    }
    deadline_ = loop_.Arm(context.deadline, [self = shared_from_this()] {
      self->Stop(Error(ErrorCode::kUnknownOutcome, "killed at the deadline"));
    });
    cancelled_ = context.cancel.OnCancel(
        [this] { Stop(Error(ErrorCode::kCancelled, "killed because it was cancelled")); });
    runner_gone_ = runner_gone.OnCancel([this] { Abandon(); });
  }

 private:
  enum class State : uint8_t {  // only moves right
    kRunning,
    kDraining,  // the child has ended, its output is still open
    kKilled,    // the group was killed, the child's end is to come
    kClosing,   // the child has ended; the last callbacks are to come
    kAnswered,
  };

  void MoveTo(State next) {
    CHECK(next > state_);
    state_ = next;
  }

  // A callback that keeps this object; the last one of all gives the answer.
  template <class Handle>
  IoDone Tracked(Handle handle) {
    ++under_way_;
    return [self = shared_from_this(), handle](int32_t result) {
      --self->under_way_;
      handle(result);
      if (self->state_ == State::kClosing && self->under_way_ == 0) self->Answer();
    };
  }

  void Watch() {
    loop_.io().Poll(child_.pidfd(), POLLIN, Tracked([this](int32_t) { OnWatched(); }));
  }

  void OnWatched() {
    end_ = child_.PeekEnd();
    if (end_) return OnEnded();
    // The loop was too busy to watch, or a tracer of the child learns of its end before we do.
    loop_.Arm(After(loop_.Now(), kWatchRetry), [self = shared_from_this()] { self->Watch(); });
  }

  void OnEnded() {
    if (state_ == State::kKilled || !HasOpenOutput()) return Close();
    MoveTo(State::kDraining);
    ArmDrain();
  }

  void ArmDrain() {
    drain_ = loop_.Arm(After(loop_.Now(), options_.output_wait_max),
                       [self = shared_from_this()] { self->OnDrainOver(); });
  }

  void OnDrainOver() {
    if (state_ != State::kDraining) return;
    if (held_open_) return Close();  // by something that has left the group
    // Once more after the kill: now the end should come, and with it all that was written before.
    held_open_ = true;
    child_.KillGroup();
    ArmDrain();
  }

  bool HasOpenOutput() const { return output_.fd || error_output_.fd; }

  void Read(Output& output) {
    output.op =
        loop_.io().Read(output.fd.get(), output.buffer,
                        Tracked([this, &output](int32_t result) { OnRead(output, result); }));
  }

  void OnRead(Output& output, int32_t result) {
    if (state_ == State::kClosing) return;
    if (result == -EINTR) return Read(output);
    if (result > 0) {
      output.Keep(static_cast<size_t>(result), output_bytes_max_);
      return Read(output);
    }
    output.fd.Reset();
    if (result < 0) return Stop(IoError(result, "read its output"));
    if (state_ == State::kDraining && !HasOpenOutput()) Close();
  }

  void Write() {
    const auto rest = std::as_bytes(std::span(input_.text)).subspan(input_.written);
    input_.op = loop_.io().Write(input_.fd.get(), rest,
                                 Tracked([this](int32_t result) { OnWritten(result); }));
  }

  void OnWritten(int32_t result) {
    if (state_ == State::kClosing) return;
    if (result == -EINTR) return Write();
    if (result > 0) input_.written += static_cast<size_t>(result);
    if (result > 0 && input_.written < input_.text.size()) return Write();
    input_.fd.Reset();
    if (result < 0 && result != -EPIPE) Stop(IoError(result, "write its input"));
  }

  // Ends the child before its time. The first reason counts; one that comes after the end is late.
  void Stop(Error why) {
    switch (state_) {
      case State::kRunning:
        failure_ = std::move(why);
        child_.KillGroup();
        MoveTo(State::kKilled);
        end_wait_ = loop_.Arm(After(loop_.Now(), options_.end_wait_max),
                              [self = shared_from_this()] { self->OnStuck(); });
        return;
      case State::kDraining:
        failure_ = std::move(why);
        child_.KillGroup();
        return Close();
      case State::kKilled:
      case State::kClosing:
      case State::kAnswered:
        return;
    }
  }

  // Killed, and still there: nobody is kept waiting for it any more. What follows its end is as
  // always, but for the answer.
  void OnStuck() {
    cancelled_.Forget();
    stuck_pass_ = stuck_.Enter();
    ProcessDone done = std::exchange(done_, nullptr);
    done(Error(ErrorCode::kUnknownOutcome,
               failure_->message() + ", but the kernel has not let go of it")
             .With("run " + program_));
  }

  // The runner is going, and its gates with it.
  void Abandon() {
    pass_.reset();
    stuck_pass_.reset();
    Stop(Error(ErrorCode::kCancelled, "the runner is gone"));
    loop_.Disarm(end_wait_);
    done_ = nullptr;
  }

  // The child has ended and nothing more is read or written. What is under way still has to call
  // back before its descriptors and buffers may go.
  void Close() {
    MoveTo(State::kClosing);
    loop_.Disarm(deadline_);
    loop_.Disarm(drain_);
    loop_.Disarm(end_wait_);
    for (const OpId op : {input_.op, output_.op, error_output_.op}) loop_.io().Cancel(op);
  }

  void Answer() {
    MoveTo(State::kAnswered);
    cancelled_.Forget();
    runner_gone_.Forget();
    child_.Reap();
    input_.fd.Reset();
    output_.fd.Reset();
    error_output_.fd.Reset();
    // Now there is room for another, also for one that is started by the callback.
    pass_.reset();
    stuck_pass_.reset();
    if (ProcessDone done = std::exchange(done_, nullptr)) done(MakeAnswer());
  }

  Result<ProcessResult> MakeAnswer() {
    if (failure_) return failure_->With("run " + program_);
    return ProcessResult{.exit_code = end_->exit_code,
                         .signal = end_->signal,
                         .output = std::move(output_.text),
                         .error_output = std::move(error_output_.text),
                         .output_cut = output_.cut || error_output_.cut,
                         .output_held_open = held_open_};
  }

  Loop& loop_;
  const ProcessRunnerOptions options_;
  const std::string program_;
  const size_t output_bytes_max_;
  State state_ = State::kRunning;
  Child child_;
  std::optional<Child::End> end_;
  std::optional<Error> failure_;  // the answer, when there is no result
  bool held_open_ = false;        // the output, after the child's end
  Input input_;
  Output output_;
  Output error_output_;
  uint32_t under_way_ = 0;  // I/O operations that have not called back
  TimerId deadline_;
  TimerId drain_;
  TimerId end_wait_;  // armed by the kill
  CancelRegistration cancelled_;
  CancelRegistration runner_gone_;
  std::optional<Gate::Pass> pass_;
  Gate& stuck_;  // while done_ is there: it is the runner's
  std::optional<Gate::Pass> stuck_pass_;
  ProcessDone done_;  // none: answered already, or the runner is gone
};

}  // namespace

RealProcessRunner::RealProcessRunner(Loop& loop, const ProcessRunnerOptions& options)
    : loop_(loop), options_(options), running_(loop), stuck_(loop) {
  CHECK(IsPreparedForChildren());
}

RealProcessRunner::~RealProcessRunner() { gone_.Cancel(); }

Status RealProcessRunner::Admit(const Context& context) const {
  if (context.cancel.cancelled()) return Error(ErrorCode::kCancelled, "cancelled before the start");
  if (context.Expired(loop_.Now())) {
    return Error(ErrorCode::kDeadlineExceeded, "the deadline passed before the start");
  }
  if (running() >= options_.processes_max) {
    return Error(ErrorCode::kOverloaded, "too many child processes");
  }
  return Ok();
}

void RealProcessRunner::Run(const Context& context, ProcessSpec spec, ProcessDone done) {
  ActivityScope scope(loop_.activity(), "start process");
  const Status admitted = Admit(context);
  if (!admitted) return Refuse(admitted.error(), std::move(done));
  Result<Spawned> spawned = Spawn(spec);
  if (!spawned) return Refuse(spawned.error(), std::move(done));
  std::optional<Gate::Pass> pass = running_.Enter();
  CHECK(pass.has_value());  // this gate is never closed
  std::make_shared<RunningProcess>(loop_, options_, std::move(spec), std::move(*spawned),
                                   std::move(*pass), stuck_, std::move(done))
      ->Start(context, gone_.token());
}

void RealProcessRunner::Refuse(Error error, ProcessDone done) {
  loop_.Post([gone = gone_.token(), error = std::move(error), done = std::move(done)]() mutable {
    if (!gone.cancelled()) done(std::move(error));
  });
}

}  // namespace denselet::reactor
