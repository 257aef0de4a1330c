#include "reactor/real_random.h"

#include <sys/random.h>

#include "base/check.h"

namespace denselet::reactor {
namespace {

uint64_t KernelSeed() {
  uint64_t seed = 0;
  // Up to 256 bytes never come short once the kernel's pool is initialised, which precedes any
  // container runtime.
  CHECK(::getrandom(&seed, sizeof seed, 0) == sizeof seed);
  return seed;
}

}  // namespace

RealRandom::RealRandom() : generator_(KernelSeed()) {}

}  // namespace denselet::reactor
