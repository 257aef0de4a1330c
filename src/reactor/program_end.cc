#include "reactor/program_end.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>

#include "reactor/spawn.h"

namespace denselet::reactor {
namespace {

sigset_t EndingSignals() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, SIGTERM);
  ::sigaddset(&set, SIGINT);
  return set;
}

// Called between any two instructions: nothing but calls that are safe there.
void EndAtOnce(int signal) {
  constexpr std::string_view kLate = "The agent did not stop in time and was ended\n";
  if (signal == SIGALRM) (void)!::write(STDERR_FILENO, kLate.data(), kLate.size());
  KillChildren();
  ::_exit(1);
}

int PollTimeout(Duration wait_max) {
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(wait_max).count();
  return static_cast<int>(std::clamp<int64_t>(milliseconds, 0, INT32_MAX));
}

}  // namespace

Result<std::unique_ptr<ProgramEnd>> ProgramEnd::Make() {
  const sigset_t set = EndingSignals();
  if (const int error = ::pthread_sigmask(SIG_BLOCK, &set, nullptr); error != 0) {
    return Error::FromErrno(error, "block signals");
  }
  UniqueFd signals(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals) return Error::FromErrno(errno, "signalfd");
  UniqueFd told(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!told) return Error::FromErrno(errno, "eventfd");
  return std::unique_ptr<ProgramEnd>(new ProgramEnd(std::move(signals), std::move(told)));
}

std::optional<ProgramEnd::Reason> ProgramEnd::Wait(Duration wait_max) {
  // One that is not there is -1, which poll passes over.
  pollfd all[] = {
      {signals_.get(), POLLIN, 0}, {told_.get(), POLLIN, 0}, {opened_.get(), POLLIN, 0}};
  if (::poll(all, std::size(all), PollTimeout(wait_max)) <= 0) return std::nullopt;
  uint64_t code = 0;
  if (::read(told_.get(), &code, sizeof code) == sizeof code) {
    return Reason{.signal = 0, .exit_code = static_cast<int>(code) - 1};
  }
  signalfd_siginfo info{};
  if (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    return Reason{.signal = static_cast<int>(info.ssi_signo), .exit_code = 0};
  }
  if (all[2].revents != 0) return Reason{.file_opened = true};
  return std::nullopt;
}

Status ProgramEnd::EndWhenOpened(const std::string& path) {
  CHECK(!opened_);
  UniqueFd opened(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!opened) return Error::FromErrno(errno, "inotify_init1");
  if (::inotify_add_watch(opened.get(), path.c_str(), IN_OPEN | IN_DELETE_SELF) < 0) {
    return Error::FromErrno(errno, "watch " + path);
  }
  opened_ = std::move(opened);
  return Ok();
}

void ProgramEnd::Tell(int exit_code) {
  // The numbers of an eventfd add up: two words would be one of another meaning.
  if (was_told_.exchange(true)) return;
  const uint64_t code = static_cast<uint64_t>(exit_code) + 1;
  (void)!::write(told_.get(), &code, sizeof code);
}

void ProgramEnd::Hurry(Seconds time_max) {
  struct sigaction action {};
  action.sa_handler = &EndAtOnce;
  for (const int signal : {SIGTERM, SIGINT, SIGALRM}) (void)::sigaction(signal, &action, nullptr);
  sigset_t set = EndingSignals();
  ::sigaddset(&set, SIGALRM);
  (void)::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  (void)::alarm(static_cast<unsigned>(time_max.count()));
}

}  // namespace denselet::reactor
