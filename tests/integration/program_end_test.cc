#include "reactor/program_end.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "reactor/spawn.h"

namespace denselet::reactor {
namespace {

// Each in a process of its own: signals and their handlers are the process's.
int ExitCodeOf(void (*body)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

TEST(ProgramEnd, ASignalIsTakenByWhoWaits) {
  EXPECT_EQ(ExitCodeOf([] {
              const auto end = ProgramEnd::Make();
              if (!end || (*end)->Wait(Milliseconds(1))) ::_exit(1);
              ::kill(::getpid(), SIGTERM);
              const auto reason = (*end)->Wait(Seconds(30));
              ::_exit(reason && reason->signal == SIGTERM && reason->exit_code == 0 ? 0 : 2);
            }),
            0);
}

TEST(ProgramEnd, AThreadsWordCountsOnceWithItsCode) {
  EXPECT_EQ(ExitCodeOf([] {
              const auto end = ProgramEnd::Make();
              std::thread([&] {
                (*end)->Tell(3);
                (*end)->Tell(4);
              }).join();
              const auto reason = (*end)->Wait(Seconds(30));
              ::_exit(reason && reason->signal == 0 ? reason->exit_code : 50);
            }),
            3);
}

TEST(ProgramEnd, SomebodyWhoOpensTheFileEndsItWithZero) {
  EXPECT_EQ(ExitCodeOf([] {
              std::string path = testing::TempDir() + "/program_end.XXXXXX";
              const int file = ::mkstemp(path.data());
              const auto end = ProgramEnd::Make();
              if (file < 0 || !(*end)->EndWhenOpened(path)) ::_exit(1);
              if ((*end)->Wait(Milliseconds(1))) ::_exit(2);
              ::close(::open(path.c_str(), O_RDONLY));
              const auto reason = (*end)->Wait(Seconds(30));
              ::unlink(path.c_str());
              ::_exit(reason && reason->file_opened && reason->signal == 0 ? reason->exit_code : 3);
            }),
            0);
}

TEST(ProgramEnd, ASecondSignalEndsItAtOnce) {
  EXPECT_EQ(ExitCodeOf([] {
              const auto end = ProgramEnd::Make();
              ProgramEnd::Hurry(Seconds(100));
              ::kill(::getpid(), SIGINT);
              while (true) ::pause();
            }),
            1);
}

TEST(ProgramEnd, WhatHangsAtTheEndIsEnded) {
  EXPECT_EQ(ExitCodeOf([] {
              const auto end = ProgramEnd::Make();
              ProgramEnd::Hurry(Seconds(1));
              while (true) ::pause();
            }),
            1);
}

TEST(ProgramEnd, NoChildOutlivesAnEndInHurry) {
  static int told[2];
  ASSERT_EQ(::pipe(told), 0);
  EXPECT_EQ(ExitCodeOf([] {
              PrepareForChildren();
              const auto end = ProgramEnd::Make();
              ProcessSpec spec;
              spec.argv = {"/bin/sh", "-c", "echo $$; exec sleep 1000"};
              const auto spawned = Spawn(spec);
              char text[32];
              const ssize_t size = spawned ? ::read(spawned->output.get(), text, sizeof text) : -1;
              if (size <= 0 || ::write(told[1], text, static_cast<size_t>(size)) != size)
                ::_exit(2);
              ProgramEnd::Hurry(Seconds(100));
              ::kill(::getpid(), SIGTERM);
              while (true) ::pause();
            }),
            1);
  char text[32] = {};
  ASSERT_GT(::read(told[0], text, sizeof text - 1), 0);
  const UniqueFd child(static_cast<int>(::syscall(SYS_pidfd_open, std::atoi(text), 0)));
  if (!child) return;  // gone already
  pollfd ended{.fd = child.get(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&ended, 1, 10'000), 1) << "it lives on";
  if (ended.revents == 0) ::kill(std::atoi(text), SIGKILL);
}

TEST(ProgramEnd, SighupEndsTheProgramAsEver) {
  EXPECT_EQ(ExitCodeOf([] {
              const auto end = ProgramEnd::Make();
              ::kill(::getpid(), SIGHUP);
              while (true) ::pause();
            }),
            1000 + SIGHUP);
}

}  // namespace
}  // namespace denselet::reactor
