#include "reactor/file_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <string>

namespace denselet::reactor {
namespace {

class FileLockTest : public testing::Test {
 protected:
  FileLockTest() {
    std::string folder = testing::TempDir() + "/file_lock.XXXXXX";
    EXPECT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    path_ = folder + "/lock";
  }
  ~FileLockTest() override {
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
  }

  std::string folder_, path_;
};

TEST_F(FileLockTest, OneAtATimeHoldsItAndSaysWho) {
  auto first = FileLock::Try(path_);
  ASSERT_TRUE(first) << first.error().message();
  ASSERT_TRUE(*first);
  EXPECT_FALSE(FileLock::ReadHolder(path_));
  ASSERT_TRUE((*first)->WriteHolder());
  EXPECT_EQ(FileLock::ReadHolder(path_), ::getpid());
  const auto second = FileLock::Try(path_);
  ASSERT_TRUE(second);
  EXPECT_FALSE(*second);
  first->reset();
  EXPECT_TRUE(*FileLock::Try(path_));
}

TEST_F(FileLockTest, ADeadProcessHoldsNothing) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto taken = FileLock::Try(path_);
    if (!taken || !*taken || !(*taken)->WriteHolder()) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  auto taken = FileLock::Try(path_);
  ASSERT_TRUE(taken && *taken);
  EXPECT_EQ(FileLock::ReadHolder(path_), child) << "who held it last";
  ASSERT_TRUE((*taken)->WriteHolder());
  EXPECT_EQ(FileLock::ReadHolder(path_), ::getpid());
}

TEST_F(FileLockTest, WhereNoFileCanBeMadeThatIsTold) {
  const auto taken = FileLock::Try(folder_ + "/none/lock");
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code(), ErrorCode::kNotFound);
  EXPECT_NE(taken.error().message().find(folder_ + "/none/lock"), std::string::npos);
}

}  // namespace
}  // namespace denselet::reactor
