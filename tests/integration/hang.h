// Calls that return when the test lets them, one for each Release. Shared: one that was abandoned
// outlives its test.
#pragma once

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

#include "base/result.h"
#include "reactor/unique_fd.h"

namespace denselet::reactor {

class Hang {
 public:
  Result<int> Wait() const {
    uint64_t count = 0;
    EXPECT_EQ(::read(event_.get(), &count, sizeof count), static_cast<ssize_t>(sizeof count));
    return 7;
  }
  void Release() const {
    const uint64_t one = 1;
    EXPECT_EQ(::write(event_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }

 private:
  const UniqueFd event_{::eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE)};
};

}  // namespace denselet::reactor
