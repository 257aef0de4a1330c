#include "reactor/spawn.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/time.h"
#include "reactor/cpus.h"

namespace denselet::reactor {
namespace {

// For the end of a child that was killed when nothing but its destructor is left to wait.
constexpr Milliseconds kEndWaitMax{1000};

// Of the process, as PrepareForChildren found them: before there were shards to be pinned.
Cpus process_cpus;

// For KillChildren; 0: free. One that finds no place is left alone by it.
constinit std::array<std::atomic<pid_t>, 1024> children{};
static_assert(std::atomic<pid_t>::is_always_lock_free);

void Remember(pid_t pid) {
  for (std::atomic<pid_t>& place : children) {
    pid_t free = 0;
    if (place.compare_exchange_strong(free, pid)) return;
  }
}

// Before it is reaped: then the number may be another's.
void Forget(pid_t pid) {
  for (std::atomic<pid_t>& place : children) {
    pid_t same = pid;
    if (place.compare_exchange_strong(same, 0)) return;
  }
}

// One of the child's standard streams before it is started. `ours` may be none.
struct Stream {
  UniqueFd childs;
  UniqueFd ours;
};

Result<Stream> OpenNothing() {
  UniqueFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null) return Error::FromErrno(errno, "open /dev/null");
  return Stream{.childs = std::move(null), .ours = {}};
}

struct Pipe {
  UniqueFd reader, writer;
};

Result<Pipe> OpenPipe() {
  int fds[2];
  if (::pipe2(fds, O_CLOEXEC) != 0) return Error::FromErrno(errno, "pipe");
  return Pipe{UniqueFd(fds[0]), UniqueFd(fds[1])};
}

Result<Stream> OpenToChild() {
  Result<Pipe> pipe = OpenPipe();
  if (!pipe) return pipe.error();
  return Stream{.childs = std::move(pipe->reader), .ours = std::move(pipe->writer)};
}

Result<Stream> OpenFromChild() {
  Result<Pipe> pipe = OpenPipe();
  if (!pipe) return pipe.error();
  return Stream{.childs = std::move(pipe->writer), .ours = std::move(pipe->reader)};
}

// What the child does before exec, in the order of the calls. These calls only fail for lack of
// memory, which ends the agent elsewhere too.
class FileActions {
 public:
  FileActions() { CHECK(::posix_spawn_file_actions_init(&actions_) == 0); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }

  void ChangeDirectory(const UniqueFd& directory) {
    CHECK(::posix_spawn_file_actions_addfchdir_np(&actions_, directory.get()) == 0);
  }
  void Move(const UniqueFd& from, int to) {
    CHECK(::posix_spawn_file_actions_adddup2(&actions_, from.get(), to) == 0);
  }
  void CloseAbove(int fd) {
    CHECK(::posix_spawn_file_actions_addclosefrom_np(&actions_, fd + 1) == 0);
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

class Attributes {
 public:
  Attributes() {
    sigset_t all, none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    CHECK(::posix_spawnattr_init(&attributes_) == 0);
    CHECK(::posix_spawnattr_setsigdefault(&attributes_, &all) == 0);
    CHECK(::posix_spawnattr_setsigmask(&attributes_, &none) == 0);
    constexpr int kFlags = POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
    CHECK(::posix_spawnattr_setflags(&attributes_, kFlags) == 0);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

// Ends with a null pointer, as exec wants it.
std::vector<char*> PointersTo(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& s : strings) pointers.push_back(const_cast<char*>(s.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

bool HasNul(const std::string& s) { return s.find('\0') != std::string::npos; }

// exec would take a string only as far as its first NUL, silently.
Status Validate(const ProcessSpec& spec) {
  if (spec.argv.empty() || spec.argv.front().empty()) {
    return Error(ErrorCode::kInvalid, "no program given");
  }
  if (std::any_of(spec.argv.begin(), spec.argv.end(), HasNul) ||
      std::any_of(spec.environment.begin(), spec.environment.end(), HasNul) ||
      HasNul(spec.working_directory)) {
    return Error(ErrorCode::kInvalid, "an argument, variable or directory has a NUL in it");
  }
  return Ok();
}

// Opened here and not by name in the child: posix_spawn tells which error, not at which step. None
// for an empty path.
Result<UniqueFd> OpenDirectory(const std::string& path) {
  if (path.empty()) return UniqueFd();
  UniqueFd directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return Error::FromErrno(errno, "working directory " + path);
  return directory;
}

// The number is the child's until we reap it, also when it has ended already.
Result<Child> Hold(pid_t pid) {
  // The system call: glibc 2.36 declares its wrapper without C linkage.
  UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (pidfd) {
    Remember(pid);
    return Child(pid, std::move(pidfd));
  }
  const int error = errno;
  // Out of descriptors: nothing could tell us of its end, so it ends now.
  ::kill(-pid, SIGKILL);
  siginfo_t ignored{};
  ::waitid(P_PID, static_cast<id_t>(pid), &ignored, WEXITED);
  return Error::FromErrno(error, "pidfd_open");
}

struct Prepared {
  Stream input, output, error_output;
  UniqueFd directory;
};

Result<Prepared> Prepare(const ProcessSpec& spec) {
  Result<Stream> input = spec.input.empty() ? OpenNothing() : OpenToChild();
  if (!input) return input.error();
  Result<Stream> output = OpenFromChild();
  if (!output) return output.error();
  Result<Stream> error_output = OpenFromChild();
  if (!error_output) return error_output.error();
  Result<UniqueFd> directory = OpenDirectory(spec.working_directory);
  if (!directory) return directory.error();
  return Prepared{std::move(*input), std::move(*output), std::move(*error_output),
                  std::move(*directory)};
}

// An errno, or 0.
int Start(const ProcessSpec& spec, const Prepared& prepared, pid_t& pid) {
  FileActions actions;
  if (prepared.directory) actions.ChangeDirectory(prepared.directory);
  actions.Move(prepared.input.childs, STDIN_FILENO);
  actions.Move(prepared.output.childs, STDOUT_FILENO);
  actions.Move(prepared.error_output.childs, STDERR_FILENO);
  actions.CloseAbove(STDERR_FILENO);
  const Attributes attributes;
  const std::vector<char*> argv = PointersTo(spec.argv);
  const std::vector<char*> environment = PointersTo(spec.environment);
  const ScopedCpus unpinned(process_cpus);
  return ::posix_spawn(&pid, argv.front(), actions.get(), attributes.get(), argv.data(),
                       environment.data());
}

bool IsIgnored(int signal) {
  struct sigaction action {};
  CHECK(::sigaction(signal, nullptr, &action) == 0);
  return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_IGN;
}

bool IsReapedByTheKernel() {
  struct sigaction action {};
  CHECK(::sigaction(SIGCHLD, nullptr, &action) == 0);
  return (action.sa_flags & SA_NOCLDWAIT) != 0 || IsIgnored(SIGCHLD);
}

bool IsOpen(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }

}  // namespace

void PrepareForChildren() {
  process_cpus = Cpus::OfThisThread();
  ::signal(SIGPIPE, SIG_IGN);
  if (IsReapedByTheKernel()) ::signal(SIGCHLD, SIG_DFL);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (!IsOpen(fd)) (void)!::open("/dev/null", O_RDWR);  // gets the lowest free number: this one
  }
}

bool IsPreparedForChildren() {
  return IsIgnored(SIGPIPE) && !IsReapedByTheKernel() && IsOpen(STDIN_FILENO) &&
         IsOpen(STDOUT_FILENO) && IsOpen(STDERR_FILENO);
}

void KillChildren() {
  for (const std::atomic<pid_t>& place : children) {
    if (const pid_t pid = place.load(); pid > 0) ::kill(-pid, SIGKILL);
  }
}

Child::~Child() {
  if (pid_ == kReaped) return;
  KillGroup();
  pollfd end{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
  while (::poll(&end, 1, static_cast<int>(kEndWaitMax.count())) < 0 && errno == EINTR) {
  }
  Reap();
}

void Child::KillGroup() const {
  CHECK(pid_ != kReaped);
  ::kill(-pid_, SIGKILL);
}

std::optional<Child::End> Child::PeekEnd() const {
  siginfo_t info{};
  const auto id = static_cast<id_t>(pidfd_.get());
  // Fails only when somebody else has reaped our child.
  CHECK(::waitid(P_PIDFD, id, &info, WEXITED | WNOHANG | WNOWAIT) == 0);
  if (info.si_pid == 0) return std::nullopt;
  if (info.si_code == CLD_EXITED) return End{.exit_code = info.si_status, .signal = 0};
  return End{.exit_code = 0, .signal = info.si_status};
}

void Child::Reap() {
  Forget(pid_);
  siginfo_t ignored{};
  ::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &ignored, WEXITED | WNOHANG);
  pid_ = kReaped;
  pidfd_.Reset();
}

Result<Spawned> Spawn(const ProcessSpec& spec) {
  if (const Status valid = Validate(spec); !valid) return valid.error().With("start process");
  const std::string doing = "start " + spec.argv.front();
  Result<Prepared> prepared = Prepare(spec);
  if (!prepared) return prepared.error().With(doing);
  pid_t pid = 0;
  if (const int error = Start(spec, *prepared, pid); error != 0) {
    return Error::FromErrno(error, doing);
  }
  Result<Child> child = Hold(pid);
  if (!child) return child.error().With(doing);
  return Spawned{std::move(*child), std::move(prepared->input.ours),
                 std::move(prepared->output.ours), std::move(prepared->error_output.ours)};
}

}  // namespace denselet::reactor
