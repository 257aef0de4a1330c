// How long something takes, in turns with something else.
#pragma once

#include <chrono>
#include <vector>

#include "bench/report.h"

namespace denselet::bench {

inline constexpr int kRounds = 15;

// Microseconds that one call took, out of `count`.
template <class Function>
double TimeOf(int count, Function function) {
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < count; ++i) function();
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begun;
  return taken.count() / count;
}

inline double Median(std::vector<double> samples) { return Percentile(samples, 0.5); }

}  // namespace denselet::bench
