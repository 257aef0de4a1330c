// How long something takes, in turns with something else.
#pragma once

#include <time.h>

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace denselet::bench {

inline constexpr int kRounds = 15;

// Of this thread: while a neighbour has the core, it stands still.
inline double CpuMicroseconds() {
  timespec time{};
  CHECK(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

// Microseconds of CPU that one call took, out of `count`.
template <class Function>
double TimeOf(int count, Function function) {
  const double begun = CpuMicroseconds();
  for (int i = 0; i < count; ++i) function();
  return (CpuMicroseconds() - begun) / count;
}

// Of the rounds: what a neighbour takes of caches and memory only ever adds.
inline double Least(const std::vector<double>& samples) {
  CHECK(!samples.empty());
  return std::ranges::min(samples);
}

}  // namespace denselet::bench
