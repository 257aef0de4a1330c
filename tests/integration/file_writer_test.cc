// Whether somebody has a file open for writing is asked by a lease; who waits for one makes the
// kernel send a signal that ends a process.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>

#include "reactor/file_calls.h"
#include "reactor/unique_fd.h"

namespace denselet::reactor {
namespace {

TEST(FileWriter, AskingAndWritingAtOnceDisturbNeither) {
  std::string path = testing::TempDir() + "/file_writer_test.XXXXXX";
  const UniqueFd made(::mkstemp(path.data()));
  ASSERT_TRUE(made);
  struct sigaction action {};
  ASSERT_EQ(::sigaction(SIGIO, nullptr, &action), 0);
  ASSERT_EQ(action.sa_handler, SIG_DFL) << "the signal would end this process";

  constexpr int kRounds = 20'000;
  std::atomic<bool> asking = true;
  int refused = 0;
  std::thread writer([&] {
    while (asking) {
      const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
      if (!fd) ++refused;
    }
  });
  for (int round = 0; round < kRounds; ++round) EXPECT_TRUE(file_calls::FindWriter(path));
  asking = false;
  writer.join();
  EXPECT_EQ(refused, 0);

  sigset_t pending;
  ASSERT_EQ(::sigpending(&pending), 0);
  EXPECT_EQ(::sigismember(&pending, SIGIO), 0);
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace denselet::reactor
